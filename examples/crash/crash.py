"""Starts a run in a process of its own, kills that process with `kill -9` while it works, and goes on with the run."""

import os
import subprocess
import sys
import time
from pathlib import Path

TOOLPATH = [sys.executable, "-m", "toolpath"]


def main() -> None:
    for left in ("printing", "ledger.txt"):
        Path(left).unlink(missing_ok=True)

    run = subprocess.Popen([*TOOLPATH, "run", "payday.plan.yaml", "--quiet"])
    while not Path("printing").exists():
        assert run.poll() is None, "the run ended before it could be killed"
        time.sleep(0.01)
    run.kill()
    print(f"killed: exit code {run.wait()}")
    print(f"paid so far: {len(Path('ledger.txt').read_text().splitlines())}")

    hurry = {**os.environ, "HURRY": "1"}
    resumed = subprocess.run(
        [*TOOLPATH, "runs", "resume", "last", "--quiet"], env=hurry, check=True, capture_output=True, text=True
    )
    print(f"resumed: {resumed.stdout.strip()}")
    print(f"paid in all: {len(Path('ledger.txt').read_text().splitlines())}")


if __name__ == "__main__":
    main()
