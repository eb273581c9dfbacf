"""The W3C trace context that a run belongs to: taken from where it is started, passed on to what its tools call.

`opentelemetry` is never imported here: where nobody has imported it, no span can be current.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from toolpath.values import Json

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
#: Characters of a tracestate that are passed on; the standard wants 512 at least.
_LONGEST_STATE = 1024
_PRINTABLE = re.compile(r"[\x20-\x7e]*")


def current_trace() -> dict[str, str]:
    """`traceparent`, and `tracestate` where there is one, of the span that is current here; empty without one."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return {}
    context = api.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    trace = {"traceparent": f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"}
    if context.trace_state:
        trace["tracestate"] = context.trace_state.to_header()
    return trace


def trace_in(metadata: Mapping[str, Json]) -> dict[str, str]:
    """The trace context that headers or a context's metadata hold; empty where there is none that can be read."""
    parent = metadata.get("traceparent")
    if not isinstance(parent, str) or not _TRACEPARENT.fullmatch(parent):
        return {}
    state = metadata.get("tracestate")
    if isinstance(state, str) and 0 < len(state) <= _LONGEST_STATE and _PRINTABLE.fullmatch(state):
        return {"traceparent": parent, "tracestate": state}
    return {"traceparent": parent}
