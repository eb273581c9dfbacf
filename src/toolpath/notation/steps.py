"""A step: exactly one action and what every kind of step may say; blocks of steps."""

from __future__ import annotations

from typing import Any, cast

from toolpath.model.plan import Block, Call, Flow, Step
from toolpath.notation.field_types import Around
from toolpath.notation.nodes import DocumentNode
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.ids import FORBIDDEN, Ids, is_id
from toolpath.notation.reading.notes import Notes, alike, below, shown
from toolpath.notation.tables import ACTIONS, BRANCH, COMMON_FIELDS, FLOWS, INPUT_ALIASES, KIND_OF_WORD, STEP, StepKind

#: What a message lists: all that a person writes.
_KNOWN = tuple(name for name in (*COMMON_FIELDS, *ACTIONS) if name != "derived_id")
_COMMON = frozenset(COMMON_FIELDS)


class Steps:
    """Reads the steps of one plan: its notes and its ids go through all of them."""

    def __init__(self, notes: Notes, ids: Ids) -> None:
        self.notes = notes
        self.ids = ids

    def read(self, node: DocumentNode, path: str, flow: Flow) -> tuple[Step, ...]:
        """The steps of a list. What cannot be read as a step becomes a call of no tool, so that indices stay true."""
        self.notes.place(path, node)
        if not isinstance(node.value, list):
            self.notes.wrong_type(path, node, "A list of steps", "Write a dash before each step: - id: a.")
            return ()
        return tuple(self.step(item, below(path, index), flow) for index, item in enumerate(node.value))

    def step(self, node: DocumentNode, path: str, flow: Flow) -> Step:
        """One step; `flow` is that of the block around it, which blocks inside it take over."""
        self.notes.place(path, node)
        if not isinstance(node.value, dict):
            hint = "Write - tool: name." if isinstance(node.value, str) else ""
            self.notes.wrong_type(path, node, "A step, which is a mapping", hint)
            return Call(id=self.ids.derive("step"), derived_id=True, tool="")
        fields = Fields(node, path, self.notes)
        action = self._action(fields)
        is_told = action in fields.members
        kind = KIND_OF_WORD[action]
        around = Around(self, flow, kind.is_timed)
        step = self._made(kind, fields, self._common(fields, action, around), around)
        if not fields.are_read:
            otherwise = "Arguments of the tool stand under 'inputs'. " if action == "tool" else ""
            what = f"A step with '{action}'" if is_told else "A step"
            own = [name for name in kind.table.names if name != action] if kind.is_inline else ()
            fields.finish(what, (*_KNOWN, *own), _misplaced(action, is_told=is_told), otherwise)
        return step

    def _action(self, fields: Fields) -> str:
        given = [name for name in ACTIONS if name in fields.members and fields.members[name].value is not None]
        fields.ignore(*(name for name in ACTIONS if name in fields.members))
        if len(given) > 1:
            self.notes.error(
                "several_actions",
                f"A step does one thing; this one says {' and '.join(repr(name) for name in given)}.",
                fields.path,
                fields.members[given[1]],
                hint="Split it into several steps.",
            )
        elif not given:
            self.notes.error(
                "no_action",
                f"Step must have 'tool' field, or one of {', '.join(repr(word) for word in ACTIONS[1:])}.",
                fields.path,
                fields.node,
                hint=_no_action_hint(fields),
            )
        return given[0] if given else "tool"

    def _common(self, fields: Fields, action: str, around: Around) -> dict[str, Any]:
        """The fields that every kind of step may have, by the names of the record; only those given."""
        named = fields.members.get("tool")
        bare = named.value.rpartition(".")[2] if named is not None and isinstance(named.value, str) else "step"
        step_id, is_derived = self.ids.choose(
            fields.node_of("id"), below(fields.path, "id"), bare if action == "tool" else action
        )
        found = STEP.values(fields, around)
        found["id"] = step_id
        found["derived_id"] = found.get("derived_id", False) or is_derived
        if "on_failure" in found:
            found["on_failure"], implied = found["on_failure"]
            if implied is not None and "retry" in found:
                self.notes.error(
                    "retry_twice",
                    "Both 'retry' and 'on_failure: {action: retry}' are given.",
                    below(fields.path, "retry"),
                    fields.members["retry"],
                    hint="Keep 'retry', and let on_failure say what follows after it.",
                )
            elif implied is not None:
                found["retry"] = implied
        return found

    def _made(self, kind: StepKind, fields: Fields, common: dict[str, Any], around: Around) -> Step:
        """The step of a kind."""
        if kind.is_inline:
            return cast(Step, kind.table.record(**common, **kind.table.values(fields, around)))
        node, word = fields.node_of(kind.word), kind.word
        inner = None if node is None else Fields.of(node, below(fields.path, word), self.notes, kind.hint)
        if inner is None:
            return cast(Step, kind.table.record(**common))
        own = kind.table.values(inner, around)
        for name in own.keys() & common.keys():
            self.notes.error(
                "alias_twice",
                f"'{name}' is given both in '{word}' and beside it.",
                below(fields.path, name),
                inner.members[name],
                hint=f"Keep the one in '{word}'.",
            )
        for name in own.keys() & _COMMON:
            self.notes.place(below(fields.path, name), inner.members[name])
        kind.table.finish(inner)
        return cast(Step, kind.table.record(**common | own))

    def branches(self, node: DocumentNode, path: str, flow: Flow) -> tuple[Block, ...]:
        """The branches of a list: steps, and blocks of steps."""
        taken: set[str] = set()
        return tuple([self._branch(item, below(path, index), flow, taken) for index, item in enumerate(node.value)])

    def _branch(self, node: DocumentNode, path: str, flow: Flow, taken: set[str]) -> Block:
        if not (isinstance(node.value, dict) and "steps" in node.value):
            step = self.step(node, f"{path}/steps/0", flow)
            self.notes.place(path, node)
            taken.add(step.id)
            return Block(id=step.id, flow=flow, steps=(step,))
        self.notes.place(path, node)
        fields = Fields(node, path, self.notes)
        block_id = self._block_id(fields, taken)
        block = self.block(fields, block_id, flow)
        BRANCH.finish(fields)
        return block

    def _block_id(self, fields: Fields, taken: set[str]) -> str:
        node, path = fields.node_of("id"), below(fields.path, "id")
        if node is not None:
            written = node.value
            if not isinstance(written, str) or not is_id(written) or written in FORBIDDEN:
                named = shown(written) if isinstance(written, str) else "This"
                self.notes.error("bad_id", f"{named} cannot be the id of a branch.", path, node)
            elif written in taken:
                self.notes.error("duplicate_id", f"Two branches have the id {shown(written)}.", path, node)
            else:
                taken.add(written)
                return written
        number = 1
        while (made := f"branch_{number}") in taken:
            number += 1
        taken.add(made)
        return made

    def block(self, fields: Fields, block_id: str, around: Flow) -> Block:
        """The block whose `flow` and `steps` are among the fields."""
        flow = cast(Flow, fields.choice("flow", FLOWS) or around)
        steps = fields.require("steps", hint="Add a list of steps: steps: [{tool: name}].")
        read = self.read(steps, below(fields.path, "steps"), flow) if steps is not None else ()
        return Block(id=block_id, flow=flow, steps=read)


