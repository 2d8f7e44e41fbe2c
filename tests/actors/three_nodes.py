"""Plays tournaments on a cluster of three nodes and loses one of them, in a process of its own.

    python -m tests.actors.three_nodes FOLDER

A process has one Ray, and that of a test session has another. The head takes no work, as in most
clusters; the driver is there. What happened is left in `FOLDER/told.json`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import secrets
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from actors.cluster import connected
from actors.places import inline
from actors.progress.watch import Plan, Progress
from actors.run import run
from actors.tournament import Ended, Tournament
from market.calls import Outcome, read_calls
from market.config import Config, configure
from market.config.plans import EpisodePlan, expand
from market.journal import journal_digest
from tests.actors.test_ray import RULES
from tests.provider import Body, Provider, Says

#: A node that says nothing is known to be lost after seconds; Ray's own checks take a minute.
HEALTH_CHECKS = {
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 250,
    "health_check_timeout_ms": 500,
    "health_check_failure_threshold": 4,
}

#: Requests at once, over all nodes, where each node has a language actor.
CAP = 2


@dataclass
class Told:
    """What became of a tournament.

    Attributes:
        lived: Where actors of each class lived just before the loss: `head` or `worker`.
        same: Whether every journal is that of the undisturbed run.
        ended: Episodes that ended without a failure.
        owed: Why an episode could not go on.
        longest: Seconds that an episode waited for its next batch at most, from the loss on.
        asked: Requests that reached the provider, and those of the undisturbed run.
        replied: Answers in the logs, each counted once.
        lost: Requests of which nothing came back.
        most_at_once: Requests that the provider had under way at most.
    """

    lived: dict[str, list[str]] = field(default_factory=dict)
    same: bool = False
    ended: int = 0
    owed: str | None = None
    longest: float = 0.0
    asked: tuple[int, int] = (0, 0)
    replied: int = 0
    lost: int = 0
    most_at_once: int = 0


class Cluster:
    """A head and two workers on this machine."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster as Nodes

        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": HEALTH_CHECKS}
        self._nodes = Nodes(initialize_head=True, head_node_args=head)
        self.address: str = self._nodes.address
        self.grow()
        self.grow()

    def grow(self) -> None:
        """Add a worker."""
        self._nodes.add_node(num_cpus=2)

    def lived(self) -> tuple[dict[str, list[str]], Any]:
        """Where the actors of each class live, and a worker that has a market."""
        from ray._private.state import actors

        head = self._nodes.head_node.node_id
        found: dict[str, set[str]] = {}
        victim = None
        for actor in actors().values():
            node = actor["Address"]["NodeID"]
            if actor["State"] != "ALIVE":
                continue
            place = "head" if node == head else "worker"
            found.setdefault(actor["ActorClassName"], set()).add(place)
            if actor["ActorClassName"] == "MarketActor":
                victim = victim or node
        places = {name: sorted(where) for name, where in found.items()}
        return places, next(n for n in self._nodes.worker_nodes if n.node_id == victim)

    def kill(self, node: Any) -> None:
        """A node whose processes are gone at once: its connections are closed."""
        self._nodes.remove_node(node, allow_graceful=False)

    def cut_off(self, node: Any) -> None:
        """A node of which nothing is heard any more: its connections stay open."""
        (raylet,) = node.all_processes["raylet"]
        parent = psutil.Process(raylet.process.pid)
        for process in [parent, *parent.children(recursive=True)]:
            process.send_signal(signal.SIGSTOP)

    def end(self, node: Any) -> None:
        """What is left of a node."""
        (raylet,) = node.all_processes["raylet"]
        parent = psutil.Process(raylet.process.pid)
        for process in [*parent.children(recursive=True), parent]:
            process.kill()
        self._nodes.remove_node(node, allow_graceful=False)

    def close(self) -> None:
        """Stop all nodes."""
        self._nodes.shutdown()


class Loss:
    """An audience in whose presence a node is lost, once.

    Args:
        cluster: The cluster; without one nothing happens.
        manner: `kill` or `cut off`.
    """

    def __init__(self, cluster: Cluster | None = None, manner: str = "kill") -> None:
        self.told = Told()
        self.node: Any = None
        self._cluster = cluster
        self._manner = manner
        self._lost_at: float | None = None
        self._last: dict[str, float] = {}

    def watch(self, plan: EpisodePlan) -> Seen:
        return Seen(self, plan.id)

    def ended(self, ended: Ended) -> None:
        self.told.ended += ended.error is None

    def finished(self, summary: Mapping[str, Any]) -> None: ...

    def progressed(self, episode: str, step: int) -> None:
        now = time.monotonic()
        if self._lost_at is not None:
            waited = now - max(self._lost_at, self._last.get(episode, 0.0))
            self.told.longest = max(self.told.longest, round(waited, 2))
        self._last[episode] = now
        if self._cluster is None or self.node is not None or step < 2:
            return
        self.told.lived, self.node = self._cluster.lived()
        if self._manner == "kill":
            self._cluster.kill(self.node)
        else:
            self._cluster.cut_off(self.node)
        self._lost_at = time.monotonic()


