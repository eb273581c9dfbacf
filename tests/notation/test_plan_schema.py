import json
from importlib.resources import files

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from plan_strategies import plans

from toolpath.notation.plan import PLAN_FIELDS, SCHEMA_FIELD, read_plan
from toolpath.notation.plan_schema import plan_json_schema
from toolpath.notation.printing import plan_to_dict
from toolpath.notation.tables import ACTIONS, STEP, STEP_KINDS

SCHEMA = plan_json_schema()
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)


def test_the_shipped_schema_is_fresh():
    shipped = files("toolpath").joinpath("notation/plan.schema.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == SCHEMA, "Call `make reference`."


def test_the_schema_is_a_schema():
    jsonschema_rs.meta.validate(SCHEMA)


def test_the_schema_knows_the_fields_that_the_reader_knows():
    step = set(SCHEMA["$defs"]["step"]["properties"])
    assert set(SCHEMA["properties"]) == {*PLAN_FIELDS, SCHEMA_FIELD, "parameters", "state"}
    assert step >= {*STEP.names, *STEP.aliases, *ACTIONS}
    for kind in STEP_KINDS:
        own = step if kind.is_inline else set(SCHEMA["$defs"][kind.word]["properties"])
        assert own >= {*kind.table.names, *kind.table.aliases}


def test_every_field_tells_what_it_is():
    for name, part in SCHEMA["properties"].items():
        assert name == SCHEMA_FIELD or part["description"]
    for name, part in SCHEMA["$defs"]["step"]["properties"].items():
        assert part["description"], name


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=60)
@given(plans())
def test_every_printed_plan_fits_the_schema(plan):
    VALIDATOR.validate(plan_to_dict(plan))


CALL = {"tool": "t"}
FAULTY = [
    {"steps": [{"tool": "t", "timout": 1}]},
    {"steps": [CALL], "colour": 1},
    {"steps": [{"tool": "t", "retry": {"times": 1}}]},
    {"steps": [{"tool": "t", "fallback": {"tool": "b", "x": 1}}]},
    {"steps": [{"tool": "t", "fallback": [{"tool": "b", "x": 1}]}]},
    {"steps": [{"tool": "t", "cache": {"time": 1}}]},
    {"steps": [{"tool": "t", "on_success": {"then": "b"}}]},
    {"steps": [{"tool": "t", "on_failure": {"then": "b"}}]},
    {"steps": [{"tool": "t", "wait_for": "any"}]},
    {"steps": [{"loop": {"over": [], "steps": [], "until": 1}}]},
    {"steps": [{"loop": {"over": [], "steps": [{"tool": "t", "x": 1}]}}]},
    {"steps": [{"agent": {"requirement": "r", "x": 1}}]},
    {"steps": [{"agent": {"requirement": "r"}, "inputs": {}}]},
    {"steps": [{"ask": {"x": 1}}]},
    {"steps": [{"ask": {"inputs": [{"name": "a", "x": 1}]}}]},
    {"steps": [{"parallel": [{"tool": "t", "x": 1}]}]},
    {"steps": [{"parallel": [{"id": "b", "steps": [CALL], "x": 1}]}]},
    {"steps": [CALL], "budget": {"x": 1}},
    {"steps": [CALL], "limits": {"x": 1}},
    {"steps": [CALL], "origin": {"x": 1}},
]


@pytest.mark.parametrize("source", FAULTY)
def test_what_the_reader_calls_an_unknown_field_the_schema_refuses(source):
    assert "unknown_field" in {finding.code for finding in read_plan(source).source.findings}
    assert not VALIDATOR.is_valid(source)


@pytest.mark.parametrize(
    "source",
    [
        {"steps": [{"tool": "t", "loop": {"over": [], "steps": []}}]},
        {"steps": [{"id": "a"}]},
        {"steps": [{"tool": "t", "timeout": "soon"}]},
        {"steps": [{"id": "end", "tool": "t"}]},
        {"steps": [{"id": "1a", "tool": "t"}]},
        {"steps": "t"},
        {"name": "x"},
        {"steps": [CALL], "flow": "circle"},
        {"steps": [CALL], "concurrency": 0},
        {"steps": [{"agent": {}}]},
        {"steps": [{"loop": {"steps": []}}]},
    ],
)
def test_what_both_refuse(source):
    assert [finding for finding in read_plan(source).source.findings if finding.severity == "error"]
    assert not VALIDATOR.is_valid(source)


@pytest.mark.parametrize(
    "source",
    [
        {"$schema": "urn:toolpath:plan", "steps": [{"tool": "t", "args": {}, "needs": "a", "timeout": "1h30m"}]},
        {"version": 1.0, "name": 7, "steps": [], "outputs": 1, "inputs": [{"name": "a"}]},
        {"steps": [{"ask": {"inputs": {"a": None, "b": {"label": "B"}}}, "when": None, "on_unresolved": None}]},
        {"steps": [{"parallel": [CALL, {"steps": [CALL]}], "wait_for": "first_success"}], "on_unresolved": None},
    ],
)
def test_what_both_accept(source):
    assert read_plan(source).source.findings == ()
    VALIDATOR.validate(source)
