"""What the tests of the checker share: a small catalogue, and findings in one line each."""

from __future__ import annotations

import textwrap
from collections.abc import Collection
from typing import Any

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.errors import Finding
from toolpath.model.plan import Cache, Plan, Retry
from toolpath.model.tool import Tool
from toolpath.notation.plan import read_plan

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}


def object_schema(required: str = "", optional: str = "", *, closed: bool = False) -> dict[str, Any]:
    """`name:type` pairs, e.g. `id:string n:integer`, as the schema of an object."""
    kinds = dict(pair.split(":") for pair in f"{required} {optional}".split())
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in kinds.items()},
        "required": [pair.split(":")[0] for pair in required.split()],
    }
    return {**schema, "additionalProperties": False} if closed else schema


def make_tool(key: str, inputs: dict[str, Any], output: dict[str, Any] | None = None, **fields: Any) -> Tool:
    """A tool that only reads and is held to its output schema, unless told otherwise."""
    group, _, name = key.rpartition(".")
    known = {"effect": "read", "output_validation": "strict", **fields}
    return Tool(group=group, name=name, input_schema=inputs, output_schema=output, **known)


def catalog_of(*tools: Tool) -> Catalog:
    """A frozen catalogue of these tools."""
    return Catalog({tool.key: tool for tool in tools})


LIST_OF_ITEMS = {"type": "array", "items": object_schema("id:string", "note:string")}
ITEMS = {
    "type": "object",
    "properties": {"items": LIST_OF_ITEMS, "total": INTEGER},
    "required": ["items", "total"],
}

TOOLS = catalog_of(
    make_tool(
        "blog.createAuthor",
        object_schema("name:string email:string", "bio:string", closed=True),
        object_schema("_id:string name:string age:integer", "bio:string"),
        effect="write",
    ),
    make_tool(
        "blog.createBlog",
        object_schema("authorId:string title:string", "year:integer draft:boolean", closed=True),
        object_schema("_id:string"),
        effect="write",
    ),
    make_tool("web.search", object_schema("query:string", "limit:integer"), ITEMS),
    make_tool("web.loose", object_schema("query:string"), ITEMS, output_validation="warn"),
    make_tool("web.raw", object_schema("query:string")),
    make_tool("text.echo", object_schema("text:string", closed=True), object_schema("text:string", closed=True)),
    make_tool("math.add", object_schema("a:number b:number", closed=True), object_schema("sum:number")),
    make_tool(
        "files.save", object_schema("text:string"), object_schema("path:string"), effect="write", idempotent=True
    ),
    make_tool("files.send", object_schema("text:string"), object_schema("ok:boolean"), effect="write", cost=0.5),
    make_tool("files.wipe", {}, {"type": "object"}, effect="destructive"),
    make_tool("any.thing", {"type": "object"}, None),
    make_tool("one.open", object_schema("x:string"), object_schema("x:string")),
    make_tool("two.open", object_schema("x:string"), object_schema("x:string")),
    make_tool(
        "mail.retried", object_schema("to:string"), {"type": "object"}, effect="write", retry=Retry(max_retries=2)
    ),
    make_tool("mail.kept", object_schema("to:string"), {"type": "object"}, effect="write", cache=Cache()),
)


def plan_of(text: str) -> Plan:
    """The plan of YAML text."""
    return read_plan(textwrap.dedent(text))


def findings_of(
    plan: str | Plan, catalog: Catalog = TOOLS, *, secrets: Collection[str] | None = None
) -> tuple[Finding, ...]:
    """All findings about a plan, or about that of YAML text."""
    return check(plan_of(plan) if isinstance(plan, str) else plan, catalog, secrets=secrets)


def told(plan: str | Plan, catalog: Catalog = TOOLS, *, secrets: Collection[str] | None = None) -> list[str]:
    """All findings as `severity code path`, in their order."""
    return [f"{f.severity} {f.code} {f.path}" for f in findings_of(plan, catalog, secrets=secrets)]
