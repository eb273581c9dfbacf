"""Judge of expressions: types of their parts and how they may fail, by the types of what they read. Reports nothing.

One walk along the tree as it is evaluated: each part has a type, conditions tell more of the parts that they guard, and
each operator and filter is compared with what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import Literal, Protocol

import msgspec

from toolpath.checks import filters, operators
from toolpath.checks.facts import NOTHING, Fact, Facts, Place, below, facts_of, is_there, joined, place_of
from toolpath.checks.filters import name_of
from toolpath.checks.kinds import Kinds
from toolpath.checks.shapes import NEVER, Type, either, list_of, object_of, or_null, tuple_of
from toolpath.expressions import tree
from toolpath.expressions.look import path_text
from toolpath.expressions.tree import Reference, Tree
from toolpath.values import encode

Flaw = Literal["absent", "unset", "outside", "mismatch"]
Key = str | int

_TEXT: Type = {"type": "string"}
_NULL: Type = {"type": "null"}
_BOOLEAN: Type = {"type": "boolean"}
#: Values of a literal that are a type of their own; of larger ones only the kind is known.
_LARGEST_LITERAL = 200


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One way in which the expression may fail."""

    flaw: Flaw
    reference: Reference | None
    """What is read; None where it lies with something that the expression has made."""
    message: str = ""
    hint: str = ""
    sure: bool = False
    """It fails whenever it is evaluated, and it is."""


class RootValue(msgspec.Struct, frozen=True, kw_only=True):
    """Value that a name stands for, before any path below it, as far as it is known."""

    type: Type
    kind: str
    """As `ReferenceUse.kind`."""
    missing: bool = False
    """The path leads out of the schema."""
    unset: bool = False
    """It is a variable that may not be set."""
    void: bool = False
    """It may be null since its step has no output."""
    given: Type = None
    """Its type where it is not null for want of an input."""


class Judged(msgspec.Struct, frozen=True):
    """Type and faults of one string with templates."""

    type: Type
    lone: Type
    """As `type`; of a lone reference that which it has where its step has an output."""
    faults: tuple[Fault, ...] = ()
    unknown: tuple[Reference, ...] = ()


class Reader(Protocol):
    """Reader of names: what each stands for."""

    kinds: Kinds

    def source(self, reference: Reference) -> RootValue:
        """The source that the root of a reference names, with its type."""

    def held(self, reference: Reference) -> bool:
        """True where the value that the reference gives is held to its schema."""


