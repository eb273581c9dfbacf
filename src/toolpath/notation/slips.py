"""Words of other notations → how the same is read here."""

from __future__ import annotations

from typing import Final

_INPUT = "For an input of the plan write 'inputs.NAME'."
_STEP = "Read a step's output by its id, e.g. {{ a.field }}, or {{ steps.ID.output }}."
_SECRET = "Write {{ secrets.NAME }}, in the inputs of a step."  # noqa: S105 - no secret, but how one is named
_OTHER_SYSTEM = "That is of another system: read inputs as 'inputs.NAME', and a step's output by its id."

#: First names of a path.
ROOTS: Final[dict[str, str]] = {
    **dict.fromkeys(("input", "params", "parameters", "args", "arguments", "vars", "variables", "context"), _INPUT),
    **dict.fromkeys(("step", "outputs", "output", "results", "result", "tools", "nodes", "prev", "previous"), _STEP),
    **dict.fromkeys(("env", "secret", "credentials", "config"), _SECRET),
    "undefined": "Ask `x is defined`, or `x is none`.",
    "nil": "Write `none`.",
    "this": _STEP,
    "self": _STEP,
    "loop": "Only inside a loop is there an item, by the name under its 'as'.",
    **dict.fromkeys(("yes", "Yes", "YES", "on", "On", "ON", "y", "TRUE"), "Write true; 'yes' and 'on' are text."),
    **dict.fromkeys(("no", "No", "NO", "off", "Off", "OFF", "n", "FALSE"), "Write false; 'no' and 'off' are text."),
    **dict.fromkeys(("github", "matrix", "needs", "jobs", "workflow"), _OTHER_SYSTEM),
    "now": "Only 'run.started_at' tells of time; use a tool for others.",
}
#: Last names of a path.
PATHS: Final[dict[str, str]] = {
    **dict.fromkeys(("length", "size", "count"), "Write `| length`."),
    **dict.fromkeys(("first", "last"), "Write `| first` or `| last`, or an index."),
    **dict.fromkeys(("upper", "toUpperCase"), "Write `| upper`."),
    **dict.fromkeys(("lower", "toLowerCase"), "Write `| lower`."),
    **dict.fromkeys(("keys", "values"), "Write `| keys` or `| values`."),
}
