"""The browser of the built-in tools: one Chromium for a Toolpath, with a context of its own for each run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from toolpath.errors import ConfigError, ToolFailed, ToolUnavailable, needs_extra
from toolpath.providers.builtin.guarded_proxy import GuardedProxy
from toolpath.providers.builtin.reach import Reach

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

#: Programs that are looked for where none is named.
PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
#: Pages that one run may have open; one more closes the oldest.
MOST_TABS: Final = 10
#: Seconds that starting may take.
_START: Final = 60.0
#: No name is looked up but by the proxy, and no datagram sent beside it.
_ARGUMENTS: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--disable-background-networking",
)


class BrowserSetup(NamedTuple):
    """Setup of a browser: how it is started, and what it may reach."""

    reach: Reach
    program: str
    no_sandbox: bool
    idle: float
    most_sessions: int
    timeout: float


def found_program(named: str) -> str:
    """The browser's program, or empty where there is none."""
    return next(filter(None, map(shutil.which, (named,) if named else PROGRAMS)), "")


class BrowserSession:
    """Session of one run in a browser. Its calls take turns."""

    def __init__(self, run_id: str, context: BrowserContext) -> None:
        self.run_id = run_id
        self.context = context
        self.turn = asyncio.Lock()
        self.pages: list[Page] = []
        self.current: Page | None = None
        self.timer: asyncio.TimerHandle | None = None
        self._acts: set[asyncio.Task[None]] = set()
        context.on("page", self._opened)

    def _opened(self, page: Page) -> None:
        """A page is open: of a call, or one that another page has opened. It is the current one."""
        self.pages.append(page)
        self.current = page
        page.on("close", self._closed)
        # Nobody answers them: a page that asks would wait for ever.
        page.on("dialog", lambda dialog: self._soon(_dismissed(dialog)))
        if len(self.pages) > MOST_TABS:
            self._soon(_closed(self.pages[0]))

    def _soon(self, act: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(act)
        self._acts.add(task)
        task.add_done_callback(self._acts.discard)

    def _closed(self, page: Page) -> None:
        if page in self.pages:
            self.pages.remove(page)
        if self.current is page:
            self.current = self.pages[-1] if self.pages else None


class Browsers:
    """The browser, started when it is first needed, and the sessions of runs in it."""

    def __init__(self, setup: BrowserSetup) -> None:
        self._setup = setup
        self._proxy: GuardedProxy | None = None
        self._playwright: Any = None
        self._browser: Browser | None = None
        self._home = ""
        self._starting = asyncio.Lock()
        self._sessions: dict[str, BrowserSession] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def session(self, run_id: str, at_end: Callable[[str, Callable[[], None]], None] | None) -> BrowserSession:
        """The session of this run: of no other is anything seen. It is closed when the run ends, or nobody uses it."""
        async with self._starting:
            browser = await self._started()
            session = self._sessions.get(run_id)
            if session is None:
                if len(self._sessions) >= self._setup.most_sessions:
                    raise ToolUnavailable(
                        f"{len(self._sessions)} runs have the browser; more may not at once.",
                        reached=False,
                        hint="Try again later, or raise max_sessions.",
                    )
                context = await browser.new_context(accept_downloads=False, service_workers="block")
                context.set_default_timeout(self._setup.timeout * 1000)
                session = self._sessions[run_id] = BrowserSession(run_id, context)
        if at_end is not None:
            at_end("browser", lambda: self._end(run_id))
        if session.timer is not None:
            session.timer.cancel()
        session.timer = asyncio.get_running_loop().call_later(self._setup.idle, self._end_idle, run_id)
        return session

    def has(self, run_id: str) -> bool:
        """Whether the run has a session."""
        return run_id in self._sessions

    def refusal(self, host: str = "") -> str:
        """Why the host may not be reached, where a page or a call wanted it; of none that is named, the latest."""
        return "" if self._proxy is None else self._proxy.refusal(host)

    @property
    def refusals(self) -> int:
        """How often something was not reached."""
        return 0 if self._proxy is None else self._proxy.refusals

    async def _started(self) -> Browser:
        if self._browser is not None and self._browser.is_connected():
            return self._browser
        await self._stop()
        program = found_program(self._setup.program)
        if not program:
            raise ToolUnavailable(
                "No Chromium is installed.", reached=False, hint="Install one, or name it: [builtin.browser] program."
            )
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        if is_root and not self._setup.no_sandbox:
            raise ToolFailed(
                "Chromium keeps no sandbox where it is run by root.",
                hint="Run Toolpath as another user, or say that it may go without: no_sandbox = true.",
            )
        try:
            with needs_extra("browser", "The tools of 'browser'"):
                from playwright.async_api import Error, async_playwright
        except ConfigError as error:
            raise ToolUnavailable(error.message, reached=False, hint=error.hint) from None
        self._proxy = GuardedProxy(self._setup.reach)
        proxy = await self._proxy.start()
        self._home = await asyncio.to_thread(tempfile.mkdtemp, prefix="toolpath-browser-")
        try:
            async with asyncio.timeout(_START):
                self._playwright = await async_playwright().start()
                self._browser = await self._playwright.chromium.launch(
                    executable_path=program,
                    headless=True,
                    chromium_sandbox=not self._setup.no_sandbox,
                    args=list(_ARGUMENTS),
                    proxy={"server": proxy},
                    # None of our variables: they may hold keys.
                    env={"HOME": self._home, "PATH": os.defpath, "LANG": "C.UTF-8"},
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
        except (Error, TimeoutError, OSError) as error:
            await self._stop()
            told = str(error).strip().partition("\n")[0][:300]
            raise ToolUnavailable(f"Chromium cannot be started: {told}", reached=False) from None
        return self._browser

    def _end_idle(self, run_id: str) -> None:
        session = self._sessions.get(run_id)
        if session is not None and session.turn.locked():
            # It is used: somebody waits for a slow page.
            session.timer = asyncio.get_running_loop().call_later(self._setup.idle, self._end_idle, run_id)
        else:
            self._end(run_id)

    def _end(self, run_id: str) -> None:
        session = self._sessions.pop(run_id, None)
        if session is None:
            return
        if session.timer is not None:
            session.timer.cancel()
        task = asyncio.ensure_future(_closed(session.context))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """End all sessions and the browser."""
        for run_id in tuple(self._sessions):
            self._end(run_id)
        if self._closing:
            await asyncio.wait(self._closing)
        await self._stop()

    async def _stop(self) -> None:
        for run_id in tuple(self._sessions):
            self._end(run_id)
        if self._browser is not None:
            await _closed(self._browser)
        if self._playwright is not None:
            with contextlib.suppress(Exception):
                await self._playwright.stop()
        if self._proxy is not None:
            await self._proxy.close()
        if self._home:
            await asyncio.to_thread(shutil.rmtree, self._home, ignore_errors=True)
        self._browser = self._playwright = self._proxy = None
        self._home = ""


async def _closed(what: Any) -> None:
    # It may have crashed, or be closed already.
    with contextlib.suppress(Exception):
        await what.close()


async def _dismissed(dialog: Any) -> None:
    with contextlib.suppress(Exception):
        await dialog.dismiss()
