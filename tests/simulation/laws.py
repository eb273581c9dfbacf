"""Every law of runs of random structures, by its name: each gives what does not hold, for one number.

As a program it tries many: `laws.py schedules --first 0 --count 20000`. It prints a line for each violation when it is
found and a line of JSON at its end, and tells on stderr how far it is, so that one that is stopped has told what it
knew.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator

from agent_lives import of_agents
from budgets import of_budgets
from caches import of_caches
from doubts import of_doubts
from journeys import of_journeys
from moves import of_cuts, of_forks, of_retries, of_schedules, of_stops
from questions import of_questions
from replans import of_replans
from wide import of_wide

LAWS: dict[str, Callable[[int], Iterator[str]]] = {
    "schedules": of_schedules,
    "cuts": of_cuts,
    "retries": of_retries,
    "forks": of_forks,
    "stops": of_stops,
    "journeys": of_journeys,
    "replans": of_replans,
    "doubts": of_doubts,
    "budgets": of_budgets,
    "caches": of_caches,
    "questions": of_questions,
    "agents": of_agents,
    "wide": of_wide,
}


def violations(law: Callable[[int], Iterator[str]], seeds: Iterable[int]) -> Iterator[str]:
    """What does not hold of these structures, a line for each that violates the law, as soon as it is known."""
    for seed in seeds:
        try:
            fault = next(law(seed), None)
        except Exception:  # what it raised is what is found
            fault = traceback.format_exc(limit=-3)
        if fault is not None:
            yield f"structure({seed}): {fault}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("law", choices=LAWS)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    wanted = parser.parse_args()
    seeds = range(wanted.first, wanted.first + wanted.count)
    count = 0
    for fault in violations(LAWS[wanted.law], _told(seeds)):
        count += 1
        sys.stdout.write(f"{fault}\n")
        sys.stdout.flush()
    seconds = round(time.process_time(), 1)
    sys.stdout.write(json.dumps({**vars(wanted), "violations": count, "seconds": seconds}) + "\n")


def _told(seeds: range, each: int = 100) -> Iterator[int]:
    """The seeds; after so many of them a line on stderr says how far it is."""
    for tried, seed in enumerate(seeds):
        if tried and tried % each == 0:
            sys.stderr.write(f"{tried} of {len(seeds)}, next is {seed}\n")
        yield seed


if __name__ == "__main__":
    main()
