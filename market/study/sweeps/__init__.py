"""Sweeps: a study over cells and seeds, from its plan to its page."""
