"""An answer that was encoded as JSON text once too often: `"{\\"name\\": …}"`, with its quotes or without."""

from __future__ import annotations

import json
import re

_QUOTED = re.compile(r"\s*\"\s*(?:\\[nrt]\s*)*[\[{<]")
_FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n([^`]*+)```\s*")
_ESCAPED = re.compile(r"\s*[\[{][\s\[{]*(?:\\[nrt]\s*)*\\\"")


def decoded(text: str) -> str:
    """The text that a text of JSON holds, where that is all there is and could hold a call; else the text itself."""
    fenced = _FENCED.fullmatch(text)
    inner = fenced[1] if fenced else text
    if fenced and _QUOTED.match(inner) and inner.rstrip().endswith('"'):
        written = inner.strip()
    elif _QUOTED.match(text) and text.rstrip().endswith('"'):
        written = text.strip()
    elif _ESCAPED.match(text) and not re.search(r'(?<!\\)"', text):
        written = f'"{text.strip()}"'
    else:
        return text
    try:
        found = json.loads(written, strict=False)
    except ValueError:
        return text
    return found if isinstance(found, str) and len(found) < len(text) else text
