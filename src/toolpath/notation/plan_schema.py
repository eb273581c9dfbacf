"""The JSON Schema of a plan file, for editors: completion, descriptions, and a first check while typing.

It refuses what the reader refuses by shape; what needs the tools or the whole plan is for the checks.
"""

from __future__ import annotations

from toolpath.notation.reading.bodies import FAILURE_MODES
from toolpath.notation.reading.durations import PATTERN as DURATION
from toolpath.notation.reading.forms import FIELD_TYPES
from toolpath.notation.reading.ids import FORBIDDEN, MAX_LENGTH
from toolpath.notation.reading.ids import PATTERN as ID
from toolpath.notation.reading.policies import ACTIONS as FAILURE_ACTIONS
from toolpath.notation.reading.policies import INPUT_ALIASES
from toolpath.notation.reading.steps import (
    ACTIONS,
    DEPENDENCY_ALIASES,
    FLOWS,
    ON_UNRESOLVED,
    OUTPUT_VALIDATION,
    WAIT_FOR,
)
from toolpath.values import JsonObject

#: Where the shipped copy says it lives; nothing is fetched from there.
IDENTITY = "urn:toolpath:plan"


def plan_json_schema() -> JsonObject:
    """A JSON Schema (2020-12) of the plan notation."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": IDENTITY,
        "title": "Toolpath plan",
        "description": "A plan of tool calls: what is called, with what, in which order, and what follows a failure.",
        **_object(_plan(), required=("steps",)),
        "$defs": {
            "step": _step_schema(),
            "block": _object(_block(), required=("steps",), title="Branch with several steps"),
            "branch": {
                "title": "Branch",
                "if": {"type": "object", "required": ["steps"]},
                "then": {"$ref": "#/$defs/block"},
                "else": {"$ref": "#/$defs/step"},
            },
            "loop": _object(_loop(), required=("over", "steps"), title="Loop"),
            "agent": _object(_agent(), required=("requirement",), title="Agent"),
            "ask": _object(_ask(), title="Form"),
            "field": _object(_field(), title="Field of a form"),
            "retry": _object(_retry(), title="Retry"),
            "fallback": _object(_fallback(), required=("tool",), title="Fallback"),
            "duration": {
                "title": "Duration",
                "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": DURATION}],
                "examples": ["30s", "2m", "1h30m", 5],
            },
            "id": {
                "title": "Id",
                "type": "string",
                "pattern": ID,
                "maxLength": MAX_LENGTH,
                "not": {"enum": sorted(FORBIDDEN)},
            },
            "texts": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        },
    }


def _object(
    properties: JsonObject, *, required: tuple[str, ...] = (), title: str = "", description: str = ""
) -> JsonObject:
    found: JsonObject = {"title": title} if title else {}
    if description:
        found["description"] = description
    found |= {"type": "object", "properties": properties, "additionalProperties": False}
    return {**found, "required": list(required)} if required else found


def _told(description: str, schema: JsonObject) -> JsonObject:
    """The schema of an optional field: with its description, and null, which counts as not given."""
    described: JsonObject = {"description": description}
    match schema:
        case {"enum": [*words]}:
            return described | schema | {"enum": [*words, None]}
        case {"type": str() as kind}:
            return described | schema | {"type": [kind, "null"]}
        case {"anyOf": [*options]}:
            return described | schema | {"anyOf": [*options, {"type": "null"}]}
        case {}:
            return described | schema if "$ref" not in schema else described | {"anyOf": [schema, {"type": "null"}]}
    raise AssertionError(schema)


def _text(description: str) -> JsonObject:
    return _told(description, {"type": "string"})


def _flag(description: str, default: bool) -> JsonObject:
    return _told(description, {"type": "boolean", "default": default})


def _whole(description: str, least: int = 0) -> JsonObject:
    return _told(description, {"type": "integer", "minimum": least})


def _part(description: str, name: str) -> JsonObject:
    return _told(description, {"$ref": f"#/$defs/{name}"})


def _one_of(description: str, words: tuple[str, ...], default: str | None = None) -> JsonObject:
    schema: JsonObject = {"enum": list(words)}
    return _told(description, schema | ({"default": default} if default is not None else {}))


def _mapping(description: str) -> JsonObject:
    return _told(description, {"type": "object"})


def _aliases(names: tuple[str, ...], of: str, schema: JsonObject) -> JsonObject:
    return {name: {**schema, "description": f"Another name of '{of}'.", "deprecated": True} for name in names}


def _plan() -> JsonObject:
    steps: JsonObject = {
        "description": "What is done. In a graph each step starts as soon as those it needs have ended.",
        "type": "array",
        "items": {"$ref": "#/$defs/step"},
    }
    inputs = {"anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]}
    limits = {
        "step_visits": _whole("Visits of one step of a chain (100).", 1),
        "steps": _whole("Steps that a run makes (1,000,000).", 1),
        "depth": _whole("Plans within plans (10).", 1),
    }
    state = _mapping("Variables that a chain starts with, besides its inputs.")
    return {
        "$schema": {"type": "string"},
        "name": _told("Name of the plan.", {"anyOf": [{"type": ["string", "number"]}]}),
        "description": _text("What it does, for people and for those who choose among plans."),
        "version": _told("Version, 1.0.0 if not given.", {"anyOf": [{"type": ["string", "number"]}]}),
        "inputs": _told("JSON Schema of an object: what a run is given.", inputs),
        **_aliases(("parameters",), "inputs", _told("", inputs)),
        "flow": _one_of("graph: by dependencies; chain: in order, with jumps.", FLOWS, "graph"),
        "steps": steps,
        "outputs": {"description": "Template of the result; if not given, the output of the last steps."},
        "failure_mode": _one_of("What a failure stops: everything, its dependents, nothing.", FAILURE_MODES, "stop"),
        "concurrency": _whole("Calls that run side by side (5).", 1),
        "timeout": _part("Time for the whole run, without waiting for people.", "duration"),
        "budget": _told("The most that a run may spend.", _object(_budget())),
        "limits": _told("Bounds that end a run which would not end by itself.", _object(limits)),
        "on_unresolved": _one_of("What a reference without a value does to its step.", ON_UNRESOLVED, "error"),
        "origin": _told("What a planner says of the plan it made.", _object(_origin())),
        "composite": _flag(
            "The plan is the body of a composite: its output is its state, and it retries nothing.", False
        ),
        "initial_state": state,
        **_aliases(("state",), "initial_state", state),
        "policy": _mapping("`requires`: what callers must have. The rest is kept, and does nothing yet."),
        "metadata": _mapping("Anything; kept, and does nothing."),
    }


def _budget() -> JsonObject:
    return {
        "calls": _whole("Attempts of calls."),
        "cost": _told("USD.", {"type": "number", "minimum": 0}),
        "tokens": _whole("Tokens of models."),
    }


def _origin() -> JsonObject:
    return {
        "request": _text("The request in words."),
        "reasoning": _text("Why these steps."),
        "confidence": _told("How sure the planner is.", {"type": "number", "minimum": 0, "maximum": 1}),
        "questions": _part("What the planner could not know; while there is one, nothing runs the plan.", "texts"),
        "uncovered": _part("What the request says and no step does.", "texts"),
        "estimates": _mapping("Expected duration and cost."),
    }


def _step_schema() -> JsonObject:
    needs = {name: ["tool"] for name in ("inputs", *INPUT_ALIASES)} | {"wait_for": ["parallel"]}
    return {
        **_object(
            {**_actions(), **_common()}, title="Step", description="Exactly one of tool, agent, parallel, loop, ask."
        ),
        "oneOf": [{"required": [action]} for action in ACTIONS],
        "dependentRequired": needs,
    }


def _actions() -> JsonObject:
    inputs = _mapping("What the tool is given; templates anywhere in it.")
    return {
        "tool": {"description": "The tool to call: group.name, an alias, or a bare name.", "type": "string"},
        "inputs": inputs,
        **_aliases(INPUT_ALIASES, "inputs", inputs),
        "agent": {"description": "Let a model reach a goal.", "$ref": "#/$defs/agent"},
        "parallel": {
            "description": "Branches that run side by side.",
            "type": "array",
            "items": {"$ref": "#/$defs/branch"},
        },
        "wait_for": _one_of("Which branches decide.", WAIT_FOR, "all"),
        "loop": {"description": "Steps for each item of a list.", "$ref": "#/$defs/loop"},
        "ask": {"description": "Let a person fill in a form.", "$ref": "#/$defs/ask"},
    }


def _common() -> JsonObject:
    depends = _part("Ids of steps that end before this one starts.", "texts")
    mode = _one_of("sequential: as 'exclusive: true'.", ("parallel", "sequential"))
    condition = {"anyOf": [{"type": "string"}, {"type": "boolean"}]}
    fallbacks = {"anyOf": [{"$ref": "#/$defs/fallback"}, {"type": "array", "items": {"$ref": "#/$defs/fallback"}}]}
    cache = {"anyOf": [{"type": "boolean"}, _object(_cache())]}
    return {
        "id": _part("Unique in the plan; made from the tool's name if not given.", "id"),
        "derived_id": _flag("The id was made from the tool's name, so a reference by it may be ambiguous.", False),
        "depends_on": depends,
        **_aliases(DEPENDENCY_ALIASES, "depends_on", depends),
        "when": _told("Expression; false: the step is skipped.", condition),
        "exclusive": _flag("Nothing runs beside this step.", False),
        **_aliases(("executionMode", "execution_mode"), "exclusive", mode),
        "timeout": _part("Time for one attempt.", "duration"),
        "retry": _part("How a failed attempt is made again.", "retry"),
        "fallback": _told("Other tools to ask, in order, when this one failed or was not sure.", fallbacks),
        "critical": _flag("A failure fails the run.", True),
        "cache": _told("Keep and reuse the result.", cache),
        "requires_approval": _told("A person must approve first: true, or an expression.", condition),
        "on_success": _told("What follows a success.", _object(_on_success())),
        "on_failure": _told("What follows a failure after all attempts and fallbacks.", _object(_on_failure())),
        "on_unresolved": _one_of("As the plan's.", ON_UNRESOLVED),
        "output_validation": _one_of("How strictly the result is held to the tool's schema.", OUTPUT_VALIDATION),
    }


def _on_success() -> JsonObject:
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    return {
        "map_outputs": _told("Field of the output → variable of the state.", texts),
        "transform": _mapping("Variable → template, in order, after map_outputs."),
        "next": _text("Id of the step to go on with; end: none."),
    }


def _on_failure() -> JsonObject:
    return {
        "action": _one_of("Stop, retry, or go on.", FAILURE_ACTIONS, "stop"),
        "max_retries": _whole("With 'action: retry': attempts after the first (3)."),
        "continue_on_max_retries": _flag("With 'action: retry': go on after the last one.", False),
        "next": _text("Id of the step to go on with; end: none."),
    }


def _retry() -> JsonObject:
    return {
        "max_retries": _whole("Attempts after the first (3)."),
        "max_attempts": _whole("Attempts in all: max_retries + 1.", 1) | {"deprecated": True},
        "backoff": _one_of("How the delay grows.", ("exponential", "fixed", "none"), "exponential"),
        "initial_delay": _part("Before the first retry (1s).", "duration"),
        "factor": _told("By which an exponential delay grows (2).", {"type": "number", "minimum": 0}),
        "max_delay": _part("The longest delay (60s).", "duration"),
        "jitter": _flag("Vary the delays by chance.", False),
        "retry_on": _part("Codes of errors that are retried; if not given, all that may be.", "texts"),
    }


def _fallback() -> JsonObject:
    inputs = _mapping("If not given, the step's own.")
    return {
        "tool": {"description": "The tool to ask instead.", "type": "string"},
        "inputs": inputs,
        **_aliases(INPUT_ALIASES, "inputs", inputs),
        "condition": _one_of("When it is asked.", ("on_error", "on_low_confidence"), "on_error"),
        "threshold": _told(
            "Confidence below which a result is low (0.5).", {"type": "number", "minimum": 0, "maximum": 1}
        ),
    }


def _cache() -> JsonObject:
    return {
        "ttl": _part("How long the result may be reused (300s).", "duration"),
        "key": _text("Template whose value replaces the inputs in the key."),
    }


def _block() -> JsonObject:
    return {
        "id": _part("Unique among the branches.", "id"),
        "flow": _one_of("As that of the block around it, if not given.", FLOWS),
        "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}},
    }


def _loop() -> JsonObject:
    over = {"description": "The items: a list, or a template that gives one.", "type": ["string", "array", "object"]}
    return {
        "over": over,
        "as": _part("Name of the item in the steps (item).", "id"),
        **_block(),
        "id": _text("Name of the body."),
        "concurrency": _whole("Items at a time (1).", 1),
        "collect": {"description": "Template of what an item gives; if not given, the body's output, called 'last'."},
    }


def _agent() -> JsonObject:
    return {
        "requirement": {"description": "What is to be reached.", "type": "string"},
        "tools": _part("Keys of the tools it may call.", "texts"),
        "model": _text("Model; if not given, that of the settings."),
        "output": {"description": "Columns of its result, each 'name' or 'name: type'; if not given, a text."},
        "max_rounds": _whole("Rounds of thinking (30).", 1),
        "budget": _told("The most that it may spend.", _object({**_budget(), "time": _part("Time.", "duration")})),
        "instructions": _text("How it is to go about it."),
    }


def _ask() -> JsonObject:
    field = {"$ref": "#/$defs/field"}
    listed = {"allOf": [field], "required": ["name"]}
    named = {"type": "object", "additionalProperties": {"anyOf": [field, {"type": "null"}]}}
    return {
        "title": _text("Title of the form."),
        "description": _text("What it is for."),
        "inputs": _told("The fields of the form.", {"anyOf": [{"type": "array", "items": listed}, named]}),
        "timeout": _part("How long the person has; if not given, as long as it takes.", "duration"),
    }


def _field() -> JsonObject:
    return {
        "name": {"description": "Name of the answer.", "type": "string", "minLength": 1},
        "label": _text("What the person reads."),
        "type": _one_of("Kind of the field.", FIELD_TYPES, "text"),
        "required": _flag("The person must answer.", True),
        "options": _told("What can be chosen.", {"type": "array"}),
        "placeholder": _text("Shown while it is empty."),
        "default": {"description": "Answer where none is given."},
    }
