"""Variables that a composite reads and nobody writes or declares: what its callers must give it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolpath.expressions.names import CHAIN_VARIABLES, retry_counts, written_variables
from toolpath.expressions.templates import expressions_of
from toolpath.model.plan import Plan

_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_VARIABLE = re.compile(r"(?<![\w.\]])(?:state|inputs)\.([A-Za-z_]\w*)")
_SUBSCRIPT = re.compile(r"(?<![\w.\]])(?:state|inputs)\[\s*(?:'([^'\\]+)'|\"([^\"\\]+)\")\s*\]")


def undeclared_variables(plan: Plan) -> dict[str, str]:
    """Each variable that is read as `state.x` or `inputs.x` and that no step writes → pointer to its first use."""
    known = {*written_variables(plan.block), *plan.state, *plan.inputs.get("properties", {}), *CHAIN_VARIABLES}
    known |= retry_counts(plan).keys()
    found: dict[str, str] = {}
    for path, expression in expressions_of(plan):
        for name in _read_in(expression):
            if name not in known:
                found.setdefault(name, path)
    return found


def _read_in(expression: str) -> Iterator[str]:
    for match in _SUBSCRIPT.finditer(expression):
        yield match[1] or match[2]
    for match in _VARIABLE.finditer(_QUOTED.sub("''", expression)):
        yield match[1]
