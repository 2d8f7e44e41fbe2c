"""The parts of the soak: a provider, drivers that die, and who kills them."""
