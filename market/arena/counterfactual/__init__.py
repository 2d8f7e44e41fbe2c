"""What would have happened: recorded steps of the arena, settled again.

`scene` is a recorded selling step as data, `redraws` settles it again under other luck or with
other answers. From these follow `luck`, what of a profit was earned and what was drawn, and
`regret`, what another bid, price or slogan would have brought.
"""
