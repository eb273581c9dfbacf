"""Explanation of a plan: as a record, as a tree for people, as a Mermaid diagram, as JSON. Found by `explainer.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from toolpath.model.plan import Flow
from toolpath.model.plan import Kind as StepKind
from toolpath.values import JsonObject

Kind = StepKind | Literal["plan"]


class Estimate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Estimate of what something takes or costs, as far as it is known."""

    value: float = 0.0
    """Seconds or USD; of the parts that are known."""
    unknown: tuple[str, ...] = ()
    """Tools of which it is not known."""
    per_item: bool = False
    """Holds loops of a length that is not known yet, counted with one item."""

    def text(self, unit: str) -> str:
        """Text for people, e.g. `about 1.2 s`; `unknown` where nothing is known."""
        if self.unknown and not self.value:
            return "unknown"
        number = f"{self.value:.4f} USD" if unit == "USD" else _seconds(self.value)
        found = f"at least {number}" if self.unknown or self.per_item else f"about {number}"
        notes = []
        if self.unknown:
            notes.append(f"not known of {', '.join(self.unknown[:5])}{' …' if len(self.unknown) > 5 else ''}")
        if self.per_item:
            notes.append("with one item for each loop")
        return f"{found} ({'; '.join(notes)})" if notes else found


#: How values are shown that rest on each of these.
BASES: Final[dict[str, str]] = {
    "request": "From the request",
    "output": "From outputs",
    "input": "From inputs",
    "default": "Defaults of tools",
    "result": "Only in a result",
    "description": "Only in a tool's description",
    "nothing": "Not said anywhere",
}


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value >= 0.01 else f"{value * 1000:.2f} ms"


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A step that is waited for, and why."""

    step: str
    because: tuple[str, ...]
    """`depends_on`, `order`, or what is read, e.g. `author._id`."""


class ExplainedStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One step."""

    id: str
    path: str
    """JSON pointer into the plan; empty inside a nested plan."""
    kind: Kind
    tool: str = ""
    effect: str = ""
    """read, write, destructive; empty for blocks and where the tool is not known."""
    approval: bool = False
    """A person may have to allow it."""
    when: str = ""
    waits: tuple[Waiting, ...] = ()
    beside: tuple[str, ...] = ()
    """Steps of its block that may run at the same time."""
    critical: bool = False
    """On the critical path."""
    duration: Estimate = Estimate()
    cost: Estimate = Estimate()
    leaves_to: str = ""
    """The server or service that its inputs go to."""
    note: str = ""
    blocks: tuple[ExplainedBlock, ...] = ()
    may_call: tuple[ExplainedStep, ...] = ()
    """The tools that an agent may call, as often as it likes, in any order or not at all."""


