"""The tree of steps on a terminal, redrawn in place at most ten times a second."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from toolpath.cli.output import STYLES, clean
from toolpath.cli.runs.progress import NOTABLE, Progress, ShownStep, parent_path
from toolpath.model.events import AnyEvent
from toolpath.values import duration_text

_REDRAW = 0.1
#: Runs with more steps than this are shown as counts and what is going on, not as a tree.
_TREE_LIMIT = 200
#: Items of a loop that are shown one by one; beyond, only those that are running or have failed.
_ITEMS_SHOWN = 5

_MARKS = {
    "pending": "○",
    "ready": "○",
    "running": "●",
    "retrying": "↻",
    "waiting": "?",
    "paused": "?",
    "succeeded": "✓",
    "completed": "✓",
    "completed_with_errors": "✓",
    "failed": "✗",
    "timed_out": "✗",
    "unknown": "✗",
    "skipped": "⊘",
    "cancelled": "⊘",
}
_PLAIN = str.maketrans({"○": ".", "●": "*", "↻": "~", "✓": "+", "✗": "x", "⊘": "-", "…": ".", "·": "-", "⏎": " "})


class LiveView:
    """Shows a run while it goes on. Use as a context manager in a running loop; `feed` it the run's events."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress()
        self._live = Live(console=console, auto_refresh=False, transient=False)
        self._ticking: asyncio.Task[None] | None = None

    def __enter__(self) -> LiveView:
        self._live.start()
        self._ticking = asyncio.get_running_loop().create_task(self._tick())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ticking is not None:
            self._ticking.cancel()
        self._redraw()
        self._live.stop()

    def feed(self, event: AnyEvent) -> None:
        """Take in one event; it shows at the next redraw."""
        self._progress.feed(event)

    async def _tick(self) -> None:
        while True:
            self._redraw()
            await asyncio.sleep(_REDRAW)

    def _redraw(self) -> None:
        text = draw(self._progress, time.time(), max(5, self._console.height - 2))
        if not self._console.encoding.lower().startswith("utf"):
            text = _plain(text)
        self._live.update(text, refresh=True)


def _plain(text: Text) -> Text:
    # The same length, so that the styles stay where they are.
    twin = text.copy()
    twin.plain = text.plain.translate(_PLAIN)
    return twin


def draw(progress: Progress, now: float, height: int) -> Text:
    """The run in at most `height` lines."""
    text = _header(progress, now)
    room = height - 1
    rows = _tree(progress, now) if progress.size <= _TREE_LIMIT else []
    if len(rows) > room or not rows:
        rows = _going_on(progress, now) or rows
    if len(rows) > room:
        rows = [*rows[: room - 1], Text(f"  … and {len(rows) - room + 1} more", style="dim")]
    for row in rows:
        row.truncate(400)
        row.no_wrap = True
        text.append("\n")
        text.append_text(row)
    text.no_wrap = True
    text.overflow = "ellipsis"
    return text


def _header(progress: Progress, now: float) -> Text:
    root = progress.root
    text = Text()
    text.append(f"{_MARKS[root.status]} {clean(progress.name) or 'run'}", style=f"bold {STYLES[root.status]}")
    counts = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in sorted(root.counts.items()) if count)
    text.append(f"  {root.status.replace('_', ' ')}{f' · {counts}' if counts else ''}", style="dim")
    if progress.started_at is not None:
        until = now if root.status == "running" else progress.now
        text.append(f" · {duration_text(max(0.0, until - progress.started_at))}", style="dim")
    return text


def _going_on(progress: Progress, now: float) -> list[Text]:
    return [_row(view, 0, now, full=True) for view in list(progress.notable.values())[-50:]]


def _tree(progress: Progress, now: float) -> list[Text]:
    rows: list[Text] = []
    hidden_below: int | None = None
    for depth, view in progress.walk():
        if hidden_below is not None and depth > hidden_below:
            continue
        hidden_below = None
        if "[" in view.name and view.status not in NOTABLE and _summarised(progress.view(parent_path(view.path))):
            hidden_below = depth
            continue
        rows.append(_row(view, depth, now))
    return rows


def _summarised(loop: ShownStep) -> bool:
    return len(loop.children) > _ITEMS_SHOWN or loop.status == "succeeded"


def _row(view: ShownStep, depth: int, now: float, *, full: bool = False) -> Text:
    style = STYLES.get(view.status, "")
    row = Text("  " * (depth + 1))
    row.append(f"{_MARKS.get(view.status, '?')} ", style=style)
    row.append(clean(view.path if full else view.name), style="" if view.status != "pending" else "dim")
    if view.tool and view.tool != view.name:
        row.append(f"  {clean(view.tool)}", style="dim")
    begun = sum(1 for name in view.children if name.endswith("]"))
    if begun or view.items:
        done = view.counts["succeeded"] + view.counts["failed"] + view.counts["timed_out"]
        row.append(f"  {done} of {max(begun, view.items or 0)} items", style="dim")
    if view.duration is not None and view.status != "skipped":
        row.append(f"  {duration_text(view.duration)}", style="dim")
    elif view.status == "running" and view.started_at is not None:
        row.append(f"  {duration_text(max(0.0, now - view.started_at))}", style="dim")
    if view.attempts > 1:
        row.append(f"  {view.attempts} attempts", style="yellow")
    if view.note:
        row.append(f"  {clean(view.note)[:200]}", style=style)
    return row
