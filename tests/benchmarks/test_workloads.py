"""The floor gives right results, and the bounds that schedules are held against are bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.report import publish, table

from benchmarks import floor, workloads


@pytest.mark.parametrize("graph", [workloads.chain(20), workloads.fan(20), workloads.layered(200, width=7)])
async def test_the_floor_runs_each_graph_to_its_right_result(graph: workloads.Graph) -> None:
    assert await floor.run_graph(graph, [graph.tool(step) for step in range(graph.size)]) == graph.expected


async def test_the_floor_maps_all_items() -> None:
    items = workloads.Map(500, limit=7)
    assert await floor.run_map(items) == items.expected


async def test_the_durable_floor_keeps_every_result(tmp_path: Path) -> None:
    graph, journal = workloads.fan(30), floor.Journal(tmp_path / "floor.db")
    result = await floor.run_graph(graph, [graph.tool(step) for step in range(graph.size)], journal.keep)
    assert result == graph.expected
    assert journal.count() == graph.size
    journal.close()


def test_no_schedule_beats_the_longest_path_or_the_work_per_slot() -> None:
    graph = workloads.napping(5)
    assert graph.naps is not None
    best = workloads.best_schedule(graph, 5, tries=50)
    assert best >= max(workloads.longest_path(graph), sum(graph.naps) / 5)
    assert workloads.best_schedule(graph, graph.size, tries=0) == pytest.approx(workloads.longest_path(graph))


def test_results_go_between_their_markers_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- speed -->\nold\n<!-- /speed -->\nafter\n")
    text = table(["what", "µs"], [("a|b", 1234), ("c", 0.12345)])
    publish("speed", text, {"x": 1}, page=page, results=tmp_path)
    rows = "| what | µs |\n| :-- | --: |\n| a\\|b | 1,234 |\n| c | 0.123 |"
    assert page.read_text() == f"before\n<!-- speed -->\n{rows}\n<!-- /speed -->\nafter\n"
    assert (tmp_path / "speed.json").read_text() == '{\n "x": 1\n}\n'
    with pytest.raises(ValueError, match="no place for growth"):
        publish("growth", "", {}, page=page, results=tmp_path)
