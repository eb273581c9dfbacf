"""One run, several processes: cancelled, paused, resumed, answered and taken over through the store alone."""

from __future__ import annotations

import signal

import pytest
from end_to_end_cases import Command, Desk, Process

GATES = """
    name: gates
    flow: chain
    steps:
      - {id: first, tool: gate, inputs: {name: first}}
      - {id: second, tool: mark, inputs: {name: second}}
    outputs: "{{ second }}"
"""


@pytest.fixture
def driven(desk: Desk) -> Process:
    """A run that another process drives, in the midst of its first step."""
    desk.write("gates.yaml", GATES)
    process = desk.spawn("run", "gates.yaml")
    desk.until(lambda: desk.calls == ["first"], process)
    return process


def test_a_run_is_cancelled_from_another_process(desk: Desk, toolpath: Command, driven: Process) -> None:
    ran = toolpath("runs", "cancel", "last", "--reason", "no longer wanted")
    assert ran.code == 0, ran.err
    ran = driven.wait()
    assert (ran.code, ran.out) == (5, "")
    assert "no longer wanted" in ran.err
    assert desk.calls == ["first"]
    assert toolpath("runs", "show", "last", "--json").json["status"] == "cancelled"


def test_a_run_is_paused_from_another_process_and_resumed_by_a_third(
    desk: Desk, toolpath: Command, driven: Process
) -> None:
    ran = toolpath("runs", "pause", "last")
    assert ran.code == 0, ran.err
    assert driven.popen.poll() is None, "what runs may finish"
    desk.write("open", "")
    ran = driven.wait()
    assert ran.code == 4
    assert "toolpath runs resume" in ran.err
    assert desk.calls == ["first"], "something new was started in a paused run"
    ran = toolpath("runs", "resume", "last")
    assert (ran.code, ran.out) == (0, "second\n")
    assert desk.calls == ["first", "second"], "what was finished was called again"


def test_a_run_that_is_driven_elsewhere_is_watched_to_its_end(desk: Desk, driven: Process) -> None:
    watching = desk.spawn("runs", "watch", "last")
    # The watcher shows what has happened so far before it waits for more.
    assert watching.popen.stderr is not None
    assert b"started: gates" in watching.popen.stderr.readline()
    desk.write("open", "")
    assert driven.wait().code == 0
    ran = watching.wait()
    assert (ran.code, ran.out) == (0, "second\n")


def test_a_form_is_answered_while_another_process_drives_the_rest(desk: Desk, toolpath: Command) -> None:
    desk.write(
        "both.yaml",
        """
        name: both
        steps:
          - {id: form, ask: {title: Word?, inputs: [{name: word}]}}
          - {id: first, tool: gate, inputs: {name: first}}
          - {id: said, tool: mark, inputs: {name: "{{ form.word }}"}}
        outputs: "{{ said }}"
        """,
    )
    process = desk.spawn("run", "both.yaml")
    desk.until(lambda: desk.calls == ["first"], process)
    answering = desk.spawn("answer", "last", "word=hello")
    desk.until(lambda: "hello" in desk.calls, process)
    desk.write("open", "")
    assert process.wait().code == 0
    ran = answering.wait()
    assert (ran.code, ran.out) == (0, "hello\n"), ran.err


def test_a_run_whose_driver_was_killed_is_taken_up_and_reads_are_made_again(
    desk: Desk, toolpath: Command, driven: Process
) -> None:
    driven.kill()
    desk.write("open", "")
    ran = toolpath("runs", "resume", "last")
    assert (ran.code, ran.out) == (0, "second\n"), ran.err
    assert desk.calls == ["first", "first", "second"]


@pytest.mark.parametrize(
    ("words", "code", "calls"),
    [
        (("--output", '"slowly"'), 0, ["slowly", "after"]),
        (("--failed",), 1, ["slowly"]),
    ],
)
def test_a_write_whose_process_was_killed_is_settled_by_a_person(
    desk: Desk, toolpath: Command, words: tuple[str, ...], code: int, calls: list[str]
) -> None:
    desk.write(
        "doubt.yaml",
        """
        name: doubt
        flow: chain
        steps:
          - {id: it, tool: slow, inputs: {name: slowly}}
          - {id: after, tool: mark, inputs: {name: after}}
        outputs: "{{ it }}"
        """,
    )
    process = desk.spawn("run", "doubt.yaml")
    desk.until(lambda: desk.calls == ["slowly"], process)
    process.kill()
    ran = toolpath("runs", "resume", "last")
    assert ran.code == 4
    assert "it: whether its write happened is not known" in ran.err
    assert "settle" in ran.err
    for wrong in (("--retry", "--failed"), (), ("--output", "no json")):
        assert toolpath("settle", "last", "it", *wrong).code == 2
    assert toolpath("settle", "last", "after", "--failed").code == 1
    assert desk.calls == ["slowly"]
    ran = toolpath("settle", "last", "it", *words)
    assert ran.code == code, ran.err
    assert desk.calls == calls


def test_an_interrupted_run_leaves_cleanly_and_goes_on_where_it_stood(
    desk: Desk, toolpath: Command, driven: Process
) -> None:
    ran = driven.kill(signal.SIGINT)
    assert (ran.code, ran.out) == (130, "")
    assert "toolpath runs resume" in ran.err
    desk.write("open", "")
    assert toolpath("runs", "resume", "last").code == 0


def test_a_run_that_another_process_took_over_ends_in_its_first_process_with_a_word(
    desk: Desk, toolpath: Command, driven: Process
) -> None:
    driven.popen.send_signal(signal.SIGSTOP)
    desk.write("open", "")
    try:
        ran = toolpath("runs", "resume", "last", "--force")
        assert (ran.code, ran.out) == (0, "second\n"), ran.err
    finally:
        driven.popen.send_signal(signal.SIGCONT)
    ran = driven.wait()
    assert "Traceback" not in ran.err
    assert "Unexpected" not in ran.err
    assert desk.calls.count("second") == 1, "both processes made the write"
