"""Any form and any answers: what is accepted fits the form, what is not is told field by field."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from toolpath.checks.shapes import of_field
from toolpath.engine.decide.people import read_answers
from toolpath.errors import SchemaError
from toolpath.json_schema.validate import Validator
from toolpath.model.forms import FIELD_TYPES, chosen_file, is_kept_file
from toolpath.model.plan import Field

texts = st.text(max_size=8)
scalars = st.none() | st.booleans() | st.integers(-9, 99) | st.floats(allow_nan=False, allow_infinity=False) | texts
plausible = st.sampled_from(["", "1", "2.5", "true", "off", "a@b", "2031-02-28", "2031-02-30", "a, b", "b"])
values = st.recursive(scalars | plausible, lambda v: st.lists(v, max_size=3) | st.dictionaries(texts, v, max_size=2))
options = st.lists(st.sampled_from(["a", "b", "a, b", 1, True, 2.5, "1"]), max_size=4, unique_by=str)
fields = st.builds(
    Field,
    name=st.sampled_from("abcdef"),
    label=st.sampled_from(["", "Name", "a", "b"]),
    type=st.sampled_from(list(FIELD_TYPES)),
    required=st.booleans(),
    options=options.map(tuple),
    default=st.none() | plausible,
)
forms = st.lists(fields, max_size=5, unique_by=lambda field: field.name)


@given(forms, st.dictionaries(st.sampled_from([*"abcdefg", "Name"]), values, max_size=6))
def test_what_is_accepted_fits_the_form(form: list[Field], answers: dict[str, Any]) -> None:
    shown = {"inputs": [msgspec.to_builtins(field) for field in form]}
    try:
        found = read_answers(shown, answers)
    except SchemaError as error:
        faults = error.faults
    else:
        faults = ()
        _assert_fits(form, found)
    assert all(at.startswith("/") and what for at, what in faults)


def _assert_fits(form: list[Field], found: dict[str, Any]) -> None:
    assert list(found) == [field.name for field in form]
    for field in form:
        if found[field.name] is None:
            assert not field.required
        elif FIELD_TYPES[field.type].is_file:
            # What names a file of an upload; its schema is that of the file which the run has of it then.
            assert is_kept_file(found[field.name]) or chosen_file(found[field.name]) is not None
        else:
            Validator(of_field(field)).accept(found[field.name])


@given(forms, st.dictionaries(st.sampled_from([*"abcdefg", "Name"]), values, max_size=6))
def test_accepted_answers_are_accepted_again_as_they_are(form: list[Field], answers: dict[str, Any]) -> None:
    shown = {"inputs": [msgspec.to_builtins(field) for field in form]}
    try:
        found = read_answers(shown, answers)
    except SchemaError:
        return
    assert read_answers(shown, found) == found
