"""Two tools: ordinary functions. Types and docstrings become their schemas."""

from typing import TypedDict

from toolpath import tool


class Author(TypedDict):
    id: str
    name: str


class Post(TypedDict):
    id: str
    by: str


@tool(group="blog", effect="write")
def create_author(name: str, email: str) -> Author:
    """Create an author."""
    return Author(id="author-1", name=name)


@tool(group="blog", effect="write")
async def create_post(author: str, title: str, text: str) -> Post:
    """Create a post by an author."""
    return Post(id="post-1", by=author)
