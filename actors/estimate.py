"""What a run will take, said before it starts."""

from __future__ import annotations

from market.config import Config, resolved, rules
from market.config.documents import write
from market.config.options import asks_a_model, policy_class


def preview(config: Config) -> str:
    """The resolved configuration as YAML, with its size in comments.

    The size is told where the environment's rules know it: `decisions_per_seat`, the most
    decisions that one seat is asked in an episode.
    """
    lines = [write(resolved(config))]
    per_seat = getattr(rules(config), "decisions_per_seat", None)
    if per_seat is not None:
        asking = [
            retailer
            for retailer in config.retailers
            if asks_a_model(policy_class(config.kind, retailer.policy))
        ]
        calls = sum(retailer.count * per_seat for retailer in asking)
        most = sum(
            retailer.count * per_seat * (1 + int(retailer.options.get("reasks", 0)))
            for retailer in asking
        )
        seats = sum(retailer.count for retailer in config.retailers)
        lines.append(f"# decisions: {seats * per_seat:,}\n")
        lines.append(f"# model calls: {calls:,}, at most {most:,} with re-asks\n")
    return "".join(lines)
