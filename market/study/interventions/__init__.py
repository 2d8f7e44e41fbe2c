"""Recorded games played otherwise: a seat swapped, a step gone on from, answers given anew."""
