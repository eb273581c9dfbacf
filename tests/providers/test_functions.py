"""Functions as tools: schemas from hints and docstrings, conversions both ways, refusals that say why."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import functools
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, TypedDict

import jsonschema_rs
import pytest
from pydantic import BaseModel, Field
from tests.patience import PATIENCE

from toolpath.errors import ConfigError, OutputInvalid, SchemaError
from toolpath.model.plan import Plan
from toolpath.model.tool import Body, Tool, ToolResult
from toolpath.ports import ToolContext
from toolpath.providers.functions import bind, is_marked, tool, tool_from_function


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 2


class Route(TypedDict, total=False):
    name: str
    points: list[Point]


class Author(BaseModel):
    name: str
    born: datetime.date | None = None


def invoke(made: Tool, context: Any = None, /, **inputs: Any) -> Any:
    body = made.body
    assert isinstance(body, Body)
    result = body.invoke(inputs, context)
    return asyncio.run(result) if asyncio.iscoroutine(result) else result


def properties(function: Callable[..., Any]) -> dict[str, Any]:
    found: dict[str, Any] = tool_from_function(function).input_schema["properties"]
    return found


def at_the_top(a: int) -> int:
    """Add one."""
    return a + 1


def test_a_plain_function_is_a_tool_with_closed_schema_and_strict_output():
    def add(a: int, b: float = 1.5, *, note: str | None = None) -> float:
        """Add two numbers.

        More about it.

        Args:
            a: The first.
            b (float): The second,
                with a default.
        """
        return a + b

    made = tool_from_function(add)

    assert made.input_schema == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "The first."},
            "b": {"type": "number", "default": 1.5, "description": "The second, with a default."},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert (made.key, made.description) == ("add", "Add two numbers.\n\nMore about it.")
    assert (made.output_schema, made.output_validation, made.effect) == ({"type": "number"}, "strict", "write")
    assert made.body.runs == "thread"
    assert invoke(made, a=1) == 2.5


def test_the_mark_leaves_the_function_as_it_is_and_says_what_it_is_told():
    @tool(group="blog", effect="read", timeout="10s", capabilities="author.create", cost=0.01)
    async def create(name: str) -> dict:
        """Create."""
        return {"name": name}

    @tool
    def bare() -> None: ...

    made = tool_from_function(create)

    assert asyncio.run(create("Ada")) == {"name": "Ada"}
    assert is_marked(create)
    assert is_marked(bare)
    assert (made.key, made.effect, made.timeout, made.cost) == ("blog.create", "read", 10.0, 0.01)
    assert made.capabilities == ("author.create",)
    assert made.output_schema == {"type": "object"}
    assert made.body.runs == "loop"
    assert tool_from_function(create, name="other", group="x").key == "x.other"


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"efect": "read"}, "Did you mean 'effect'"), ({"timeout": "soon"}, "no duration"), ({"effect": "no"}, "none of")],
)
def test_a_mark_that_cannot_be_read_is_refused_where_it_stands(fields, message):
    with pytest.raises(ConfigError, match=message):
        tool(**fields)(at_the_top)


def test_rich_types_have_schemas_and_are_converted_both_ways():
    def plan(
        point: Point,
        colour: Colour,
        route: Route | None = None,
        when: datetime.datetime | None = None,
        size: Annotated[int, Field(gt=0, description="How big")] = 3,
        kind: Literal["a", "b"] = "a",
        tags: set[str] = Field(default_factory=set),  # noqa: B008 - pydantic's own way
    ) -> Author:
        assert isinstance(point, Point)
        assert isinstance(colour, Colour)
        assert route is None or isinstance(route["points"][0], Point)
        assert when is None or isinstance(when, datetime.datetime)
        return Author(name=f"{colour.value} {point.x} {sorted(tags)}", born=datetime.date(2000, 1, 2))

    made = tool_from_function(plan)
    inputs = {"point": {"x": 1}, "colour": "red", "route": {"points": [{"x": 3}]}, "when": "2020-01-01T00:00:00Z"}
    output = invoke(made, **inputs, tags=["z", "y", "z"])

    assert made.input_schema["required"] == ["point", "colour"]
    assert made.input_schema["properties"]["size"] == {
        "type": "integer",
        "exclusiveMinimum": 0,
        "description": "How big",
        "default": 3,
    }
    assert made.input_schema["properties"]["kind"] == {"enum": ["a", "b"], "type": "string", "default": "a"}
    assert jsonschema_rs.is_valid(made.input_schema, inputs)
    assert output == {"name": "red 1 ['y', 'z']", "born": "2000-01-02"}
    assert jsonschema_rs.is_valid(made.output_schema, output)
    assert made.output_validation == "strict"


def test_an_argument_that_does_not_fit_its_type_names_the_place():
    def place(point: Point) -> int:
        return point.x

    with pytest.raises(SchemaError, match="point") as caught:
        invoke(tool_from_function(place), point={"x": "far"})
    assert caught.value.faults[0][0] == "/point/x"


def test_a_result_that_is_no_json_is_told_and_a_wrong_one_is_given_on_to_the_check():
    def wrong() -> Author:
        return {"name": 7}  # type: ignore[return-value]

    def worse() -> list[Point]:
        return [object()]  # type: ignore[list-item]

    assert invoke(tool_from_function(wrong)) == {"name": 7}
    with pytest.raises(OutputInvalid):
        invoke(tool_from_function(worse))


def test_results_without_annotation_stay_unknown_and_models_become_json():
    def model():  # type: ignore[no-untyped-def]
        return Author(name="Ada")

    def sure() -> ToolResult:
        return ToolResult(output=Author(name="Ada"), confidence=0.5)

    assert tool_from_function(model).output_schema is None
    assert tool_from_function(model).output_validation == "warn"
    assert invoke(tool_from_function(model)) == {"name": "Ada", "born": None}
    assert invoke(tool_from_function(sure)) == ToolResult(output={"name": "Ada", "born": None}, confidence=0.5)


def test_a_context_comes_first_and_is_hidden():
    async def greet(context: ToolContext, name: str) -> str:
        return f"{context} greets {name}"

    made = tool_from_function(greet)

    assert list(made.input_schema["properties"]) == ["name"]
    assert made.body.wants_context
    assert invoke(made, "Ada", name="Bob") == "Ada greets Bob"


def test_methods_partials_callable_objects_and_keywords_are_tools():
    class Shop:
        """A shop."""

        def __init__(self, tax: float) -> None:
            self.tax = tax

        @tool(group="shop")
        def price(self, net: float) -> float:
            return net * self.tax

        def __call__(self, item: str) -> str:
            return f"sold {item}"

    def scale(value: float, factor: float) -> float:
        return value * factor

    def anything(**rest: int) -> int:
        return sum(rest.values())

    def placed(a: int, /, b: int = 0) -> int:
        return a - b

    shop = Shop(2.0)
    assert invoke(tool_from_function(shop.price), net=3.0) == 6.0
    assert tool_from_function(shop.price).key == "shop.price"
    assert invoke(tool_from_function(shop), item="tea") == "sold tea"
    assert tool_from_function(shop).name == "Shop"
    assert invoke(tool_from_function(functools.partial(scale, factor=3.0)), value=2.0) == 6.0
    assert invoke(tool_from_function(anything), x=1, y=2) == 3
    assert tool_from_function(anything).input_schema["additionalProperties"] == {"type": "integer"}
    assert invoke(tool_from_function(placed), a=5, b=3) == 2


class Opaque:
    pass


def takes_opaque(thing: Opaque) -> None: ...
def takes_lock(lock: threading.Lock) -> None: ...
def takes_many(*items: int) -> None: ...
def gives_opaque() -> Opaque: ...  # type: ignore[empty-body]
def late_context(a: int, context: ToolContext) -> None: ...
def generates() -> Iterator[int]:
    yield 1


def unknown(a: NotDefined) -> None: ...  # type: ignore[name-defined]  # noqa: F821


class WithMethod:
    def method(self, a: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (takes_opaque, "parameter 'thing': the type Opaque has no JSON Schema"),
        (takes_lock, "parameter 'lock'"),
        (takes_many, r"takes \*items"),
        (gives_opaque, "its result: the type Opaque"),
        (late_context, "not the first parameter"),
        (generates, "is a generator"),
        (unknown, "'NotDefined' is not known at run time"),
        (WithMethod.method, "without its object"),
        (WithMethod, "is a class"),
        (7, "is no function"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_and_says_why(function, message):
    with pytest.raises(ConfigError, match=message):
        tool_from_function(function)


def test_a_process_finds_functions_of_modules_and_nothing_else():
    made = tool_from_function(at_the_top, isolation="process")
    assert made.body.reference == f"{__name__}:at_the_top"

    def closure() -> None: ...

    def with_context(context: ToolContext) -> None: ...

    for function, message in (
        (lambda: None, "cannot find"),
        (closure, "cannot find"),
        (WithMethod().method, "cannot find"),
        (with_context, "cannot have a ToolContext"),
    ):
        with pytest.raises(ConfigError, match=message):
            tool_from_function(function, isolation="process")


def test_a_tool_from_data_is_bound_to_its_function():
    numbers = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
    made = bind(Tool(name="add", group="math", input_schema=numbers, body=lambda a, b: a + b))

    assert isinstance(made.body, Body)
    assert made.input_schema == numbers
    assert invoke(made, a=1, b=2) == 3
    assert bind(made) is made


def test_a_tool_from_data_takes_from_the_function_what_it_does_not_say():
    made = bind(Tool(name="plus", body=at_the_top))

    assert made.input_schema["properties"] == {"a": {"type": "integer"}}
    assert (made.output_schema, made.output_validation) == ({"type": "integer"}, "strict")
    assert made.description == "Add one."


def test_a_plan_stays_a_body_and_none_is_none():
    made = Tool(name="flow", body=Plan(name="flow"))

    assert bind(made) is made
    with pytest.raises(ConfigError, match="has no body"):
        bind(Tool(name="empty"))


@pytest.mark.parametrize(
    ("names", "message"), [(["b"], "needs 'a', which its input_schema does not have"), (["a", "c"], "does not take")]
)
def test_a_schema_and_a_function_that_do_not_agree_are_refused(names, message):
    schema = {"type": "object", "properties": {name: {} for name in names}}

    with pytest.raises(ConfigError, match=message):
        bind(Tool(name="x", input_schema=schema, body=at_the_top))


def test_plain_functions_need_no_pydantic():
    code = (
        "import sys\n"
        "from toolpath.providers.functions import tool, tool_from_function\n"
        "@tool\n"
        "def add(a: int, b: list[str] | None = None, c: dict[str, float] = {}) -> dict[str, int]: ...\n"
        "tool_from_function(add)\n"
        "print('pydantic' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=PATIENCE)

    assert done.stdout.strip() == "False", done.stderr
