"""Expressions at random over places whose schemas are known: mostly such as people write, and sometimes wrong."""

from __future__ import annotations

from random import Random
from typing import Any

from schemas_at_random import DEFINITIONS, Schema

Json = Any
Readable = tuple[str, Schema]
KINDS = ("string", "number", "boolean", "array", "object")
TEXTUAL = ("capitalize", "center(9)", "indent(2)", "wordwrap(5)", "urlencode", "trim('x')", "replace('a', 'b', 1)")
TESTS = ("boolean", "even", "false", "float", "integer", "iterable", "lower", "mapping", "odd", "true", "upper", "ge 2")
TESTS += ("lt 3", "eq 1", "ne 'x'", "in ['a', 1]", "divisibleby(3)", "sequence", "number")
LITERALS = {
    "string": ["'x'", "''", "'a,b'"],
    "number": ["0", "1", "3", "2.5", "-1"],
    "boolean": ["true", "false"],
    "array": ["[]", "[1, 2]", "['a']"],
    "object": ["{}", "{'k': 'x', 'v': 1}"],
}


def resolved(part: Schema | bool) -> Schema:
    """The schema that a reference leads to."""
    if isinstance(part, bool):
        return {}
    if "$ref" in part:
        return DEFINITIONS[part["$ref"].rpartition("/")[2]]
    if "allOf" in part:
        parts = [resolved(inner) for inner in part["allOf"]]
        return {"type": "object", "properties": {k: v for p in parts for k, v in p.get("properties", {}).items()}}
    for key in ("anyOf", "oneOf"):
        if key in part:
            return resolved(part[key][0])
    return part


def kind_of(part: Schema) -> str:
    """The one kind that the schema is taken for."""
    found = resolved(part)
    if "enum" in found or "const" in found:
        first = found.get("const", (found.get("enum") or [None])[0])
        return "number" if isinstance(first, int) else "string"
    kind = found.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    return "number" if kind == "integer" else str(kind)


