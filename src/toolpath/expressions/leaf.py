"""One string with templates: its pieces, resolved, and what each of them gives when it is run with care."""

from __future__ import annotations

import re

from msgspec import Struct

from toolpath.errors import ExpressionError, OverBudget, Unresolved
from toolpath.expressions import operate
from toolpath.expressions.budget import WorkBudget
from toolpath.expressions.emit import Emitter, Run
from toolpath.expressions.lower import Lowering
from toolpath.expressions.names import Frame, Names, Root
from toolpath.expressions.parse import WORDS, parse
from toolpath.expressions.resolve import SPACES, resolve
from toolpath.expressions.scan import Placeholder, scan
from toolpath.expressions.tree import Literal_, Path, Reference, Tree
from toolpath.values import Json

_plain = re.compile(r"\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z_][A-Za-z0-9_]*)*)[ \t]*\}\}", re.ASCII)
#: Names that are no plain ones, or follow rules of their own.
_OTHER = WORDS | {"secrets", "null", "NULL", "Null", "NONE", "TRUE", "FALSE"}
_MOST_KEYS = 20
#: Templates of a text that are read the short way.
_MOST_PLAIN = 100


# A large plan has many of both. No search for garbage, which stops everybody, looks at them: they are in no circle.


class LeafPiece(Struct, eq=False, gc=False):
    """One template of the string."""

    text: str
    """As written, braces included."""
    offset: int
    tree: Tree
    _run: Run | None = None

    def value(self, frame: Frame, budget: WorkBudget) -> Json:
        """The template's value, by the form that says what is wrong. Raises `ExpressionError`."""
        try:
            if self._run is None:
                # Compiled at the first failure: most templates never have one.
                emitter = Emitter(diagnose=True)
                self._run = emitter.function(emitter.emit(self.tree))
            return self._run(frame, budget)
        except ExpressionError as error:
            error.offset = error.offset or self.offset
            raise
        except RecursionError:
            raise OverBudget("The expression is nested too deeply to be evaluated.", offset=self.offset) from None
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, MemoryError) as error:
            raise ExpressionError(
                f"The expression cannot be computed: {error}.", code="expression_type", offset=self.offset
            ) from error


class Leaf(Struct, eq=False, gc=False):
    """A string with at least one template."""

    source: str
    pointer: str
    pieces: tuple[str | LeafPiece, ...]
    references: tuple[Reference, ...]
    faults: tuple[ExpressionError, ...]
    is_plain: bool = False
    """It is one path with dots in braces, and nothing else."""
    uses_secrets: bool = False
    whole: LeafPiece | None = None
    """The one template that the string is, whose value keeps its type."""

    def __post_init__(self) -> None:
        self.uses_secrets = not self.is_plain and _uses_secrets(self.references)
        piece = self.pieces[0] if len(self.pieces) == 1 else None
        self.whole = piece if isinstance(piece, LeafPiece) else None

    def value(self, frame: Frame, budget: WorkBudget, keep: list[Unresolved] | None = None) -> Json:
        """The string's value, run with care. With `keep`, a template that does not resolve keeps its text."""
        whole = self.whole
        if whole is not None:
            return _settled(whole, frame, budget, keep)
        texts = []
        for piece in self.pieces:
            value = piece if isinstance(piece, str) else _settled(piece, frame, budget, keep)
            texts.append(operate.text(value, budget))
        return "".join(texts)


def _uses_secrets(references: tuple[Reference, ...]) -> bool:
    # Nearly every text reads one thing: a generator would take longer than what it does.
    for reference in references:  # noqa: SIM110
        if type(reference.root) is Root and reference.root.kind == "secrets":
            return True
    return False


def _settled(piece: LeafPiece, frame: Frame, budget: WorkBudget, keep: list[Unresolved] | None) -> Json:
    try:
        return piece.value(frame, budget)
    except Unresolved as error:
        if keep is None:
            raise
        keep.append(error)
        return piece.text


