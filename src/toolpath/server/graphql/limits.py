"""How much one GraphQL document may ask for. Counted with fragments spread, each fragment once."""

from __future__ import annotations

from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    ValidationContext,
    ValidationRule,
)

#: Characters of a document. Texts belong into variables.
LENGTH = 100_000
#: Words, names and brackets of a document.
TOKENS = 2_000
#: Fields within fields. Clients' introspection goes 13 deep.
DEPTH = 16
#: Fields of an operation, fragments spread.
FIELDS = 500
#: Fields of the operation itself: each is work of its own.
ROOTS = 20


class Bounded(ValidationRule):
    """Refuses operations that ask for too much, whatever way they are written."""

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self._fragments: dict[str, FragmentDefinitionNode] = {
            node.name.value: node for node in context.document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._known: dict[str, tuple[int, int, int]] = {}

    def enter_operation_definition(self, node: OperationDefinitionNode, *_: Any) -> None:
        """Measure the operation."""
        depth, fields, roots = self._measured(node.selection_set)
        for found, most, what in (
            (depth, DEPTH, "levels deep"),
            (fields, FIELDS, "fields"),
            (roots, ROOTS, "fields of its own"),
        ):
            if found > most:
                message = f"The operation is too large: {min(found, 10**9):,} {what}; the most is {most}."
                self.context.report_error(GraphQLError(message, node, extensions={"code": "too_large"}))
                return

    def _measured(self, selections: SelectionSetNode | None) -> tuple[int, int, int]:
        """Depth, fields in all, and fields at the top, of a selection."""
        depth = fields = roots = 0
        for node in selections.selections if selections is not None else ():
            match node:
                case FieldNode():
                    inner = self._measured(node.selection_set)
                    depth, fields, roots = max(depth, inner[0] + 1), fields + inner[1] + 1, roots + 1
                case InlineFragmentNode():
                    inner = self._measured(node.selection_set)
                    depth, fields, roots = max(depth, inner[0]), fields + inner[1], roots + inner[2]
                case FragmentSpreadNode():
                    inner = self._of_fragment(node.name.value)
                    depth, fields, roots = max(depth, inner[0]), fields + inner[1], roots + inner[2]
        return depth, fields, roots

    def _of_fragment(self, name: str) -> tuple[int, int, int]:
        known = self._known.get(name)
        if known is None:
            # A fragment that holds itself is refused by another rule; here it must only end.
            self._known[name] = (0, 0, 0)
            fragment = self._fragments.get(name)
            known = self._known[name] = self._measured(fragment.selection_set) if fragment is not None else (0, 0, 0)
        return known
