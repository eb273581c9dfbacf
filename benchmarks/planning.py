"""The planner that needs no model on public requests with gold plans, beside a floor of BM25 and schema."""

from __future__ import annotations

import hashlib
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.linked import linked_tasks
from benchmarks.records import VARIABLE, folder, read_lines, read_tool_sets
from benchmarks.report import publish, table
from toolpath.catalog.search import search
from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, Origin, Plan
from toolpath.planner.offline.confidence import CONFIDENT
from toolpath.planner.offline.mentions import mentions
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.offline.slots import slots_of
from toolpath.planner.scoring.gold import Task, catalog_of, gold_calls, made_calls
from toolpath.planner.scoring.intervals import wilson
from toolpath.planner.scoring.score import Calibration, Score, calibration, score_plan

DATA_SETS = (
    "bfcl_single",
    "bfcl_irrelevance",
    "bfcl_exec",
    "nestful_v1",
    "nestools",
    "sealtools",
    "toolalpaca",
    "restbench",
    "workbench",
)
_CATEGORY = re.compile(r"bfcl-([a-z_]+?)_\d")
Planner = Callable[[str, Catalog], Plan]


def group_of(task: Task, data_set: str) -> str:
    """What the task is counted under."""
    found = _CATEGORY.match(task.id)
    return f"bfcl {found.group(1)}" if data_set.startswith("bfcl") and found else data_set


class Result(msgspec.Struct, frozen=True):
    """What a planner made of a task."""

    task: Task
    group: str
    score: Score | None
    """None: it refused."""
    confidence: float
    milliseconds: float
    plan: Plan | None = None

    @property
    def is_right(self) -> bool:
        """A right plan, or a right refusal."""
        if self.score is None:
            return not self.task.gold_plan
        return bool(self.task.gold_plan) and self.score.is_whole


def tools_of(task: Task, where: Path) -> Catalog:
    """The tools of a task."""
    return catalog_of(task.tools if task.tools is not None else read_tool_sets(where).get(task.toolset or "", ()))


def tasks(where: Path, data_set: str, every: int = 1) -> Iterator[Task]:
    """Every n-th task whose gold is sound and whose request is one text."""
    for number, task in enumerate(read_lines(where / f"plans_{data_set}.jsonl", Task)):
        if (
            number % every == 0
            and task.is_sound
            and (task.tools or (task.toolset and task.toolset in read_tool_sets(where)))
        ):
            yield task


def run(task: Task, group: str, planner: Planner, catalog: Catalog) -> Result:
    """Plan one task and score it."""
    began = time.perf_counter()
    try:
        plan = planner(task.query, catalog)
    except NoToolFits:
        return Result(task, group, None, 0.0, (time.perf_counter() - began) * 1000)
    spent = (time.perf_counter() - began) * 1000
    gold, made = gold_calls(task, catalog), made_calls(plan)
    score = score_plan(made, gold, with_arguments=task.arguments != "unlabelled")
    return Result(task, group, score, plan.confidence or 0.0, spent, plan)


def floor(request: str, catalog: Catalog) -> Plan:
    """BM25 and schema: the best tool, its required parameters filled in order by what has their type."""
    hits = search(catalog, request, limit=1)
    if not hits:
        raise NoToolFits("No word of the request is known to a tool.")
    left = [one for one in mentions(request) if one.kind != "phrase"]
    inputs: dict[str, Any] = {}
    for slot in slots_of(hits[0].tool.input_schema):
        numeric = slot.type in ("integer", "number")
        one = next((one for one in left if (one.kind == "number") == numeric), None)
        if slot.required and one is not None:
            inputs[slot.name] = one.value
            left.remove(one)
    return Plan(
        steps=(Call(id="step", tool=hits[0].tool.key, inputs=inputs),), origin=Origin(request=request, confidence=0.5)
    )


def measure(where: Path, planner: Planner, data_sets: tuple[str, ...] = DATA_SETS, every: int = 1) -> list[Result]:
    """Every task of the data sets."""
    results = []
    shared: dict[str, Catalog] = {}
    for data_set in data_sets:
        for task in tasks(where, data_set, every):
            if task.toolset is None:
                catalog = tools_of(task, where)
            else:
                catalog = shared.setdefault(task.toolset, tools_of(task, where))
            results.append(run(task, group_of(task, data_set), planner, catalog))
    return results


