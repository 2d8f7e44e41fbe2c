"""How sure a study is: estimates with intervals, many comparisons, ranks, power.

The unit of everything here is the *block*: a seed with all its rosters and repetitions. What
happened on one seed shares buyers and luck, so it is one observation, however many episodes it
took. A caller makes one number per block first; rosters that were sampled are a second way in
which observations hang together, which `two_way` knows.

    estimates    a figure, its interval, or the reason why there is none
    intervals    means and ratios of blocks
    bootstrap    what has no formula: any statistic of blocks; crossed seeds and rosters
    pairwise     differences of all pairs by sign flips, with the error of the whole family held
    ranks        which ranks a player may have
    power        what a design can detect before money is spent
    ratings      one strength per player, where the design allows it
    association  correlations within episodes and between groups

Chance comes from named streams: equal inputs and seeds give equal figures. Nothing here is
imported by environments, policies or the help page of the command: SciPy is slow to import.
"""
