"""Names for model providers: one for each key, always legal, always found again."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolpath.catalog.names import mangle, unmangle
from toolpath.errors import ToolNotFound

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


@given(st.sets(keys, min_size=1))
def test_every_name_leads_back_to_its_key(known):
    assert {unmangle(mangle(key), known) for key in known} == known


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


def test_a_name_that_no_key_has_is_not_guessed():
    with pytest.raises(ToolNotFound, match="Did you mean 'a--b_c'"):
        unmangle("a--b_d", ["a.b_c"])
