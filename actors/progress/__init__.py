"""How far a run is: what it tells while it is played, and what its records tell."""
