"""Laws of JSON values: the canonical text is one for all values that are equal."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from toolpath.values import canonical

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-1_000, 1_000).map(float)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(["1.0", ".0", "a.0b"])
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text("ab.0", max_size=3), inner))


def with_integers(value: Any) -> Any:
    """The value with an integer for each whole float that has an equal one in every language."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: with_integers(item) for key, item in value.items()}
    return [with_integers(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_the_canonical_text_of_a_value_is_that_of_the_value_with_integers_for_whole_floats(value: Any) -> None:
    assert canonical(value) == canonical(with_integers(value))
    assert json.loads(canonical(value)) == json.loads(json.dumps(with_integers(value)))


@given(st.dictionaries(st.text("abc", max_size=2), VALUES))
def test_the_order_of_keys_makes_no_difference(value: dict[str, Any]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)
