"""No request of a key that may read and run keeps others waiting, or fills the memory: each is tried on a server.

The quick cases are those that stopped a server, or nearly; all of them are tried with `--soak`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.attacks.attacks import ATTACKS
from tests.attacks.hostile_client import HostileClient
from tests.attacks.target import Measured, Target, target
from tests.soak import scaled

#: Seconds of processor time of one turn of the loop. A quarter is what is promised; tests run beside others, on
#: processors that they share, where the same work takes twice the time.
DEAF = 0.25
#: Megabytes.
HELD = 200
QUICK = (
    "filter of a tool, checked over MCP",
    "filter of a tool, called",
    "recursive inputs",
    "pattern that looks back",
    "enum times items",
    "alternatives times items",
    "a circle of nothing",
    "sixty conditions",
    "a text many times over",
    "anchors in anchors",
    "a deep body",
    "aliases",
    "fragments",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with target(tmp_path_factory.mktemp("attacked")) as found:
        yield found


@pytest.fixture
def patience() -> float:
    """How much longer than on a quiet machine a fixed piece of work takes here and now."""
    began = time.process_time()
    sum(number * number for number in range(500_000))
    return max(1.0, (time.process_time() - began) / 0.03)


def assert_bounded(found: Measured, patience: float) -> None:
    """The loop was never deaf for long, others had their answers, and the memory held it."""
    assert found.turn < 2 * DEAF * patience, found
    assert max(found.waits["health"], found.waits["list"]) < 2 * DEAF * patience, found
    # A call is a run of its own: it goes through a dozen turns and several commits, each behind those of the attack.
    assert found.waits["call"] < 6 * DEAF * patience, found
    assert found.held < HELD, found


@pytest.mark.parametrize("name", QUICK)
def test_an_attack_keeps_nobody_waiting(server: Target, patience: float, name: str) -> None:
    server.begin()
    ATTACKS[name](server)
    assert_bounded(server.measured(), patience)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in QUICK])
def test_an_attack_of_length_keeps_nobody_waiting(tmp_path: Path, patience: float, name: str) -> None:
    with target(tmp_path) as server:
        server.begin()
        ATTACKS[name](server)
        found = server.measured()
    assert_bounded(found, patience)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_a_hostile_client_makes_up_keeps_nobody_waiting(server: Target, patience: float, seed: int) -> None:
    server.begin()
    client = HostileClient(server, seed, size=500)
    client.attack(12)
    assert client.faults == []
    assert_bounded(server.measured(), patience)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(100, 140))
def test_whatever_a_hostile_client_makes_up_at_length_keeps_nobody_waiting(
    tmp_path: Path, patience: float, seed: int
) -> None:
    with target(tmp_path) as server:
        server.begin()
        client = HostileClient(server, seed, size=100_000)
        client.attack(scaled(30))
        assert client.faults == []
        found = server.measured()
    assert_bounded(found, patience)
