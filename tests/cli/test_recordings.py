"""A recording that cannot be written is refused before the first call, and never becomes a step's outcome."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_cases import Command

from toolpath.model.tool import Body
from toolpath.testing.recording import RecordedCall, Recorder
from toolpath.testing.scripted import scripted


@pytest.mark.parametrize("where", [".", "toolpath.toml/calls.jsonl"])
def test_a_recording_that_cannot_be_written_is_refused_before_anything_is_called(toolpath: Command, where: str) -> None:
    ran = toolpath("run", "shop.order", "-i", "item=tea", "-i", "count=1", "--record", where, "-q")
    assert ran.code == 2
    assert f"The recording {where} cannot be written" in ran.err
    assert "fault of toolpath" not in ran.err
    assert not Path("orders.txt").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_recording_that_breaks_off_leaves_the_run_as_it_is_and_is_told(toolpath: Command) -> None:
    ran = toolpath("run", "shop.order", "-i", "item=tea", "-i", "count=1", "--record", "/dev/full", "-q")
    assert ran.code == 0
    assert ran.json == {"number": 7}
    assert ran.err.count("Calls are missing in the recording /dev/full") == 1


def test_a_call_that_cannot_be_written_down_keeps_its_outcome(tmp_path: Path) -> None:
    with Recorder(tmp_path / "calls.jsonl") as recorder:
        (tool,) = recorder.record([scripted("t", 1)])
        recorder.note(RecordedCall(tool="t", output="\ud800"))
        assert isinstance(tool.body, Body)
        tool.body.invoke({}, None)
    assert "UnicodeEncodeError" in recorder.fault
