from __future__ import annotations

import time

from rich.text import Text

from toolpath.cli.runs.lines import event_line
from toolpath.cli.runs.live import draw
from toolpath.cli.runs.progress import Progress, parent_path
from toolpath.model.events import (
    AnyEvent,
    Failure,
    RunCompleted,
    RunStarted,
    StepCancelled,
    StepFailed,
    StepReady,
    StepRetrying,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepWaiting,
)

T = 1_700_000_000.0
PLAN = {"name": "publish", "steps": [{"id": "writer"}, {"id": "each"}, {"id": "post"}]}


def fed(*events: AnyEvent) -> Progress:
    progress = Progress()
    progress.feed(RunStarted(seq=1, at=T, run_id="run_1", plan=PLAN))
    for event in events:
        progress.feed(event)
    return progress


def shown(progress: Progress, height: int = 40) -> str:
    text: Text = draw(progress, T + 10, height)
    return text.plain


def item(number: int, *, fails: bool = False) -> list[AnyEvent]:
    path = f"each[{number}]/call"
    end: AnyEvent = StepSucceeded(0, T + 1, path, duration=0.5)
    if fails:
        end = StepFailed(0, T + 1, path, Failure(type="X", message="no luck"), duration=0.5)
    return [StepReady(0, T, path), StepStarted(0, T, path, tool="t.call"), end]


def test_every_step_of_the_plan_shows_from_the_start() -> None:
    assert [line.split()[1] for line in shown(fed()).splitlines()] == ["publish", "writer", "each", "post"]


def test_a_retry_shows_its_attempts_and_why() -> None:
    progress = fed(
        StepStarted(2, T, "writer", attempt=1, tool="blog.createAuthor"),
        StepRetrying(3, T + 1, "writer", 1, 1.0, Failure(type="ToolRetry", message="busy")),
    )
    assert "attempt 1 failed: busy" in shown(progress)
    progress.feed(StepStarted(4, T + 2, "writer", attempt=2, tool="blog.createAuthor"))
    progress.feed(StepSucceeded(5, T + 3, "writer", duration=2.5))
    line = next(line for line in shown(progress).splitlines() if "writer" in line)
    assert "blog.createAuthor" in line
    assert "2 attempts" in line
    assert "2.50 s" in line


def test_a_long_loop_is_summarised_and_only_what_is_notable_shows() -> None:
    progress = fed(StepStarted(2, T, "each"), *(event for number in range(50) for event in item(number)))
    for event in item(50, fails=True):
        progress.feed(event)
    progress.feed(StepStarted(9, T, "each[51]/call", tool="t.call"))
    text = shown(progress)
    assert "51 of 52 items" in text
    assert "no luck" in text
    assert "each[51]" in text
    assert "each[7]" not in text
    assert len(text.splitlines()) < 15


def test_items_that_have_not_begun_count_too() -> None:
    progress = fed(StepStarted(2, T, "each", inputs={"over": ["a", "b", "c"]}))
    assert "0 of 3 items" in shown(progress)
    for event in item(0):
        progress.feed(event)
    progress.feed(StepStarted(9, T, "each[1]/call", tool="t.call"))
    assert "1 of 3 items" in shown(progress)
    for event in [*item(1), *item(2, fails=True)]:
        progress.feed(event)
    assert "3 of 3 items" in shown(progress)


def test_an_item_that_was_cancelled_is_not_shown_as_done() -> None:
    progress = fed(
        StepStarted(2, T, "each", inputs={"over": ["a", "b", "c"]}),
        *item(0),
        StepStarted(5, T, "each[1]/call", tool="t.call"),
        StepCancelled(6, T + 1, "each[1]/call", reason="stopped"),
        StepCancelled(7, T + 1, "each", reason="stopped"),
    )
    lines = {line.split()[1]: line.split()[0] for line in shown(progress).splitlines()[1:]}
    assert (lines["each[0]"], lines["each[1]"], lines["each"]) == ("✓", "⊘", "⊘")
    assert "1 of 3 items" in shown(progress)


def test_a_run_of_many_steps_fits_the_terminal_and_is_fast_to_draw() -> None:
    progress = fed(*(event for number in range(20_000) for event in item(number)))
    for number in range(20_000, 20_100):
        progress.feed(StepStarted(0, T, f"each[{number}]/call", tool="t.call"))

    def seconds() -> float:
        began = time.process_time()
        shown(progress, height=24)
        return time.process_time() - began

    # The quickest of some, since a machine that is busy is slow at times.
    assert min(seconds() for _ in range(10)) < 0.05
    text = shown(progress, height=24)
    assert len(text.splitlines()) <= 24
    assert "more" in text


def test_what_waits_and_what_was_skipped_say_why() -> None:
    progress = fed(StepWaiting(2, T, "writer", "approval"), StepSkipped(3, T, "post", "writer failed"))
    assert "for a person: approval" in shown(progress)
    assert "writer failed" in shown(progress)


def test_escape_sequences_of_a_tool_do_not_reach_the_terminal() -> None:
    failure = Failure(type="X", message="\x1b[2J\x1b]0;owned\x07 \u202eback")
    progress = fed(StepFailed(2, T, "writer", failure))
    assert "\x1b" not in shown(progress)
    assert "\u202e" not in shown(progress)
    line = event_line(StepFailed(2, T, "writer", failure), T)
    assert line is not None
    assert "\x1b" not in line


def test_the_end_of_the_run_shows_in_the_header() -> None:
    progress = fed(StepSucceeded(2, T + 1, "writer"), RunCompleted(3, T + 4))
    header = shown(progress).splitlines()[0]
    assert "completed" in header
    assert "4.00 s" in header


def test_paths_know_what_encloses_them() -> None:
    assert parent_path("post") == ""
    assert parent_path("each[3]/call#2") == "each[3]"
    assert parent_path("each[3]") == "each"
    assert parent_path("a/each[3]#2~4") == "a/each#2"


def test_events_that_only_machines_need_have_no_line() -> None:
    assert event_line(StepReady(1, T, "a"), T) is None


def test_a_line_tells_seconds_since_the_start_and_what_happened() -> None:
    assert event_line(StepSucceeded(1, T + 1.25, "a", duration=0.5), T) == "    1.250 s  a succeeded in 0.50 s"
