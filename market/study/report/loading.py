"""Gathers what a report shows from the folder of a run.

Read are `config.json`, the tables, the head of a journal and of its answer log, and, where the
run came to its end, `summary.json`. A run that is still owed a provider's answers has a report
too, of what there is. Of several episodes the first is shown in detail.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from market import registry
from market.calls import CallLogError, read_calls
from market.config import documents
from market.config.complaints import invalid
from market.config.sources import Layer
from market.environment import OUTSIDE, Json
from market.journal import JournalError, JournalReader, journal_digest
from market.seats import entry_seats
from market.study.report.run_view import (
    Figure,
    InactionView,
    ItemView,
    OfferView,
    RefusalView,
    RetailerView,
    RunView,
    SloganView,
    UsageView,
)
from market.study.text import count

Row = Mapping[str, Any]

#: Longest setting shown in full; the whole configuration is there too.
LONGEST_SETTING = 90


class ReportError(RuntimeError):
    """A folder that no report can be made of; one sentence."""


def load_view(run_dir: Path | str, episode: str | None = None) -> RunView:
    """Gather what a report shows.

    Args:
        run_dir: Folder of a run whose tables are made (`market.tables.write_tables`).
        episode: The episode to show in detail; the first one where not given.

    Raises:
        ReportError: If there is no episode, or its rules are none of this version.
        market.config.ConfigError: If the configuration or the summary is damaged.
        market.journal.JournalError: If the episode's journal has no readable header.
        market.calls.CallLogError: If its answer log is damaged.
    """
    run_dir = Path(run_dir)
    journals = sorted(run_dir.glob("episodes/*/journal.jsonl"))
    if not journals:
        raise ReportError(f"{run_dir} holds no recorded episode")
    chosen = [path for path in journals if path.parent.name == episode]
    # A damaged episode costs its own detail and no page, unless there is no other.
    journal = next(filter(_readable, chosen or journals), journals[0])
    reader = JournalReader(journal)
    reader.close()
    header = reader.header
    config, origin = _if_there(run_dir / "config.json") or {}, run_dir / "config.json"
    if not config:
        config, origin = dict(header.config), journal
    summary = _if_there(run_dir / "summary.json") or {}
    if config.get("tournament"):  # the page shows one episode, and these are of all
        config, origin = dict(header.config) | {"name": config.get("name")}, journal
        summary.pop("retailers", None)
    tables = _Tables(run_dir / "tables", header.episode)
    standings, decisions = tables.rows("standings"), tables.rows("decisions")
    results = tables.rows("results")
    asked = max((row["step"] for row in decisions), default=0)
    steps = int(config.get("rules", {}).get("steps") or asked)
    roster = _roster(config)
    arena = header.environment == "arena"
    items, funds = _arena(config, len(roster), origin) if arena else ((), None)
    writers = read_calls(journal.with_name("calls.jsonl")).writers
    return RunView(
        title=str(summary.get("name") or config.get("name") or run_dir.name),
        environment=header.environment,
        seed=header.seed,
        episode=_episode(header.episode, len(journals), None if results else asked),
        steps=steps,
        retailers=_retailers(roster, summary, results),
        settings=tuple(_settings(config, len(roster))),
        config=json.dumps(config, indent=2, ensure_ascii=False),
        funds=funds,
        capital=_paths(standings, steps),
        indices=_indices(tables.rows("indices"), steps),
        items=items,
        offers=tuple(
            OfferView(row["item"], row["step"], row["seat"], row["price"], row["sold"])
            for row in tables.rows("offers")
        ),
        slogans=tuple(_slogan(row) for row in tables.rows("slogans")),
        refusals=tuple(_refusals(tables)),
        inactions=tuple(
            InactionView(row["seat"], row["step"], row["kind"], row["cause"])
            for row in decisions
            if not row["answered"] and row["seat"] != OUTSIDE
        ),
        usage=usage(tables.rows("calls")),
        wall_seconds=summary.get("wall_seconds"),
        journal_digest=str(summary.get("journal_digest") or journal_digest(journal)),
        versions=tuple(_versions(writers, header.environment, header.rules_version)),
    )


class _Tables:
    """The tables of one episode."""

    def __init__(self, folder: Path, episode: str) -> None:
        self._folder = folder
        self._episode = episode

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table in its order; none where there is no such table."""
        import pyarrow.parquet as pq

        path = self._folder / f"{table}.parquet"
        if not path.exists():
            return []
        found: list[dict[str, Any]] = pq.read_table(
            path, filters=[("episode", "=", self._episode)]
        ).to_pylist()
        return found


def _if_there(path: Path) -> dict[str, Json] | None:
    return documents.read(path) if path.exists() else None


def _readable(journal: Path) -> bool:
    """Whether the head of a journal and its answer log are whole."""
    try:
        JournalReader(journal).close()
        read_calls(journal.with_name("calls.jsonl"))
    except (JournalError, CallLogError):
        return False
    return True


def _roster(config: Mapping[str, Json]) -> dict[str, tuple[str, str | None]]:
    """Policy and model of each seat."""
    return {
        seat: (str(entry["policy"]), (entry.get("options") or {}).get("model"))
        for entry in config["retailers"]
        for seat in entry_seats(entry)
    }


