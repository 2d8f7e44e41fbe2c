"""Workers of a sweep over which policies hang or die: the sweep goes on, as a run would."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from actors.errors import UserError
from actors.studies.packing import Packed, Packer, joined, table_of
from actors.studies.pool import DEATHS, Pool, _Piece
from actors.studies.sweep import sweep
from actors.studies.vectors import facts_here
from market.config import Config, load
from market.study.sweeps.plan import Shard, Unit, plan
from tests.actors.studies.test_sweep import Told, rows

OWN = "tests.actors.own_policies"
STUDY = [
    "study.primary=profit",
    "study.vary={rules.price_cap: [1.5]}",
    "study.rosters=[all, {design: leave-one-out, of: retailers}]",
    "study.seeds=1",
    "rules.steps=2",
    "rules.attention.similarity=none",
    "deadline_seconds=1",
]
UNITS = (Unit(0, "a", 1), Unit(0, "b", 1))


def study(policy: str, inline: bool = False) -> Config:
    other = f"{{name: other, policy: '{OWN}:{policy}'}}"
    retailers = f"retailers=[{other}, {{name: markup, policy: markup}}]"
    return load("arena/default", [*STUDY, retailers, f"inline={str(inline).lower()}"])


def in_one_shard(config: Config) -> Shard:
    return Shard(0, tuple(unit for shard in plan(config).shards for unit in shard.units))


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.parametrize("policy", ["HangsForGood", "Dies"])
def test_a_policy_that_ends_a_worker_costs_its_turn_and_no_other_episode(policy: str) -> None:
    config = study(policy)
    shard = in_one_shard(config)
    (found,) = Pool(config, 1).play([shard])
    skips = study("Skips", inline=True)
    calm = Packer(skips, facts_here).play(in_one_shard(skips))
    assert found.units == len(shard.units) == 3
    assert not found.failures
    assert found.table.to_pylist() == calm.table.to_pylist()
    assert len(found.notes) == 2
    assert all("other gave no answer 1 times" in note for note in found.notes.values())


@pytest.mark.slow
@pytest.mark.usefixtures("ray_cluster")
def test_a_study_of_such_a_policy_says_which_episodes_were_played_apart(tmp_path: Path) -> None:
    swept = sweep(study("Hangs"), tmp_path / "new", Told())
    assert (swept.played, swept.failures) == (3, {})
    assert set(swept.apart) == {
        f"price-cap-1.5.{roster}.seed-1.rep-1" for roster in ("all", "without-markup")
    }
    assert set(swept.apart.values()) == {"other gave no answer 1 times (no answer within 1 s)"}
    assert len(rows(tmp_path / "new")["unit"].unique()) == 3


def test_what_a_worker_died_over_is_played_alone_and_then_apart_and_then_refused() -> None:
    alone = _Piece(Shard(3, UNITS)).again()
    assert [(piece.shard, piece.at) for piece in alone] == [
        (Shard(3, (unit,)), at) for at, unit in enumerate(UNITS)
    ]
    (piece,) = alone[1].again()
    assert (piece.apart, piece.at) == (True, 1)
    for _ in range(DEATHS - 1):
        (piece,) = piece.again()
    with pytest.raises(UserError, match="3 workers died over the episode b of part-00003"):
        piece.again()


def test_pieces_make_the_shard_that_was_cut() -> None:
    def packed(units: Sequence[str], failures: dict[str, str], **columns: float) -> Packed:
        table = table_of([{"unit": unit, **columns} for unit in units])
        return Packed(3, len(units), table, failures, 10, 7)

    whole = joined([packed("a", {}, fill=1.0), packed("", {"b": "why"}), packed("c", {})])
    assert (whole.number, whole.units, whole.failures) == (3, 2, {"b": "why"})
    assert [(row["unit"], row["fill"]) for row in whole.table.to_pylist()] == [
        ("a", 1.0),
        ("c", None),
    ]
