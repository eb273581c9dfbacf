"""Threads that are the first to read a record of a kind, at once: a worker that takes up many runs does that."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from toolpath.model.plan import freeze
from toolpath.notation.plan import read_plan

READERS = """
import json, sys, threading
from toolpath.model.plan import thaw

sys.setswitchinterval(1e-6)
frozen, threads = json.loads(sys.stdin.read()), []
begin = threading.Barrier(12)

def read():
    begin.wait()
    assert thaw(frozen).steps[0].id == "a"

for _ in range(12):
    threads.append(threading.Thread(target=read))
    threads[-1].start()
for each in threads:
    each.join()
"""
PLAN = {
    "steps": [
        {"id": "a", "tool": "t.a", "inputs": {"x": 1}, "retry": {"max_retries": 2}, "fallback": [{"tool": "t.b"}]},
        {"id": "b", "loop": {"over": "{{ a.x }}", "steps": [{"id": "c", "tool": "t.a"}]}},
    ]
}


@pytest.mark.parametrize("process", range(4))
def test_many_threads_may_be_the_first_to_read_a_plan(process: int) -> None:
    del process  # each has its own chance
    frozen = json.dumps(freeze(read_plan(PLAN)))
    done = subprocess.run([sys.executable, "-c", READERS], input=frozen, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
