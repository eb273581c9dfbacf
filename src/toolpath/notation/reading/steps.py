"""A step: exactly one action and what every kind of step may say; blocks of steps."""

from __future__ import annotations

from typing import Any, cast

from toolpath.model.plan import (
    Agent,
    AgentBudget,
    Ask,
    Block,
    Call,
    Flow,
    Loop,
    OnFailure,
    OnSuccess,
    OnUnresolved,
    OutputValidation,
    Parallel,
    Retry,
    Step,
    WaitFor,
)
from toolpath.notation.nodes import Node
from toolpath.notation.reading.fields import Fields
from toolpath.notation.reading.forms import read_ask_fields
from toolpath.notation.reading.ids import FORBIDDEN, Ids, is_id
from toolpath.notation.reading.notes import Notes, alike, below, shown
from toolpath.notation.reading.policies import (
    INPUT_ALIASES,
    agent_budget,
    read_cache,
    read_fallbacks,
    read_on_failure,
    read_on_success,
    read_retry,
)
from toolpath.values import Json

ACTIONS = ("tool", "agent", "parallel", "loop", "ask")
DEPENDENCY_ALIASES = ("dependsOn", "dependencies", "needs")
COMMON_FIELDS = (
    "id",
    "derived_id",
    "depends_on",
    "when",
    "exclusive",
    "timeout",
    "retry",
    "fallback",
    "critical",
    "cache",
    "requires_approval",
    "on_success",
    "on_failure",
    "on_unresolved",
    "output_validation",
)
#: What a message lists: all that a person writes.
_KNOWN = tuple(name for name in (*COMMON_FIELDS, *ACTIONS) if name != "derived_id")
LOOP_FIELDS = ("over", "as", "id", "flow", "steps", "concurrency", "collect")
AGENT_FIELDS = ("requirement", "tools", "model", "output", "max_rounds", "budget", "instructions")
FLOWS = ("graph", "chain")
ON_UNRESOLVED = ("error", "keep", "null", "skip")
OUTPUT_VALIDATION = ("strict", "warn", "off")
WAIT_FOR = ("all", "any", "first_success")
#: What a step may say besides, by its action.
OWN_FIELDS = {"tool": ("inputs",), "parallel": ("wait_for",), "loop": (), "agent": (), "ask": ()}
_BLOCK_FIELDS = ("id", "flow", "steps")


