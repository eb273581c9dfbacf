"""Generated requests for steps that read one another, with gold plans by construction: the blog, and a shop."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.planner.scoring.gold import GoldStep, Task, ToolData, catalog_of
from toolpath.providers.functions import tool_from_function

_BLOG = Path(__file__).parents[1] / "examples/blog/blog_tools.py"
SEED, EACH = 7, 150

NAMES = ("Alice", "Bob", "Carla", "Deniz", "Emma Stone", "Farid", "Greta", "Hugo Lang", "Ines", "Jonas")
TITLES = ("Hello", "My first day", "Bread and butter", "Walking in Norway", "On silence", "Seven lakes", "Why I run")
TEXTS = ("world", "It rained all day", "Nobody expected this", "A short note", "Salt, flour and water", "See you soon")
GOODS = ("lamp", "desk", "green chair", "bookshelf", "kettle", "carpet")
JOINS = (", then ", ". Then ", " and then ", ", and ", "; after that, ", ". After that ", ". Also ")


def _schema(*required: str, **optional: str) -> dict[str, Any]:
    types = dict.fromkeys(required, "string") | optional
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in types.items()},
        "required": list(required),
    }


def _gives(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}}


SHOP = tuple(
    ToolData(name, description, parameters, gives)
    for name, description, parameters, gives in (
        ("createCustomer", "Create a customer.", _schema("name", "email"), _gives("id", "name", "email")),
        ("getCustomer", "Get a customer by its id.", _schema("customerId"), _gives("id", "name", "email")),
        ("createOrder", "Create an order of a customer.", _schema("customerId", "product"), _gives("id", "customerId")),
        ("cancelOrder", "Cancel an order.", _schema("orderId"), _gives("id")),
        ("listOrders", "List all orders of a customer.", _schema("customerId"), _gives("ids")),
        ("addNote", "Add a note to an order.", _schema("orderId", "text"), _gives("id")),
        ("sendInvoice", "Send the invoice of an order.", _schema("orderId"), _gives("invoiceId")),
    )
)


class Step(msgspec.Struct, frozen=True):
    """A step of a request: how it may be said, and the call that is meant."""

    tool: str
    said: tuple[str, ...]
    inputs: dict[str, str]
    also_right: dict[str, str] = {}
    """What means the same, as the author of the post that was just made."""


AUTHOR = Step(
    "createAuthor",
    (
        "create author {name} with email {email}",
        "add an author called {name} ({email})",
        "create an author named {name}, email {email}",
        "register the author {name} whose email is {email}",
        "make a new author {name} with the address {email}",
    ),
    {"name": "{name}", "email": "{email}"},
)
POST = Step(
    "createBlog",
    (
        "create a blog by {name} titled '{title}' with content '{text}'",
        "create blog by {name} titled {title} about {text}",
        "write a blog of that author titled '{title}' with the content '{text}'",
        "add a blog post titled '{title}' saying '{text}' by {name}",
        "publish a post by {name} called '{title}' with content '{text}'",
    ),
    {"title": "{title}", "content": "{text}", "authorId": "{{{{createAuthor._id}}}}"},
)
COMMENT = Step(
    "createComment",
    (
        "comment on it saying '{more}'",
        "add a comment on that blog saying '{more}'",
        "create a comment by {name} on the blog with content '{more}'",
        "leave the comment '{more}' on the post",
    ),
    {"blogId": "{{{{createBlog._id}}}}", "authorId": "{{{{createAuthor._id}}}}", "content": "{more}"},
    {"authorId": "{{{{createBlog.authorId}}}}"},
)
CUSTOMER = Step(
    "createCustomer",
    (
        "create customer {name} with email {email}",
        "add the customer {name} ({email})",
        "register {name} as a customer with email {email}",
    ),
    {"name": "{name}", "email": "{email}"},
)
ORDER = Step(
    "createOrder",
    (
        "create an order of the product '{good}' for {name}",
        "create an order by {name} for the product {good}",
        "order a '{good}' for that customer",
        "make an order of this customer for a {good}",
    ),
    {"customerId": "{{{{createCustomer.id}}}}", "product": "{good}"},
)
NOTE = Step(
    "addNote",
    ("add a note to that order saying '{more}'", "add the note '{more}' to the order", "note on it that '{more}'"),
    {"orderId": "{{{{createOrder.id}}}}", "text": "{more}"},
)
INVOICE = Step(
    "sendInvoice",
    ("send the invoice of that order", "send its invoice", "finally send the invoice"),
    {"orderId": "{{{{createOrder.id}}}}"},
)
#: What is asked for, by family.
PLANS = {
    "blog": ((AUTHOR, POST), (AUTHOR, POST, COMMENT)),
    "shop": ((CUSTOMER, ORDER), (CUSTOMER, ORDER, NOTE), (CUSTOMER, ORDER, INVOICE)),
}


def blog_catalog() -> Catalog:
    """The tools of the example as it is shipped."""
    spec = importlib.util.spec_from_file_location("benchmarked_blog_tools", _BLOG)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return Catalog({tool.key: tool for tool in map(tool_from_function, module.TOOLS)})


def linked_tasks() -> Iterator[tuple[str, Task, Catalog]]:
    """Family, request with its gold plan, and the tools on offer; the same at each call."""
    chance = random.Random(SEED)
    catalogs = {"blog": blog_catalog(), "shop": catalog_of(SHOP)}
    for family, catalog in catalogs.items():
        for number in range(EACH):
            yield family, _task(f"{family}_{number}", chance.choice(PLANS[family]), chance), catalog


def _task(name: str, steps: tuple[Step, ...], chance: random.Random) -> Task:
    who = chance.choice(NAMES)
    more, text = chance.sample(TEXTS, 2)
    words = {
        "name": who,
        "email": f"{who.split()[0].lower()}@{chance.choice(('test.com', 'example.org', 'mail.net'))}",
        "title": chance.choice(TITLES),
        "good": chance.choice(GOODS),
        "text": text,
        "more": more,
    }
    parts = [chance.choice(step.said).format(**words) for step in steps]
    request = parts[0][:1].upper() + parts[0][1:]
    for part in parts[1:]:
        join = chance.choice(JOINS)
        request += join + part
    gold = tuple(
        GoldStep(
            step=step.tool,
            tool=step.tool,
            arguments={key: value.format(**words) for key, value in step.inputs.items()},
            depends_on=tuple(dict.fromkeys(one.tool for one in steps if f"{{{one.tool}." in str(step.inputs))),
        )
        for step in steps
    )
    accepted = tuple(
        {
            key: [value, *(step.also_right[key].format() for _ in range(key in step.also_right))]
            for key, value in call.arguments.items()
        }
        for step, call in zip(steps, gold, strict=True)
    )
    return Task(query=f"{request}.", gold_plan=gold, id=name, accepted_values=accepted)
