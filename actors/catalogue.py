"""What there is to configure: presets, environments, policies and their options."""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Iterable, Mapping

from market import registry
from market.config import presets
from market.config.options import described, policy_class, signature
from market.registry import EnvironmentKind


def catalogue() -> str:
    """A page of plain text."""
    kinds = [registry.environment_kind(name) for name in registry.ENVIRONMENTS]
    parts = [
        _section("Presets", ((preset.name, preset.description) for preset in presets())),
        _section(
            "Environments",
            ((name, _module_line(path)) for name, path in registry.ENVIRONMENTS.items()),
        ),
        *(_section(f"Policies of {kind.name}", _policies(kind, kind.policies)) for kind in kinds),
        _section("Policies of every environment", _policies(kinds[0], registry.POLICIES)),
    ]
    return "\n".join(parts)


def _policies(kind: EnvironmentKind, paths: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    for name in sorted(paths):
        policy = policy_class(kind, name)
        yield name, described(policy)
        if options := [f"{option}: {shown}" for option, shown in signature(policy).items()]:
            yield "", "; ".join(options)


def _section(title: str, rows: Iterable[tuple[str, str]]) -> str:
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0) + 2
    lines = [title]
    for name, text in rows:
        start = f"  {name:<{width}}"
        lines += textwrap.wrap(
            text or "-",
            width=100,
            initial_indent=start,
            subsequent_indent=" " * len(start),
            break_on_hyphens=False,
        )
    return "\n".join(lines) + "\n"


def _module_line(path: str) -> str:
    module = importlib.import_module(path.partition(":")[0])
    return (module.__doc__ or "").strip().partition("\n")[0]
