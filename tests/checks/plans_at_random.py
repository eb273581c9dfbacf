"""Plans at random for the law of the checker, and tools whose results are as their schemas say and no better."""

from __future__ import annotations

from random import Random
from typing import Any

from toolpath.errors import ToolFailed
from toolpath.model.plan import Block, Call, Common, Loop, OnFailure, OnSuccess, Parallel, Plan, Step
from toolpath.model.tool import Body, Tool

Json = Any
TEXT, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}
RECORD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "n": INTEGER,
        "flag": {"type": "boolean"},
        "kind": {"enum": ["a", "b"]},
        "opt": TEXT,
        "nul": {"type": ["string", "null"]},
        "alt": {"anyOf": [INTEGER, {"type": "null"}]},
        "tags": {"type": "array", "items": TEXT},
        "rows": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/row"}},
        "deep": {"type": "object", "properties": {"x": NUMBER, "y": {"$ref": "#/$defs/row"}}, "required": ["x"]},
    },
    "required": ["id", "n", "flag", "kind", "nul", "alt", "tags", "rows", "deep"],
    "$defs": {"row": {"type": "object", "properties": {"k": TEXT, "v": INTEGER}, "required": ["k"]}},
}
PATHS = ["id", "n", "flag", "kind", "opt", "nul", "alt", "tags", "tags[0]", "rows", "rows[0]", "rows[0].k", "rows[0].v"]
PATHS += ["rows[1].k", "deep", "deep.x", "deep.y", "deep.y.k", "nothing", "id.more"]
TAKES: dict[str, dict[str, Any]] = {
    "text": TEXT,
    "number": NUMBER,
    "integer": INTEGER,
    "kind": {"enum": ["a", "b"]},
    "texts": {"type": "array", "items": TEXT},
    "row": {"type": "object", "properties": {"k": TEXT}, "required": ["k"]},
    "either": {"anyOf": [INTEGER, {"type": "null"}]},
}
INPUTS: dict[str, Any] = {
    "type": "object",
    "properties": {"who": TEXT, "many": INTEGER, "maybe": TEXT, "dflt": {"type": "string", "default": "d"}},
    "required": ["who", "many"],
}


def value_of(schema: dict[str, Any], chance: Random, root: dict[str, Any] = RECORD) -> Json:
    """Any value that fits the schema; what is not required is there half of the time."""
    if "$ref" in schema:
        return value_of(root["$defs"][schema["$ref"].rpartition("/")[2]], chance, root)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "anyOf" in schema:
        return value_of(chance.choice(schema["anyOf"]), chance, root)
    kind = schema.get("type", "null")
    match chance.choice(kind) if isinstance(kind, list) else kind:
        case "string":
            return chance.choice(["", "x", "12", "true", "größe {{ x }}"])
        case "integer":
            return chance.choice([0, 1, -7, 10**9])
        case "number":
            return chance.choice([0, 1.5, -2])
        case "boolean":
            return chance.random() < 0.5
        case "array":
            size = schema.get("minItems", 0) + chance.choice([0, 0, 1, 2])
            return [value_of(schema["items"], chance, root) for _ in range(size)]
        case "object":
            required = schema.get("required", ())
            given = [name for name in schema["properties"] if name in required or chance.random() < 0.5]
            return {name: value_of(schema["properties"][name], chance, root) for name in given}
        case _:
            return None


def make_tools(chance: Random) -> list[Tool]:
    """A tool that gives a record, one that sometimes fails, and one that takes each kind of value."""

    def record(_inputs: Json, _context: Json) -> Json:
        return value_of(RECORD, chance)

    def unsure(_inputs: Json, _context: Json) -> Json:
        if chance.random() < 0.5:
            raise ToolFailed("No luck.")
        return value_of(RECORD, chance)

    def echo(inputs: Json, _context: Json) -> Json:
        return {"got": inputs.get("value")}

    made = [
        Tool(group="make", name=name, output_schema=RECORD, body=Body(invoke=invoke), effect="write", input_schema={})
        for name, invoke in (("record", record), ("unsure", unsure))
    ]
    for name, schema in TAKES.items():
        for required in (True, False):
            takes = {"type": "object", "properties": {"value": schema}, "required": ["value"] if required else []}
            gives = {"type": "object", "properties": {"got": {}}, "required": ["got"]}
            made.append(
                Tool(
                    group="take" if required else "may",
                    name=name,
                    input_schema={**takes, "additionalProperties": False},
                    output_schema=gives,
                    body=Body(invoke=echo),
                    effect="write",
                    output_validation="strict",
                )
            )
    return made


