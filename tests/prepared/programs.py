"""A process that has imported what programs need, and forks one whenever `launch.py` asks: most of a start is imports.

`python programs.py SOCKET`; it ends when its standard input does. It is for tests of what a program says and does; one
that kills a program with a signal that cannot be caught, or counts what it imports, starts the real one.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import marshal
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
import types
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

TESTS = Path(__file__).parent.parent
_COMMANDS = ("toolpath.app", "toolpath.cli", "toolpath.providers.mcp", "toolpath.providers.functions")
#: Program → what is imported before the first one is forked; of this project's packages all that is inside.
PREPARED = {
    "toolpath": _COMMANDS,
    "serve": (*_COMMANDS, "toolpath.server", "uvicorn.protocols.http.h11_impl"),
    "probe": ("probe_server",),
    # A worker that runs tests, with all that tests import but themselves and the plugins of pytest.
    "worker": (
        "toolpath",
        *("anthropic", "google.genai", "openai", "pydantic_ai.models.anthropic", "pydantic_ai.models.google"),
        *("pydantic_ai.models.openai", "gql", "hypothesis", "numpy", "openpyxl", "playwright.async_api"),
        *("sqlalchemy.ext.asyncio", "starlette.testclient", "uvicorn.protocols.http.h11_impl"),
    ),
}


def _imported(package: str) -> None:
    found = importlib.import_module(package)
    is_own = package.partition(".")[0] == "toolpath"
    own = found.__path__ if is_own and hasattr(found, "__path__") else ()
    for inside in pkgutil.walk_packages(own, f"{package}."):
        if not inside.name.endswith("__main__"):
            importlib.import_module(inside.name)


def _prepare(program: str, known: set[str]) -> None:
    for package in PREPARED[program]:
        if package not in known:
            known.add(package)
            _imported(package)
    if "toolpath.cli" in PREPARED[program]:
        importlib.import_module("toolpath.cli.main").command_line()
    # A search for garbage would copy every page of what all programs share.
    gc.freeze()


def _told(conn: socket.socket) -> tuple[list[str], str, dict[str, str], list[int]]:
    """Words, folder, environment and streams of the program that is asked for."""
    head, streams, _, _ = socket.recv_fds(conn, 4, 3)
    with conn.makefile("rb") as file:
        words, folder, environment = marshal.loads(file.read(int.from_bytes(head, "big")))
    return words, folder, environment, streams


def _stream(number: int) -> io.TextIOWrapper:
    """What Python itself makes of a stream when it starts."""
    raw = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
    buffered = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
    return io.TextIOWrapper(buffered, encoding="utf-8", line_buffering=number == 2 or raw.isatty())


def _run(words: list[str], folder: str, environment: dict[str, str], streams: list[int]) -> None:
    """Be the program, in this process."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        setattr(sys, name, _stream(number))
        setattr(sys, f"__{name}__", getattr(sys, name))
    if action := environment.get("PYTHONWARNINGS"):
        warnings.simplefilter(action)  # type: ignore[arg-type]
    program, *arguments = words
    if program == "worker":
        # Python's own `-c`: xdist hands over what the worker is as the first line.
        sys.modules["__main__"] = main = types.ModuleType("__main__")
        exec(arguments[arguments.index("-c") + 1], main.__dict__)
        return
    if program == "probe":
        sys.argv = ["probe_server.py", *arguments]
        importlib.import_module("probe_server").main()
        return
    sys.argv = ["toolpath", *arguments]
    sys.path[:] = [folder, *(one for one in sys.path if not one.startswith(str(TESTS)))]
    # As `python -m toolpath` has it: processes that it starts look there.
    sys.modules["__main__"] = importlib.import_module("toolpath.__main__")
    importlib.import_module("toolpath.cli.main").main()


def _kept(conn: socket.socket, asked: tuple[list[str], str, dict[str, str], list[int]]) -> Callable[[], None]:
    """In the program's process, what it does; the process that looks after it does not return."""
    child = os.fork()
    if not child:
        conn.close()
        os.setsid()
        return lambda: _run(*asked)
    for stream in asked[3]:
        os.close(stream)
    ended = os.pidfd_open(child)
    watched = [conn.fileno(), ended]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if ended in ready:
            _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
            if conn.fileno() in watched:
                with suppress(BrokenPipeError):
                    # Whoever asked may be gone by now.
                    conn.sendall(bytes([max(code, 0), max(-code, 0)]))
            os._exit(0)
        if number := conn.recv(1):
            os.kill(child, number[0])
        else:
            # Whoever asked was killed.
            watched.remove(conn.fileno())
            os.killpg(child, signal.SIGKILL)


def _played(program: Callable[[], None]) -> None:
    """Be the program to its end, but for taking apart what was imported: that costs more than most programs do."""
    code: int | str | None = 0
    try:
        program()
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):
            raise
    # What Python does at an end: it waits for threads, calls what wants to know, and finds what was left open.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> Callable[[], None]:
    """Fork programs. Returns only in a program, what it is to do, so that it ends as every program does."""
    known: set[str] = set()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(sys.argv[1])
        listener.listen(128)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            if 0 in ready:
                sys.exit()
            conn, _ = listener.accept()
            try:
                asked = _told(conn)
            except (OSError, EOFError, ValueError):
                # Whoever asked was killed while it did.
                conn.close()
                continue
            _prepare(asked[0][0], known)
            if not os.fork():
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                return _kept(conn, asked)
            conn.close()
            for stream in asked[3]:
                os.close(stream)


if __name__ == "__main__":
    sys.path[:] = [str(TESTS / "servers"), *sys.path[1:]]
    own = sys.modules["__main__"]
    _played(main())
