"""What each retailer said, step by step, and what was refused to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from market.study import text
from market.study.report.board import Line
from market.study.report.run_view import InactionView, RefusalView, RunView


@dataclass(frozen=True, slots=True)
class Said:
    """What a retailer said in consecutive steps that were alike, and what was refused in them."""

    steps: str
    slogan: str
    impressions: str
    match: str
    refusals: tuple[str, ...]
    inactions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Voice:
    """A retailer's part in the section on words."""

    line: Line
    said: tuple[Said, ...]
    refused: int
    inactive: int


def voices(run: RunView, lines: Sequence[Line]) -> list[Voice]:
    """What each retailer said, was refused and left undone; language models first."""
    out = []
    for line in sorted(lines, key=lambda line: line.retailer.model is None):
        seat = line.retailer.seat
        refusals = [refusal for refusal in run.refusals if refusal.seat == seat]
        inactions = [inaction for inaction in run.inactions if inaction.seat == seat]
        said = _said(run, seat, refusals, inactions)
        if said:
            out.append(Voice(line, said, len(refusals), len(inactions)))
    return out


def _said(
    run: RunView,
    seat: str,
    refusals: Sequence[RefusalView],
    inactions: Sequence[InactionView],
) -> tuple[Said, ...]:
    slogans = {slogan.step: slogan for slogan in run.slogans if slogan.seat == seat}
    steps = {*slogans, *(r.step for r in refusals), *(i.step for i in inactions)}
    rows: list[tuple[int, int, Said]] = []
    for step in sorted(steps):
        slogan = slogans.get(step)
        row = Said(
            steps=str(step),
            slogan=text.clean(slogan.slogan) if slogan else "",
            impressions=text.count(slogan.impressions if slogan else None, "–"),
            match=text.decimal(slogan.match if slogan else None, 2, "–"),
            refusals=_counted(_refusal_text(r) for r in refusals if r.step == step),
            inactions=_counted(
                f"no answer to {i.kind}: {i.cause}" for i in inactions if i.step == step
            ),
        )
        if rows and _alike(rows[-1][2], row):
            first, _, last = rows.pop()
            row = Said(
                f"{first}–{step}",
                row.slogan,
                _range(last.impressions, row.impressions),
                row.match if row.match == last.match else _range(last.match, row.match),
                (),
                (),
            )
            rows.append((first, step, row))
        else:
            rows.append((step, step, row))
    return tuple(row for _, _, row in rows)


def _alike(before: Said, row: Said) -> bool:
    quiet = not (before.refusals or before.inactions or row.refusals or row.inactions)
    return quiet and before.slogan == row.slogan


def _range(before: str, now: str) -> str:
    """Both ends of what was seen so far and now, as shown."""
    ends = [part for part in (*before.split(" to "), now) if part != "–"]
    if not ends:
        return "–"
    ordered = sorted(set(ends), key=lambda part: float(part.replace(",", "").replace("−", "-")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def _refusal_text(refusal: RefusalView) -> str:
    what = " ".join(part for part in (refusal.what, refusal.item) if part)
    asked = ", ".join(part for part in (what, refusal.detail) if part)
    return f"{asked}: {refusal.reason}"


def _counted(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        text_ if times == 1 else f"{text_} (×{times})" for text_, times in Counter(texts).items()
    )
