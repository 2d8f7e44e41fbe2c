"""How to run machines when it is known how customers choose.

    drain.py       what a shelf sells until the next visit
    plan.py        per machine: products, units, prices, and how often to come
    control.py     each morning: which machines to visit, what to load and to order
    knowledge.py   the demand model that a seat was told

All of it needs NumPy; `market.vending.policies.planner` imports it on its first decision.
"""
