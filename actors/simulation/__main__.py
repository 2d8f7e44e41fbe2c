"""Plays seeds: `python -m actors.simulation --seed 123`, with `--count N` that one and others."""

from __future__ import annotations

import argparse
import sys

from actors.simulation.runs import simulate


def main() -> int:
    """Play the seeds of the command line; 1 if any is broken."""
    parser = argparse.ArgumentParser(prog="python -m actors.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="the first seed")
    parser.add_argument("--count", type=int, default=1, help="how many seeds from there on")
    parser.add_argument("--schedule", action="store_true", help="tell what struck in any case")
    asked = parser.parse_args()
    broken = 0
    for seed in range(asked.seed, asked.seed + asked.count):
        verdict = simulate(seed)
        broken += bool(verdict.broken)
        if verdict.broken or asked.count == 1:
            print(verdict)
        if asked.schedule and not verdict.broken:
            print("\n".join(verdict.schedule))
    if asked.count > 1:
        print(f"{asked.count - broken:,} of {asked.count:,} seeds hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