class Judge:
    """Walks one expression."""

    def __init__(self, reader: Reader, facts: Facts = NOTHING) -> None:
        self.reader = reader
        self.kinds = reader.kinds
        self.faults: list[Fault] = []
        self.unknown: list[Reference] = []
        """What is used as if its type were known, which it is not."""
        self._facts = facts
        self._caught = 0
        """Expressions around this place that stand in for what is not there."""
        self._voids: set[int] = set()
        """Parts whose null counts as nothing where it is for want of an output: an operator would take it for null."""
        self._missed = False
        """Something of what is being caught may not be there."""
        self._maybe = 0
        """Conditions and loops around this place: it may never be evaluated."""
        self._slots: dict[int, tuple[Type, Tree]] = {}
        """Types of the parameters of lambdas, and what their values are taken from."""

    def judged(self, of: Tree) -> Type:
        """The type of what the whole expression gives."""
        return self.type(of)

    def type(self, of: Tree) -> Type:  # noqa: C901, PLR0912  # one case a kind of node
        """The type of what a tree gives here; None where it is not known."""
        match of:
            case tree.Literal_(value):
                return _of_literal(value)
            case tree.Path():
                return self._path(of)
            case tree.Local(slot=slot, keys=keys):
                known, subject = self._slots.get(slot, (None, of))
                return self._below(known, keys, ((slot,), ()), subject, "an element")
            case tree.Item():
                return self._item(of)
            case tree.Slice():
                return operators.part(self, of)
            case tree.Sign(operand=operand):
                return operators.signed(self, operand)
            case tree.Binary():
                return operators.binary(self, of)
            case tree.Compare():
                operators.compared(self, of)
                return _BOOLEAN
            case tree.Logic():
                return self._logic(of)
            case tree.Not(operand):
                self.type(operand)
                return _BOOLEAN
            case tree.Choose():
                return self._choose(of)
            case tree.Concat(parts):
                for part in parts:
                    self.type(part)
                return _TEXT
            case tree.ListOf(items):
                return tuple_of([self.type(item) for item in items])
            case tree.DictOf():
                return self._object(of)
            case tree.Each():
                return self._each(of)
            case tree.Apply():
                return filters.applied(self, of)
            case tree.Default():
                return self._default(of)
            case tree.Defined(subject):
                with self._catching(subject):
                    self.type(subject)
                return _BOOLEAN
            case tree.Lambda():
                return None

    # What is read.

    def _path(self, of: tree.Path) -> Type:
        reference = of.reference
        source = self.reader.source(reference)
        if source.kind in ("unknown", "ambiguous"):
            return None
        if source.kind in ("run", "secrets"):
            return _TEXT
        if source.missing:
            if not self._caught:
                self.faults.append(Fault(flaw="outside", reference=reference))
            return NEVER
        place = place_of(of)
        base = None if place is None else (place[0], ())
        is_known = base is not None and is_there(self._facts, base)
        known = (
            source.given if id(of) in self._voids and not reference.path and source.given is not None else source.type
        )
        if source.unset and not is_known:
            self._absent(reference, flaw="unset")
        path = tuple(key for key in reference.path if key is not None)
        found = self._below(known, path, base, of, "")
        if source.void and not is_known:
            if id(of) in self._voids:
                self._missed = True
                return found
            return or_null(found) if found is not None else None
        return found

    def _below(self, of: Type, path: tuple[Key, ...], base: Place | None, subject: Tree, name: str) -> Type:
        """The type at a path below a value of the type, of which it is told where it may not be there."""
        absent = False
        for count in range(len(path) + 1):
            at = None if base is None else (base[0], (*base[1], *path[:count]))
            fact = None if at is None else self._facts.get(at)
            if fact is not None:
                of = fact.of(of, self.kinds)
            if count == len(path):
                break
            if of is None:
                if not self._caught:
                    self.note_unknown(subject)
                break
            key = path[count]
            if not self.kinds.has(of, key) and (at is None or not is_there(self._facts, (at[0], (*at[1], key)))):
                absent = True
            of = self.kinds.child(of, key)
        if absent:
            reference = subject.reference if isinstance(subject, tree.Path) and not name else None
            self._absent(reference, message=f"'{path_text(name or shown(subject), path)}' may not be there")
        return of

    def _item(self, of: tree.Item) -> Type:
        place = place_of(of)
        if isinstance(of.key, tree.Literal_) and isinstance(key := of.key.value, str | int) and type(key) is not bool:
            subject = self.type(of.subject)
            base = None if place is None else (place[0], place[1][:-1])
            return self._below(subject, (key,), base, of.subject, shown(of.subject))
        subject = self.type(of.subject)
        key_type = self.type(of.key)
        self.need(of.key, key_type, {"string", "integer"}, "a key is a text and an index an integer")
        if subject is None:
            self.note_unknown(of.subject)
            return None
        lone = self.kinds.flats(key_type) or []
        keys = [value for flat in lone for value in flat.get("enum", ())] if len(lone) == 1 else []
        if keys and all(isinstance(k, str | int) and self.kinds.has(subject, k) for k in keys):
            return either([self.kinds.child(subject, k) for k in keys])
        self._absent(None, message=f"'{shown(of.subject)}[{shown(of.key)}]' may not be there")
        names = self.kinds.names(subject)
        if names is None:
            return None
        parts = [self.kinds.items(subject)] if "array" in names else []
        parts += [self.kinds.values(subject)] if "object" in names else []
        parts += [_TEXT] if "string" in names else []
        return either(parts) if parts else NEVER

    # What chooses.

    def _logic(self, of: tree.Logic) -> Type:
        left = self.type(of.left)
        is_and = of.operator == "and"
        with self.where(facts_of(of.left, is_and)):
            right = self.type(of.right)
        return either([self.kinds.false(left) if is_and else self.kinds.true(left), right])

    def _choose(self, of: tree.Choose) -> Type:
        self.type(of.test)
        with self.where(facts_of(of.test, True)):
            yes = self.type(of.yes)
        no = _NULL
        if of.no is not None:
            with self.where(facts_of(of.test, False)):
                no = self.type(of.no)
        elif id(of) in self._voids:
            self._missed = True
            no = NEVER
        return either([yes, no])

    def _default(self, of: tree.Default) -> Type:
        with self._catching(of.subject) as caught:
            subject = self.type(of.subject)
        missed = caught[0]
        falsy = of.falsy is not None and not (isinstance(of.falsy, tree.Literal_) and not of.falsy.value)
        if of.falsy is not None:
            self.type(of.falsy)
        if falsy:
            subject = self.kinds.true(subject)
        with self.maybe():
            otherwise = self.type(of.otherwise)
        return either([subject, otherwise]) if missed or falsy or subject is None or subject == NEVER else subject

    # What is made.

    def _object(self, of: tree.DictOf) -> Type:
        properties: dict[str, Type] = {}
        is_known = True
        for key, value in of.items:
            self.need(key, self.type(key), {"string"}, "the keys of an object are texts")
            made = self.type(value)
            if isinstance(key, tree.Literal_) and isinstance(key.value, str):
                properties[key.value] = made
            else:
                is_known = False
        return object_of(properties) if is_known else {"type": "object"}

    def _each(self, of: tree.Each) -> Type:
        subject = self.need(of.subject, self.type(of.subject), {"array"}, f"{of.kind} needs a list")
        made = self.called(of.function, subject, of.subject)
        if of.kind == "map":
            return self.listed(made, self.kinds.is_filled(subject))
        slot = of.function.slots[0]
        items = self.kinds.items(subject)
        for path, fact in below(facts_of(of.function.body, of.kind == "filter"), ((slot,), ())):
            items = _refined(items, path, fact, self.kinds)
        return self.listed(items, False)

    def called(self, function: tree.Lambda, subject: Type, of: Tree) -> Type:
        """The type of what a lambda gives for the elements of a list."""
        for slot in function.slots:
            self._slots[slot] = (self.kinds.items(subject), of)
        with self.maybe():
            return self.type(function.body)

    def listed(self, item: Type, is_filled: bool) -> Type:
        """The type of a list of such elements, of which there is at least one where `is_filled` says so."""
        found = list_of(item)
        return {**found, "minItems": 1} if is_filled and found is not None else found

    # What may fail.

    def need(self, of: Tree, type_: Type, kinds: AbstractSet[str], why: str) -> Type:
        """The type of a part that has to be of one of these kinds; it is told where it may not be."""
        names = self.kinds.names(type_)
        if names is None:
            self.note_unknown(of)
        elif wrong := [name for name in names if name not in kinds and not (name == "integer" and "number" in kinds)]:
            self.mismatch(f"'{shown(of)}' is {self.kinds.text(type_)}, and {why}", len(wrong) == len(names), of)
        return self.kinds.only(type_, kinds)

    def mismatch(self, message: str, always: bool, *of: Tree, hint: str = "") -> None:
        """Report a value that does not fit the operation."""
        references = [reference for part in of for reference in references_in(part)]
        sure = always and not self._maybe and all(self.reader.held(reference) for reference in references)
        first = references[0] if references else None
        self.faults.append(Fault(flaw="mismatch", reference=first, message=message, sure=sure, hint=hint))

    def empty(self, of: Tree, what: str) -> None:
        """There may be nothing to take."""
        self._absent(None, message=f"'{shown(of)} | {what}' gives nothing where the list is empty")

    def note_unknown(self, of: Tree) -> None:
        """The type of a part is needed, and not known."""
        found = references_in(of) or [
            reference for _, subject in self._slots.values() for reference in references_in(subject)
        ]
        self.unknown += found
        if not found:
            self.mismatch(f"the type of '{shown(of)}' is not known", False, of)

    def _absent(self, reference: Reference | None, *, flaw: Flaw = "absent", message: str = "") -> None:
        if self._caught:
            self._missed = True
        else:
            self.faults.append(Fault(flaw=flaw, reference=reference, message=message))

    @contextmanager
    def where(self, facts: Facts) -> Iterator[None]:
        """Judge all that is looked at inside as evaluated only where these facts hold."""
        before, self._facts = self._facts, joined(self._facts, facts)
        try:
            with self.maybe():
                yield
        finally:
            self._facts = before

    @contextmanager
    def maybe(self) -> Iterator[None]:
        """Judge all that is looked at inside as what may never be evaluated."""
        self._maybe += 1
        try:
            yield
        finally:
            self._maybe -= 1

    @contextmanager
    def _catching(self, subject: Tree) -> Iterator[list[bool]]:
        self._voids |= _void_parts(subject)
        before, self._missed = self._missed, False
        self._caught += 1
        missed = [False]
        try:
            yield missed
        finally:
            self._caught -= 1
            missed[0] = self._missed
            self._missed = before


