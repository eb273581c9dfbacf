"""Values that are not written as their parameter takes them: `2027-W10` for a day. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolpath.checks.request.seen import Seen

_FORMS: Final = {
    "date": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "date-time": re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}.*"),
    "time": re.compile(r"\d{2}:\d{2}.*"),
}


def formless(seen: Seen) -> Iterator[str]:
    """A question for each value of a call that acts which is a day or a time, and not written as one."""
    for call, tool, _ in seen.acting:
        properties = tool.input_schema.get("properties") if tool is not None else None
        for name, value in call.inputs.items():
            schema = properties.get(name) if isinstance(properties, dict) else None
            form = str(schema.get("format")) if isinstance(schema, dict) else ""
            if form not in _FORMS or not isinstance(value, str) or "{{" in value:
                continue
            if _FORMS[form].fullmatch(value) is None:
                yield f"{call.id}: {value!r} is not written as {name!r} is taken. Which {form} is meant?"
