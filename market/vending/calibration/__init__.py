"""Fits a world to real sales, and says how well it foretells what it was not fitted to.

    table.py       a CSV as columns of text, with the line of each row
    records.py     its sales, checked, as units per machine, product and day
    fit.py         scale, weekday factors, attractions, crowds and dispersion, in turns
    effects.py     popularity and tastes, from the sums of each machine and product
    mixed.py       the linear mixed model beneath, with variances by restricted likelihood
    offers.py      what was offered, at what prices and when, as far as sales tell
    moments.py     how far units scatter: of products and whole machines; sales missed
    holdout.py     the rest of the period: forecasts of the fit, of a mean and of persistence
    preset.py      the fitted world as a configuration that the simulator runs

The demand model is the simulator's own (`market/vending/demand.py`). What records of sales do not
say is taken for granted; `docs/calibration.md` says what that is.
"""
