"""Mistakes of the user that only show when something is run."""

from __future__ import annotations


class UserError(ValueError):
    """What a user asked for cannot be done; the message is one sentence with what mends it."""


class OwedError(Exception):
    """An episode cannot go on for now; the message says why in one sentence."""