def measure_linked(planner: Planner) -> list[Result]:
    """The generated requests for steps that read one another."""
    return [run(task, f"generated {family}", planner, catalog) for family, task, catalog in linked_tasks()]


def mean(values: list[float]) -> float | None:
    """The mean, or None of nothing."""
    return sum(values) / len(values) if values else None


def rows(results: list[Result], floors: list[Result]) -> list[list[object]]:
    """A line for each group."""
    grouped: dict[str, list[Result]] = defaultdict(list)
    below: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        grouped[result.group].append(result)
    for result in floors:
        below[result.group].append(result)
    lines: list[list[object]] = []
    for group, found in grouped.items():
        scores = [one.score for one in found if one.score is not None]
        sure = [one.is_right for one in found if one.score is not None and one.confidence >= CONFIDENT]
        lines.append(
            [
                group,
                len(found),
                mean([float(one.is_right) for one in found]),
                mean([float(one.is_right) for one in below[group]]),
                sum(one.are_tools_right for one in scores) / len(found),
                mean([one.tool_f1 for one in scores]),
                mean([one.arguments for one in scores]),
                mean([one.edge_f1 for one in scores]),
                sum(one.score is None for one in found) / len(found),
                len(sure),
                mean([float(one) for one in sure]),
                sorted(one.milliseconds for one in found)[len(found) // 2],
            ]
        )
    return lines


def half_of(task: Task) -> int:
    """Which half of the records the task is in, 0 or 1."""
    return hashlib.sha256(task.id.encode()).digest()[0] & 1


HALVES = [
    "data set",
    "tasks of each half",
    "right, first",
    "right, second",
    "95% interval of the first",
    "of the second",
    "tools right, first",
    "tools right, second",
]


def interval_of(results: list[Result]) -> str:
    """The interval that the share of right ones lies in, in percent."""
    found = wilson(sum(one.is_right for one in results), len(results))
    return f"{100 * found.low:.0f} to {100 * found.high:.0f}"


def halves(results: list[Result]) -> list[list[object]]:
    """What is right in each half, for groups of a hundred tasks or more."""
    grouped: dict[str, tuple[list[Result], list[Result]]] = defaultdict(lambda: ([], []))
    for result in results:
        grouped[result.group][half_of(result.task)].append(result)
    return [
        [
            group,
            " and ".join(str(len(half)) for half in both),
            *(mean([float(one.is_right) for one in half]) for half in both),
            *(interval_of(half) for half in both),
            *(mean([float(one.score is not None and one.score.are_tools_right) for one in half]) for half in both),
        ]
        for group, both in grouped.items()
        if sum(map(len, both)) >= 100
    ]


HEAD = [
    "data set",
    "tasks",
    "right",
    "floor",
    "tools right",
    "tool F1",
    "arguments",
    "edge F1",
    "refused",
    "confident",
    "right of these",
    "median ms",
]


def calibration_of(results: list[Result]) -> Calibration:
    """Of all plans made."""
    return calibration(
        [(one.confidence, one.is_right) for one in results if one.score is not None], threshold=CONFIDENT
    )


def main() -> int:
    """Measure and publish."""
    where = folder()
    if where is None:
        print(f"Set {VARIABLE} to the folder of the records.", file=sys.stderr)
        return 2
    results = measure(where, plan_offline)
    floors = measure(where, floor)
    generated = measure_linked(plan_offline)
    lines = rows([*results, *generated], [*floors, *measure_linked(floor)])
    known, of_linked = calibration_of(results), calibration_of(generated)
    note = (
        f"Calibration error {known.error:.3f}; {known.confident:,} plans with a confidence of {CONFIDENT} or more, "
        f"{known.right_of_confident:.1%} of them right. Of the generated requests, whose steps read one another: "
        f"{of_linked.error:.3f}, {of_linked.confident:,} and {of_linked.right_of_confident:.1%}."
    )
    text = f"{table(HEAD, lines)}\n\n{note}"
    publish(
        "planning",
        text,
        {
            "rows": [dict(zip(HEAD, line, strict=True)) for line in lines],
            "calibration": msgspec.to_builtins(known),
            "calibration_of_generated": msgspec.to_builtins(of_linked),
        },
    )
    split = table(HALVES, halves(results))
    publish("halves", split, [dict(zip(HALVES, line, strict=True)) for line in halves(results)])
    print(f"{text}\n\n{split}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
