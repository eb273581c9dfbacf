"""What an expression costs beside the same work written by hand: `python -m benchmarks.bench_expressions`.

Each pair runs in this one process, in turns, and the best round of each counts, so that the ratios mean something on
a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from toolpath.expressions.compile import compile_value
from toolpath.expressions.names import Frame, Names

NAMES = Names(
    flow="chain",
    ids={"writer": "writer", "rows": "rows", **{f"s{i}": f"s{i}" for i in range(4_000)}},
    shared={},
    in_chain=True,
    variables=frozenset({"x"}),
)
WRITER = {"_id": "a1", "name": "Ann", "address": {"lines": ["first", "second"]}}
ROWS = [{"value": i % 100, "name": f"n{i}"} for i in range(1_000)]

Run = Callable[[], Any]


def frame(size: int) -> Frame:
    state = {f"k{i}": i for i in range(size)} | {"x": {"y": [1, 2]}}
    return Frame(inputs={}, run={}, outputs={"writer": WRITER, "rows": ROWS}, state=state)


def timed(run: Run, times: int) -> float:
    begun = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - begun) / times * 1e6


def pair(name: str, ours: Run, by_hand: Run, times: int) -> None:
    """Print microseconds of both and their ratio."""
    rounds = [(timed(ours, times), timed(by_hand, times)) for _ in range(7)]
    one, other = (min(found[side] for found in rounds) for side in (0, 1))
    print(f"{name:<44}{one:>10.2f} µs{other:>10.2f} µs by hand{one / other:>8.1f} x")


def evaluator(source: Any, at: Frame) -> Run:
    compiled = compile_value(source, NAMES)
    return lambda: compiled.evaluate(at)


def evaluation() -> None:
    for size in (10, 100_000):
        at = frame(size)
        outputs, state = at.outputs, at.state
        pair(
            f"path, state of {size}",
            evaluator("{{ writer.address.lines[0] }}", at),
            lambda o=outputs: o["writer"]["address"]["lines"][0],
            50_000,
        )
        pair(f"variable, state of {size}", evaluator("{{ x.y[0] }}", at), lambda s=state: s["x"]["y"][0], 50_000)
    at = frame(10)
    outputs = at.outputs
    pair(
        "inputs of a step",
        evaluator({"authorId": "{{ writer._id }}", "title": "Hello"}, at),
        lambda: {"authorId": outputs["writer"]["_id"], "title": "Hello"},
        50_000,
    )
    pair(
        "text",
        evaluator("By {{ writer.name }} ({{ writer._id }})", at),
        lambda: f"By {outputs['writer']['name']} ({outputs['writer']['_id']})",
        50_000,
    )
    pair(
        "filter of 1,000 objects",
        evaluator("{{ rows | filter(lambda r: r.value > 50) }}", at),
        lambda: [row for row in outputs["rows"] if row["value"] > 50],
        300,
    )
    pair(
        "filter and map of 1,000 objects",
        evaluator("{{ rows | filter(lambda r: r.value > 50) | map(attribute='name') }}", at),
        lambda: [row["name"] for row in [row for row in outputs["rows"] if row["value"] > 50]],
        300,
    )


def compilation() -> None:
    best = [float("inf")] * 3
    for turn in range(5):
        # New sources each time: nothing comes from the cache.
        names = [f"s{turn * 700 + i}" for i in range(700)]
        for place, sources in enumerate(
            (
                [{"a": f"{{{{ {name} }}}}", "b": name} for name in names],
                [{"a": f"{{{{ {name}.items[0].id }}}}", "b": f"By {{{{ {name}.name }}}}"} for name in names],
                [f"{{{{ rows | filter(lambda r: r.value > {turn}.{i}) | length }}}}" for i in range(700)],
            )
        ):
            begun = time.perf_counter()
            for source in sources:
                compile_value(source, NAMES)
            best[place] = min(best[place], (time.perf_counter() - begun) / len(sources) * 1e6)
    for name, spent in zip(("one plain path", "two deeper paths", "a filter with a lambda"), best, strict=True):
        print(f"{'compile ' + name:<44}{spent:>10.0f} µs")


if __name__ == "__main__":
    evaluation()
    compilation()
