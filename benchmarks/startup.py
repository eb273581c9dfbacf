"""What a process costs before it does anything: processor time of an import and of the command's help, and memory."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

RUNS = 11

_COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "import asyncio": ("-c", "import asyncio"),
    "import toolpath": ("-c", "import toolpath"),
    "toolpath --help": ("-m", "toolpath", "--help"),
}

_MAP = """
import asyncio, pathlib, resource
from benchmarks import engine, workloads
def peak():
    # The peak that getrusage gives outlives an exec: it would be the parent's. Linux also tells the process's own.
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
async def main():
    items = workloads.Map()
    async with engine.engine() as toolpath:
        toolpath.add(engine.map_tool(items))
        await toolpath.run(engine.map_plan(items), inputs={"items": [0]})
        before = peak()
        await toolpath.run(engine.map_plan(items), inputs={"items": list(range(items.size))})
        print(peak() - before)
asyncio.run(main())
"""


def measure(runs: int = RUNS) -> dict[str, float]:
    """Command → median milliseconds of processor time, user and system."""
    times: dict[str, list[float]] = {name: [] for name in _COMMANDS}
    for _ in range(runs):
        for name, arguments in _COMMANDS.items():
            times[name].append(_cpu_ms(arguments))
    return {name: statistics.median(values) for name, values in times.items()}


def _cpu_ms(arguments: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1e3


def map_memory() -> float:
    """Megabytes that running the map adds to the peak of a fresh process."""
    done = subprocess.run([sys.executable, "-c", _MAP], check=True, capture_output=True, text=True)
    return float(done.stdout)
