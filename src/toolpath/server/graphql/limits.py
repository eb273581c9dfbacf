"""Limits of one GraphQL document. Counted with fragments spread, each fragment once."""

from __future__ import annotations

from collections.abc import Iterator

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)
from strawberry.extensions import SchemaExtension

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


class Bounded(SchemaExtension):
    """Refuses operations that ask for too much, whatever way they are written, before anything else looks at them."""

    def on_validate(self) -> Iterator[None]:
        """Measure the document; one that is too large is not validated any further."""
        document = self.execution_context.graphql_document
        fault = excess(document) if document is not None else None
        if fault is not None:
            self.execution_context.pre_execution_errors = [fault]
        yield


def excess(document: DocumentNode) -> GraphQLError | None:
    """The error for what is too large in the document; None: nothing is."""
    measure = _Measure(document)
    for node in document.definitions:
        if not isinstance(node, OperationDefinitionNode):
            continue
        depth, fields, roots = measure.of(node.selection_set)
        for found, most, what in (
            (depth, DEPTH, "levels deep"),
            (fields, FIELDS, "fields"),
            (roots, ROOTS, "fields of its own"),
        ):
            if found > most:
                message = f"The operation is too large: {min(found, 10**9):,} {what}; the most is {most}."
                return GraphQLError(message, node, extensions={"code": "too_large"})
    return None


class _Measure:
    """Depth, fields in all, and fields at the top, of the selections of one document."""

    def __init__(self, document: DocumentNode) -> None:
        self._fragments: dict[str, FragmentDefinitionNode] = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._known: dict[str, tuple[int, int, int]] = {}

    def of(self, selections: SelectionSetNode | None) -> tuple[int, int, int]:
        """Of these selections."""
        depth = fields = roots = 0
        for node in selections.selections if selections is not None else ():
            match node:
                case FieldNode():
                    inner = self.of(node.selection_set)
                    depth, fields, roots = max(depth, inner[0] + 1), fields + inner[1] + 1, roots + 1
                case InlineFragmentNode():
                    inner = self.of(node.selection_set)
                    depth, fields, roots = max(depth, inner[0]), fields + inner[1], roots + inner[2]
                case FragmentSpreadNode():
                    inner = self._of_fragment(node.name.value)
                    depth, fields, roots = max(depth, inner[0]), fields + inner[1], roots + inner[2]
        return depth, fields, roots

    def _of_fragment(self, name: str) -> tuple[int, int, int]:
        known = self._known.get(name)
        if known is None:
            # A fragment that holds itself is refused by a rule of the language; here it must only end.
            self._known[name] = (0, 0, 0)
            fragment = self._fragments.get(name)
            known = self._known[name] = self.of(fragment.selection_set) if fragment is not None else (0, 0, 0)
        return known