class ExplainedBlock(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Steps that run together."""

    name: str = ""
    flow: Flow = "graph"
    steps: tuple[ExplainedStep, ...] = ()
    cut: bool = False
    """Nested deeper than is shown."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Explanation of what a plan will do, before it does it."""

    name: str
    description: str = ""
    block: ExplainedBlock
    critical_path: tuple[str, ...] = ()
    """Ids of the steps that decide how long it takes, first to last."""
    duration: Estimate = Estimate()
    cost: Estimate = Estimate()
    writes: tuple[str, ...] = ()
    """Steps that write, by their ids from the outside in, e.g. `each/save`."""
    destroys: tuple[str, ...] = ()
    approvals: tuple[str, ...] = ()
    leaves: dict[str, tuple[str, ...]] = {}
    """Server or service → the steps whose inputs go there."""
    asks: tuple[str, ...] = ()
    """Steps that wait for a person's answer."""
    rests_on: dict[str, tuple[str, ...]] = {}
    """What values rest on, as the planner found it → the arguments, as `step.argument`."""

    def text(self) -> str:
        """Text for people, e.g. `about 1.2 s`; `unknown` where nothing is known."""
        lines = [f"{_line(self.name)}{f' — {_line(self.description)}' if self.description else ''}"]
        lines += _tree(self.block, "")
        lines += ["", f"Critical path: {' → '.join(self.critical_path) or 'unknown'}"]
        lines.append(f"Duration: {self.duration.text('s')}")
        lines.append(f"Cost: {self.cost.text('USD')}")
        for label, steps in (
            ("Writes", self.writes),
            ("Destroys", self.destroys),
            ("Needs approval", self.approvals),
            ("Asks a person", self.asks),
        ):
            if steps:
                lines.append(f"{label}: {', '.join(steps)}")
        if not self.writes and not self.destroys:
            lines.append("Writes: nothing")
        for place, steps in self.leaves.items():
            lines.append(f"Leaves to {place}: {', '.join(steps)}")
        for basis, arguments in self.rests_on.items():
            lines.append(f"{BASES[basis]}: {_line(', '.join(arguments))}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def mermaid(self) -> str:
        """The plan as a Mermaid flowchart."""
        return "\n".join(["flowchart TD", *_Diagram().block(self.block, "  ", "")])

    def as_json(self) -> JsonObject:
        """All of it as plain JSON."""
        found: JsonObject = msgspec.to_builtins(self)
        return found


def _tree(block: ExplainedBlock, indent: str) -> Iterator[str]:
    for index, step in enumerate(block.steps):
        is_last = index == len(block.steps) - 1
        yield f"{indent}{'└─ ' if is_last else '├─ '}{_step_text(step, block.flow)}"
        inside = indent + ("   " if is_last else "│  ")
        for number, tool in enumerate(step.may_call):
            corner = "└─ " if number == len(step.may_call) - 1 else "├─ "
            yield f"{inside}{corner}may call {_step_text(tool, block.flow).partition(': ')[2]}"
        for number, inner in enumerate(step.blocks):
            if step.kind == "parallel":
                corner, bar = ("└─ ", "   ") if number == len(step.blocks) - 1 else ("├─ ", "│  ")
                yield f"{inside}{corner}branch {_line(inner.name or str(number))} ({inner.flow})"
                yield from _tree(inner, inside + bar)
            else:
                yield from _tree(inner, inside)
            if inner.cut:
                yield f"{inside}└─ …"


def _step_text(step: ExplainedStep, flow: Flow) -> str:
    what = {"call": step.tool, "plan": f"{step.tool} (plan)"}.get(step.kind, step.kind)
    parts = [f"{step.id}: {_line(what)}"]
    parts += [{"read": "reads", "write": "writes", "destructive": "destroys"}[step.effect]] if step.effect else []
    if step.approval:
        parts.append("needs approval")
    if step.when:
        parts.append(f"when {_line(step.when)}")
    if step.note:
        parts.append(step.note)
    for wait in step.waits:
        if flow == "chain" and wait.because == ("order",):
            continue
        parts.append(f"after {wait.step} ({', '.join(_line(reason) for reason in wait.because[:4])})")
    if step.beside:
        shown = ", ".join(step.beside[:4]) + (" …" if len(step.beside) > 4 else "")
        parts.append(f"beside {shown}")
    if step.critical:
        parts.append("critical path")
    return " · ".join(parts)


def _line(text: str) -> str:
    return " ".join(text.split())[:160]


class _Diagram:
    """One drawing: numbers its nodes, since ids of steps may be words that Mermaid keeps for itself."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def block(self, block: ExplainedBlock, indent: str, before: str) -> Iterator[str]:
        """The lines of a block; `before`: the node that leads into it, if any."""
        nodes: dict[str, str] = {}
        for step in block.steps:
            nodes[step.id] = node = f"n{self._next()}"
            yield from self._step(step, node, indent)
        for step in block.steps:
            for wait in step.waits:
                if wait.step in nodes:
                    label = ", ".join(wait.because[:3])
                    arrow = "-->" if wait.because == ("order",) else f'-->|"{_escaped(label)}"|'
                    yield f"{indent}{nodes[wait.step]} {arrow} {nodes[step.id]}"
        if block.cut:
            yield f'{indent}n{self._next()}["…"]'

    def _step(self, step: ExplainedStep, node: str, indent: str) -> Iterator[str]:
        label = _escaped(step.id if not step.tool else f"{step.id}: {step.tool}")
        if not step.blocks:
            yield indent + _shape(step, node, label)
            return
        yield f'{indent}subgraph {node}["{label}"]'
        for inner in step.blocks:
            if step.kind == "parallel":
                yield f'{indent}  subgraph {node}b{self._next()}["{_escaped(inner.name or "branch")}"]'
                yield from self.block(inner, indent + "    ", node)
                yield f"{indent}  end"
            else:
                yield from self.block(inner, indent + "  ", node)
        yield f"{indent}end"

    def _next(self) -> int:
        self._count += 1
        return self._count


def _shape(step: ExplainedStep, node: str, label: str) -> str:
    match step.kind:
        case "ask":
            return f'{node}[/"{label}"/]'
        case _ if step.effect == "read":
            return f'{node}(["{label}"])'
        case _ if step.effect == "destructive":
            return f'{node}{{{{"{label}"}}}}'
        case _:
            return f'{node}["{label}"]'


def _escaped(text: str) -> str:
    """Text inside a quoted label: Mermaid's entity codes for what would end it or be read as markup."""
    return "".join(
        character if character.isalnum() or character in " _.,:()[]-=+/→…" else f"#{ord(character)};"
        for character in _line(text)
    )
