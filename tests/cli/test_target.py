"""What a command is about is read once, however often it is needed."""

from __future__ import annotations

from pathlib import Path

from toolpath import Toolpath, tool
from toolpath.cli.target import find_target

PLAN = "name: p\nsteps:\n  - {id: a, tool: upper, inputs: {text: hello}}\n"


@tool(effect="read")
def upper(text: str) -> str:
    return text.upper()


async def test_a_plan_that_was_found_runs_when_its_file_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(PLAN)
    async with Toolpath() as tp:
        tp.add(upper)
        target = await find_target(tp, str(path))
        path.unlink()
        assert (await tp.run(target.runnable({}))).outputs == {"a": "HELLO"}