_TOOL_NAMES = ("toolName", "tool_name", "function", "action_name", "uses", "use", "call", "run", "action", "operation")
_LOOPING = ("foreach", "for_each", "forEach", "for", "with_items", "each", "repeat")
_BRANCHING = ("branches", "concurrently", "together", "fork", "all")


def _no_action_hint(fields: Fields) -> str:
    """The hint for a step that does nothing: the word that was meant, where another word for it is there."""
    hints = _misplaced("tool", is_told=False)
    for name in fields.members:
        if name in _TOOL_NAMES or name in _LOOPING or name in _BRANCHING:
            return f"Instead of '{name}': {hints[name][0].lower()}{hints[name][1:]}"
        meant = () if name in _KNOWN else tuple(found for found in alike(name, _KNOWN) if found in ACTIONS)
        if meant:
            return f"Write '{meant[0]}' instead of {shown(name)}."
    if len(fields.members) == 1:
        return "A dash begins a new step: take it out where the line belongs to the step above. Else name a tool."
    given = next((name for name in ("inputs", *INPUT_ALIASES) if name in fields.members), "")
    if given:
        return f"Name the tool that gets what stands under '{given}': tool: group.name."
    return "Name the tool to call: tool: group.name."


def _misplaced(action: str, *, is_told: bool) -> dict[str, str]:
    """Hints for fields that belong to another place of a step."""
    hints = {
        **dict.fromkeys(_BRANCHING, "Write parallel: [{tool: …}, {tool: …}]."),
        "next": "Write it under on_success or on_failure.",
        "map_outputs": "Write it under on_success.",
        "transform": "Write it under on_success.",
        "max_retries": "Write it under retry.",
        "max_attempts": "Write it under retry.",
        "over": "Write it under loop.",
        "as": "Write it under loop.",
        "collect": "Write it under loop.",
        "steps": "Write the steps of a loop under loop, branches under parallel.",
        **dict.fromkeys(_TOOL_NAMES, "Write tool: NAME."),
        **dict.fromkeys(("name", "step", "label", "key"), "Write id: NAME, by which other steps read it."),
        **dict.fromkeys(("if", "condition", "unless", "only_if"), 'Write when: "{{ … }}".'),
        **dict.fromkeys(_LOOPING, "Write loop: {over: …, as: item, steps: […]}."),
        **dict.fromkeys(("approval", "approve", "needs_approval", "confirm"), "Write requires_approval: true."),
        **dict.fromkeys(("retries", "attempts", "max_retry"), "Write retry: {max_retries: 3}."),
        **dict.fromkeys(("on_error", "onError", "catch", "continue_on_error"), "Write on_failure: {action: continue}."),
        **dict.fromkeys(("outputs", "save_as", "register"), "A step's output is read by its id: {{ ID.field }}."),
        **dict.fromkeys(("do", "then"), "Write the steps of a loop under loop, branches under parallel."),
        "<<": "Merge keys are no part of YAML 1.2; repeat the fields.",
    }
    if is_told:
        hints["action"] = "Write it under on_failure."
    if action != "tool":
        hints["inputs"] = "Only a step with 'tool' has inputs."
    if action != "parallel":
        hints["wait_for"] = "Only a step with 'parallel' waits for branches."
    return hints
