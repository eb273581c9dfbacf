"""What models really wrote, read by our reader: the score per format. Run it with `python -m`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.records import VARIABLE, folder, read_lines
from benchmarks.report import publish, table
from toolpath.errors import ReadError
from toolpath.model_output.found import ModelText
from toolpath.model_output.model_text import read_model_text

FILES = ("llm_outputs_real.jsonl", "llm_outputs_formats.jsonl")


class ExpectedCall(msgspec.Struct, frozen=True):
    """A call that the record says was written."""

    name: str
    arguments: Any = {}


class PlannedCall(msgspec.Struct, frozen=True):
    """A line of a numbered plan: its number, its tool, and the numbers of the lines it refers to."""

    id: int
    name: str
    depends_on: list[int] = []


class Output(msgspec.Struct, frozen=True):
    """One text of a model. `name`: the text is the arguments alone of a call of this tool."""

    id: str
    format: str
    raw: str
    expected_calls: list[ExpectedCall] | None = None
    expected_plan: list[PlannedCall] | None = None
    name: str = ""
    hard: bool = False


class Score(msgspec.Struct):
    """How the records of one format were read."""

    records: int = 0
    exact: int = 0
    """As expected; where nothing can be expected of a damaged text: an error."""
    errors: int = 0
    """Not as expected, and said so by an error."""
    silent: int = 0
    """Not as expected, and nothing said so."""
    faults: list[str] = []


def outputs(where: Path) -> Iterator[Output]:
    """Every record in the folder."""
    for name in FILES:
        if (where / name).exists():
            yield from read_lines(where / name, Output)


def judge(output: Output, score: Score) -> None:
    """Read one text and count how it went."""
    score.records += 1
    try:
        found = read_model_text(output.raw, tool=output.name)
    except ReadError as error:
        if output.expected_calls is None and output.expected_plan is None:
            score.exact += 1
        else:
            score.errors += 1
            score.faults.append(f"{output.id}: {error.message}")
        return
    if _is_expected(output, found):
        score.exact += 1
    else:
        score.silent += 1
        score.faults.append(f"{output.id}: read as {[(call.tool, call.inputs) for call in found.calls]}"[:300])


def _is_expected(output: Output, found: ModelText) -> bool:
    if output.expected_plan is not None:
        expected = [(str(one.id), one.name, [str(number) for number in one.depends_on]) for one in output.expected_plan]
        return [(call.id, call.tool, list(call.depends_on)) for call in found.calls] == expected
    if output.expected_calls is None:
        return False
    return [(call.tool, call.inputs) for call in found.calls] == [
        (one.name, one.arguments) for one in output.expected_calls
    ]


def scores(where: Path) -> dict[str, Score]:
    """The score of each format; damaged texts count apart."""
    found: dict[str, Score] = {}
    for output in outputs(where):
        judge(output, found.setdefault(output.format + (" (hard)" if output.hard else ""), Score()))
    return found


def main() -> int:
    """Print the scores, and what was not read as expected."""
    where = folder()
    if where is None:
        print(f"Set {VARIABLE} to the folder with the benchmark records.", file=sys.stderr)
        return 2
    found = scores(where)
    total = Score()
    for score in found.values():
        total.records += score.records
        total.exact += score.exact
        total.errors += score.errors
        total.silent += score.silent
    rows = [(name, s.records, s.exact, s.errors, s.silent) for name, s in [*found.items(), ("all", total)]]
    text = table(("format", "records", "exact", "errors", "silent"), rows)
    print(text)
    head = ("format", "records", "exact", "errors", "silent")
    publish("model-outputs", text, [dict(zip(head, row, strict=True)) for row in rows])
    for score in found.values():
        for fault in score.faults:
            print(f"  {fault}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
