"""Environment of a block while it is compiled: its plan, the names in it, and the expressions that were read. Pure."""

from __future__ import annotations

import msgspec

from toolpath.checks.check_result import Expressions
from toolpath.expressions.compile import Compiled, compile_condition, compile_value
from toolpath.expressions.names import Names
from toolpath.model.plan import Plan
from toolpath.values import Json


class Environment(msgspec.Struct, frozen=True):
    """Environment that the steps of a block are compiled in."""

    plan: Plan
    names: Names
    path: str = ""
    """Pointer to the block."""
    read: Expressions = {}
    """Expressions of the plan that a check has read with the same names."""

    def inside(self, names: Names, path: str) -> Environment:
        """Environment of a block inside this one."""
        return Environment(self.plan, names, path, self.read)

    def value(self, value: Json, path: str, *, allow_secrets: bool = False) -> Compiled:
        """The value at the pointer, compiled."""
        return compile_value(value, self.names, allow_secrets=allow_secrets, known=self.read.get(path))

    def condition(self, source: str | bool, path: str) -> Compiled:
        """The condition at the pointer, compiled."""
        return compile_condition(source, self.names, known=self.read.get(path))
