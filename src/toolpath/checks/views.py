"""One walk of a plan: its steps in their blocks, with their names, templates and tools. Pure.

Rules read these views and never walk the plan themselves, so that a check is linear in the plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import ExpressionError
from toolpath.expressions.leaf import Leaf, read_condition, read_leaf
from toolpath.expressions.look import path_text
from toolpath.expressions.names import Names, Root, inner_names, plan_names, retry_counts
from toolpath.expressions.structure import texts
from toolpath.expressions.templates import CONDITIONS, Use, templates_of
from toolpath.expressions.tree import Reference, Tree
from toolpath.model.plan import Agent, Block, Call, Plan, Step, block_pointers, blocks_of
from toolpath.model.tool import Tool
from toolpath.values import MAX_DEPTH, Json, pointer

#: Whatever marks an expression, of this notation or another one.
_SIGN = re.compile(r"[{$<%@]|\[\[")
_OTHER_SIGN = re.compile(r"[$<%@]|\[\[")
_OF_STEPS: frozenset[str] = frozenset({"output", "steps"})
_WITH_SECRETS: frozenset[str] = frozenset({"input", "fallback"})


class TemplatePlace:
    """One place of the plan where expressions may stand."""

    __slots__ = (
        "_below",
        "_known",
        "block",
        "faults",
        "leaves",
        "marked",
        "names",
        "path",
        "reads",
        "step",
        "too_deep",
        "use",
        "value",
        "variable",
    )

    def __init__(
        self, use: Use, path: str, value: Json, *, block: BlockView, step: StepView | None, variable: str = ""
    ) -> None:
        """The steps of the plan have to be known: what is read is looked up."""
        self.use = use
        self.path = path
        self.value = value
        self.block = block
        """The block whose names are read; `up` of a reference counts from it."""
        self.step = step
        """The step that the place belongs to; None: the plan's outputs."""
        self.variable = variable
        """The variable that a transformation sets."""
        self.names = block.names.collecting() if use == "collect" else block.names
        self.leaves: dict[str, Leaf] = {}
        """Pointer into the value → the string there with its expressions resolved."""
        self.marked: list[tuple[str, str]] = []
        """Pointer into the value, and the text there, where it holds signs besides the braces of its expressions."""
        self.too_deep = ""
        """Pointer to what lies so deep in the value that nobody looks at it; empty: there is none."""
        self._read_leaves()
        self.faults: list[tuple[str, ExpressionError]] = []
        """Pointer into the value, and what is wrong with the expressions there; names are no faults here."""
        self.reads: list[ReferenceUse] = []
        """What its expressions read."""
        self._known: dict[int, ReferenceUse] = {}
        self._below: dict[str, list[ReferenceUse]] = {}
        for at, leaf in self.leaves.items():
            if leaf.faults:
                self.faults += [(at, fault) for fault in leaf.faults]
            self._look_at(at, leaf)
        if self.too_deep:
            deep = f"The value is nested deeper than {MAX_DEPTH} levels."
            self.faults.append((self.too_deep, ExpressionError(deep, code="expression_too_large")))

    def _look_at(self, at: str, leaf: Leaf) -> None:
        """Keep what the leaf reads, by the name in the value that it stands below."""
        first = at.split("/", 2)[1] if at else ""
        if first not in self._below:
            self._below[first] = []
        below = self._below[first]
        for reference in leaf.references:
            read = self._known[id(reference)] = read_of(self, reference)
            self.reads.append(read)
            below.append(read)

    def _read_leaves(self) -> None:
        value, names = self.value, self.names
        if self.use in CONDITIONS:
            self.leaves[""] = read_condition(value, names)
            return
        allow_secrets = self.use in _WITH_SECRETS
        for at, text in texts(value, _SIGN.search):
            if text is None:
                self.too_deep = self.too_deep or at
                continue
            leaf = None if self.too_deep else read_leaf(text, at, names, allow_secrets=allow_secrets)
            if leaf is not None:
                self.leaves[at] = leaf
                if leaf.is_plain or _is_all(leaf, text):
                    continue
            self.marked.append((at, text))

    def holds_template(self, name: str) -> bool:
        """True where the value has a template under the name."""
        if self.too_deep:
            return has_template(self.value[name])
        return (pointer(name)[1:] if "/" in name or "~" in name else name) in self._below

    def read(self, reference: Reference) -> ReferenceUse:
        """The reference as it is read here."""
        return self._known.get(id(reference)) or read_of(self, reference)

    def reads_below(self, pointer: str) -> list[ReferenceUse]:
        """The references at or below the pointer, which leads to one key of the value or is empty."""
        return self._below.get(pointer.split("/", 2)[1], []) if pointer else self.reads

    def let_go(self) -> None:
        """Forget what is read here."""
        self.reads, self._known, self._below = [], {}, {}

    def has_fault(self, pointer: str) -> bool:
        """True where something at or below the pointer is no expression."""
        return bool(self.faults) and any(f"{at}/".startswith(f"{pointer}/") for at, _ in self.faults)

    def tree(self, pointer: str) -> Tree | None:
        """The expression that is the whole text at the pointer; None for one that stands inside other text."""
        leaf = self.leaves.get(pointer)
        return None if leaf is None or leaf.whole is None else leaf.whole.tree


