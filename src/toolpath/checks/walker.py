"""Protocol of the walker of an expression, as operators and filters need it. Shape, not behaviour."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol

from toolpath.checks.kinds import Kinds
from toolpath.checks.shapes import Type
from toolpath.expressions import tree
from toolpath.expressions.tree import Tree


class Walker(Protocol):
    """Walker of an expression."""

    kinds: Kinds

    def type(self, of: Tree) -> Type:
        """The type of what a tree gives."""

    def need(self, of: Tree, type_: Type, kinds: AbstractSet[str], why: str) -> Type:
        """The type of a part that has to be of these kinds."""

    def mismatch(self, message: str, always: bool, *of: Tree, hint: str = "") -> None:
        """Report a value that does not fit the operation."""

    def empty(self, of: Tree, what: str) -> None:
        """There may be nothing to take."""

    def called(self, function: tree.Lambda, subject: Type, of: Tree) -> Type:
        """The type of what a lambda gives for the elements of a list."""

    def listed(self, item: Type, is_filled: bool) -> Type:
        """The type of a list of such elements."""

    def note_unknown(self, of: Tree) -> None:
        """The type of a part is needed, and not known."""