class Expressions:
    """Writes expressions over what can be read at one place."""

    def __init__(self, chance: Random, readables: list[Readable]) -> None:
        self.chance = chance
        self.readables = readables
        self._lambdas = 0

    def any(self, depth: int = 2) -> str:
        """An expression of any kind."""
        return self.of(self.chance.choice(KINDS), depth)

    def like(self, part: Schema, depth: int = 1) -> str:
        """An expression that may well fit the schema."""
        exact = [text for text, known in self.readables if known == part]
        if exact and self.chance.random() < 0.4:
            return self.guarded(self.chance.choice(exact), kind_of(part), 0.3)
        return self.of(kind_of(part), depth)

    def of(self, kind: str, depth: int = 2) -> str:
        """An expression that mostly gives a value of the kind."""
        if depth <= 0 or self.chance.random() < 0.4:
            return self.leaf(kind)
        match kind:
            case "string":
                return self.string(depth - 1)
            case "number":
                return self.number(depth - 1)
            case "boolean":
                return self.boolean(depth - 1)
            case "array":
                return self.array(depth - 1)
            case "object":
                return self.object(depth - 1)
            case _:
                return self.leaf(kind)

    def leaf(self, kind: str) -> str:
        """Something that is read, perhaps guarded, or a literal."""
        if kind not in LITERALS:
            kind = "string"
        if self.chance.random() < 0.25 or not self.readables:
            return self.literal(kind)
        text, found = self.path()
        for _ in range(6):
            if kind_of(found) == kind:
                break
            text, found = self.path()
        else:
            return self.literal(kind)
        return self.guarded(text, kind, 0.5)

    def literal(self, kind: str) -> str:
        """A constant."""
        return self.chance.choice(LITERALS[kind])

    def guarded(self, text: str, kind: str, share: float) -> str:
        """The path, often with something that stands in for it."""
        if self.chance.random() > share:
            return text
        other = self.literal(kind if kind in LITERALS else "string")
        forms = ["(P | default(O))", "(P | default(O, true))", "(P or O)", "(P if P is defined else O)"]
        forms += ["(P if P is not none else O)", "(P if P else O)", "(O if P is none else P)", "(P | default(O) or O)"]
        forms += ["(O if P is undefined or P is none else P)", "(P if P is defined and P is not none else O)"]
        tests = {"string": "string", "number": "number", "array": "sequence", "object": "mapping"}
        forms.append(f"(P if P is defined and P is {tests.get(kind, 'boolean')} else O)")
        return self.chance.choice(forms).replace("P", text).replace("O", other)

    def path(self) -> Readable:
        """A readable, and mostly some keys below it."""
        text, part = self.chance.choice(self.readables)
        for _ in range(self.chance.choice([0, 1, 1, 2, 3])):
            found = self.below(text, part)
            if found is None:
                break
            text, part = found
        return text, part

    def below(self, text: str, part: Schema) -> Readable | None:
        """One key further in."""
        known = resolved(part)
        kind = kind_of(part)
        if kind == "object" and known.get("properties"):
            required = [name for name in known["properties"] if name in known.get("required", ())]
            names = required if required and self.chance.random() < 0.7 else list(known["properties"])
            name = self.chance.choice(names)
            return (f"{text}.{name}" if name.isidentifier() else f"{text}['{name}']"), known["properties"][name]
        if kind == "array":
            parts = known.get("prefixItems") or [known.get("items", {})]
            index = self.chance.choice(["0", "0", "-1", "1", "inputs.many"])
            inner = parts[int(index) % len(parts)] if index.lstrip("-").isdigit() else parts[0]
            return (f"{text}[{index}]", inner) if isinstance(inner, dict) else None
        return None

    def string(self, depth: int) -> str:
        """Text."""
        chance = self.chance
        name = chance.choice([*TEXTUAL, "upper", "lower", "title", "trim", "replace('a', 'b')", "truncate(9)"])
        forms = [
            lambda: f"{self.of('string', depth)} | {name}",
            lambda: f"({self.any(depth)} ~ {self.any(depth)})",
            lambda: f"{self.any(depth)} | string",
            lambda: f"{self.any(depth)} | {chance.choice(['json', 'tojson', 'json(2)'])}",
            lambda: f"({self.of('number', depth)} | filesizeformat)",
            lambda: chance.choice(["run.id", "run.started_at", "(run.id | upper)"]),
            lambda: f"({self.of('array', depth)} | join(',', attribute='k'))",
            lambda: f"({self.of(chance.choice(['string', 'array']), depth)} | last | default('z') | string)",
            lambda: f"(steps.{chance.choice(self.step_ids())}.error | string)" if self.step_ids() else "'none'",
            lambda: f"{self.of('array', depth)} | join(', ')",
            lambda: f"({self.of('string', depth)} + {self.of('string', depth)})",
            lambda: f"{self.of('string', depth)}[:3]",
            lambda: f"({self.of('string', depth)} | first | default('z'))",
            lambda: f"({self.of('array', depth)} | map('string') | list | first | default('n'))",
            lambda: f"('ab' * {self.of('number', depth)})",
            lambda: f"({self.of('array', depth)} | join({self.of('string', depth)}))",
            lambda: f"steps.{chance.choice(self.step_ids())}.status" if self.step_ids() else "'none'",
            lambda: self.chosen("string", depth),
        ]
        return chance.choice(forms)()

    def step_ids(self) -> list[str]:
        """Ids of steps that can be read."""
        return [text for text, _ in self.readables if text.isidentifier() and text.startswith("s")]

    def number(self, depth: int) -> str:
        """A number."""
        one, other = self.of("number", depth), self.of("number", depth)
        divisor = self.chance.choice(["2", "(N or 1)", "N", "(L | length or 1)"]).replace("N", other)
        forms = [
            lambda: f"({one} {self.chance.choice(['+', '-', '*'])} {other})",
            lambda: f"({one} {self.chance.choice(['/', '//', '%'])} {divisor.replace('L', self.of('array', depth))})",
            lambda: f"{self.chance.choice([self.of('array', depth), self.of('string', depth)])} | length",
            lambda: f"({self.of('array', depth)} | sum)",
            lambda: f"({self.listing()[0]} | sum(attribute={self.keyed()!r}))",
            lambda: f"({self.of('string', depth)} | wordcount)",
            lambda: f"({self.any(depth)} | count)",
            lambda: f"({one} ** {self.chance.choice(['2', other])})",
            lambda: f"steps.{self.chance.choice(self.step_ids())}.duration" if self.step_ids() else "2",
            lambda: f"({self.any(depth)} | int(7, 16))",
            lambda: f"({one} | round(1, {self.chance.choice(['common', 'ceil', 'floor'])!r}))",
            lambda: f"({self.of('array', depth)} | select('number') | sum)",
            lambda: f"({self.mapped(depth)} | sum)",
            lambda: f"({self.any(depth)} | int)",
            lambda: f"({self.any(depth)} | float(1))",
            lambda: f"({one} | {self.chance.choice(['round', 'abs', 'round(1)', 'int'])})",
            lambda: f"({self.of('array', depth)} | {self.chance.choice(['max', 'min'])} | default(0))",
            lambda: f"(-{one})",
            lambda: self.chosen("number", depth),
        ]
        return self.chance.choice(forms)()

    def boolean(self, depth: int) -> str:
        """A truth."""
        text, part = self.path() if self.readables else ("1", {"type": "integer"})
        kind = self.chance.choice(["number", "string"])
        sign = self.chance.choice(["<", "<=", ">", ">=", "==", "!="])
        guarded = f"{text} is defined and {text} is not none and {self.on(text, part)}"
        forms = [
            lambda: f"({self.of(kind, depth)} {sign} {self.of(kind, depth)})",
            lambda: f"({self.any(depth)} {self.chance.choice(['==', '!='])} {self.any(depth)})",
            lambda: f"({text} is {self.chance.choice(['defined', 'not none', 'none', 'string', 'number', 'mapping'])})",
            lambda: f"({guarded})",
            lambda: f"({text} and {self.on(text, part)})",
            lambda: f"({text} is none or {self.on(text, part)})",
            lambda: f"({self.of('string', depth)} in {self.of(self.chance.choice(['array', 'string']), depth)})",
            lambda: f"(not {self.any(depth)})",
            lambda: f"({self.of('boolean', depth)} {self.chance.choice(['and', 'or'])} {self.of('boolean', depth)})",
            lambda: f"({self.of('number', depth)} is {self.chance.choice(['even', 'odd', 'divisibleby(2)'])})",
            lambda: f"({self.of('array', depth)} | {self.chance.choice(['any', 'all'])})",
            lambda: f"({self.listing()[0]} | {self.chance.choice(['any', 'all'])}(attribute={self.keyed()!r}))",
            lambda: f"({self.any(depth)} is {self.chance.choice(TESTS)})",
            lambda: f"({self.of('number', depth)} {sign} {self.of('number', depth)} {sign} {self.of('number', depth)})",
            lambda: f"({self.any(depth)} not in {self.of(self.chance.choice(['array', 'object']), depth)})",
        ]
        return self.chance.choice(forms)()

    def on(self, text: str, part: Schema) -> str:
        """A use of what a guard before it may have made sure of."""
        found = self.below(text, part)
        below = [f"{found[0]} == 'x'", f"{found[0]} is defined"] if found else []
        by_kind = {
            "string": [f"{text} | upper == 'X'", f"{text} > 'a'", f"'x' in {text}"],
            "number": [f"{text} > 1", f"1 / {text} > 0", f"{text} + 1 == 2"],
            "array": [f"{text} | length > 1", f"{text}[0] == 1", f"{text} | first == 1"],
            "object": [f"{text} | length > 0", f"'k' in {text}"],
        }
        return self.chance.choice(by_kind.get(kind_of(part), [f"{text} == true"]) + below)

    def chosen(self, kind: str, depth: int) -> str:
        """One of two by a condition."""
        return f"({self.of(kind, depth)} if {self.of('boolean', depth)} else {self.of(kind, depth)})"

    def listing(self) -> Readable:
        """A list that can be read."""
        for _ in range(8):
            text, part = self.path()
            if kind_of(part) == "array":
                return text, part
        return "[{'k': 'x', 'v': 1}, {'k': 'y', 'v': 2}]", {"items": {"$ref": "#/$defs/row"}, "type": "array"}

    def element(self, part: Schema) -> tuple[str, Schema]:
        """A key of the elements of a list, and its schema."""
        inner = resolved(resolved(part).get("items", {}))
        names = list(inner.get("properties", {}))
        return (self.chance.choice(names), inner) if names else ("k", inner)

    def keyed(self) -> str:
        """A key that elements of a list may have, or one further in."""
        name, inner = self.element(self.listing()[1])
        below = list(resolved(inner.get("properties", {}).get(name, {})).get("properties", {}))
        return f"{name}.{self.chance.choice(below)}" if below and self.chance.random() < 0.3 else name

    def mapped(self, depth: int) -> str:
        """One value of each element."""
        text, part = self.listing()
        name, inner = self.element(part)
        below = Expressions(self.chance, [("x", inner), *self.readables])
        forms = [
            f"L | map(attribute='{name}')",
            f"L | map(attribute='{name}', default=0)",
            f"L | selectattr('{name}') | map(attribute='{name}')",
            f"L | filter(lambda x: x['{name}'] is defined) | map(lambda x: x['{name}'])",
            f"L | filter(lambda x: x['{name}'] is defined and x['{name}'] is not none) | map(attribute='{name}')",
            f"L | map(lambda x: {below.any(max(depth, 1))})",
            f"L | filter(lambda x: {below.boolean(max(depth, 1))})",
        ]
        return "(" + self.chance.choice(forms).replace("L", text, 1) + ")"

    def array(self, depth: int) -> str:
        """A list."""
        text, part = self.listing()
        name, _ = self.element(part)
        key = self.chance.choice(["", "", f"attribute='{name}'", f"lambda x: x['{name}'] | default(0)"])
        found = self.of("array", depth)
        sorting = self.chance.choice(["sort", "unique", "groupby"])
        forms = [
            lambda: f"[{self.any(depth)}, {self.any(depth)}]",
            lambda: f"({found} + {self.of('array', depth)})",
            lambda: self.mapped(depth),
            lambda: f"({text} | {sorting}({key or repr(name)}))",
            lambda: (
                f"({found} | {self.chance.choice(['reverse', 'unique', 'flatten', 'sort', 'batch(2)', 'slice(2)'])})"
            ),
            lambda: f"({self.of('object', depth)} | {self.chance.choice(['items', 'keys', 'values', 'dictsort'])})",
            lambda: f"({self.of('string', depth)} | split(','))",
            lambda: f"{found}[1:]",
            lambda: f"({found} | rejectattr('{name}'))",
            lambda: f"({self.of('string', depth)} | list)",
        ]
        return self.chance.choice(forms)()

    def object(self, depth: int) -> str:
        """An object."""
        forms = [
            lambda: f"{{'k': {self.of('string', depth)}, 'v': {self.of('number', depth)}}}",
            lambda: f"({self.of('array', depth)} | first | default({{}}))",
            lambda: f"({self.listing()[0]} | {self.chance.choice(['min', 'max'])}(attribute={self.keyed()!r}))",
            lambda: f"({self.listing()[0]} | {self.chance.choice(['first', 'last'])})",
            lambda: self.chosen("object", depth),
        ]
        return self.chance.choice(forms)()
