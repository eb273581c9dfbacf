"""Journal events in the envelope of CloudEvents 1.0, for other systems. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

import msgspec

from toolpath.model.events import AnyEvent
from toolpath.values import JsonObject


def to_cloudevent(event: AnyEvent, run_id: str) -> JsonObject:
    """The event as a CloudEvent in JSON form; `subject` is the step's path, `data` the event's own fields."""
    data: JsonObject = msgspec.to_builtins(event)
    kind, seq, at = data.pop("type"), data.pop("seq"), data.pop("at")
    envelope: JsonObject = {
        "specversion": "1.0",
        "id": f"{run_id}/{seq}",
        "source": f"/runs/{quote(run_id, safe='')}",
        "type": f"toolpath.{kind}",
        "time": datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        # The extension `sequence` is text that has to sort as the numbers do.
        "sequence": f"{seq:012d}",
        "datacontenttype": "application/json",
        "data": data,
    }
    if subject := data.get("path"):
        envelope["subject"] = subject
    return envelope
