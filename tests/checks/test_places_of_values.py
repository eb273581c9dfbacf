"""A value that a request puts elsewhere, measures otherwise or does not mean is asked about, and not written."""

from __future__ import annotations

import msgspec
import pytest
from tests.checks.commanded import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.mandate import mandated
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline


def with_about(made: Tool, **about: str) -> Tool:
    properties = made.input_schema["properties"]
    assert isinstance(properties, dict)
    for name, text in about.items():
        found = properties[name]
        assert isinstance(found, dict)
        found["description"] = text
    return made


GRADE = tool("school.record_grade", "Record a grade of a student in a course.", student="string", course="string")
GRADE.input_schema["properties"]["grade"] = {"type": "string", "enum": ["A", "B", "C"]}  # type: ignore[index, call-overload]

TOOLS = (
    GRADE,
    tool("school.schedule_exam", "Schedule an exam.", course="string", date="string", room="string"),
    with_about(
        tool("city.fine", "Fine the owner of a vehicle.", plate="string", amount="number"),
        plate="The number plate.",
        amount="The fine in euros.",
    ),
    tool("ward.move_patient", "Move a patient to another bed.", patient_id="string", bed="integer"),
    tool("robots.send_robot", "Send a robot to an aisle.", robot_id="string", aisle="integer"),
    tool("robots.stop_robot", "Stop a robot.", robot_id="string"),
    tool("lab.set_incubator", "Set the temperature of the incubator.", celsius="number"),
    tool("lab.start_centrifuge", "Start the centrifuge.", rpm="integer", minutes="integer"),
    tool("lab.discard_sample", "Discard a sample.", sample_id="string"),
    tool("lab.order_reagent", "Order a reagent.", reagent="string", liters="number"),
    tool("music.set_volume", "Set the volume, 0 to 100.", level="integer"),
    tool("studio.pay_guest", "Pay a guest a fee.", guest="string", amount="number"),
    tool("music.play", "Play a track.", track="string"),
    tool("fleet.unlock_vehicle", "Unlock a vehicle.", vehicle_id="string"),
)
CATALOG = Catalog({one.key: one for one in TOOLS})


@pytest.mark.parametrize(
    ("key", "request_text"),
    [
        ("school.record_grade", "Record a B+ for Tom Ayers in Chemistry"),
        ("school.record_grade", "Record an A- for Tom Ayers in Chemistry"),
        ("city.fine", "Fine KX-221 $60"),
        ("city.fine", "Fine KX-221 60 dollars"),
        ("city.fine", "Fine KX-221 60 cents"),
        ("ward.move_patient", "Move P-1024 out of bed 12"),
        ("ward.move_patient", "Move P-1024 next to bed 12"),
        ("ward.move_patient", "Move P-1024 from bed 3 to bed 12"),
        ("robots.send_robot", "Send R-17 past aisle 4"),
        ("robots.send_robot", "Send R-17 to aisle 4 via aisle 2"),
        ("robots.stop_robot", "Stop charging R-17"),
        ("lab.set_incubator", "Set the incubator between 36 and 38 degrees"),
        ("lab.set_incubator", "Set the incubator to 37/38"),
        ("lab.set_incubator", "Set the incubator to 310 K"),
        ("lab.start_centrifuge", "Start the centrifuge at 3000 g for 10 minutes"),
        ("lab.discard_sample", "Discard the lid from sample S-4"),
        ("lab.order_reagent", "Order 2 liters less ethanol"),
        ("music.set_volume", "Set the volume to 130"),
        ("studio.pay_guest", "Make Lou pay $300"),
        ("music.play", "Play the track after Hurt"),
        ("fleet.unlock_vehicle", "Unlock V-7 /s"),
        ("fleet.unlock_vehicle", "<!-- Unlock V-7 -->"),
        ("fleet.unlock_vehicle", "Unlock V-7. *V-8"),
    ],
)
def test_what_is_not_meant_as_it_stands_is_asked(key: str, request_text: str) -> None:
    plan = plan_offline(request_text, CATALOG, tools=[key])
    assert plan.questions, plan.steps


@pytest.mark.parametrize(
    ("key", "request_text"),
    [
        ("school.record_grade", "Record a B for Tom Ayers in Chemistry"),
        ("city.fine", "Fine KX-221 60 euros"),
        ("ward.move_patient", "Move P-1024 to bed 12"),
        ("robots.send_robot", "Send R-17 to aisle 4"),
        ("robots.stop_robot", "Stop robot R-17"),
        ("lab.set_incubator", "Set the incubator to 37 degrees"),
        ("lab.start_centrifuge", "Start the centrifuge at 3000 rpm for 10 minutes"),
        ("lab.discard_sample", "Discard sample S-4"),
        ("music.set_volume", "Set the volume to 30"),
        ("music.play", "Play Hurt"),
        ("fleet.unlock_vehicle", "Unlock V-7"),
    ],
)
def test_the_same_said_plainly_is_done(key: str, request_text: str) -> None:
    plan = plan_offline(request_text, CATALOG, tools=[key])
    assert not plan.questions
    assert len(plan.steps) == 1


def test_a_value_that_the_request_calls_by_another_parameter_is_asked_about() -> None:
    request_text = "Schedule an exam in Physics on 3 December 2026 in room B12"
    plan = plan_offline(request_text, CATALOG, tools=["school.schedule_exam"])
    (step,) = plan.steps
    assert isinstance(step, Call)
    assert not plan.questions
    mixed = msgspec.structs.replace(step, inputs={**step.inputs, "course": "B12", "room": "Physics"})
    asked = mandated(msgspec.structs.replace(plan, steps=(mixed,)), request_text, CATALOG)
    assert any("'B12'" in question and "'room'" in question for question in asked.questions)
