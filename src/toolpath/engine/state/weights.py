"""Weights of the values that the journal of a run holds: about the bytes that they take in memory. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from toolpath.expressions.extent import CONTAINER, MEMBER
from toolpath.model import events as ev
from toolpath.values import Handle, Json

#: Bytes of text up to which what is in it is not looked at.
_SMALL = 1_000

_text_of = msgspec.json.Encoder().encode


def weight_of_text(data: bytes) -> int:
    """Weight of the value of this JSON text."""
    size = len(data)
    if size <= _SMALL:
        return size
    return size + MEMBER * data.count(b",") + CONTAINER * (data.count(b"{") + data.count(b"["))


def weight_of(event: Any) -> int:
    """Weight of the value of an event of a kind in `WEIGHTY`; what a handle stands for is weighed where it is."""
    return weight_of_value(getattr(event, WEIGHTY[type(event)]))


def weight_of_value(value: Json) -> int:
    """Weight of the value."""
    if value is None or type(value) is Handle:
        return 0
    try:
        data = _text_of(value)
        return len(data) if len(data) <= _SMALL else weight_of_text(data)
    except ValueError:
        # It holds what no JSON text can: the writer of it says so.
        return len(repr(value))


#: Events with values that may be large, and the name of the value.
WEIGHTY: dict[type, str] = {
    ev.RunStarted: "inputs",
    ev.StepStarted: "inputs",
    ev.StepSucceeded: "output",
    ev.FallbackStarted: "output",
    ev.StateWritten: "values",
    ev.ApprovalRequested: "inputs",
    ev.InputRequested: "form",
    ev.InputReceived: "values",
    ev.RunCompleted: "outputs",
    ev.RunFailed: "outputs",
    ev.RunCancelled: "outputs",
}