@dataclass(frozen=True)
class Seen:
    """The watcher of an episode."""

    loss: Loss
    episode: str

    def started(self, plan: Plan) -> None: ...

    def finished(self, summary: Mapping[str, Any]) -> None: ...

    def progressed(self, progress: Progress) -> None:
        self.loss.progressed(self.episode, progress.step)


def config(api_base: str = "", **settings: Any) -> Config:
    """Three episodes of scripts, or of scripts and models."""
    retailers: list[dict[str, Any]] = [
        {"name": "adaptive", "policy": "adaptive"},
        {"name": "advertiser", "policy": "advertiser"},
        {"name": "zi", "policy": "zi-constrained"},
    ]
    if api_base:
        options = {"model": "openai/any", "api_base": api_base}
        retailers.append({"name": "model", "policy": "llm", "count": 2, "options": options})
    base = {"environment": "arena", "seed": 5, "rules": RULES, "retailers": retailers}
    return configure({**base, "tournament": {"seeds": 3}, "retailers_per_actor": 2, **settings})


def spoken(body: Body) -> Says:
    """A model that bids for nothing and advertises."""
    bid = "bids" in body["messages"][-1]["content"]
    return Says('{"bids":[]}' if bid else '{"prices":{},"slogan":"new words"}', after=0.2)


def journals(folder: Path) -> dict[str, str]:
    """The journals of a tournament by their episodes."""
    found = sorted(folder.glob("episodes/*/journal.jsonl"))
    return {path.parent.name: journal_digest(path) for path in found}


async def play_here(config: Config, folder: Path) -> None:
    """Play a tournament in this process, without Ray."""
    async with inline(config, ()) as here:
        await Tournament(expand(config), folder, here, 1, Loss().watch).play()


def tell(folder: Path, cluster: Cluster, manner: str, models: bool, **settings: Any) -> Told:
    """Play undisturbed in one process, then on the cluster with a loss, and compare."""
    with Provider(spoken) as provider:
        api_base = provider.api_base if models else ""
        with connected(cluster.address):
            loss = Loss(cluster, manner)
            found = run(
                config(api_base, address=cluster.address, **settings), folder / "lost", loss
            )
        told, asked = loss.told, len(provider.asked)
        told.most_at_once = provider.most_at_once
    with Provider(spoken) as provider:
        calm = config(provider.api_base if models else "", inline=True)
        asyncio.run(play_here(calm, folder / "calm"))
        told.asked = asked, len(provider.asked)
    told.owed = found.owed
    told.same = journals(folder / "calm") == journals(folder / "lost")
    records = [
        (path.parent.name, record)
        for path in sorted((folder / "lost").glob("episodes/*/calls.jsonl"))
        for record in read_calls(path).records
    ]
    told.replied = len({(e, r.key) for e, r in records if r.outcome is Outcome.REPLIED})
    told.lost = sum(record.outcome is Outcome.LOST for _, record in records)
    if manner != "kill":
        cluster.end(loss.node)
    cluster.grow()
    print(folder.name, told, file=sys.stderr)
    return told


@contextmanager
def environment() -> Iterator[None]:
    """What Ray reads of the environment, in this process and its children."""
    with tempfile.TemporaryDirectory(prefix="ma-", dir="/tmp", ignore_cleanup_errors=True) as short:
        os.environ["RAY_TMPDIR"] = short  # sockets live there: a longer path is too long
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16)}
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        Path(short, "ray").mkdir()
        yield


def main(folder: Path) -> None:
    """Tell all stories."""
    with environment():
        cluster = Cluster()
        try:
            stories = {
                "scripts": tell(folder / "scripts", cluster, "kill", models=False),
                "models": tell(folder / "models", cluster, "cut off", models=True),
                "per node": tell(
                    folder / "per-node",
                    cluster,
                    "kill",
                    models=True,
                    language_per_node=True,
                    encoder_per_node=True,
                    caps={"openai/any": {"in_flight": CAP}},
                ),
            }
        finally:
            cluster.close()
    told = {name: asdict(story) for name, story in stories.items()}
    (folder / "told.json").write_text(json.dumps(told, indent=1))


def give_up() -> None:
    """Say what is waited for, and end."""
    for task in [each for each in gc.get_objects() if isinstance(each, asyncio.Task)]:
        if not task.done():
            task.print_stack(limit=3)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Timer(270, give_up).start()
    main(Path(sys.argv[1]))
    os._exit(0)