def _is_all(leaf: Leaf, text: str) -> bool:
    """The text is one expression without signs of its own but the two pairs of braces around it."""
    if leaf.whole is None or leaf.faults:
        return False
    return text.count("{") == 2 and text.count("}") == 2 and _OTHER_SIGN.search(text) is None


class ReferenceUse(msgspec.Struct, frozen=True, eq=False):
    """One reference where it stands."""

    template: TemplatePlace
    reference: Reference
    kind: str
    """What is read: the kind of its root, or `ambiguous` or `unknown`."""
    key: str
    """Id of the step, name of the variable, input, loop variable or secret; empty where there is none."""
    up: int
    """How many blocks around the template's the root is."""
    source: StepView | None
    """The step that is read."""

    @property
    def path(self) -> str:
        """JSON pointer of the text that holds it."""
        return self.template.path + self.reference.pointer

    @property
    def text(self) -> str:
        """Text of the reference as people write it, e.g. `writer.address[0]`."""
        return path_text(self.reference.name, self.reference.path)


def read_of(template: TemplatePlace, reference: Reference) -> ReferenceUse:
    """The reference as it is read there."""
    root = reference.root
    if type(root) is not Root:
        return ReferenceUse(template, reference, "unknown" if root is None else "ambiguous", "", 0, None)
    if root.kind not in _OF_STEPS:
        return ReferenceUse(template, reference, root.kind, root.key, root.up, None)
    block = template.block.climb(root.up) if root.up else template.block
    return ReferenceUse(
        template, reference, root.kind, root.key, root.up, None if block is None else block.find(root.key)
    )


class StepView:
    """A step where it stands."""

    __slots__ = ("block", "blocks", "candidates", "index", "path", "step", "templates", "tool")

    def __init__(self, step: Step, path: str, block: BlockView, index: int) -> None:
        self.step = step
        self.path = path
        self.block = block
        self.index = index
        self.tool: Tool | None = None
        """What a call calls; None for other kinds and where there is no such tool."""
        self.candidates: tuple[str, ...] = ()
        """Keys of the tools that the call's name could mean, where it could mean several."""
        self.blocks: tuple[BlockView, ...] = ()
        self.templates: list[TemplatePlace] = []


class BlockView:
    """A block where it stands: the plan's own steps, a branch, a loop's body."""

    __slots__ = ("block", "name", "names", "owner", "path", "positions", "steps")

    def __init__(self, block: Block, path: str, names: Names, owner: StepView | None) -> None:
        self.block = block
        self.path = path
        self.names = names
        self.owner = owner
        self.name = block.id
        self.steps: list[StepView] = []
        self.positions: dict[str, int] = {}
        """Step id → index; of equal ids the first."""

    @property
    def is_chain(self) -> bool:
        """The steps run in their order."""
        return self.block.flow == "chain"

    def climb(self, up: int) -> BlockView | None:
        """The block so many blocks around this one."""
        view: BlockView | None = self
        for _ in range(up):
            view = view.owner.block if view is not None and view.owner is not None else None
        return view

    def find(self, step_id: str) -> StepView | None:
        """The block's own step of that id."""
        index = self.positions.get(step_id)
        return None if index is None else self.steps[index]


