"""The figures at the top of the page of many episodes."""

from __future__ import annotations

from market.study import text
from market.study.report.board import Tile, usage_tiles
from market.study.report.run_view import RunView
from market.study.report.tournament import TournamentView


def many_tiles(run: RunView, many: TournamentView) -> list[Tile]:
    """Who is best and how surely, what happened, what it took."""
    out = []
    if many.standings and many.standings[0].lines:
        board = many.standings[0]
        best = board.lines[0]
        ranks = f"ranks {best.ranks}" if " to " in best.ranks else f"rank {best.ranks}"
        note = f"mean {best.mean.shown}" + ("" if best.rank is None else f", {ranks}")
        out.append(Tile("Best on average", best.name, note))
        apart, pairs = board.apart
        if pairs:
            out.append(Tile("Pairs told apart", f"{apart} of {pairs}", "at 5% over all pairs"))
    counts = many.counts
    out.append(
        Tile(
            "Valid episodes",
            text.count(counts["valid"]),
            f"{text.count(counts['finished'])} of {text.count(counts['begun'])} finished",
        )
    )
    out.append(Tile("Seeds", text.count(many.seeds), "blocks of every interval"))
    return [*out, *usage_tiles(run)]
