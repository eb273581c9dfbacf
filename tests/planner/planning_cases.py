"""Tools and grounds that the tests of planning share."""

from __future__ import annotations

from typing import Any

from toolpath.catalog.snapshot import Catalog
from toolpath.model.tool import Tool, ToolStats
from toolpath.planner.by_model.shortlist import default_rank
from toolpath.planner.records import Ground, PlannerOptions
from toolpath.ports import Chat
from toolpath.testing.clock import FakeClock
from toolpath.values import JsonObject


def schema(*required: str, **properties: Any) -> JsonObject:
    """An object of texts, unless a property says otherwise; names in `required` are needed."""
    known = {name: {"type": "string"} for name in required} | properties
    return {"type": "object", "properties": known, "required": list(required), "additionalProperties": False}


def reading(key: str, *required: str, **fields: Any) -> Tool:
    group, _, name = key.rpartition(".")
    given: JsonObject = {"effect": "read", "input_schema": schema(*required), **fields}
    return Tool(group=group, name=name, **given)


AUTHOR = {"type": "object", "properties": {"_id": {"type": "string"}, "name": {"type": "string"}}, "required": ["_id"]}
CREATE_AUTHOR = Tool(
    group="blog",
    name="createAuthor",
    description="Create an author.",
    input_schema=schema("name", "email"),
    output_schema=AUTHOR,
    capabilities=("author.create",),
    output_validation="strict",
)
CREATE_BLOG = Tool(
    group="blog",
    name="createBlog",
    description="Create a blog post of an author.",
    input_schema=schema("authorId", "title", "content"),
    output_schema={"type": "object", "properties": {"_id": {"type": "string"}}},
    limitations=("Does not publish it.",),
)
SEARCH = reading(
    "web.search",
    "query",
    description="Search the web for information.",
    capabilities=("search.web",),
    output_schema={"type": "array", "items": {"type": "object", "properties": {"url": {"type": "string"}}}},
)
FETCH = reading("web.fetch", "url", description="Fetch a page of the web.")


def catalog_of(*tools: Tool, **stats: ToolStats) -> Catalog:
    return Catalog({tool.key: tool for tool in tools}, {key.replace("__", "."): one for key, one in stats.items()})


BLOG = catalog_of(CREATE_AUTHOR, CREATE_BLOG, SEARCH, FETCH)


def ground(chat: Chat, catalog: Catalog = BLOG, **fields: Any) -> Ground:
    options = fields.pop("options", PlannerOptions())
    return Ground(catalog=catalog, chat=chat, clock=FakeClock(), rank=default_rank, options=options, **fields)


def answer(*steps: JsonObject, **origin: Any) -> JsonObject:
    """A model's answer in our own notation."""
    return {"origin": {"reasoning": "Because.", "confidence": 0.9, **origin}, "steps": list(steps)}


ALICE = {"id": "author", "tool": "blog.createAuthor", "inputs": {"name": "Alice", "email": "alice@test.com"}}
HELLO = {
    "id": "post",
    "tool": "blog.createBlog",
    "inputs": {"authorId": "{{ author._id }}", "title": "Hello", "content": "world"},
}
REQUEST = "Create author Alice with email alice@test.com, then create blog by Alice titled Hello about world"