def _refined(of: Type, path: tuple[Key, ...], fact: Fact, kinds: Kinds) -> Type:
    """The type of values that have something at the path, of which the fact holds."""
    if not path:
        return fact.of(of, kinds)
    key = path[0]
    if not isinstance(key, str) or not fact.there:
        return of
    return kinds.with_key(of, key, lambda inner: _refined(inner, path[1:], fact, kinds))


def _void_parts(of: Tree) -> set[int]:
    """The parts that a `default` or `is defined` sees through to, by identity."""
    match of:
        case tree.Item(subject=subject) | tree.Slice(subject=subject):
            return {id(of)} | _void_parts(subject)
        case tree.Choose(yes=yes, no=no):
            return {id(of)} | _void_parts(yes) | (set() if no is None else _void_parts(no))
        case _:
            return {id(of)}


def _of_literal(value: object) -> Type:
    if isinstance(value, list | dict) and len(encode(value)) > _LARGEST_LITERAL:
        return {"type": "array" if isinstance(value, list) else "object"}
    return {"enum": [value]}


def references_in(of: Tree) -> list[Reference]:
    """Every reference in the tree, in its order."""
    found: list[Reference] = []
    waiting: list[object] = [of]
    while waiting:
        here = waiting.pop()
        if isinstance(here, tree.Path):
            found.append(here.reference)
        elif isinstance(here, tuple):
            waiting += reversed(here)
        elif isinstance(here, msgspec.Struct):
            waiting += reversed([getattr(here, name) for name in here.__struct_fields__])
    return found


def shown(of: Tree) -> str:
    """The part as a message calls it."""
    match of:
        case tree.Path(reference):
            return path_text(reference.name, reference.path)
        case tree.Local(name=name, keys=keys):
            return path_text(name, keys)
        case tree.Literal_(value):
            text = encode(value).decode()
            return text if len(text) <= 40 else f"{text[:39]}…"
        case tree.Item(subject=subject, key=key):
            return f"{shown(subject)}[{shown(key)}]"
        case tree.Apply(subject=subject) if name_of(of):
            return f"{shown(subject)} | {name_of(of)}"
        case tree.Default(subject=subject, otherwise=otherwise):
            return f"{shown(subject)} | default({shown(otherwise)})"
        case _:
            return "the value"