def _arena(
    config: Mapping[str, Json], retailers: int, origin: Path
) -> tuple[tuple[ItemView, ...], int]:
    """The goods of an arena, and a retailer's funds at the start; `origin` holds its rules."""
    model = registry.load(registry.environment_kind("arena").rules)
    try:
        rules = model.model_validate(config["rules"])
    except ValidationError as error:
        why = invalid(error, model, config["rules"], ("rules",), [Layer(str(origin), config)])
        raise ReportError(
            f"{str(why).rstrip('.')}; these rules are of another version, so make the report with "
            "the one that played them"
        ) from error
    items = tuple(
        ItemView(item.item, item.tier, item.base, rules.cap(item)) for item in rules.items
    )
    return items, rules.funds(retailers)


def _episode(name: str, episodes: int, reached: int | None) -> str:
    """Which episode it is, and the step it has reached if it is not finished."""
    parts = [f"episode {name}, one of {episodes}"] if episodes > 1 else []
    if reached is not None:
        parts.append(f"unfinished, at step {reached}")
    return ", ".join(parts)


def _retailers(
    roster: Mapping[str, tuple[str, str | None]],
    summary: Mapping[str, Json],
    results: Sequence[Row],
) -> tuple[RetailerView, ...]:
    """From the summary; without one, the roster with what the results hold."""
    if "retailers" in summary:
        return tuple(
            RetailerView(
                entry["seat"],
                entry["policy"],
                entry["model"],
                entry["score"],
                entry["metrics"],
                entry.get("undefined", {}),
            )
            for entry in summary["retailers"]
        )
    metrics: dict[str, dict[str, Figure]] = {seat: {} for seat in roster}
    reasons: dict[str, dict[str, str]] = {seat: {} for seat in roster}
    for row in results:
        if row["seat"] in roster:
            metrics[row["seat"]][row["metric"]] = row["value"]
            if row["undefined"] is not None:
                reasons[row["seat"]][row["metric"]] = row["undefined"]
    return tuple(
        RetailerView(
            seat, policy, model, metrics[seat].pop("score", None), metrics[seat], reasons[seat]
        )
        for seat, (policy, model) in roster.items()
    )


def _paths(standings: Sequence[Row], steps: int) -> dict[str, tuple[Figure, ...]]:
    """Net worth per seat and step."""
    paths: dict[str, list[Figure]] = {}
    for row in standings:
        paths.setdefault(row["seat"], [None] * steps)[row["step"] - 1] = row["net_worth"]
    return {seat: tuple(path) for seat, path in paths.items()}


def _indices(rows: Sequence[Row], steps: int) -> dict[str, tuple[Figure, ...]]:
    """The indices of the whole market, per step."""
    series: dict[str, list[Figure]] = {}
    for row in rows:
        if not row["item"]:
            series.setdefault(row["index"], [None] * steps)[row["step"] - 1] = row["value"]
    return {name: tuple(values) for name, values in series.items()}


def _slogan(row: Row) -> SloganView:
    match = None if row["match"] is None else row["match"] / 1_000_000
    return SloganView(row["seat"], row["step"], row["slogan"], row["impressions"], match)


def _refusals(tables: _Tables) -> Iterator[RefusalView]:
    for row in tables.rows("bids"):
        if row["reason"] is not None:
            detail = f"{count(row['quantity'])} at {count(row['price'])}"
            yield RefusalView(row["seat"], row["step"], "bid", row["item"], detail, row["reason"])
    for row in tables.rows("refusals"):
        detail = "" if row["price"] is None else f"at {count(row['price'])}"
        yield RefusalView(row["seat"], row["step"], row["what"], row["item"], detail, row["reason"])


def usage(calls: Sequence[Row]) -> tuple[UsageView, ...]:
    """What each model was used for, by what was answered; from rows of the table `calls`."""
    by_model: dict[str, list[Row]] = {}
    for row in calls:
        if row["outcome"] == "replied":
            by_model.setdefault(row["model"] or "unknown", []).append(row)
    return tuple(
        UsageView(
            model,
            len(rows),
            _sum(rows, "prompt_tokens"),
            _sum(rows, "completion_tokens"),
            _sum(rows, "cost_usd"),
        )
        for model, rows in sorted(by_model.items())
    )


def _sum(rows: Sequence[Row], column: str) -> Any:
    """A sum, unknown if a part is."""
    parts = [row[column] for row in rows]
    return None if None in parts else sum(parts)


def _settings(config: Mapping[str, Json], retailers: int) -> Iterator[tuple[str, str]]:
    """The settings worth reading: retailers, encoder and the rules, by the names of the file."""
    yield "retailers", str(retailers)
    encoder = config.get("encoder")
    if isinstance(encoder, Mapping) and encoder.get("model"):
        yield "encoder", str(encoder["model"])
    for name, value in config.get("rules", {}).items():
        yield name, _setting(value)


def _setting(value: Json) -> str:
    text = _spelled(value)
    if len(text) <= LONGEST_SETTING:
        return text
    names = [str(v.get("item", "")) if isinstance(v, Mapping) else "" for v in value]
    parts = [str(key) for key in value] if isinstance(value, Mapping) else names
    return f"{len(parts)}: {', '.join(parts)}" if all(parts) else f"{len(parts)} entries"


def _spelled(value: Json) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_spelled(part)}" for key, part in value.items())
    if isinstance(value, list):
        return (
            " to ".join(map(_spelled, value))
            if len(value) == 2
            else ", ".join(map(_spelled, value))
        )
    return str(value)


def _versions(
    writers: Sequence[Mapping[str, Json]], environment: str, rules_version: int
) -> Iterator[tuple[str, str]]:
    """What the episode was last played with."""
    yield "rules", f"{environment} {rules_version}"
    if writers:
        yield "python", str(writers[-1].get("python", "unknown"))
        for package, version in dict(writers[-1].get("packages", {})).items():
            yield package, str(version)
