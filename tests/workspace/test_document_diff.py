"""Lines of two documents beside each other, however many there are."""

from __future__ import annotations

import random

from toolpath.workspace.document_diff import diff_of


def lines(before: list[str], after: list[str]) -> list[str]:
    texts = ("\n".join(before), "\n".join(after))
    return diff_of({}, {}, names=("a 1", "a 2"), texts=texts).text.splitlines()


def test_a_difference_of_long_texts_is_one_piece() -> None:
    shared = [f"# {number}" for number in range(10_000)]
    before, after = [*shared[:6_000], "x: 1", *shared[6_000:]], [*shared[:6_000], "x: 2", "y: 3", *shared[6_000:]]
    assert lines(before, after) == ["--- a 1", "+++ a 2", "@@ -6001,1 +6001,2 @@", "-x: 1", "+x: 2", "+y: 3"]
    assert lines(shared, [*shared, *shared[-3:]])[2:] == ["@@ -10000,0 +10001,3 @@", "+# 9997", "+# 9998", "+# 9999"]
    assert lines([*shared, "#"], shared)[2:] == ["@@ -10001,1 +10000,0 @@", "-#"]
    assert lines(shared, shared) == []


def test_lines_that_come_again_and_again_take_no_more_than_a_look_at_each() -> None:
    chance = random.Random(1)
    pool = [f"# {number}" for number in range(120)]
    before, after = (chance.choices(pool, k=200_000) for _ in range(2))
    found = lines(before, after)
    assert found[-1].endswith("more lines")
