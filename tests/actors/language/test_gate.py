"""Caps shared by several clients, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.language.caps import MINUTE, Caps, Load
from actors.language.gate import LEASE_SECONDS, Gate
from actors.language.lease import Lessee
from actors.language.limits import Demand, Limits
from tests.actors.language.test_limits import Provider, ask
from tests.actors.language.virtual import clock, run

#: Messages to gates are numbered.
_NUMBERS = itertools.count(1)


def renewed(gate: Gate, client: str, demands: Mapping[str, Demand]) -> Mapping[str, Load]:
    """What a gate grants for the newest message of a client."""
    granted, _ = gate.renew(client, next(_NUMBERS), demands, {})
    return granted


class Near:
    """A gate that is reached within some time, or not at all."""

    def __init__(self, gate: Gate, seconds: float = 0.01) -> None:
        self.gate, self.seconds = gate, seconds
        self.asked = 0
        self.reachable = True

    async def renew(
        self,
        client: str,
        number: int,
        demands: Mapping[str, Demand],
        quiet: Mapping[str, float],
    ) -> tuple[dict[str, Load], dict[str, float]]:
        self.asked += 1
        await asyncio.sleep(self.seconds)
        if not self.reachable:
            raise ConnectionError("the gate is gone")
        return self.gate.renew(client, number, demands, quiet)


class Node:
    """A client of a gate."""

    def __init__(self, name: str, caps: Mapping[str, Caps], gate: Near) -> None:
        self.limits = Limits(caps, leased=caps, clock=clock)
        self.lessee = Lessee(name, gate, self.limits)


def wants(in_flight: int, used: int = 0) -> dict[str, Demand]:
    wanted, under_way = Load(in_flight, in_flight, 0), Load(used, used, 0)
    return {"model": Demand(under_way, wanted)}


def test_permits_are_leased_in_blocks_and_never_more_than_there_are() -> None:
    gate = Gate({"model": Caps(in_flight=64)}, lambda: 0.0)
    first = renewed(gate, "a", wants(3))
    assert first["model"].in_flight == 4
    second = renewed(gate, "b", wants(1_000))
    assert second["model"].in_flight == 60


def test_a_newcomer_comes_to_its_share_when_the_others_renew() -> None:
    gate = Gate({"model": Caps(in_flight=10)}, lambda: 0.0)
    assert renewed(gate, "a", wants(50))["model"].in_flight == 10
    assert renewed(gate, "b", wants(50))["model"].in_flight == 0
    assert renewed(gate, "a", wants(50, used=7))["model"].in_flight == 5
    assert renewed(gate, "b", wants(50))["model"].in_flight == 3  # seven are still under way
    assert renewed(gate, "a", wants(50, used=5))["model"].in_flight == 5
    assert renewed(gate, "b", wants(50, used=3))["model"].in_flight == 5


def test_a_message_that_a_newer_one_has_overtaken_is_not_heard() -> None:
    gate = Gate({"model": Caps(in_flight=1)}, lambda: 0.0)
    newest, _ = gate.renew("a", 2, wants(1, used=1), {})
    overtaken, _ = gate.renew("a", 1, wants(1), {})
    assert newest["model"].in_flight == 1
    assert overtaken == {}
    assert renewed(gate, "b", wants(1))["model"].in_flight == 0  # that of `a` is still under way


def test_the_permits_of_a_client_that_died_return() -> None:
    now = [0.0]
    caps = Caps(in_flight=10, requests_per_minute=20)
    gate = Gate({"model": caps}, lambda: now[0])
    renewed(gate, "dead", wants(10))
    renewed(gate, "dead", wants(10, used=10))
    now[0] = LEASE_SECONDS - 1
    assert renewed(gate, "alive", wants(20))["model"].in_flight == 0
    now[0] = LEASE_SECONDS
    granted = renewed(gate, "alive", wants(20))["model"]
    assert (granted.in_flight, granted.requests) == (10, 10)  # what it sent counts for its minute
    now[0] = LEASE_SECONDS + MINUTE
    assert renewed(gate, "alive", wants(20))["model"].requests == 20


def test_where_there_are_fewer_permits_than_clients_each_has_its_turn() -> None:
    gate = Gate({"model": Caps(in_flight=2)}, lambda: 0.0)
    had = dict.fromkeys("abcde", 0)
    for _ in range(40):
        for name in had:
            had[name] += renewed(gate, name, wants(1))["model"].in_flight
    assert min(had.values()) >= max(had.values()) - 2 > 0


Renewals = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.integers(0, 40),  # wanted
        st.floats(0, 1),  # how much of what was granted is used at the next renewal
        st.floats(0, 6),  # seconds since the last renewal of anyone
    ),
    max_size=60,
)


@given(Renewals, st.integers(1, 30))
def test_live_leases_never_add_up_to_more_than_the_cap(
    renewals: list[tuple[str, int, float, float]], cap: int
) -> None:
    now = [0.0]
    gate = Gate({"model": Caps(in_flight=cap)}, lambda: now[0])
    leases: dict[str, tuple[int, float, int]] = {}  # granted, until, used
    for name, wanted, part, seconds in renewals:
        now[0] += seconds
        granted, until, _ = leases.get(name, (0, 0.0, 0))
        used = int(granted * part) if until > now[0] else 0
        told = renewed(gate, name, wants(max(wanted, used), used))["model"].in_flight
        leases[name] = (told, now[0] + LEASE_SECONDS, used)
        live = [max(g, u) for g, until, u in leases.values() if until > now[0]]
        assert sum(live) <= cap


def test_several_nodes_keep_the_caps_together_and_all_are_served() -> None:
    caps = {"model": Caps(in_flight=10)}
    provider = Provider(latency=1)

    async def main() -> tuple[float, int]:
        gate = Near(Gate(caps, clock))
        nodes = [Node(f"node{n}", caps, gate) for n in range(3)]
        asks = [ask(node.limits, provider) for node in nodes for _ in range(100)]
        await asyncio.gather(*asks)
        took = clock()
        for node in nodes:
            await node.lessee.close()
        return took, gate.asked

    took, asked = run(main())
    assert provider.most <= 10
    assert took < 1.5 * 300 / 10
    assert asked < 300


@pytest.mark.parametrize(
    "caps", [Caps(requests_per_minute=30), Caps(tokens_per_minute=3_000, in_flight=50)]
)
def test_no_minute_of_the_cluster_holds_more_than_is_allowed(caps: Caps) -> None:
    provider = Provider(latency=1)

    async def main() -> None:
        gate = Near(Gate({"model": caps}, clock))
        nodes = [Node(f"node{n}", {"model": caps}, gate) for n in range(3)]
        asks = [ask(node.limits, provider, tokens=100) for node in nodes for _ in range(40)]
        await asyncio.gather(*asks)

    run(main())
    sent = sorted(provider.sent)
    assert len(sent) == 120
    assert all(
        beyond - first >= MINUTE - 1e-6 for first, beyond in zip(sent, sent[30:], strict=False)
    )
    assert sent[-1] < 6 * MINUTE


def test_a_client_without_a_gate_to_reach_sends_nothing_beyond_its_lease() -> None:
    caps = {"model": Caps(in_flight=2)}
    provider = Provider(latency=1)

    async def main() -> None:
        gate = Near(Gate(caps, clock))
        node = Node("node", caps, gate)
        asks = asyncio.gather(*(ask(node.limits, provider) for _ in range(100)))
        await asyncio.sleep(5)
        gate.reachable = False
        await asyncio.sleep(30)
        during = max(provider.sent)
        assert during < 5 + LEASE_SECONDS
        gate.reachable = True
        await asks
        assert provider.most == 2

    run(main())


def test_what_a_client_does_not_say_that_it_uses_it_does_not_use_before_it_is_answered() -> None:
    """Else it would begin under the old lease what the gate is just giving to another."""
    caps = {"model": Caps(in_flight=1)}
    provider = Provider(latency=1.0)

    async def main() -> None:
        gate = Near(Gate(caps, clock), seconds=0.3)
        nodes = [Node(name, caps, gate) for name in "ab"]
        asks = [ask(node.limits, provider) for node in nodes for _ in range(5)]
        await asyncio.gather(*asks)

    run(main())
    assert provider.most == 1
    assert len(provider.sent) == 10


def test_a_gate_whose_answers_are_late_goes_on_counting_what_is_under_way() -> None:
    caps = {"model": Caps(in_flight=1)}
    provider = Provider(latency=60.0)

    class Late(Near):
        """Hears at once, and answers one client so late that the lease is over by then."""

        async def renew(
            self,
            client: str,
            number: int,
            demands: Mapping[str, Demand],
            quiet: Mapping[str, float],
        ) -> tuple[dict[str, Load], dict[str, float]]:
            answer = await super().renew(client, number, demands, quiet)
            if client == "a" and 2 < clock() < 40:
                await asyncio.sleep(3 * LEASE_SECONDS)
            return answer

    async def main() -> None:
        gate = Late(Gate(caps, clock))
        nodes = [Node(name, caps, gate) for name in "ab"]
        await asyncio.gather(*(ask(node.limits, provider) for node in nodes for _ in range(2)))

    run(main())
    assert provider.most == 1
    assert len(provider.sent) == 4


def test_what_one_client_is_told_of_a_provider_all_hold_to() -> None:
    caps = {"model": Caps(in_flight=8)}

    async def main() -> float:
        gate = Near(Gate(caps, clock))
        one, other = Node("one", caps, gate), Node("other", caps, gate)
        provider = Provider(latency=2)
        async with one.limits.slot(one.limits.ticket("p", "model")) as slot:
            slot.rejected(60)
        held = asyncio.ensure_future(ask(one.limits, provider))
        await asyncio.sleep(5)
        ended = await ask(other.limits, provider)
        again = await ask(other.limits, provider)
        held.cancel()
        return min(ended, again)

    assert run(main()) > 60


def test_a_client_that_comes_back_after_a_rest_is_served_at_once() -> None:
    caps = {"model": Caps(in_flight=8)}

    async def main() -> list[float]:
        node = Node("node", caps, Near(Gate(caps, clock)))
        provider = Provider(latency=1)
        waits = []
        for rest in (0, 0.1, 3, 30, 300):
            await asyncio.sleep(rest)
            began = clock()
            await ask(node.limits, provider)
            waits.append(clock() - began)
        return waits

    assert all(wait < 1.2 for wait in run(main()))
