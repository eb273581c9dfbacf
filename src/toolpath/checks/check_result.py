"""Record of a check: its findings, and the expressions that it read. Record only."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from toolpath.errors import Finding
from toolpath.expressions.leaf import Leaf

#: The expressions of a plan, by the pointer to the value that holds them.
Expressions = Mapping[str, dict[str, Leaf]]


class Checked(msgspec.Struct, frozen=True):
    """Result of a check. The compiler need not read the plan's expressions again."""

    findings: tuple[Finding, ...] = ()
    expressions: Expressions = {}
    bodies: Mapping[str, Expressions] = {}
    """Of the plans inside tools, by the tool's key."""
