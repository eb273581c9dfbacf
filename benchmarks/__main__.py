"""`python -m benchmarks [PART…]`: measure, print, write the page and its JSON files."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from benchmarks.records import folder

#: Modules of the parts. Only those that are asked for are imported: what a process holds, it searches for garbage.
PARTS = {
    "engine": "engine",
    "agents": "agents",
    "agent-tasks": "agent_tasks",
    "injections": "injections",
    "users": "users",
    "counted": "counted",
    "postgres": "postgres",
    "service": "service",
    "plans": "real_plans",
    "search": "search",
    "planning": "planning",
    "requests": "requests",
    "outputs": "model_outputs",
    "success": "success",
    "page": "page",
}


def main(names: list[str]) -> int:
    """Run the parts named, or all for which there is data."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"There is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    # A server is not looked for: who has one says so.
    alone = ("engine", "agents", "users", "counted", "service", "requests")
    chosen = names or [name for name in PARTS if name in alone or (name not in ("postgres", "injections") and folder())]
    if not names and _part("injections").is_available():
        chosen.append("injections")
    return max(_part(name).main() for name in chosen)


def _part(name: str) -> Any:
    return import_module(f"benchmarks.{PARTS[name]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
