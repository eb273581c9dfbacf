"""Judged templates of a plan: type and faults of each, with the facts of the conditions around it. Pure."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from toolpath.checks.facts import NOTHING, Fact, Facts, Place, facts_of, joined
from toolpath.checks.judge import Fault, Judge, Judged, RootValue
from toolpath.checks.kinds import Kinds
from toolpath.checks.shapes import Type, either, or_null
from toolpath.checks.type_source import TypeSource
from toolpath.checks.views import StepView, TemplatePlace
from toolpath.expressions.leaf import Leaf
from toolpath.expressions.tree import Path, Reference, Tree
from toolpath.model.plan import Plan

_TEXT: Type = {"type": "string"}
#: Roots that count the blocks between them and the reader.
_COUNTED = frozenset({"output", "steps", "item", "last"})
#: Roots of which a condition still tells when the step begins: nothing changes them any more.
_STEADY = frozenset({"output", "inputs", "steps", "item"})
#: Uses of a step that come directly after its condition, so that in a chain nothing is written in between.
_AT_ONCE = frozenset({"input", "fallback", "over", "text", "approval", "cache_key"})
_MISSING = frozenset({"absent", "unset"})
_UNRESOLVED = frozenset({"input", "fallback"})


_SOME_TEXT = Judged(_TEXT, _TEXT)


class PlanReader:
    """Reader of names at one place of a plan, with the facts that the conditions around it make sure of."""

    __slots__ = ("facts", "kinds", "template", "types")

    def __init__(self, types: TypeSource, template: TemplatePlace) -> None:
        self.types = types
        self.template = template
        self.facts = standing_facts(template)
        self.kinds: Kinds = types.kinds

    def source(self, reference: Reference) -> RootValue:
        """The source that the root of a reference names, with its type."""
        read = self.template.read(reference)
        types, kind = self.types, read.kind
        reading = types.reading(read)
        missing = reading.place.found == "missing" and bool(reference.path)
        void = unset = False
        given: Type = None
        found = reading.root
        if kind == "output":
            void = not types.history.step(read)[1]
        elif kind == "state" and read.key in self.template.names.variables:
            may, sure = types.history.variable(read.key, read)
            unset = may and not sure
            given = types.variable(read.key, written=types.history.written(read.key, read)[1], given=True)
        elif kind == "inputs" and read.key:
            given = self.kinds.without_null(found)
        elif kind == "steps" and reference.aspect == "error" and types.history.surely_failed(read):
            found = self.kinds.without_null(found)
        return RootValue(type=found, kind=kind, missing=missing, unset=unset, void=void, given=given)

    def held(self, reference: Reference) -> bool:
        """True where the value that the reference gives is held to its schema."""
        return self.types.reading(self.template.read(reference)).held


def judge_leaf(reader: PlanReader, leaf: Leaf) -> Judged:
    """The judgement on one string of the reader's template."""
    if leaf.whole is not None:
        return _settled(reader, _judged_piece(reader, leaf.whole.tree))
    faults: list[Fault] = []
    unknown: list[Reference] = []
    for piece in leaf.pieces:
        if not isinstance(piece, str):
            found = _judged_piece(reader, piece.tree)
            faults += found.faults
            unknown += found.unknown
    if not faults and not unknown:
        return _SOME_TEXT
    return _settled(reader, Judged(type=_TEXT, lone=_TEXT, faults=tuple(faults), unknown=tuple(unknown)))


def _settled(reader: PlanReader, found: Judged) -> Judged:
    """The same, with what is given where something is missing and the plan says what to do then."""
    if not found.faults or not any(fault.flaw in _MISSING for fault in found.faults):
        return found
    given = [_unresolved(reader.types, reader.template, of) for of in (found.type, found.lone)]
    return _with_types(reader.types, found, *given)


