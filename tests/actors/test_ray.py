"""On Ray every retailer is a process: the bytes are the same, and who fails, fails alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actors.progress.watch import Plan, Progress
from actors.retailer import Casting, Stage
from actors.roster import roster
from actors.run import RunOutcome, run
from actors.tournament import Ended
from market.calls import Outcome, read_calls
from market.config import Config, configure
from market.config.plans import EpisodePlan
from market.journal import journal_digest
from market.replay import verify

pytestmark = pytest.mark.usefixtures("ray_cluster")

SCRIPTED = ["adaptive", "advertiser", "markup", "undercutter", "clearing", "zi-constrained"]
OWN = "tests.actors.own_policies"


class Silence:
    """An audience, and a watcher, that sees nothing."""

    def watch(self, plan: EpisodePlan) -> Silence:
        return self

    def ended(self, ended: Ended) -> None: ...

    def started(self, plan: Plan) -> None: ...

    def progressed(self, progress: Progress) -> None: ...

    def finished(self, summary: Mapping[str, Any]) -> None: ...


def config(retailers: list[dict[str, Any]], **settings: Any) -> Config:
    base = json.loads(json.dumps({"environment": "arena", "seed": 11, "retailers": retailers}))
    return configure({**base, "rules": RULES, **settings})


RULES = {
    "steps": 3,
    "items": [
        {"item": "item1", "tier": "commodity", "quantity": 40, "base": 50},
        {"item": "item2", "tier": "luxury", "quantity": 10, "base": 400},
    ],
    "personas": {
        "Thrifty": {"share": 0.6, "sensitivity": 0.3, "theme": "low price, good value"},
        "Hype": {"share": 0.4, "sensitivity": 0.9, "theme": "limited edition, trendy"},
    },
    "buyers": 20,
    "price_cap": 2.0,
}


def play(tmp_path: Path, name: str, retailers: list[dict[str, Any]], **settings: Any) -> RunOutcome:
    return run(config(retailers, **settings), tmp_path / name, Silence())


def digest(outcome: RunOutcome) -> str:
    (path,) = outcome.folder.glob("episodes/*/journal.jsonl")
    verify(path)
    return journal_digest(path)


def failures(outcome: RunOutcome) -> list[tuple[str, str | None]]:
    (episode,) = outcome.folder.glob("episodes/*")
    return [
        (record.seat, record.cause)
        for record in read_calls(episode / "calls.jsonl").records
        if record.outcome is Outcome.SEAT_FAILED
    ]


def test_inline_grouped_and_one_process_each_write_the_same_bytes(tmp_path: Path) -> None:
    roster = [{"name": name, "policy": name} for name in SCRIPTED]
    alone = play(tmp_path, "alone", roster)
    grouped = play(tmp_path, "grouped", roster, retailers_per_actor=4)
    inline = play(tmp_path, "inline", roster, inline=True)
    assert digest(alone) == digest(grouped) == digest(inline)


def test_a_different_seed_is_a_different_game(tmp_path: Path) -> None:
    roster = [{"name": name, "policy": name} for name in SCRIPTED[:3]]
    one = play(tmp_path, "one", roster, inline=True)
    other = play(tmp_path, "other", roster, inline=True, seed=12)
    assert digest(one) != digest(other)


@pytest.mark.parametrize(
    ("policy", "options", "cause"),
    [
        ("Raises", {"step": 2}, "crashed"),
        ("Hangs", {"step": 2}, "late"),
        ("Dies", {"step": 2}, "crashed"),
        ("Hostile", {"action": "nan"}, "malformed"),
        ("Hostile", {"action": "megabytes"}, "malformed"),
    ],
)
def test_a_failing_retailer_pays_alone_and_the_reason_is_kept(
    tmp_path: Path, policy: str, options: dict[str, Any], cause: str
) -> None:
    roster = [
        {"name": "bad", "policy": f"{OWN}:{policy}", "options": options},
        {"name": "markup", "policy": "markup"},
    ]
    outcome = play(tmp_path, "run", roster, deadline_seconds=2.0)
    assert outcome.summary is not None
    assert set(failures(outcome)) == {("bad", cause)}
    scores = {entry["seat"]: entry["score"] for entry in outcome.summary["retailers"]}
    assert scores["markup"] > 0
    assert (outcome.folder / "report.html").stat().st_size > 1_000
    digest(outcome)


def test_in_a_shared_actor_the_guilty_seat_alone_is_late(tmp_path: Path) -> None:
    roster = [
        {"name": "markup", "policy": "markup"},
        {"name": "bad", "policy": f"{OWN}:Hangs", "options": {"step": 2}},
        {"name": "counts", "policy": f"{OWN}:Counts"},
    ]
    outcome = play(tmp_path, "run", roster, deadline_seconds=2.0, retailers_per_actor=3)
    assert failures(outcome) == [("bad", "late")]
    (path,) = outcome.folder.glob("episodes/*/journal.jsonl")
    assert '"asked":9' in path.read_text() or "asked 9 times" in path.read_text()


def test_a_process_that_dies_once_changes_nothing(tmp_path: Path) -> None:
    def roster(mark: Path) -> list[dict[str, Any]]:
        options = {"mark": str(mark)}
        return [
            {"name": "frail", "policy": f"{OWN}:DiesOnce", "options": options},
            {"name": "markup", "policy": "markup"},
        ]

    mark = tmp_path / "mark"
    frail = play(tmp_path, "frail", roster(mark))
    assert mark.exists()
    assert failures(frail) == []
    calm = play(tmp_path, "calm", roster(mark))
    assert digest(frail) == digest(calm)


def test_a_retailers_process_imports_nothing_heavy(ray_cluster: None) -> None:
    import ray

    from actors.ray_actors import RetailerActor, start

    castings = [
        Casting("a", "market.arena.policies.adaptive:Adaptive", {}, 1),
        Casting("b", "market.policies.llm:LanguageModel", {"model": "local"}, 1),
    ]
    actor = start(RetailerActor, castings, Stage({}, {}))
    imported = {name.partition(".")[0] for name in ray.get(actor.modules.remote())}
    assert {"market", "actors"} <= imported
    assert not imported & {"pandas", "scipy", "numba", "torch", "litellm", "sentence_transformers"}


def test_a_call_that_comes_late_takes_no_part_in_the_next_episode(ray_cluster: None) -> None:
    import ray

    from actors.ray_actors import MarketActor, RemoteOutside, here, start
    from actors.tournament import header_of, script_of

    plan = EpisodePlan("e1", config([{"name": "a", "policy": "markup"}]), None, "all", 11, 1)
    script = script_of(plan, header_of(plan), roster(plan.config))
    actor = start(MarketActor, RemoteOutside("all-MiniLM-L6-v2", "late-encoder", here()))
    _, first = ray.get(actor.start.remote(script, []))
    ray.get(actor.close.remote(first))
    _, second = ray.get(actor.start.remote(script, []))
    with pytest.raises(RuntimeError, match="is over"):
        ray.get(actor.gather.remote(first))
    assert ray.get(actor.gather.remote(second)).gathered is not None


def test_an_episode_that_cannot_begin_tells_why_and_its_actor_is_not_kept(
    ray_cluster: None,
) -> None:
    import ray
    from ray.exceptions import RayActorError, RayTaskError

    from actors.ray_actors import MarketActor, RemoteMarket, RemoteOutside, here, start
    from actors.tournament import header_of, script_of

    plan = EpisodePlan("e1", config([{"name": "a", "policy": "markup"}]), None, "all", 11, 1)
    script = script_of(plan, header_of(plan), roster(plan.config))
    unplayable = {**script.config, "rules": {**script.config["rules"], "steps": -1}}
    actor = start(MarketActor, RemoteOutside("all-MiniLM-L6-v2", "early-encoder", here()))
    kept: list[object] = []
    market = RemoteMarket(actor, replace(script, config=unplayable), kept.append)

    async def story() -> None:
        with pytest.raises(RayTaskError, match="steps"):
            await market.start([])
        await market.close()

    asyncio.run(story())
    assert not kept
    with pytest.raises(RayActorError):
        ray.get(actor.ready.remote())
