from __future__ import annotations

import time

import pytest

from toolpath.catalog.search import search, words
from toolpath.catalog.snapshot import Catalog
from toolpath.model.tool import Tool

TOOLS = [
    Tool(name="createAuthor", group="blog", description="Create an author with a name and an email."),
    Tool(name="deleteAuthor", group="blog", description="Delete an author."),
    Tool(name="search", group="web", description="Search the web for pages.", capabilities=("web_search.search",)),
    Tool(name="list_events", group="calendar", description="Events of a day.", capabilities=("calendar.free_time",)),
    Tool(name="convert", group="units", description="Kilometres to miles and back."),
]
CATALOG = Catalog({tool.key: tool for tool in TOOLS})


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("a new author with a name", "blog.createAuthor"),
        ("delete authors", "blog.deleteAuthor"),
        ("serch the web", "web.search"),
        ("when am I free today? calendar", "calendar.list_events"),
        ("how many miles", "units.convert"),
        ("CREATE AUTHOR", "blog.createAuthor"),
    ],
)
def test_the_best_tool_comes_first(text: str, best: str) -> None:
    assert search(CATALOG, text)[0].tool.key == best


@pytest.mark.parametrize("text", ["", "the of and", "xylophone", "🙂" * 50])
def test_a_text_that_fits_nothing_finds_nothing(text: str) -> None:
    assert search(CATALOG, text) == []


def test_no_tools_no_hits() -> None:
    assert search(Catalog({}), "author") == []


def test_the_limit_holds_and_equal_scores_come_in_order_of_keys() -> None:
    twins = Catalog({f"g.t{number}": Tool(name=f"t{number}", group="g", description="twin") for number in (3, 1, 2)})
    assert [hit.tool.key for hit in search(twins, "twin", limit=2)] == ["g.t1", "g.t2"]


def test_names_are_split_into_words() -> None:
    assert words("createHTTPAuthors_by-Name2 stories") == ["create", "http", "author", "name", "2", "story"]


def test_a_huge_text_over_many_tools_is_searched_in_no_time() -> None:
    many = Catalog({f"g.tool{n}": Tool(name=f"tool{n}", group="g", description=f"does thing {n}") for n in range(1000)})
    began = time.process_time()
    search(many, "unheard of words " * 100_000)
    assert time.process_time() - began < 2
