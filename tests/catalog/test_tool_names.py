"""Names for model providers: one for each key, always legal, always found again."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolpath.catalog.names import mangle

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")
keys = st.text("ab_.-", min_size=1, max_size=12) | st.from_regex(r"[A-Za-z0-9_.-]{1,128}", fullmatch=True)


@given(keys, keys)
@example("a_b.c", "a.b_c")
@example("a.b", "a--b")
@example("a._b", "a_.b")
@example("x" * 70 + "a", "x" * 70 + "b")
def test_different_keys_have_different_legal_names(left, right):
    assert LEGAL.fullmatch(mangle(left))
    assert (mangle(left) == mangle(right)) == (left == right)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("blog.createAuthor", "blog--createAuthor"),
        ("a_b.c", "a_b--c"),
        ("a.b_c", "a--b_c"),
        ("everything.get-sum", "everything--get-sum"),
        ("add", "add"),
    ],
)
def test_ordinary_keys_stay_readable(key, name):
    assert mangle(key) == name