def read_leaf(source: str, pointer: str, names: Names, *, allow_secrets: bool) -> Leaf | None:
    """The string's templates, resolved; None where it has none. Faults are kept in the leaf, not raised."""
    if "{{" not in source:
        return None
    plain = plain_leaf(source, pointer, names)
    if plain is not None:
        return plain
    try:
        parts = scan(source)
    except ExpressionError as error:
        return Leaf(source, pointer, (), (), (error,))
    pieces: list[str | LeafPiece] = []
    references: list[Reference] = []
    faults: list[ExpressionError] = []
    for part in parts:
        if isinstance(part, Placeholder):
            lowering = Lowering(names, pointer, part.offset, allow_secrets=allow_secrets)
            pieces.append(_piece(part, lowering))
            references += lowering.references
            faults += lowering.faults
        else:
            pieces.append(part)
    return Leaf(source, pointer, tuple(pieces), tuple(references), tuple(faults))


def plain_leaf(source: str, pointer: str, names: Names) -> Leaf | None:
    """The leaf of a text whose templates are plain paths with dots, as most are, without parser and tree of nodes.

    Equals what `read_leaf` makes of it otherwise.
    """
    found = _plain.fullmatch(source)
    if found is not None:
        # One path is all of it.
        reference = _plain_reference(found, pointer, names)
        if reference is None:
            return None
        return Leaf(source, pointer, (LeafPiece(source, 2, Path(reference)),), (reference,), (), is_plain=True)
    pieces: list[str | LeafPiece] = []
    references: list[Reference] = []
    position, start = 0, source.find("{{")
    while start >= 0:
        found = _plain.match(source, start)
        reference = None if found is None else _plain_reference(found, pointer, names)
        if found is None or reference is None or len(references) > _MOST_PLAIN:
            return None
        if start > position:
            pieces.append(source[position:start])
        position = found.end()
        pieces.append(LeafPiece(source[start:position], start + 2, Path(reference)))
        references.append(reference)
        start = source.find("{{", position)
    if position < len(source):
        pieces.append(source[position:])
    return Leaf(source, pointer, tuple(pieces), tuple(references), ())


def _plain_reference(found: re.Match[str], pointer: str, names: Names) -> Reference | None:
    name, dotted = found.groups()
    if name in _OTHER:
        return None
    keys = tuple(dotted.split(".")[1:]) if dotted else ()
    if len(keys) > _MOST_KEYS:
        return None
    root = None if name in SPACES else names.root(name)
    if type(root) is Root:
        return Reference(name=name, root=root, path=keys, offset=found.start(1), pointer=pointer)
    reference = resolve(names, name, keys, found.start(1), pointer=pointer)
    return reference if type(reference) is Reference and type(reference.root) is Root else None


def read_condition(source: str, names: Names) -> Leaf:
    """A condition, bare or in braces. Faults are kept in the leaf, not raised."""
    try:
        template = _condition(source)
    except ExpressionError as error:
        return Leaf(source, "", (), (), (error,))
    lowering = Lowering(names, "", template.offset, allow_secrets=False)
    piece = _piece(template, lowering)
    return Leaf(source, "", (piece,), tuple(lowering.references), tuple(lowering.faults))


def _condition(source: str) -> Placeholder:
    if not source.strip().startswith("{{"):
        return Placeholder(source, source, 0)
    parts = [part for part in scan(source) if isinstance(part, Placeholder) or part.strip()]
    if len(parts) == 1 and isinstance(parts[0], Placeholder):
        return parts[0]
    raise ExpressionError(
        "A condition is one expression.",
        code="expression_syntax",
        hint="Put all of it into one pair of braces: {{ a.status == 'ok' }}.",
    )


def _piece(template: Placeholder, lowering: Lowering) -> LeafPiece:
    try:
        node = parse(template.source)
    except ExpressionError as error:
        error.offset += template.offset
        lowering.faults.append(error)
        return LeafPiece(template.text, template.offset, Literal_(None))
    return LeafPiece(template.text, template.offset, lowering.whole(node))
