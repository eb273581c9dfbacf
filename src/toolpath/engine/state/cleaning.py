"""Events without secrets: each passes here before it is made true, so that state and journal say the same. Pure."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from toolpath.model.events import NEVER_SECRET, AnyEvent
from toolpath.model.redaction import Redactor
from toolpath.values import Handle


def clean(event: AnyEvent, redactor: Redactor) -> AnyEvent:
    """The event without any secret; the same one where there was none."""
    changes = _cleaned(event, redactor)
    return msgspec.structs.replace(event, **changes) if changes else event


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name not in NEVER_SECRET)


def _cleaned(record: msgspec.Struct, redactor: Redactor) -> dict[str, Any]:
    changes = {}
    for name in _fields(type(record)):
        value = getattr(record, name)
        if not value or value is True:
            continue
        found = _without_secrets(value, redactor)
        if found is not value:
            changes[name] = found
    return changes


def _without_secrets(value: Any, redactor: Redactor) -> Any:
    match value:
        case Handle():
            # Its bytes were looked through before it was made.
            return value
        case msgspec.Struct():
            changes = _cleaned(value, redactor)
            return msgspec.structs.replace(value, **changes) if changes else value
        case tuple():
            listed = list(value)
            found = redactor.value(listed)
            return value if found is listed else tuple(found)
        case int() | float():
            # What is a number in every event stays one.
            return type(value)(0) if redactor.finds(value) else value
        case str():
            text = redactor.text(value)
            return value if text == value else text
        case _:
            return redactor.value(value)
