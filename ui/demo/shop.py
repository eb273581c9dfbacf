"""Tools of a small shop, for the page's demonstration: they look things up, write, fail, wait, and break off."""

from __future__ import annotations

import asyncio
import os
from typing import TypedDict

from toolpath import Tool, tool

ORDERS = {"A-1042": 129.0, "A-1043": 18.5, "A-1044": 64.0, "A-1045": 240.0}


class Order(TypedDict):
    """An order of a customer."""

    id: str
    customer: str
    total: float


class Stock(TypedDict):
    """What is left of an article."""

    article: str
    left: int


class Refund(TypedDict):
    """Money that was paid back."""

    refund: str
    amount: str


class Letter(TypedDict):
    """A letter that was sent."""

    id: str
    to: str


class Report(TypedDict):
    """A report, as Markdown."""

    title: str
    markdown: str


@tool(group="shop", effect="read", capabilities=["orders.read"])
async def find_order(id: str) -> Order:
    """Find an order by its number.

    Args:
        id: Number on the receipt, as A-1042.
    """
    await asyncio.sleep(0.05)
    return {"id": id, "customer": "Ada Lovelace", "total": ORDERS.get(id, 42.0)}


@tool(group="shop", effect="read", capabilities=["stock.read"])
async def stock(article: str) -> Stock:
    """How many of an article are left."""
    await asyncio.sleep(0.01)
    return {"article": article, "left": len(article) * 7 % 23}


@tool(group="shop", effect="write", capabilities=["orders.write"])
async def refund(order: str, amount: float) -> Refund:
    """Pay money back to a customer."""
    await asyncio.sleep(0.1)
    return {"refund": f"R-{order}", "amount": f"{amount:.2f} €"}


@tool(group="shop", effect="destructive", capabilities=["orders.delete"])
async def forget_customer(customer: str) -> dict[str, bool]:
    """Delete all that is known of a customer. It cannot be taken back."""
    await asyncio.sleep(0.1)
    return {"forgotten": bool(customer)}


@tool(group="mail", effect="write", capabilities=["mail.send"])
async def send(to: str, subject: str, text: str) -> Letter:
    """Send a letter by electronic mail."""
    await asyncio.sleep(0.08)
    return {"id": f"<{abs(hash((to, subject, text))) % 10_000}@shop.example>", "to": to}


@tool(group="mail", effect="write", capabilities=["mail.send"])
async def send_and_break(to: str) -> dict[str, str]:
    """Send a letter from a process that breaks off before it knows whether it was sent."""
    os._exit(1)


@tool(group="reports", effect="read")
async def render(rows: list[dict[str, object]], title: str) -> Report:
    """Make a report of rows."""
    await asyncio.sleep(0.2)
    return {"title": title, "markdown": f"# {title}\n\n{len(rows)} rows."}


@tool(group="warehouse", effect="read")
async def count_shelf(shelf: str) -> dict[str, int]:
    """Count what lies on a shelf. The scanner of shelf C is broken."""
    await asyncio.sleep(0.03)
    if shelf == "C":
        raise ConnectionError("The scanner of shelf C does not answer.")
    return {"articles": ord(shelf[0])}


@tool(group="warehouse", effect="read", timeout="1h")
async def wait_for_lorry(gate: int) -> str:
    """Wait until a lorry stands at the gate, which takes a while."""
    await asyncio.sleep(3_600)
    return f"A lorry stands at gate {gate}."


TOOLS: list[Tool] = [
    find_order,
    stock,
    refund,
    forget_customer,
    send,
    send_and_break,
    render,
    count_shelf,
    wait_for_lorry,
]
