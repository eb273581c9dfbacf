import json

import pytest
from hypothesis import HealthCheck, given, settings
from plan_strategies import plans, values

from toolpath.model.plan import Call, Plan
from toolpath.notation.nodes import plain
from toolpath.notation.plan import read_plan
from toolpath.notation.printing import plan_to_dict, print_plan
from toolpath.notation.yaml_printing import print_yaml
from toolpath.notation.yaml_text import read_yaml

unhurried = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=60
)


@unhurried
@given(plans())
def test_what_is_printed_reads_as_an_equal_plan_without_errors(plan):
    tree = plan_to_dict(plan)
    assert json.loads(json.dumps(tree)) == tree
    for source in (print_plan(plan, "yaml"), print_plan(plan, "json"), tree):
        read = read_plan(source)
        assert read == plan
        assert [finding for finding in read.source.findings if finding.severity == "error"] == []


@settings(deadline=None, max_examples=150)
@given(values)
def test_any_json_value_survives_yaml(value):
    read = plain(read_yaml(print_yaml(value)))
    assert read == value
    assert json.dumps(read) == json.dumps(value)


def test_a_key_longer_than_yaml_admits_survives():
    value = {"k" * 3000: {"a\nb": [1]}, "": [[], {}, [[1]]]}
    assert plain(read_yaml(print_yaml(value))) == value


def test_only_what_differs_from_the_defaults_is_printed():
    plan = Plan(name="small", steps=(Call(id="a", tool="math.add", inputs={"a": 1}),))
    assert print_plan(plan) == ("name: small\nsteps:\n  - id: a\n    tool: math.add\n    inputs:\n      a: 1\n")


@pytest.mark.parametrize("flow", ["graph", "chain"])
@pytest.mark.parametrize("outcome", ["on_success", "on_failure"])
def test_a_plan_that_jumps_reads_back_in_its_own_flow(flow, outcome):
    steps = [{"id": "a", "tool": "t", outcome: {"action": "next", "next": "b"}}, {"id": "b", "tool": "t"}]
    plan = read_plan({"name": "p", "flow": flow, "steps": steps})
    assert plan.flow == flow
    tree = plan_to_dict(plan)
    assert list(tree) == ["name", "flow", "steps"]
    assert read_plan(tree) == plan


def test_several_lines_are_printed_as_they_read():
    plan = Plan(name="p", description="One.\nTwo.\n", steps=(Call(id="a", tool="t"),))
    assert "description: |\n  One.\n  Two.\n" in print_plan(plan)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1: 2}])
def test_what_is_no_json_is_refused_by_the_printer(value):
    with pytest.raises(ValueError, match=r"JSON|text"):
        print_yaml({"a": value})


def test_a_value_deeper_than_any_reader_goes_is_refused_by_the_printer():
    value = []
    for _ in range(500):
        value = [value, 1]
    with pytest.raises(ValueError, match="nested deeper"):
        print_yaml(value)
