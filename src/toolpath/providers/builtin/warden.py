"""The warden of a program: starts it within limits, ends it with all that it started when its owner says so or dies.

Run as a script of its own, `python -I -S warden.py`, with nothing but the standard library. The first line of its stdin
is the job as JSON; when stdin ends, the owner has gone, or wants it over. File descriptor `status` of the job is told
`{"pid": …}` and at the end, when nothing of the program is left, `{"code": …}`, `{"signal": …}` or `{"cut_off": 1}`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import threading
from typing import Any

_SUBREAPER = 36
_PARENT_DEATH = 1


def main() -> None:
    """Do the one job."""
    job = json.loads(sys.stdin.buffer.readline())
    status = int(job["status"])
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if libc is not None:
        # What is left by its own parent becomes a child of this process, and is found by it.
        libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(job, told, tell, libc)
    os.close(told)
    _say(status, {"pid": pid})
    threading.Thread(target=_feed, args=(tell, job["stdin"].encode("utf-8", "surrogatepass")), daemon=True).start()
    ended = None
    while ended is None:
        ready, _, _ = select.select([sys.stdin.fileno(), woken], [], [])
        if sys.stdin.fileno() in ready:
            break
        os.read(woken, 512)
        ended = _reap(pid)
    _end_all(pid)
    if ended is None:
        _say(status, {"cut_off": 1})
    else:
        code = os.waitstatus_to_exitcode(ended)
        _say(status, {"code": code} if code >= 0 else {"signal": -code})
    os._exit(0)


def _become(job: dict[str, Any], told: int, tell: int, libc: ctypes.CDLL | None) -> None:
    """Turn this child into the program."""
    try:
        os.setpgid(0, 0)
        if libc is not None:
            libc.prctl(_PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.dup2(told, 0)
        os.close(tell)
        os.closerange(3, 4096)
        for name, most in job["limits"].items():
            kind = getattr(resource, name, None)
            if kind is not None:
                _, hard = resource.getrlimit(kind)
                limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(kind, (limit, limit))
        os.execve(job["argv"][0], job["argv"], job["env"])  # noqa: S606  # whose command it is says who calls the tool
    except OSError as error:
        os.write(2, f"{job['argv'][0]} cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _feed(tell: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(tell, data[:65536]) :]
    except OSError:
        # It reads no more.
        pass
    finally:
        os.close(tell)


def _reap(wanted: int) -> int | None:
    """Take note of every child that has ended; gives the status of the one that is waited for."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == wanted:
            found = status


def _end_all(group: int) -> None:
    """Kill the program's group, then whatever else came of it, until nothing is left."""
    while True:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
        for pid in _children(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            # One that dies leaves its own children to this process: they are looked for again.
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children(parent: int) -> list[int]:
    """The processes that this one has to wait for."""
    try:
        with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _say(status: int, what: dict[str, int]) -> None:
    with contextlib.suppress(OSError):
        os.write(status, json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    main()
