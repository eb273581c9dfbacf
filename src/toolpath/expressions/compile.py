"""JSON with templates in it → one function over a frame. The door of the language: others import from here."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from toolpath.errors import ExpressionError, OverBudget, Unresolved
from toolpath.expressions.budget import WorkBudget
from toolpath.expressions.extent import extent
from toolpath.expressions.leaf import Leaf, read_condition, read_leaf
from toolpath.expressions.look import Diagnose
from toolpath.expressions.names import Ambiguous, Frame, Names, Root
from toolpath.expressions.resolve import ambiguous, unknown
from toolpath.expressions.shape import builds
from toolpath.expressions.structure import (
    filled,
    function_of_value,
    plain_value,
    schema_of_value,
    texts,
)
from toolpath.expressions.tree import Aspect, Path, Reference
from toolpath.expressions.wide import WideValue, wide_value
from toolpath.values import MAX_DEPTH, Json, JsonObject

__all__ = ["Aspect", "Compiled", "Inspection", "Reference", "compile_condition", "compile_value", "inspect_value"]

# What the fast form may end with where it cannot answer.
_FAILURES = (
    Diagnose,
    ExpressionError,
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
    ArithmeticError,
    RecursionError,
)


_CONTAINERS = frozenset({list, dict})
#: Kinds of names whose values may be made of others that are there.
_SHARING = frozenset({"state", "last"})
#: Looks of one value at others up to which what they find need not be measured together.
_FEW = 8
#: Evaluations after which a value of plain paths gets code of its own.
_WARM = 4


class Compiled:
    """A JSON value whose templates are code. Safe to evaluate many times, in any order, by one thread at once."""

    __slots__ = (
        "_builds",
        "_charged",
        "_condition",
        "_fast",
        "_leaves",
        "_left",
        "_public",
        "_repeats",
        "_value",
        "_wide",
        "path",
        "references",
        "uses_secrets",
    )

    references: tuple[Reference, ...]
    """Every name that is read, in the order of the text."""
    uses_secrets: bool
    path: Reference | None
    """The whole value is this one plain path, so its type is the type found there."""

    def __init__(self, value: Json, leaves: dict[str, Leaf], *, condition: bool = False) -> None:
        self._value = value
        self._leaves = leaves
        self._condition = condition
        references: list[Reference] = []
        wholes: list[Leaf] = []
        self.uses_secrets = False
        for leaf in leaves.values():
            references += leaf.references
            self.uses_secrets = self.uses_secrets or leaf.uses_secrets
            if leaf.whole is not None:
                wholes.append(leaf)
        self.references = tuple(references)
        self.path = None if condition else _plain_path(leaves)
        self._repeats = not condition and len(wholes) > _FEW
        self._builds = not condition and _may_grow(wholes)
        plain = plain_value(value, leaves) if leaves and not condition else None
        self._fast, charged = plain or function_of_value(value, leaves, condition=condition)
        self._charged = charged or self._builds
        self._wide: WideValue | None = wide_value(value, leaves) if self._repeats and plain is not None else None
        self._left = _WARM if plain is not None else 0
        """Evaluations until it gets code of its own."""
        self._public: Compiled | None = None
        if self.uses_secrets:
            public = {at: leaf for at, leaf in leaves.items() if not leaf.uses_secrets}
            self._public = Compiled(value, public, condition=condition)

    def _warm_up(self) -> None:
        self._left -= 1
        if not self._left:
            self._fast, _ = function_of_value(self._value, self._leaves, condition=self._condition)

    @property
    def schema(self) -> JsonObject | None:
        """The schema of the result where it is no plain path; None: unknown. Made anew each time."""
        return {"type": "boolean"} if self._condition else schema_of_value(self._value, self._leaves)

    def evaluate(self, frame: Frame) -> Json:
        """The value with each template replaced by what it gives. Parts are shared with the frame: never change them.

        Raises `Unresolved` where something is missing, `ExpressionError` where values do not fit the operation, and
        `OverBudget` where it would be too much work.
        """
        try:
            if self._left:
                self._warm_up()
            if not self._charged:
                fast = self._fast  # no method, which calling it where it stands would look for
                value = fast(frame, None)
                if self._repeats or frame.shares:
                    self._admit(value, frame)
                return value
            return self._counted(frame)
        except OverBudget:
            raise
        except _FAILURES:
            return self._with_care(frame)

    def _counted(self, frame: Frame) -> Json:
        """The value, its work counted: for this evaluation, and for all those of the run."""
        budget = WorkBudget(frame.work)
        try:
            return self._admitted(self._fast(frame, budget), frame, budget)
        finally:
            budget.close()

    def _admitted(self, value: Json, frame: Frame, budget: WorkBudget, *, lacking: bool = False) -> Json:
        """The value, not larger than one may be: it may share its parts, and whatever is done with it walks it."""
        if self._builds and type(value) in _CONTAINERS:
            found = extent(value)
            budget.take(found)
            if frame.work is not None:
                frame.work.admit(found)
        elif self._repeats or frame.shares:
            self._admit(value, frame, lacking=lacking)
        return value

    def _admit(self, value: Json, frame: Frame, *, lacking: bool = False) -> None:
        """Have the run admit a value that may weigh much more than what it is made of. `lacking`: not all is there."""
        work = frame.work
        if work is None or type(value) not in _CONTAINERS:
            return
        # Where values stand aside of the journal the frame shares, and holds larger ones than the journal tells of.
        if self._wide is None or frame.shares or lacking or not work.admits(self._wide.weight(frame, work.largest())):
            work.admit(extent(value))

    def evaluate_lenient(self, frame: Frame, mode: Literal["keep", "null"]) -> tuple[Json, tuple[Unresolved, ...]]:
        """As `evaluate`, and what does not resolve: `keep` leaves such a template as written, `null` puts null."""
        try:
            return self.evaluate(frame), ()
        except Unresolved:
            missing: list[Unresolved] = []
            return self._with_care(frame, missing, mode), tuple(missing)

    def lacking(self, frame: Frame) -> tuple[str, ...]:
        """JSON pointers of the strings that do not resolve. Raises `ExpressionError` as `evaluate`."""
        budget, found = WorkBudget(), []
        for at, leaf in self._leaves.items():
            try:
                leaf.value(frame, budget, None)
            except Unresolved:
                found.append(at)
        return tuple(found)

    @property
    def without_secrets(self) -> Compiled:
        """The same, but every string that uses a secret stays as written: fit for journal and screen."""
        return self._public or self

    def public(self, frame: Frame) -> Json:
        """As `evaluate`, `without_secrets`."""
        return self.without_secrets.evaluate(frame)

    def _with_care(
        self, frame: Frame, missing: list[Unresolved] | None = None, mode: Literal["keep", "null"] = "keep"
    ) -> Json:
        if self._condition:
            # Text that is kept would count as true.
            mode = "null"
        budget = WorkBudget(frame.work)
        found: dict[str, Json] = {}
        try:
            for at, leaf in self._leaves.items():
                try:
                    found[at] = leaf.value(frame, budget, missing if mode == "keep" else None)
                except Unresolved as error:
                    if missing is None:
                        raise
                    missing.append(error)
                    found[at] = None
            value = self._admitted(filled(self._value, found), frame, budget, lacking=missing is not None)
        finally:
            budget.close()
        return bool(value) if self._condition else value


class Inspection(Struct, frozen=True, eq=False):
    """Facts about a value with templates before it is run."""

    references: tuple[Reference, ...]
    """Every name that is read; those that mean nothing, or several things, too."""
    faults: tuple[tuple[str, ExpressionError], ...]
    """JSON pointer of the string, and what is wrong with it; names are no faults here."""
    compiled: Compiled | None
    """None where there is a fault or a name that cannot be read."""


def compile_value(
    value: Json, names: Names, *, allow_secrets: bool = False, known: dict[str, Leaf] | None = None
) -> Compiled:
    """Any JSON value with templates in its strings, at any depth; keys are literal.

    `known`: its leaves, where they were read before with these names. Raises `ExpressionError` at the first fault,
    `Unresolved` at the first name that means nothing.
    """
    leaves, faults = (known, _faults(known)) if known is not None else _read(value, names, allow_secrets=allow_secrets)
    return _compiled(value, leaves, faults, names, condition=False)


def compile_condition(source: str | bool, names: Names, *, known: dict[str, Leaf] | None = None) -> Compiled:
    """A condition, bare or in {{ }}; it evaluates to true or false. As `compile_value`."""
    leaves = known if known is not None else {"": read_condition(source, names)} if isinstance(source, str) else {}
    return _compiled(source, leaves, _faults(leaves), names, condition=True)


def inspect_value(value: Json, names: Names, *, allow_secrets: bool = False, condition: bool = False) -> Inspection:
    """References and all faults of a value with templates, or of a condition. Raises nothing."""
    if condition and isinstance(value, str):
        leaves = {"": read_condition(value, names)}
        faults = _faults(leaves)
    else:
        leaves, faults = _read(value, names, allow_secrets=allow_secrets)
    references = tuple(reference for leaf in leaves.values() for reference in leaf.references)
    try:
        compiled = _compiled(value, leaves, faults, names, condition=condition)
    except Unresolved:
        return Inspection(references, faults, None)
    except ExpressionError as error:
        if error.code != "ambiguous_name" and not faults:
            faults = (("", error),)
        return Inspection(references, faults, None)
    return Inspection(references, faults, compiled)


def _compiled(
    value: Json,
    leaves: dict[str, Leaf],
    faults: tuple[tuple[str, ExpressionError], ...],
    names: Names,
    *,
    condition: bool,
) -> Compiled:
    if faults:
        raise faults[0][1]
    for leaf in leaves.values():
        for reference in leaf.references:
            if type(reference.root) is Ambiguous:
                raise ambiguous(reference, reference.root)
            # What stands in for a missing value stands in for a variable that nothing sets, too.
            if reference.root is None and not reference.guarded:
                raise unknown(names, reference)
    try:
        return Compiled(value, leaves, condition=condition)
    except RecursionError:
        raise ExpressionError("The value is nested too deeply.", code="expression_too_large") from None


def _read(
    value: Json, names: Names, *, allow_secrets: bool
) -> tuple[dict[str, Leaf], tuple[tuple[str, ExpressionError], ...]]:
    """The strings with templates by their pointers, and all faults."""
    leaves: dict[str, Leaf] = {}
    too_deep: tuple[tuple[str, ExpressionError], ...] = ()
    for at, text in texts(value):
        if text is None:
            error = ExpressionError(f"The value is nested deeper than {MAX_DEPTH} levels.", code="expression_too_large")
            too_deep = ((at, error),)
            break
        leaf = read_leaf(text, at, names, allow_secrets=allow_secrets)
        if leaf is not None:
            leaves[at] = leaf
    return leaves, too_deep or _faults(leaves)


def _faults(leaves: dict[str, Leaf]) -> tuple[tuple[str, ExpressionError], ...]:
    return tuple(
        [
            (at, fault)
            for at, leaf in leaves.items()
            if leaf.faults
            for fault in leaf.faults
            if fault.code != "ambiguous_name"
        ]
    )


def _plain_path(leaves: dict[str, Leaf]) -> Reference | None:
    leaf = leaves.get("")
    whole = None if leaf is None else leaf.whole
    return whole.tree.reference if whole is not None and isinstance(whole.tree, Path) else None


def _may_grow(leaves: list[Leaf]) -> bool:
    """Whether the result may be larger to walk than what is read, by the leaves whose values keep their type.

    Two looks at the state can double it, and a chain that jumps back would do so again and again.
    """
    looks = 0
    for leaf in leaves:
        if leaf.whole is not None and not leaf.is_plain and builds(leaf.whole.tree):
            return True
        for reference in leaf.references:
            looks += type(reference.root) is Root and reference.root.kind in _SHARING
    return looks > 1
