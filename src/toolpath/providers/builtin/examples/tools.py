"""Tools of the examples: a blog and a library in the process's own memory. They reach nothing and keep nothing."""

from __future__ import annotations

from typing import Final, TypedDict

import msgspec

from toolpath.errors import ToolFailed
from toolpath.providers.builtin.groups import BuiltinGroup, options_of
from toolpath.providers.functions import tool_from_function
from toolpath.providers.surroundings import Surroundings
from toolpath.values import JsonObject


class Author(TypedDict):
    """Author of posts."""

    id: str
    name: str
    email: str


class Post(TypedDict):
    """Post of a blog."""

    id: str
    by: str
    title: str


class Book(TypedDict):
    """Book of the library."""

    id: str
    title: str
    year: int
    text: str


_BOOKS: Final[dict[str, Book]] = {
    "tea-1": Book(id="tea-1", title="The Book of Tea", year=1906, text="Tea began as a medicine and became a drink."),
    "tea-2": Book(id="tea-2", title="All About Tea", year=1935, text="Two volumes on leaves, cups and trade."),
    "tea-3": Book(id="tea-3", title="The Story of Tea", year=2007, text="Gardens and drinkers, from hill to table."),
    "sea-1": Book(id="sea-1", title="Moby-Dick", year=1851, text="A captain looks for a white whale."),
}


def create_author(name: str, email: str) -> Author:
    """Create an author.

    Args:
        name: Full name.
        email: E-mail address.
    """
    return Author(id=f"author-{len(name)}", name=name, email=email)


def create_post(author: str, title: str, text: str = "") -> Post:
    """Create a post by an author.

    Args:
        author: Id of the author.
        title: Title of the post.
        text: What it says.
    """
    return Post(id=f"post-{len(title) + len(text)}", by=author, title=title)


def search_books(word: str) -> list[str]:
    """Ids of the books of the library whose title has this word."""
    return [book for book, about in _BOOKS.items() if word.lower() in about["title"].lower()]


def read_book(book: str) -> Book:
    """Title, year and first words of a book."""
    if book not in _BOOKS:
        raise ToolFailed(f"There is no book {book[:100]!r}.", hint=f"There are {', '.join(_BOOKS)}.")
    return _BOOKS[book]


def write_report(title: str, books: list[Book]) -> str:
    """Write a report on books, as Markdown."""
    lines = [f"- **{book['title']}** ({book['year']}): {book['text']}" for book in books]
    return "\n".join([f"# {title}", "", *lines])


class ExampleOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The group `examples` has no options."""


def examples_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tools of the examples. Raises `ConfigError`."""
    options_of("examples", given, ExampleOptions)
    reads = (search_books, read_book, write_report)
    made = [tool_from_function(each, group="examples", effect="read") for each in reads]
    made += [tool_from_function(each, group="examples", effect="write") for each in (create_author, create_post)]
    return BuiltinGroup(tuple(made))
