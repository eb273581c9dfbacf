"""Runs whose process lives, and runs whose process has ended: told apart, and taken up or not."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

from cli_cases import Command, spawned
from tests.patience import PATIENCE

SLOW = ("run", "shop.slow", "-i", "mark=mark")
CAREFUL = "name: p\nsteps:\n  - {id: o, tool: shop.order, requires_approval: true, inputs: {item: tea, count: 2}}\n"


def slow_run(shop: Path) -> subprocess.Popen[bytes]:
    """A process inside the slow tool."""
    process = spawned(shop, *SLOW, real=True)
    give_up = time.monotonic() + PATIENCE
    while not (shop / "mark").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.01)
    return process


def test_a_run_is_not_taken_from_a_process_that_lives_unless_forced(shop: Path, toolpath: Command) -> None:
    process = slow_run(shop)
    try:
        assert "no process" not in toolpath("runs", "list").out
        ran = toolpath("runs", "resume", "last", "--no-input")
        assert ran.code == 1
        assert f"process {process.pid} " in ran.err
        assert "toolpath runs watch run_" in ran.err
        assert toolpath("runs", "resume", "last", "--force", "--no-input").code == 4
    finally:
        process.kill()
        process.communicate()


def test_a_run_whose_process_was_killed_says_so_and_how_to_go_on(shop: Path, toolpath: Command) -> None:
    process = slow_run(shop)
    process.kill()
    # Not waited for yet: the dead process still has its number.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    listed = toolpath("runs", "list")
    assert "running (no process drives it)" in listed.out + listed.err
    shown = toolpath("runs", "show", "last")
    assert "running (no process drives it)" in shown.out + shown.err
    assert "Go on with: toolpath runs resume run_" in shown.err
    assert toolpath("runs", "resume", "last", "--no-input").code == 4
    process.communicate()


def test_one_interrupt_at_a_question_ends_the_command_and_says_how_to_answer_later(shop: Path) -> None:
    (shop / "p.yaml").write_text(CAREFUL)
    master, slave = pty.openpty()
    process = spawned(shop, "run", "p.yaml", stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    said = b""
    while b"decide later]" not in said:
        said += os.read(master, 4096)
    process.send_signal(signal.SIGINT)
    try:
        while chunk := os.read(master, 4096):
            said += chunk
    except OSError:
        pass  # the terminal's other end was closed: the process has ended
    os.close(master)
    assert process.wait(timeout=PATIENCE) == 4
    assert "toolpath approve run_" in said.decode()
    assert "Traceback" not in said.decode()


def test_a_status_that_no_run_can_have_is_a_usage_error(toolpath: Command) -> None:
    ran = toolpath("runs", "list", "--status", "bogus")
    assert ran.code == 2
    assert "waiting" in ran.err


def test_resuming_a_run_that_has_ended_says_that_it_has(toolpath: Command) -> None:
    toolpath("tools", "call", "shop.price", "-i", "item=tea")
    ran = toolpath("runs", "resume", "last")
    assert ran.code == 1
    assert "has ended: completed" in ran.err


def test_enter_at_an_approval_leaves_it_to_later(shop: Path) -> None:
    (shop / "p.yaml").write_text(CAREFUL)
    master, slave = pty.openpty()
    process = spawned(shop, "run", "p.yaml", stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    said = b""
    while b"decide later]" not in said:
        said += os.read(master, 4096)
    os.write(master, b"\n")
    with contextlib.suppress(OSError):
        while chunk := os.read(master, 4096):
            said += chunk
    os.close(master)
    assert process.wait(timeout=PATIENCE) == 4
    assert "toolpath approve run_" in said.decode()


def test_a_question_that_is_answered_elsewhere_is_no_longer_asked(shop: Path) -> None:
    (shop / "p.yaml").write_text(CAREFUL)
    master, slave = pty.openpty()
    process = spawned(shop, "run", "p.yaml", stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    said = b""
    while b"decide later]" not in said:
        said += os.read(master, 4096)
    approving = spawned(shop, "approve", "last")
    _, err = approving.communicate(timeout=PATIENCE)
    assert approving.returncode == 0, err
    with contextlib.suppress(OSError):
        while chunk := os.read(master, 4096):
            said += chunk
    os.close(master)
    assert process.wait(timeout=PATIENCE) == 0
    assert "somebody else has answered" in said.decode()
