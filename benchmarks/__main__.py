"""`python -m benchmarks [PART…]`: measure, print, write the page and its JSON files."""

from __future__ import annotations

import sys

from benchmarks import (
    agent_tasks,
    agents,
    counted,
    engine,
    injections,
    model_outputs,
    planning,
    postgres,
    real_plans,
    search,
    service,
    success,
    users,
)
from benchmarks.records import folder

PARTS = {
    "engine": engine.main,
    "agents": agents.main,
    "agent-tasks": agent_tasks.main,
    "injections": injections.main,
    "users": users.main,
    "counted": counted.main,
    "postgres": postgres.main,
    "service": service.main,
    "plans": real_plans.main,
    "search": search.main,
    "planning": planning.main,
    "outputs": model_outputs.main,
    "success": success.main,
}


def main(names: list[str]) -> int:
    """Run the parts named, or all for which there is data."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"There is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    # A server is not looked for: who has one says so.
    alone = ("engine", "agents", "users", "counted", "service")
    chosen = names or [name for name in PARTS if name in alone or (name not in ("postgres", "injections") and folder())]
    if not names and injections.is_available():
        chosen.append("injections")
    return max(PARTS[name]() for name in chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
