"""The reference server of MCP that exercises every feature: its questions beside parallel reads on the one session."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from tests.conformance.suite import installed

from toolpath import Toolpath

NAME = re.compile(r"- Name: (.*)")


@pytest.fixture(scope="module")
def modules() -> Path:
    return installed()


async def asked_beside_reads(modules: Path, seed: int) -> None:
    """Two forms and several reads in one run, in an order of chance; each form is answered with its own step's name."""
    chance = random.Random(seed)
    server = modules / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    steps = [{"id": f"form_{number}", "tool": "every.trigger-elicitation-request"} for number in range(2)]
    pause = {"duration": chance.choice((0.01, 0.05, 0.2)), "steps": 2}
    steps += [{"id": "slow", "tool": "every.trigger-long-running-operation", "inputs": pause}]
    steps += [{"id": f"sum_{n}", "tool": "every.get-sum", "inputs": {"a": n, "b": seed}} for n in range(4)]
    chance.shuffle(steps)
    async with Toolpath() as tp:
        tp.add_mcp("every", command=str(modules / ".bin" / "node"), args=[str(server), "stdio"])
        run = await tp.start({"steps": steps})
        asked: list[str] = []
        while (result := await run.result()).status == "waiting":
            assert (await tp.info(run.run_id)).status == "waiting"
            for question in result.questions:
                asked.append(question.path)
                await tp.answer(run.run_id, question.path, {"name": f"Ann of {question.path}"})
    assert (result.status, sorted(asked)) == ("completed", ["form_0", "form_1"])
    for step in result.results:
        told = step.output if isinstance(step.output, str) else str(step.output)
        if step.path.startswith("form"):
            assert NAME.findall(told.replace("\\n", "\n")) == [f"Ann of {step.path}"]
        elif step.path.startswith("sum"):
            assert str(int(step.path[-1]) + seed) in told


@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", range(3))
async def test_each_question_beside_reads_is_its_own_steps(modules: Path, seed: int) -> None:
    await asked_beside_reads(modules, seed)


@pytest.mark.soak
@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", range(3, 23))
async def test_each_question_beside_reads_is_its_own_steps_twenty_times(modules: Path, seed: int) -> None:
    await asked_beside_reads(modules, seed)