class Steps:
    """Reads the steps of one plan: its notes and its ids go through all of them."""

    def __init__(self, notes: Notes, ids: Ids) -> None:
        self.notes = notes
        self.ids = ids

    def read(self, node: Node, path: str, flow: Flow) -> tuple[Step, ...]:
        """The steps of a list. What cannot be read as a step becomes a call of no tool, so that indices stay true."""
        self.notes.place(path, node)
        if not isinstance(node.value, list):
            self.notes.wrong_type(path, node, "A list of steps", "Write a dash before each step: - id: a.")
            return ()
        return tuple(self.step(item, below(path, index), flow) for index, item in enumerate(node.value))

    def step(self, node: Node, path: str, flow: Flow) -> Step:
        """One step; `flow` is that of the block around it, which blocks inside it take over."""
        self.notes.place(path, node)
        if not isinstance(node.value, dict):
            hint = "Write - tool: name." if isinstance(node.value, str) else ""
            self.notes.wrong_type(path, node, "A step, which is a mapping", hint)
            return Call(id=self.ids.derive("step"), derived_id=True, tool="")
        fields = Fields(node, path, self.notes)
        action = self._action(fields)
        is_told = action in fields.members
        common = self._common(fields, action)
        step = self._acting(fields, action, common, flow)
        if not fields.are_read:
            otherwise = "Arguments of the tool stand under 'inputs'. " if action == "tool" else ""
            what = f"A step with '{action}'" if is_told else "A step"
            fields.finish(what, (*_KNOWN, *OWN_FIELDS[action]), _misplaced(action, is_told=is_told), otherwise)
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
                "Step must have 'tool' field, or one of 'agent', 'parallel', 'loop', 'ask'.",
                fields.path,
                fields.node,
                hint=_no_action_hint(fields),
            )
        return given[0] if given else "tool"

    def _common(self, fields: Fields, action: str) -> dict[str, Any]:
        """What every kind of step may say, by the names of the record; only what is given."""
        named = fields.members.get("tool")
        bare = named.value.rpartition(".")[2] if named is not None and isinstance(named.value, str) else "step"
        step_id, derived = self.ids.choose(
            fields.node_of("id"), below(fields.path, "id"), bare if action == "tool" else action
        )
        # Nearly every step says few of these; asking for each would dominate the reading of large plans.
        given = fields.members.keys()
        found: dict[str, Any] = {"id": step_id, "derived_id": fields.flag("derived_id", False) or derived}
        if not given.isdisjoint(("depends_on", *DEPENDENCY_ALIASES)):
            found["depends_on"] = tuple(dict.fromkeys(fields.texts("depends_on", *DEPENDENCY_ALIASES)))
        if "when" in given:
            found["when"] = self._condition(fields, "when", None)
        found["exclusive"] = self._exclusive(fields)
        if "timeout" in given:
            # A person may take days; a call or an agent that does hangs.
            limited = action in ("tool", "agent")
            found["timeout"] = fields.time_limit("timeout") if limited else fields.duration("timeout")
        if "fallback" in given:
            found["fallback"] = read_fallbacks(fields)
        if "critical" in given:
            found["critical"] = fields.flag("critical", True)
        if "cache" in given:
            found["cache"] = read_cache(fields)
        if "requires_approval" in given:
            found["requires_approval"] = self._condition(fields, "requires_approval", False)
        if "on_unresolved" in given:
            found["on_unresolved"] = read_on_unresolved(fields)
        if "output_validation" in given:
            choice = fields.choice("output_validation", OUTPUT_VALIDATION)
            found["output_validation"] = cast(OutputValidation | None, choice)
        self._outcomes(fields, found)
        return found

    def _outcomes(self, fields: Fields, found: dict[str, Any]) -> None:
        if "on_success" in fields.members:
            found["on_success"] = (
                fields.inside("on_success", read_on_success, "Write on_success: {next: ID}.") or OnSuccess()
            )
        retry: Retry | None = None
        if "retry" in fields.members:
            retry = fields.inside("retry", read_retry, "Write retry: {max_retries: 3}.")
        if "on_failure" in fields.members:
            policy, implied = fields.inside("on_failure", read_on_failure, "Write on_failure: {action: continue}.") or (
                OnFailure(),
                None,
            )
            found["on_failure"] = policy
            if retry is not None and implied is not None:
                self.notes.error(
                    "retry_twice",
                    "Both 'retry' and 'on_failure: {action: retry}' are given.",
                    below(fields.path, "retry"),
                    fields.members["retry"],
                    hint="Keep 'retry', and let on_failure say what follows after it.",
                )
            retry = retry or implied
        found["retry"] = retry

    def _condition(self, fields: Fields, name: str, default: bool | None) -> str | bool | None:
        node = fields.node_of(name)
        if node is None:
            return default
        if isinstance(node.value, str | bool):
            return node.value
        self.notes.wrong_type(below(fields.path, name), node, "An expression, true or false")
        return default

    def _exclusive(self, fields: Fields) -> bool:
        names = [name for name in ("executionMode", "execution_mode") if name in fields.members]
        if not names:
            return fields.flag("exclusive", False) if "exclusive" in fields.members else False
        mode = fields.choice(names[0], ("parallel", "sequential"), *names[1:])
        if fields.node_of("exclusive") is not None:
            self.notes.error(
                "alias_twice",
                f"'exclusive' and '{names[0]}' are two names of one field; both are given.",
                below(fields.path, "exclusive"),
                fields.members["exclusive"],
                hint="Keep 'exclusive' alone.",
            )
            return fields.flag("exclusive", False)
        return mode == "sequential"

    def _acting(self, fields: Fields, action: str, common: dict[str, Any], flow: Flow) -> Step:
        match action:
            case "parallel":
                return self._parallel(fields, common, flow)
            case "loop":
                return self._loop(fields, common, flow)
            case "agent":
                return self._agent(fields, common)
            case "ask":
                return self._ask(fields, common)
            case _:
                return self._call(fields, common)

    def _call(self, fields: Fields, common: dict[str, Any]) -> Call:
        named = fields.node_of("tool")
        tool = (fields.text_in(named, below(fields.path, "tool")) or "") if named is not None else ""
        if named is not None and named.value == "":
            self.notes.missing(below(fields.path, "tool"), "tool", named)
        return Call(tool=tool.strip(), inputs=fields.mapping("inputs", *INPUT_ALIASES), **common)

    def _parallel(self, fields: Fields, common: dict[str, Any], flow: Flow) -> Parallel:
        node = fields.node_of("parallel")
        path = below(fields.path, "parallel")
        branches: list[Block] = []
        if node is not None and isinstance(node.value, list):
            taken: set[str] = set()
            for index, item in enumerate(node.value):
                branches.append(self._branch(item, below(path, index), flow, taken))
        elif node is not None:
            self.notes.wrong_type(
                path, node, "A list of branches", "Write a dash before each branch: - {id: a, tool: …}."
            )
        wait_for = cast(WaitFor, fields.choice("wait_for", WAIT_FOR) or "all")
        return Parallel(branches=tuple(branches), wait_for=wait_for, **common)

    def _branch(self, node: Node, path: str, flow: Flow, taken: set[str]) -> Block:
        if not (isinstance(node.value, dict) and "steps" in node.value):
            step = self.step(node, f"{path}/steps/0", flow)
            self.notes.place(path, node)
            taken.add(step.id)
            return Block(id=step.id, flow=flow, steps=(step,))
        self.notes.place(path, node)
        fields = Fields(node, path, self.notes)
        block_id = self._block_id(fields, taken)
        block = self._block(fields, block_id, flow)
        fields.finish("A branch with 'steps'", _BLOCK_FIELDS)
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

    def _block(self, fields: Fields, block_id: str, around: Flow) -> Block:
        flow = cast(Flow, fields.choice("flow", FLOWS) or around)
        steps = fields.require("steps", hint="Add a list of steps: steps: [{tool: name}].")
        read = self.read(steps, below(fields.path, "steps"), flow) if steps is not None else ()
        return Block(id=block_id, flow=flow, steps=read)

    def _loop(self, fields: Fields, common: dict[str, Any], flow: Flow) -> Loop:
        inner = self._inner(fields, "loop")
        if inner is None:
            return Loop(**common)
        over = inner.require("over", hint='Name the list to go over: over: "{{ state.items }}".')
        items: Json = None
        if over is not None:
            if isinstance(over.value, str | list | dict):
                items = self.notes.value(below(inner.path, "over"), over)
            else:
                self.notes.wrong_type(below(inner.path, "over"), over, "A list, or a template that gives one")
        item = self._loop_variable(inner)
        block_id = inner.text("id")
        body = self._block(inner, block_id, flow)
        concurrency = inner.integer("concurrency", least=1)
        collect = inner.json("collect")
        inner.finish("A loop", LOOP_FIELDS, _LOOP_SLIPS)
        return Loop(over=items, item=item, body=body, concurrency=concurrency or 1, collect=collect, **common)

    def _loop_variable(self, inner: Fields) -> str:
        node = inner.node_of("as")
        if node is None:
            return "item"
        if isinstance(node.value, str) and is_id(node.value) and node.value not in FORBIDDEN:
            return node.value
        self.notes.error(
            "bad_id",
            f"{shown(node.value) if isinstance(node.value, str) else 'This'} cannot be the name of a loop variable.",
            below(inner.path, "as"),
            node,
            hint="Use a plain name, for example 'item'.",
        )
        return "item"

    def _agent(self, fields: Fields, common: dict[str, Any]) -> Agent:
        inner = self._inner(fields, "agent")
        if inner is None:
            return Agent(**common)
        inner.require("requirement")
        rounds = inner.integer("max_rounds", least=1)
        agent = Agent(
            requirement=inner.text("requirement"),
            tools=inner.texts("tools"),
            model=inner.optional_text("model"),
            output=_columns(inner.json("output")),
            max_rounds=30 if rounds is None else rounds,
            budget=inner.inside("budget", agent_budget) or AgentBudget(),
            instructions=inner.text("instructions"),
            **common,
        )
        inner.finish("An agent", AGENT_FIELDS)
        return agent

    def _ask(self, fields: Fields, common: dict[str, Any]) -> Ask:
        inner = self._inner(fields, "ask")
        if inner is None:
            return Ask(**common)
        title, description, form = read_ask_fields(inner)
        limit = inner.duration("timeout")
        if limit is not None and common.get("timeout") is not None:
            self.notes.error(
                "alias_twice",
                "'timeout' is given both in 'ask' and beside it.",
                below(fields.path, "timeout"),
                inner.members["timeout"],
                hint="Keep the one in 'ask'.",
            )
        if limit is not None:
            common["timeout"] = limit
            self.notes.place(below(fields.path, "timeout"), inner.members["timeout"])
        inner.finish("A form", ("title", "description", "inputs", "timeout"))
        return Ask(title=title, description=description, fields=form, **common)

    def _inner(self, fields: Fields, action: str) -> Fields | None:
        node = fields.node_of(action)
        hint = "Write ask: {title: …, inputs: [{name: …}]}." if action == "ask" else ""
        return None if node is None else Fields.of(node, below(fields.path, action), self.notes, hint)


