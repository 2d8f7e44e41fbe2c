"""Plays studies: sweeps of scripts, packed into processes, and tournaments of models."""