def _with_types(types: TypeSource, found: Judged, type_: Type, lone: Type) -> Judged:
    if type_ is not None and lone is not None:
        type_, lone = types.memory.one(type_), types.memory.one(lone)
    return Judged(type=type_, lone=lone, faults=found.faults, unknown=found.unknown)


def _judged_piece(reader: PlanReader, of: Tree) -> Judged:
    """The judgement on one expression."""
    types, facts = reader.types, reader.facts
    source, mark = None, None
    if type(of) is Path:
        source = reader.source(of.reference)
        mark = None if facts else _mark_of(source, of)
        known: Judged | None = None if mark is None else types.memory.paths.get(mark)
        if known is not None:
            return known
    judge = Judge(reader, facts)
    found = lone = judge.type(of)
    if source is not None and source.void:
        lone = Judge(_Full(reader), facts).type(of)
    judged = Judged(type=found, lone=lone, faults=tuple(judge.faults), unknown=tuple(judge.unknown))
    judged = _with_types(types, judged, found, lone)
    if source is not None and mark is not None and not judged.faults and not judged.unknown:
        if source.type is not None:
            types.memory.kept(source.type)
        types.memory.paths[mark] = judged
    return judged


def _mark_of(source: RootValue, of: Path) -> Hashable:
    """All that the type of a path depends on where no condition tells of it; None where it has a fault.

    A type goes by its identity: memory keeps each of which it remembers something.
    """
    if source.missing or source.unset:
        return None
    type_ = source.type
    return source.kind, None if type_ is None else id(type_), source.void, of.reference.path


def _unresolved(types: TypeSource, template: TemplatePlace, found: Type) -> Type:
    """The type of what is given where something is missing and the plan says what to do then."""
    match mode_of(types, template):
        case "null":
            return or_null(found)
        case "keep":
            return either([found, _TEXT])
        case _:
            return found


def mode_of(types: TypeSource, template: TemplatePlace) -> str:
    """The mode of a template that does not resolve; `error` where it is no argument of a call."""
    if template.use not in _UNRESOLVED or template.step is None:
        return "error"
    mode = template.step.step.on_unresolved or types.plan_mode
    tool = template.step.tool
    return "error" if mode == "null" and tool is not None and isinstance(tool.body, Plan) else mode


class _Full:
    """A reader to whom every step has an output."""

    def __init__(self, reader: PlanReader) -> None:
        self._reader = reader
        self.kinds = reader.kinds

    def source(self, reference: Reference) -> RootValue:
        """As the reader's."""
        return msgspec.structs.replace(self._reader.source(reference), void=False)

    def held(self, reference: Reference) -> bool:
        """As the reader's."""
        return self._reader.held(reference)


def standing_facts(template: TemplatePlace) -> Facts:
    """The facts that the conditions of the template's step, and of those around it, make sure of."""
    found: Facts = NOTHING
    step, up = template.step, 0
    if step is not None and template.use == "collect":
        up = 1
    elif step is not None and template.use == "when":
        step, up = step.block.owner, 1
    is_own = up == 0
    while step is not None:
        for (base, path), fact in _conditions(step).items():
            kind = base[0]
            at_once = is_own and kind == "state" and step.block.is_chain and template.use in _AT_ONCE
            if kind in _STEADY or at_once:
                found = joined(found, {_shifted((base, path), up): fact})
        step, up, is_own = step.block.owner, up + 1, False
    return found


def _conditions(step: StepView) -> dict[Place, Fact]:
    if not isinstance(step.step.when, str):
        return {}
    for template in step.templates:
        if template.use == "when":
            leaf = template.leaves.get("")
            if leaf is not None and leaf.whole is not None and not leaf.faults:
                return dict(facts_of(leaf.whole.tree, True))
    return {}


def _shifted(place: Place, up: int) -> Place:
    base, path = place
    if not up or base[0] not in _COUNTED:
        return place
    return (base[0], base[1], int(base[2]) + up, base[3]), path
