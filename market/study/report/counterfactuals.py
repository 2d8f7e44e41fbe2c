"""Luck, regret and the value of words, of some episodes, kept beside the tables.

They take some twenty seconds per episode of twenty seats, so a report computes them for as many
episodes as it is asked to, and keeps what it computed in `luck.parquet`, `regret.parquet` and
`words.parquet` of a folder of their own, by episode and digest of its journal. A journal that has
grown since is computed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from market.environment import Json
from market.journal import journal_digest

if TYPE_CHECKING:
    import pandas as pd

    from market.arena.counterfactual.scene import Scene

#: The environment whose recorded steps can be settled again.
ENVIRONMENT = "arena"
#: The seat of rows about the whole market.
MARKET = "*"

Row = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Counterfactuals:
    """What was computed.

    Attributes:
        luck: Per episode and seat `recorded` and `adjusted` profit, `luck` and its `error`; the
            seat `*` has the episode's `skill`.
        regret: Per episode, seat and subset of `bid`, `price` and `slogan`: its gain (`value`),
            `error`, and, for single parts, Shapley's `part` of the gain of all three.
        words: Per episode and seat `direct`; the seat `*` has what the market gained in `profit`,
            `surplus` and `gini`.
        episodes: Episodes that were computed.
    """

    luck: pd.DataFrame
    regret: pd.DataFrame
    words: pd.DataFrame
    episodes: tuple[str, ...]


def counterfactuals(
    journals: Sequence[Path], folder: Path, most: int, told: Callable[[str], None] | None = None
) -> Counterfactuals | None:
    """What was kept, and what has to be computed for the first `most` episodes; None for nothing.

    Args:
        journals: Of episodes of the arena, in their order.
        folder: Where it is kept; made when missing.
        most: Episodes to have at least, as far as there are so many.
        told: Called with the id of each episode that is about to be computed.

    Raises:
        market.replay.ReplayError: If a journal is not the recording of this version's game.
    """
    import pandas as pd

    digests = {path.parent.name: journal_digest(path) for path in journals}
    kept = {name: _kept(folder / f"{name}.parquet", digests) for name in _COMPUTED}
    done = set.intersection(
        *(set(frame["episode"]) if len(frame) else set() for frame in kept.values())
    )
    for path in journals[:most]:
        episode = path.parent.name
        if episode in done:
            continue
        if told is not None:
            told(episode)
        for name, rows in _computed(path).items():
            keys = {"episode": episode, "journal": digests[episode]}
            new = pd.DataFrame([{**keys, **row} for row in rows])
            old = kept[name]
            old = old[old["episode"] != episode] if len(old) else old
            kept[name] = pd.concat([old, new], ignore_index=True) if len(old) else new
            _write(kept[name], folder / f"{name}.parquet")
        done.add(episode)
    if not done:
        return None
    frames = {name: frame[frame["episode"].isin(done)] for name, frame in kept.items()}
    ordered = tuple(path.parent.name for path in journals if path.parent.name in done)
    return Counterfactuals(**frames, episodes=ordered)


def _computed(journal: Path) -> Mapping[str, list[Row]]:
    from market.arena.counterfactual.scene import scenes

    played = list(scenes(journal))
    seed = int(played[0].seed) if played else None
    return {
        name: [{"seed": seed, **row} for row in compute(played)]
        for name, compute in _COMPUTED.items()
    }


def _luck(played: Sequence[Scene]) -> Iterator[Row]:
    from market.arena.counterfactual.luck import luck

    found = luck(played)
    for seat, one in found.seats.items():
        yield {
            "seat": seat,
            "recorded": float(one.recorded),
            "adjusted": one.adjusted,
            "luck": one.luck,
            "deviation": one.deviation,
            "error": one.error,
        }
    yield {"seat": MARKET, "skill": found.skill, "undefined": found.undefined}


def _regret(played: Sequence[Scene]) -> Iterator[Row]:
    from market.arena.counterfactual.regret import regret

    found = regret(played)
    for seat, one in found.seats.items():
        for subset, gain in one.gains.items():
            part = one.parts.get(subset)
            yield {
                "seat": seat,
                "subset": subset,
                "value": gain.value,
                "error": gain.error,
                "in_sample": gain.in_sample,
                "hindsight": gain.hindsight,
                "part": None if part is None else float(part),
            }
    yield {"seat": MARKET, "undefined": found.undefined}


def _words(played: Sequence[Scene]) -> Iterator[Row]:
    from market.arena.counterfactual.words import direct, market

    for seat, one in direct(played).items():
        yield {"seat": seat, "direct": one.value, "own": one.profit, "error": one.error}
    if played:
        added = market(played).value
        yield {
            "seat": MARKET,
            "profit": added.profit,
            "surplus": added.surplus,
            "gini": added.gini,
        }
    else:
        yield {"seat": MARKET, "undefined": "no step in which goods were sold to buyers"}


_COMPUTED: Mapping[str, Callable[[Sequence[Scene]], Iterable[Row]]] = {
    "luck": _luck,
    "regret": _regret,
    "words": _words,
}


def _kept(path: Path, digests: Mapping[str, str]) -> pd.DataFrame:
    """What a file holds of journals as they are now."""
    import pandas as pd

    if not path.exists():
        return pd.DataFrame({"episode": [], "journal": []})
    frame = pd.read_parquet(path)
    now: Any = frame["episode"].map(dict(digests))
    current: pd.DataFrame = frame[frame["journal"] == now]
    return current


def _write(frame: pd.DataFrame, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".parquet.part")
    frame.to_parquet(part, index=False)
    part.replace(path)
