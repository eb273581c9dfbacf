"""The public records of what models wrote: nearly all read exactly, no damaged one read wrongly in silence."""

from __future__ import annotations

import pytest
from benchmarks.model_outputs import scores
from benchmarks.records import folder

FOLDER = folder()

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(FOLDER is None, reason="TOOLPATH_BENCHMARK_DATA names no folder with the benchmark records"),
]


def test_at_least_98_percent_of_the_sound_texts_give_exactly_the_calls_that_were_meant() -> None:
    assert FOLDER is not None
    sound = [score for name, score in scores(FOLDER).items() if not name.endswith("(hard)")]
    assert sum(score.records for score in sound) > 100
    assert sum(score.exact for score in sound) >= 0.98 * sum(score.records for score in sound)


def test_no_damaged_text_gives_a_wrong_call_in_silence() -> None:
    assert FOLDER is not None
    damaged = [score for name, score in scores(FOLDER).items() if name.endswith("(hard)")]
    assert damaged
    assert [fault for score in damaged if score.silent for fault in score.faults] == []