class Writer:
    """Writes one plan at random: mostly right, sometimes not."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.count = 0
        self.flow = chance.choice(["graph", "chain"])

    def plan(self) -> Plan:
        """The plan, with inputs, a few steps, perhaps outputs."""
        steps = self.steps([], depth=0)
        outputs = {"all": self.text(steps, [])} if self.one_in(3) else None
        mode = self.chance.choice(["stop", "isolate", "continue", "stop"])
        return Plan(
            inputs=INPUTS,
            flow=self.flow,
            steps=tuple(steps),
            outputs=outputs,
            failure_mode=mode,
            on_unresolved=self.chance.choice(["error", "error", "error", "null", "skip"]),
        )

    def one_in(self, count: int) -> bool:
        """True once in so many times."""
        return self.chance.randrange(count) == 0

    def steps(self, around: list[Step], *, depth: int, items: tuple[str, ...] = ()) -> list[Step]:
        """Steps that read one another and what is around them."""
        made: list[Step] = []
        for _ in range(self.chance.randint(1, 4 if depth == 0 else 2)):
            known = around + made
            kind = self.chance.randrange(10) if depth < 2 else 0
            if kind == 8:
                made.append(self.loop(known, depth, items))
            elif kind == 9:
                made.append(self.parallel(known, depth, items))
            else:
                made.append(self.call(known, items))
        return made

    def common(self, known: list[Step], items: tuple[str, ...]) -> dict[str, Any]:
        """An id, and perhaps a condition, a continuation, writes and a jump."""
        self.count += 1
        found: dict[str, Any] = {"id": f"s{self.count}"}
        if self.one_in(5) and known:
            conditions = [self.path(known, items), "inputs.who == 'x'", f"steps.{known[-1].id}.status == 'succeeded'"]
            found["when"] = f"{{{{ {self.chance.choice(conditions)} }}}}"
        if self.one_in(5):
            found["on_failure"] = OnFailure(action="continue")
        elif self.one_in(6) and self.flow == "chain":
            found["on_failure"] = OnFailure(next=f"s{self.count + self.chance.choice([1, 2])}")
        writes: dict[str, Any] = {}
        if self.one_in(4):
            writes["map_outputs"] = {self.chance.choice(["id", "n", "opt", "got", "deep.x"]): self.variable()}
        if self.one_in(6):
            writes["transform"] = {self.variable(): f"{{{{ {self.path(known, items)} }}}}"}
        if self.one_in(8) and self.flow == "chain":
            writes["next"] = self.chance.choice(["end", f"s{self.count + 2}"])
        if writes:
            found["on_success"] = OnSuccess(**writes)
        return found

    def variable(self) -> str:
        """One of a few names."""
        return self.chance.choice(["v", "w"])

    def call(self, known: list[Step], items: tuple[str, ...]) -> Step:
        """A call that makes a record, or takes what is there."""
        common = self.common(known, items)
        if not known or self.one_in(3):
            return Call(tool=self.chance.choice(["make.record", "make.record", "make.unsure"]), **common)
        name = self.chance.choice(list(TAKES))
        tool = f"{self.chance.choice(['take', 'take', 'may'])}.{name}"
        inputs = {} if self.one_in(12) else {"value": self.given(name, known, items)}
        return Call(tool=tool, inputs=inputs, **common)

    def given(self, name: str, known: list[Step], items: tuple[str, ...]) -> Json:
        """A literal, a template, or an object or list with templates in it."""
        match self.chance.randrange(8):
            case 0:
                return value_of(TAKES[name], self.chance)
            case 1 if name == "row":
                return {"k": self.text(known, list(items)), "v": 3}
            case 1 if name == "texts":
                return ["x", self.text(known, list(items))]
            case _:
                return self.text(known, list(items))

    def text(self, known: list[Step], items: list[str]) -> str:
        """A string with a template."""
        path = self.path(known, tuple(items))
        forms = ["{{ P }}", "{{ P }}", "{{ P }}", "by {{ P }}!", "{{ P | default('d') }}", "{{ P | default(5) }}"]
        forms += ["{{ P if P is defined else 'e' }}", "{{ P == 'x' }}", "{{ [P, 'q'] }}", "{{ P or 'z' }}"]
        forms += ["{{ {'k': P} }}"]
        return self.chance.choice(forms).replace("P", path)

    def path(self, known: list[Step], items: tuple[str, ...]) -> str:
        """Something to read: an input, a variable, the item, an output of a step."""
        roots = [f"inputs.{name}" for name in INPUTS["properties"]] + [f"state.{self.variable()}", *items]
        if not known or self.one_in(4):
            return self.chance.choice(roots)
        step = self.chance.choice(known)
        name = self.chance.choice([step.id, f"steps.{step.id}.output"])
        match step:
            case Call(tool=tool) if tool.startswith("make."):
                return f"{name}.{self.chance.choice(PATHS)}"
            case Call():
                return f"{name}.got"
            case Loop():
                return self.chance.choice([name, f"{name}[0]"])
            case Parallel(branches=branches):
                keys = [branch.id for branch in branches] if step.wait_for == "all" else ["winner", "output"]
                return f"{name}.{self.chance.choice(keys)}"
            case _:
                return name

    def loop(self, known: list[Step], depth: int, items: tuple[str, ...]) -> Step:
        """A loop over a list that is written out, or over one that a step gives."""
        common = self.common(known, items)
        item = self.chance.choice(["item", "one"])
        makers = [step.id for step in known if isinstance(step, Call) and step.tool == "make.record"]
        over: Json = [1, 2] if not makers or self.one_in(2) else f"{{{{ {self.chance.choice(makers)}.tags }}}}"
        body = self.steps(known, depth=depth + 1, items=(*items, item))
        collect = self.chance.choice([None, "{{ last }}", f"{{{{ {body[-1].id} }}}}"])
        block = Block(flow=self.flow, steps=tuple(body))
        return Loop(over=over, item=item, body=block, collect=collect, concurrency=self.chance.choice([1, 3]), **common)

    def parallel(self, known: list[Step], depth: int, items: tuple[str, ...]) -> Step:
        """Two branches."""
        common: dict[str, Any] = self.common(known, items)
        branches = tuple(
            Block(id=name, flow=self.flow, steps=tuple(self.steps(known, depth=depth + 1, items=items)))
            for name in ("left", "right")
        )
        return Parallel(
            branches=branches, wait_for=self.chance.choice(["all", "all", "any", "first_success"]), **common
        )


def is_named(step: Common, ids: set[str]) -> bool:
    """Every jump of the step goes to one of the ids, or to the end."""
    targets = {step.on_success.next, step.on_failure.next} - {None, "end"}
    return targets <= ids
