"""Plays whole tournaments under faults drawn from a seed, in one thread and in no time.

    python -m actors.simulation --seed 123

The code that plays is the real one: tournament, driver, correspondence, episode, hosts, retailers,
language client, journal and answer log. What lies below it is pretended, and fails as drawn:

    clock.py       the event loop, whose time jumps to the next timer
    processes.py   processes that die before, while or after they do what they were asked
    provider.py    a provider of models that limits, fails, hangs and loses answers
    disk.py        a disk that is full, tears lines and forgets what was not synced
    place.py       all of these where a cluster would be
    games.py       small tournaments to be played, and how they end undisturbed
    limits.py      budgets that stop runs, and caps that a gate shares
    faults.py      which faults strike
    audit.py       what must hold, whatever strikes
    runs.py        one seed: lives of a driver that dies and resumes, until all is played

The method is that of the simulators of FoundationDB (Zhou et al., SIGMOD 2021) and TigerBeetle.
"""
