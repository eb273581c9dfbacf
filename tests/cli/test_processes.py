"""The command in processes of its own: start-up, signals, terminals, death."""

from __future__ import annotations

import contextlib
import os
import pty
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
from cli_cases import spawned
from tests.patience import PATIENCE

from toolpath.values import Json


def finished(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out.decode(), err.decode()


def until_there(path: Path, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.01)


def last_result(shop: Path) -> Json:
    _, out, _ = finished(spawned(shop, "runs", "show", "last", "--json"))
    return msgspec.json.decode(out)


def test_help_needs_little_time_and_loads_nothing_heavy() -> None:
    code = "import sys; from toolpath.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "heavy = {'toolpath.app', 'mcp', 'pydantic', 'rich', 'jinja2', 'msgspec'} & set(sys.modules)\n"
    code += "sys.exit(', '.join(sorted(heavy)) or 0)"
    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0, done.stderr
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert best < 0.3


def test_an_interrupted_run_ends_with_130_and_can_go_on(shop: Path) -> None:
    process = spawned(shop, "run", "shop.slow", "-i", "mark=mark")
    until_there(shop / "mark", process)
    process.send_signal(signal.SIGINT)
    code, out, err = finished(process)
    assert code == 130
    assert out == ""
    assert "toolpath runs resume run_" in err
    assert "Traceback" not in err


def test_a_write_whose_process_was_killed_waits_for_a_person_who_settles_it(shop: Path) -> None:
    process = spawned(shop, "run", "shop.slow", "-i", "mark=mark", real=True)
    until_there(shop / "mark", process)
    process.kill()
    process.communicate()
    (shop / "mark").unlink()
    code, _, err = finished(spawned(shop, "runs", "resume", "last", "--no-input"))
    assert code == 4
    assert "settle" in err
    assert not (shop / "mark").exists(), "the write was made again without being asked"
    code, out, _ = finished(spawned(shop, "settle", "last", "call", "--output", '"it was done"'))
    assert (code, out) == (0, "it was done\n")
    assert last_result(shop)["status"] == "completed"


def test_a_detached_run_prints_its_id_and_goes_on_alone(shop: Path) -> None:
    code, out, _ = finished(spawned(shop, "run", "shop.order", "-i", "item=tea", "-i", "count=1", "--detach"))
    assert code == 0
    run_id = out.strip()
    code, out, _ = finished(spawned(shop, "runs", "watch", run_id))
    assert code == 0
    assert last_result(shop)["run_id"] == run_id
    assert (shop / "orders.txt").read_text() == "tea 1\n"


def test_a_detached_run_that_cannot_start_says_so(shop: Path) -> None:
    code, out, err = finished(spawned(shop, "run", "nothing", "--detach"))
    assert (code, out) == (2, "")
    assert "did not start" in err


def test_at_a_terminal_the_person_is_asked_and_sees_a_tree(shop: Path) -> None:
    plan = "name: p\nsteps:\n  - {id: o, tool: shop.order, requires_approval: true, inputs: {item: tea, count: 2}}\n"
    (shop / "p.yaml").write_text(plan)
    master, slave = pty.openpty()
    process = spawned(shop, "run", "p.yaml", stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    said = b""
    while b"decide later]" not in said:
        said += os.read(master, 4096)
    os.write(master, b"y\n")
    try:
        while chunk := os.read(master, 4096):
            said += chunk
    except OSError:
        pass  # the terminal's other end was closed: the process has ended
    os.close(master)
    assert process.wait(timeout=PATIENCE) == 0
    assert "wants to call shop.order" in said.decode()
    assert "✓" in said.decode()
    assert (shop / "orders.txt").read_text() == "tea 2\n"


def test_a_reader_that_goes_away_early_breaks_nothing(shop: Path) -> None:
    process = spawned(shop, "tools", "show", "shop.price")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read().decode()
    process.wait(timeout=PATIENCE)
    process.stderr.close()
    assert "Traceback" not in err
    assert "Unexpected" not in err


def test_at_a_terminal_a_line_says_which_server_is_being_started(shop: Path) -> None:
    server = f'{{"command": "{sys.executable}", "args": ["-c", "pass"]}}'
    (shop / "mcp.json").write_text(f'{{"mcpServers": {{"slowly": {server}}}}}')
    (shop / "toolpath.toml").write_text('mcp = ["mcp.json"]\n')
    master, slave = pty.openpty()
    process = spawned(shop, "tools", "list", stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    said = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(master, 4096):
            said += chunk
    os.close(master)
    process.wait(timeout=PATIENCE)
    assert b"Starting the server 'slowly'" in said
    # A pipe is not told: there nobody waits.
    _, _, err = finished(spawned(shop, "tools", "list"))
    assert "Starting" not in err
