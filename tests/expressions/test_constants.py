"""Constants that the value of an expression may be made of."""

from __future__ import annotations

import pytest

from toolpath.expressions.constants import constants_of, reads_something


@pytest.mark.parametrize(
    ("source", "constants"),
    [
        ("a.b['key'][0]", ()),
        ("a.state == 'open'", ()),
        ("a | map(attribute='name') | join(', ')", (", ",)),
        ("'x' ~ '@' ~ \"y\"", ("x@y",)),
        ("'x' + a + 'y'", ("x", "y")),
        ("a.count + 1", ()),
        ("2 + 3", ("2", "3")),
        ("2 * 3", ("2", "3")),
        ("7", ("7",)),
        ("a or 'x'", ("x",)),
        ("a | default('x')", ("x",)),
        ("'x' if a == 'y' else 'z'", ("x", "z")),
        ("['x', {'k': 'y'}][0]", ("x", "y")),
        ("'ann' | replace('n', 'l')", ("ann", "n", "l")),
        ("a | map(lambda one: 'x')", ("x",)),
        ("a ~", ()),
    ],
)
def test_what_is_compared_with_or_looked_up_by_is_no_part_of_a_value(source: str, constants: tuple[str, ...]) -> None:
    assert constants_of(source) == constants


def test_a_filter_reads_nothing() -> None:
    assert not reads_something("'x' | upper")
    assert reads_something("a | upper")
    assert reads_something("a ~"), "what is no expression may read anything"