class Views:
    """The whole plan, walked once."""

    __slots__ = ("catalog", "hidden", "outputs", "plan", "retry_counts", "root", "steps", "templates", "too_deep")

    def __init__(self, plan: Plan, catalog: Catalog) -> None:
        self.plan = plan
        self.retry_counts = retry_counts(plan)
        """Variables that count the retries of a step, as far as the plan reads them."""
        self.catalog = catalog
        self.steps: list[StepView] = []
        """Every step, however deep, each after the one that holds it."""
        self.templates: list[TemplatePlace] = []
        """Every template, steps' first, the plan's outputs last."""
        self.hidden: dict[str, StepView] = {}
        """Step id → the first step of that id, wherever it stands."""
        self.too_deep: list[str] = []
        """Paths of steps with blocks that are nested deeper than anything here goes."""
        self.root = _view(self, plan.block, "", (plan_names(plan), None))
        _fill(self, self.root)
        self.outputs: TemplatePlace | None = None
        if plan.outputs is not None:
            self.outputs = TemplatePlace("outputs", "/outputs", plan.outputs, block=self.root, step=None)
            self.templates.append(self.outputs)

    @property
    def expressions(self) -> dict[str, dict[str, Leaf]]:
        """The plan's expressions, by the pointer to the value that holds them."""
        return {template.path: template.leaves for template in self.templates}

    def let_go(self) -> None:
        """Forget what was seen: views know one another, and a search for garbage would find so many of them late."""
        for block in list(self.blocks()):
            block.steps, block.positions = [], {}
        for view in self.steps:
            view.blocks, view.templates = (), []
        for template in self.templates:
            template.let_go()

    def blocks(self) -> Iterator[BlockView]:
        """Every block, outer ones first."""
        yield self.root
        for view in self.steps:
            yield from view.blocks


def container(view: StepView, block: BlockView) -> StepView | None:
    """The step of `block` that is, or holds, the step."""
    while view.block is not block:
        if view.block.owner is None:
            return None
        view = view.block.owner
    return view


def _view(views: Views, block: Block, path: str, place: tuple[Names, StepView | None], depth: int = 0) -> BlockView:
    names, owner = place
    view = BlockView(block, path, names, owner)
    for index, step in enumerate(block.steps):
        at = StepView(step, f"{path}/steps/{index}", view, index)
        view.steps.append(at)
        view.positions.setdefault(step.id, index)
        views.steps.append(at)
        views.hidden.setdefault(step.id, at)
        _find_tool(views, at)
        if depth >= MAX_DEPTH:
            if blocks_of(step):
                views.too_deep.append(at.path)
        else:
            at.blocks = tuple(
                _view(views, inner, at.path + where, (inside, at), depth + 1)
                for inner, where, inside in zip(
                    blocks_of(step), block_pointers(step), inner_names(step, names), strict=True
                )
            )
    return view


def _fill(views: Views, block: BlockView) -> None:
    """Find the templates of each step, those of the steps inside it first."""
    for at in block.steps:
        for inner in at.blocks:
            _fill(views, inner)
        step, path = at.step, at.path
        for use, where, value in templates_of(step):
            if use == "collect" and not at.blocks:
                continue
            seen_from = at.blocks[0] if use == "collect" else block
            at.templates.append(TemplatePlace(use, path + where, value, block=seen_from, step=at))
        for variable, value in step.on_success.transform.items():
            where = f"{path}/on_success/transform{pointer(variable)}"
            at.templates.append(TemplatePlace("transform", where, value, block=block, step=at, variable=variable))
        views.templates += at.templates


def _find_tool(views: Views, view: StepView) -> None:
    if isinstance(view.step, Call):
        view.tool = views.catalog.called(view.step.tool, view.step.inputs)
        if view.tool is None:
            view.candidates = views.catalog.candidates(view.step.tool)


def called_tools(catalog: Catalog, view: StepView) -> Iterator[tuple[str, Tool]]:
    """The tools that a step may call, with the pointer to where each is named."""
    if view.tool is not None:
        yield f"{view.path}/tool", view.tool
    own = view.step.inputs if isinstance(view.step, Call) else {}
    for number, fallback in enumerate(view.step.fallback):
        tool = catalog.called(fallback.tool, own if fallback.inputs is None else fallback.inputs)
        if tool is not None:
            yield f"{view.path}/fallback/{number}/tool", tool


def agents_tools(catalog: Catalog, view: StepView) -> Iterator[tuple[str, Tool]]:
    """The tools that the step names for an agent, with the pointer to where each is named."""
    if isinstance(view.step, Agent):
        for number, name in enumerate(view.step.tools):
            tool = catalog.get(name)
            if tool is not None:
                yield f"{view.path}/agent/tools/{number}", tool


def has_template(value: Json) -> bool:
    """A string anywhere in the value holds a template."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        match here:
            case str():
                if "{{" in here:
                    return True
            case dict():
                waiting += here.values()
            case list():
                waiting += here
            case _:
                pass
    return False