def read_on_unresolved(fields: Fields) -> OnUnresolved | None:
    """One of the words; `null` that is written without quotes is one of them too."""
    node = fields.members.get("on_unresolved")
    if node is not None and node.value is None:
        fields.ignore("on_unresolved")
        fields.notes.place(below(fields.path, "on_unresolved"), node)
        return "null"
    return cast(OnUnresolved | None, fields.choice("on_unresolved", ON_UNRESOLVED))


_TOOL_NAMES = ("toolName", "tool_name", "function", "action_name", "uses", "use", "call", "run", "action", "operation")
_LOOPING = ("foreach", "for_each", "forEach", "for", "with_items", "each", "repeat")
_LOOP_SLIPS = {
    **dict.fromkeys(("items", "in", "list", "each", "foreach"), 'Name the list to go over: over: "{{ a.items }}".'),
    **dict.fromkeys(("item", "var", "variable", "name"), "Name the loop variable: as: item."),
    **dict.fromkeys(("tool", "inputs"), "Write the call as a step of the loop: steps: [{tool: …, inputs: …}]."),
}


_BRANCHING = ("branches", "concurrently", "together", "fork", "all")


def _no_action_hint(fields: Fields) -> str:
    """What to do about a step that does nothing: what was meant, where another word for it is there."""
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


def _columns(written: Json) -> tuple[str, ...]:
    """The columns of a result, each `name` or `name: type`: a list, an object, or a text with commas."""
    match written:
        case str():
            return tuple(part.strip() for part in written.replace("\uff0c", ",").split(","))
        case dict():
            return tuple(f"{name}: {kind}" for name, kind in written.items())
        case list():
            return tuple(one for part in written for one in ([part] if isinstance(part, str) else _columns(part)))
        case _:
            return () if written is None else (str(written),)
