"""Lets an agent make a reading list: with a scripted model, or with that of TOOL_PLANNER_LLM where it is set."""

import asyncio
import os
from pathlib import Path

from toolpath import Toolpath
from toolpath.testing.scripted_model import ScriptedModel, done

SCRIPT = ScriptedModel(
    [("library.search", {"word": "tea"})],
    [("library.read", {"book": "tea-1"}), ("library.read", {"book": "tea-2"})],
    [("library.note", {"book": "tea-1", "why": "on tea"}), ("library.note", {"book": "tea-2", "why": "on tea"})],
    done([{"title": "The Book of Tea", "year": 1906}, {"title": "All About Tea", "year": 1935}]),
)


async def main() -> None:
    model = None if os.environ.get("TOOL_PLANNER_LLM") else SCRIPT
    async with Toolpath("runs.db", chat=model) as tp:
        tp.add_module("library_tools.py")
        result = await tp.run("reading_list.plan.yaml", {"topic": "tea"})
        for book in result.outputs or []:
            print(book["year"], book["title"])
        for step in result.results:
            print(f"{step.path:30} {step.tool:20} {step.status}")


if __name__ == "__main__":
    Path("list.txt").unlink(missing_ok=True)
    asyncio.run(main())
