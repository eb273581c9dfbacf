"""Weights of the values that the journal of a run holds: about the bytes that they take in memory. Pure."""

from __future__ import annotations

from typing import Any

from toolpath.expressions.extent import CONTAINER, MEMBER
from toolpath.model import events as ev
from toolpath.values import Handle, Json, encode

#: Bytes that a number takes, about: asking how many digits it has costs more than the answer is worth.
_NUMBER = 4
#: Bytes of text up to which what is in it is not looked at.
_SMALL = 1_000
#: Members of an object up to which each is weighed by itself: texts, which may be long, only need to be counted.
_FEW = 5


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
    if type(value) is dict and len(value) <= _FEW:
        return sum([_weight_of_value(part) for part in value.values()])
    return _weight_of_value(value)


def _weight_of_value(value: Json) -> int:
    kind = type(value)
    if kind is str:
        return len(value) if len(value) <= _SMALL else len(encode(value))
    if kind is int or kind is bool or kind is float:
        return _NUMBER
    if value is None or kind is Handle:
        return 0
    return weight_of_text(encode(value))


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
