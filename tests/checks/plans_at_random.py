"""Plans at random for the law of the checker, with every kind of step in every other, and tools that are true.

A tool gives whatever its schema allows, and mostly the least. A plan is mended where the check finds something, so that
many of them are without findings and still have expressions worth trying.
"""

from __future__ import annotations

from random import Random
from typing import Any

from expressions_at_random import Expressions, Readable, kind_of
from schemas_at_random import Schema, narrowed, object_schema, schema, value, whole

from toolpath.errors import Finding, ToolFailed
from toolpath.model.tool import Body, Tool
from toolpath.notation.plan import read_plan

Json = Any
INPUTS: Schema = {
    "type": "object",
    "properties": {
        "who": {"type": "string"},
        "many": {"type": "integer"},
        "maybe": {"type": "string"},
        "dflt": {"type": "string", "default": "d"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "wide": {"type": ["number", "null"]},
    },
    "required": ["who", "many"],
}
GIVEN: list[dict[str, Json]] = [
    {"who": "x", "many": 3, "list": []},
    {"who": "", "many": "0", "maybe": "m", "list": [1, 2], "wide": None},
    {"who": "x", "many": 1, "wide": 0},
]


class World:
    """Some tools: makers of values, takers of arguments, one that fails, one that is a plan."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.makers: dict[str, Schema] = {}
        self.takers: dict[str, Schema] = {}
        self.tools: list[Tool] = []
        for number in range(4):
            self._maker(f"make.m{number}", object_schema(chance), fails=number == 3)
        self._maker("make.list", {"type": "array", "items": object_schema(chance, 1)})
        for number in range(6):
            self._taker(f"take.t{number}", narrowed(schema(chance, 1), chance), required=number % 2 == 0)
        self._nested()

    def _maker(self, key: str, part: Schema, *, fails: bool = False) -> None:
        def make(_inputs: Json, _context: Json) -> Json:
            if fails and self.chance.random() < 0.5:
                raise ToolFailed("No luck.")
            return value(part, self.chance)

        self.makers[key] = part
        self._add(key, make, {"type": "object"}, whole(part))

    def _taker(self, key: str, part: Schema, *, required: bool) -> None:
        takes: Schema = {"type": "object", "properties": {"value": part}, "additionalProperties": False}
        takes |= {"required": ["value"]} if required else {}
        gives: Schema = {"type": "object", "properties": {"got": part}, "required": ["got"] if required else []}

        def take(inputs: Json, _context: Json) -> Json:
            return {"got": inputs["value"]} if "value" in inputs else {}

        self.takers[key] = part
        self.makers[key] = gives
        self._add(key, take, whole(takes), whole(gives))

    def _add(self, key: str, invoke: Any, takes: Schema, gives: Schema) -> None:
        group, _, name = key.partition(".")
        self.tools.append(
            Tool(
                group=group,
                name=name,
                effect="write",
                input_schema=takes,
                output_schema=gives,
                output_validation="strict",
                body=Body(invoke=invoke),
            )
        )

    def _nested(self) -> None:
        properties: Schema = {"word": {"type": "string"}, "size": {"type": "integer"}}
        kept: Schema = {"mood": {"type": "string", "default": "calm"}, "list": {"type": ["array", "null"]}}
        takes: Schema = {"type": "object", "properties": {**properties, **kept}}
        body = read_plan(
            {
                "name": "nested",
                "inputs": {**takes, "required": ["word"]},
                "steps": [{"id": "made", "tool": "make.m0"}],
                "outputs": {
                    "word": "{{ inputs.word | upper ~ inputs.mood }}",
                    "size": "{{ inputs.size | default(0) + 1 }}",
                    "list": "{{ inputs.list or [] }}",
                },
            }
        )
        gives: Schema = {"type": "object", "properties": {**properties, "list": {"type": "array"}}}
        self.makers["sub.nested"] = {**gives, "required": ["word", "size", "list"]}
        self.tools.append(
            Tool(group="sub", name="nested", input_schema={**takes, "required": ["word"]}, body=body, effect="write")
        )


class Writer:
    """Writes one plan at random, as a document."""

    def __init__(self, chance: Random, world: World) -> None:
        self.chance = chance
        self.world = world
        self.count = 0
        self.flow = chance.choice(["graph", "chain"])

    def plan(self) -> dict[str, Json]:
        """The plan, with inputs, a few steps, perhaps outputs."""
        steps, known = self.steps([], depth=0)
        found: dict[str, Json] = {"name": "random", "inputs": INPUTS, "flow": self.flow, "steps": steps}
        if self.one_in(2):
            found["outputs"] = {"a": self.template(known), "b": self.template(known)}
        found["failure_mode"] = self.chance.choice(["stop", "stop", "isolate", "continue"])
        found["on_unresolved"] = self.chance.choice(["error", "error", "error", "error", "null", "skip", "keep"])
        return found

    def one_in(self, count: int) -> bool:
        """True once in so many times."""
        return self.chance.randrange(count) == 0

    def readables(self, known: list[Readable]) -> list[Readable]:
        """What can be read: inputs, state, and what is given."""
        inputs = [(f"inputs.{name}", part) for name, part in INPUTS["properties"].items()]
        states: list[Readable] = [("state.v", {"type": "string"}), ("state.w", {"type": "number"})]
        return [*known, *known, *inputs, *(states if self.one_in(3) else [])]

    def expression(self, known: list[Readable], part: Schema | None = None) -> str:
        """An expression without its braces."""
        expressions = Expressions(self.chance, self.readables(known))
        depth = self.chance.choice([0, 1, 1, 2, 3])
        return expressions.any(depth) if part is None else expressions.like(part, depth)

    def template(self, known: list[Readable], part: Schema | None = None) -> str:
        """A text with an expression, mostly nothing else."""
        found = f"{{{{ {self.expression(known, part)} }}}}"
        return f"by {found}!" if part is None and self.one_in(4) else found

    def steps(self, around: list[Readable], *, depth: int, last: bool = False) -> tuple[list[Json], list[Readable]]:
        """Steps that read one another and what is around them; and what can be read after them."""
        made: list[Json] = []
        known = list(around)
        for _ in range(self.chance.randint(1, 4 if depth == 0 else 2)):
            kinds = ["call"] * 7 + (["loop", "loop", "parallel", "ask"] if depth < 2 else [])
            step, gives = getattr(self, self.chance.choice(kinds))(known, depth)
            made.append(step)
            if gives is not None:
                name = step["id"]
                known.append((self.chance.choice([name, name, f"steps.{name}.output"]), gives))
        return made, known

    def common(self, known: list[Readable]) -> dict[str, Json]:
        """An id, and perhaps a condition, a continuation, writes, an approval and a jump."""
        self.count += 1
        chance = self.chance
        found: dict[str, Json] = {"id": f"s{self.count}"}
        if self.one_in(4):
            conditions = Expressions(chance, self.readables(known))
            found["when"] = f"{{{{ {conditions.boolean(chance.choice([1, 2]))} }}}}"
        if self.one_in(6):
            found["on_failure"] = {"action": "continue"}
        elif self.one_in(9) and self.flow == "chain":
            found["on_failure"] = {"next": f"s{self.count + chance.choice([1, 2])}"}
        if self.one_in(12):
            found["critical"] = False
        if self.one_in(12):
            found["on_unresolved"] = chance.choice(["null", "skip", "keep"])
        if self.one_in(14):
            found["requires_approval"] = f"{{{{ {self.expression(known)} }}}}"
        writes: dict[str, Json] = {}
        if self.one_in(6):
            writes["map_outputs"] = {chance.choice(["id", "name", "got", "total"]): chance.choice(["v", "w"])}
        if self.one_in(5):
            writes["transform"] = {chance.choice(["v", "w"]): self.template(known)}
        if self.one_in(12) and self.flow == "chain":
            writes["next"] = chance.choice(["end", f"s{self.count + 2}"])
        return {**found, "on_success": writes} if writes else found

    def call(self, known: list[Readable], _depth: int) -> tuple[Json, Schema | None]:
        """A call that makes something, or takes what is there."""
        common = self.common(known)
        chance, world = self.chance, self.world
        if self.one_in(12):
            inputs = {
                "word": self.template(known, {"type": "string"}),
                "size": self.template(known, {"type": "integer"}),
            }
            if self.one_in(2):
                inputs |= {"mood": self.template(known, {"type": "string"})}
            if self.one_in(2):
                inputs |= {"list": self.template(known, {"type": "array"})}
            return {**common, "tool": "sub.nested", "inputs": inputs}, world.makers["sub.nested"]
        if not known or self.one_in(3):
            tool = chance.choice([key for key in world.makers if key.startswith("make.")])
            inputs = {} if self.one_in(2) else {"about": self.template(known)}
            extra = {"fallback": {"tool": "make.m1"}} if tool == "make.m3" and self.one_in(2) else {}
            return {**common, "tool": tool, "inputs": inputs, **extra}, world.makers[tool]
        tool = chance.choice(list(world.takers))
        part = world.takers[tool]
        step = {**common, "tool": tool, "inputs": {} if self.one_in(12) else {"value": self.argument(known, part)}}
        if self.one_in(10):
            step["cache"] = {"key": self.template(known)}
        if self.one_in(10):
            other = chance.choice(list(world.takers))
            step["fallback"] = {"tool": other, "inputs": {"value": self.argument(known, world.takers[other])}}
        return step, world.makers[tool]

    def argument(self, known: list[Readable], part: Schema) -> Json:
        """A literal, a template, or an object or list with templates in it."""
        if self.one_in(8):
            return value(part, self.chance)
        properties = part.get("properties")
        if properties and self.one_in(2):
            return {name: self.template(known, inner) for name, inner in properties.items()}
        if kind_of(part) == "array" and "items" in part and self.one_in(3) and isinstance(part["items"], dict):
            return [self.template(known, part["items"]) for _ in range(self.chance.randint(1, 2))]
        return self.template(known, part)

    def loop(self, known: list[Readable], depth: int) -> tuple[Json, Schema | None]:
        """A loop over a list that is written out, or over one that is there."""
        common = self.common(known)
        item = self.chance.choice(["item", "one"])
        expressions = Expressions(self.chance, self.readables(known))
        text, part = expressions.listing()
        inner: Schema = part.get("items", {})
        over: Json = f"{{{{ {text} }}}}"
        if self.one_in(3):
            over, inner = [1, "a"] if self.one_in(2) else [{"k": "x"}, {"k": "y", "v": 1}], {"$ref": "#/$defs/row"}
        body, after = self.steps([*known, (item, inner)], depth=depth + 1)
        loop: dict[str, Json] = {"over": over, "as": item, "steps": body, "concurrency": self.chance.choice([1, 1, 3])}
        gives: Schema | None = None
        if self.one_in(2):
            loop["collect"] = self.template([*after, ("last", after[-1][1])])
        else:
            gives = {"type": "array", "items": after[-1][1]}
        return {**common, "loop": loop}, gives

    def parallel(self, known: list[Readable], depth: int) -> tuple[Json, Schema | None]:
        """Two branches, each a block or one step."""
        common = self.common(known)
        wait_for = self.chance.choice(["all", "all", "any", "first_success"])
        branches: list[Json] = []
        gives: dict[str, Schema] = {}
        for name in ("left", "right"):
            if self.one_in(3):
                step, gave = self.call(known, depth)
                branches.append(step)
                gives[step["id"]] = gave or {}
                continue
            flow = self.chance.choice(["graph", "chain"])
            inner, after = self.steps(known, depth=depth + 1)
            branches.append({"id": name, "flow": flow, "steps": inner})
            gives[name] = after[-1][1] if flow == "chain" and len(after) > len(known) else {}
        step = {**common, "parallel": branches, "wait_for": wait_for}
        if wait_for == "all":
            return step, {"type": "object", "properties": gives, "required": list(gives)}
        output = next(iter(gives.values()))
        winner: Schema = {"type": "object", "properties": {"winner": {"type": "string"}, "output": output}}
        return step, {**winner, "required": ["winner", "output"]}

    def ask(self, known: list[Readable], _depth: int) -> tuple[Json, Schema | None]:
        """A question to a person."""
        fields: list[Json] = [{"name": "word", "label": "Word"}, {"name": "size", "type": "integer", "required": False}]
        fields += [{"name": "sure", "type": "checkbox", "required": False}]
        fields += [{"name": "kind", "type": "select", "options": ["w", "v"]}]
        form = {"title": f"Say {self.template(known)}", "inputs": fields}
        size: Schema = {"type": ["integer", "null"]}
        kind: Schema = {"enum": ["w", "v"]}
        gives: Schema = {"word": {"type": "string"}, "size": size, "sure": {"type": ["boolean", "null"]}, "kind": kind}
        step = {**self.common(known), "ask": form}
        return step, {"type": "object", "properties": gives, "required": list(gives)}


ANSWER: dict[str, Json] = {"word": "w", "kind": "v"}


def mended(plan: dict[str, Json], findings: tuple[Finding, ...]) -> None:
    """Take out of the plan what the findings are about, as little as may be."""
    for finding in findings:
        if finding.severity == "information":
            continue
        way = [part.replace("~1", "/").replace("~0", "~") for part in finding.path.split("/")[1:]]
        _mend(plan, way)


def _mend(plan: dict[str, Json], way: list[str]) -> None:  # noqa: C901  # one case a place
    here: Json = plan
    step: dict[str, Json] | None = None
    for count, part in enumerate(way):
        if isinstance(here, dict) and "id" in here and ("tool" in here or "loop" in here or "parallel" in here):
            step = here
        inner = here.get(part) if isinstance(here, dict) else None
        if isinstance(here, list) and part.isdigit() and int(part) < len(here):
            inner = here[int(part)]
        is_end = count == len(way) - 1
        if isinstance(here, dict) and part in (
            "when",
            "on_success",
            "on_failure",
            "requires_approval",
            "cache",
            "fallback",
        ):
            here.pop(part, None)
            return
        if isinstance(here, dict) and part == "outputs":
            here.pop(part, None)
            return
        if isinstance(here, dict) and part in ("over", "collect", "title"):
            here[part] = {"over": [1], "collect": None, "title": "T"}[part]
            if here[part] is None:
                del here[part]
            return
        if isinstance(here, dict) and part == "inputs" and step is here and not is_end:
            here[part].pop(way[count + 1], None)
            if "value" in way[count + 1 :]:
                step["tool"] = "make.m0"
            return
        if inner is None:
            break
        here = inner
    if step is not None:
        step.pop("on_success", None)
        step.pop("on_failure", None)
        step.pop("when", None)
        if "tool" in step:
            step["tool"], step["inputs"] = "make.m0", {}
            step.pop("fallback", None)
