"""`toolpath demo`: makes the demo's folder, runs its plan as any plan is run, and shows its outcome."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from pathlib import Path

from toolpath.cli.exits import ExitCode, UsageError, of_result, writing
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output
from toolpath.cli.project.demo.folder import Demo, make_folder, missing_servers
from toolpath.cli.project.demo.page import team_page
from toolpath.cli.runs.execution import follow, report
from toolpath.cli.session import CommandSession, perform


def show_demo(options: GlobalOptions, into: str) -> int:
    """Run the demo in that folder; returns the exit code."""
    if missing := missing_servers():
        raise UsageError(
            f"The demo works with real MCP servers, and these are not installed: {', '.join(missing)}.",
            hint="pip install 'toolpath[demo]'",
        )
    output = Output(options)
    with writing(into):
        demo = make_folder(into)
    output.say(f"A plan, its tools and a repository are in {_near(demo.folder)}. The plan: {_near(demo.plan)}")
    output.say("Starting four MCP servers (git, time, fetch, excel) and running it ...")
    began = time.perf_counter()
    settled = GlobalOptions(config=str(demo.settings), json=options.json, quiet=options.quiet, verbose=options.verbose)

    async def work(session: CommandSession) -> int:
        with team_page() as address:
            run = await session.tp.start(demo.plan, demo.inputs(address))
            result, _ = await follow(session.tp, run.run_id, session.output)
        if options.json or not result.success:
            report(result, session.output)
            return of_result(result)
        session.output.say()
        session.output.write(_read(demo.report))
        _tell_next(demo, result.run_id, time.perf_counter() - began, session.output)
        return ExitCode.DONE

    return perform(settled, work, begins=True)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _tell_next(demo: Demo, run_id: str, took: float, output: Output) -> None:
    program = _program(demo.folder)
    written = f"{_near(demo.report)} and {_near(demo.workbook)} were written"
    output.say()
    output.say(f"That took {took:.1f} s; {written}. Try next:", "bold")
    output.say(f"  cd {shlex.quote(_near(demo.folder))}")
    output.say(f"  {program} runs show {run_id}")
    output.say(f"  {program} explain report.plan.yaml")
    output.say(f"  {program} tools call time.get_current_time -i timezone=Asia/Tokyo")


def _program(folder: Path) -> str:
    given = Path(sys.argv[0])
    if shutil.which("toolpath") or given.name != "toolpath" or not given.exists():
        return "toolpath"
    return shlex.quote(os.path.relpath(given.absolute(), folder))


def _near(path: Path) -> str:
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
