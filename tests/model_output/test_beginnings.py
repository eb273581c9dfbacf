"""A text that a reader knows is found within a line, too: only where one may begin is looked closer."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolpath.model_output.readers import MAY_BEGIN, TEXT_READERS


@pytest.mark.parametrize("begins", [reader.begins for reader in TEXT_READERS])
@settings(max_examples=10, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_where_a_reader_may_read_is_looked(begins: str, data: st.DataObject) -> None:
    text = "so: " + data.draw(st.from_regex(re.compile(begins, re.M)))
    for found in re.finditer(begins, text, re.M):
        assert MAY_BEGIN.match(text, found.start()), text[found.start() :][:20]
