"""Presence of another driver of a run: another process, or another Toolpath of this one."""

from __future__ import annotations

import os
import socket
import weakref
from pathlib import Path
from typing import Protocol

from toolpath.model.run import ENDED_RUN, RunInfo
from toolpath.recovery import timing


class Driving(Protocol):
    """Driver of runs in this process."""

    def drives_now(self, info: RunInfo) -> bool:
        """Whether it drives the run, in a loop that lives."""
        ...


#: What lives in this process is a fact of the process: a program that opens the same store twice has two drivers.
_HERE: weakref.WeakSet[Driving] = weakref.WeakSet()


def drives_here(driving: Driving) -> None:
    """Note that it drives runs in this process, as long as it lives."""
    _HERE.add(driving)


def is_driven_elsewhere(info: RunInfo, now: float, own: str = "") -> bool:
    """Whether somebody other than the driver `own` drives the run now: seen lately, and not known to be dead."""
    if not info.driver or info.driver == own or info.status in ENDED_RUN:
        return False
    if any(driving.drives_now(info) for driving in _HERE):
        # However long ago it said so: this process knows better.
        return True
    if info.driver_seen_at <= now - timing.SEEN_WITHIN:
        return False
    match info.driver.rsplit(":", 2):
        case [host, pid, _] if host != socket.gethostname() and pid.isdecimal():
            return True
        case [_, pid, _] if pid.isdecimal():
            return int(pid) != os.getpid() and _is_alive(int(pid))
        case _:
            # Not the name of a process.
            return False


def has_died(driver: str) -> bool:
    """Whether the driver is known to be gone: a process of this machine that has ended."""
    match driver.rsplit(":", 2):
        case [host, pid, _] if host == socket.gethostname() and pid.isdecimal():
            return int(pid) != os.getpid() and not _is_alive(int(pid))
        case _:
            return False


def _is_alive(pid: int) -> bool:
    """Whether a process of this machine lives. One that has ended but that its parent has not noticed does not."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return not stat.rpartition(")")[2].lstrip().startswith("Z")
