"""Docstrings in the forms people write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath.providers.docstrings import read_docstring

GOOGLE = """Create a post.

    It is published at once: no draft.

    Args:
        title: The title.
        body (str, optional): The text
            over two lines: really.
        *tags: Tags.

    Returns:
        The post.

    Raises:
        ValueError: never
    """
NUMPY = """Create a post.

    It is published at once: no draft.

    Parameters
    ----------
    title : str
        The title.
    body, other : str, optional
        The text
        over two lines: really.
    *tags
        Tags.

    Returns
    -------
    dict
        The post.
    """
SPHINX = """Create a post.

    It is published at once: no draft.

    :param title: The title.
    :param str body: The text
        over two lines: really.
    :type body: str
    :param tags: Tags.
    :returns: The post.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX])
def test_every_form_gives_description_and_parameters(text):
    read = read_docstring(text)

    assert read.description == "Create a post.\n\nIt is published at once: no draft."
    assert read.parameters["title"] == "The title."
    assert read.parameters["body"] == "The text over two lines: really."
    assert read.parameters["tags"] == "Tags."
    assert "The post." in read.returns


def test_text_without_sections_is_description():
    assert read_docstring("Note: args are fine.").description == "Note: args are fine."
    assert read_docstring(None).description == ""
    assert read_docstring("  ").parameters == {}


@given(st.text("Args:\n -a(b)*.param", max_size=80))
def test_no_text_is_too_odd_to_read(text):
    read = read_docstring(text)

    assert isinstance(read.description, str)
    assert all(isinstance(item, str) for item in read.parameters.values())
