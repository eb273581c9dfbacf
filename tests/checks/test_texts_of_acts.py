"""What is handed on is the text that is said, not whose thing is meant."""

from __future__ import annotations

import pytest
from tests.planner.offline.test_needless_questions import TEXT, done, is_asked, tool


def said(what: str) -> dict[str, str]:
    return {**TEXT, "description": what}


SCHOOL = (
    tool(
        "message_class",
        "Send a message to a class.",
        "write",
        class_name=said("Name of the class"),
        text=said("Text of the message"),
    ),
    tool("note_patient", "Write a note for a patient.", "write", patient=said("Name"), note=said("The note")),
)


@pytest.mark.parametrize("who", ["Jonas Weber", "Ann", "Dr Osei"])
@pytest.mark.parametrize(
    "frame",
    [
        'message {}\'s class "Hi"',
        'Send a message to {}\'s class: "Hi all"',
        'Please message {}\u2019s class "No school"',
    ],
)
def test_whose_class_it_is_is_no_text(who: str, frame: str) -> None:
    assert is_asked(frame.format(who), SCHOOL)


@pytest.mark.parametrize(
    ("request_", "inputs"),
    [
        ('message class 7b "Hi"', {"class_name": "7b", "text": "Hi"}),
        ('Text class 7b "Ann\'s class is off"', {"class_name": "7b", "text": "Ann's class is off"}),
    ],
)
def test_a_text_that_is_said_is_handed_on(request_: str, inputs: dict[str, str]) -> None:
    assert done(request_, SCHOOL) == [("message_class", inputs)]
