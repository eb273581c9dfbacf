"""`toolpath schedules …`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.cli_cases import Command

TEMPLATE = """
name: Buy
steps:
  - {id: bought, tool: shop.order, inputs: {item: "<<item>>", count: 1}}
outputs: "{{ bought.number }} of <<item>>"
"""
BUY = ("schedules", "create", "Buy", "-i", "item=tea")


@pytest.fixture
def buy(toolpath: Command, shop: Path) -> None:
    (shop / "buy.plan.yaml").write_text(TEMPLATE)
    assert toolpath("templates", "save", "buy.plan.yaml").code == 0


@pytest.mark.usefixtures("buy")
def test_a_schedule_is_kept_listed_paused_resumed_run_and_forgotten(toolpath: Command, shop: Path) -> None:
    made = toolpath(*BUY, "--cron", "0 9 * * MON-FRI", "--zone", "Europe/Berlin", "--json").json
    assert (made["title"], made["cron"], made["time_zone"]) == ("Buy", "0 9 * * MON-FRI", "Europe/Berlin")
    (listed,) = toolpath("schedules", "list", "--json").json
    assert listed["schedule_id"] == made["schedule_id"]
    assert "is paused" in toolpath("schedules", "pause", made["schedule_id"]).err
    assert "next_at" not in toolpath("schedules", "show", made["schedule_id"], "--json").json
    assert "is due 2" in toolpath("schedules", "resume", made["schedule_id"]).err
    ran = toolpath("schedules", "run", made["schedule_id"], "--json")
    assert (ran.code, ran.json["outputs"]) == (0, "7 of tea")
    assert (shop / "orders.txt").read_text() == "tea 1\n"
    (tick,) = toolpath("schedules", "show", made["schedule_id"], "--json").json["ticks"]
    assert (tick["by_hand"], tick["outcome"]) == (True, "started")
    assert toolpath("schedules", "delete", made["schedule_id"]).code == 0
    assert toolpath("schedules", "list", "--json").json == []


@pytest.mark.usefixtures("buy")
def test_a_time_that_comes_once_is_of_its_zone(toolpath: Command) -> None:
    made = toolpath(*BUY, "--at", "2090-01-31T09:00", "--zone", "Asia/Tokyo")
    assert "is due 2090-01-31 00:00:00Z" in made.err


@pytest.mark.usefixtures("buy")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((*BUY,), 3, "cron line or one time"),
        ((*BUY, "--cron", "often"), 3, "cannot be read"),
        ((*BUY, "--cron", "* * * * *", "--zone", "Europe/Berln"), 3, "Did you mean 'Europe/Berlin'"),
        ((*BUY, "--at", "soon"), 2, "is no time"),
        ((*BUY, "--at", "2001-01-01T00:00"), 3, "is over"),
        ((*BUY, "--cron", "* * * * *", "--overlap", "alow"), 2, "Did you mean 'allow'"),
        (("schedules", "create", "Buy", "--cron", "* * * * *"), 3, "needs the input 'item'"),
        (("schedules", "create", "Bye", "--cron", "* * * * *"), 2, "no template 'Bye'"),
        (("schedules", "show", "sched_1"), 2, "There is no schedule"),
    ],
)
def test_what_can_be_no_schedule_is_said(toolpath: Command, arguments: tuple[str, ...], code: int, said: str) -> None:
    ran = toolpath(*arguments)
    assert (ran.code, said in ran.err) == (code, True), ran.err
    assert toolpath("schedules", "list", "--json").json == []
