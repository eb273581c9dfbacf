"""What a function's result has by default is in its JSON, and its schema says so."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from toolpath import Toolpath


@dataclasses.dataclass
class Line:
    """A line of an order."""

    sku: str
    price: Decimal = Decimal("1.5")


@dataclasses.dataclass
class Order:
    """An order with what is filled in by default."""

    number: str
    lines: list[Line] = dataclasses.field(default_factory=list)
    note: str = "none"


class Account(BaseModel):
    """A model with a default."""

    name: str
    level: int = 3


async def order() -> Order:
    """An order of one line."""
    return Order("o-1", [Line("s-1")])


async def account() -> Account:
    """An account, as an object that lacks its default."""
    return {"name": "Ada"}  # type: ignore[return-value]


async def keep(text: str) -> str:
    """Keep a text."""
    return text


PLAN: dict[str, Any] = {
    "steps": [
        {"id": "o", "tool": "order"},
        {"id": "a", "tool": "account"},
        {"id": "note", "tool": "keep", "inputs": {"text": "{{ o.note }} {{ a.level + 1 }}"}},
        {
            "id": "each",
            "loop": {
                "over": "{{ o.lines }}",
                "as": "line",
                "steps": [{"id": "price", "tool": "keep", "inputs": {"text": "{{ line.price }}"}}],
            },
        },
    ],
    "outputs": {"note": "{{ note }}", "prices": "{{ each }}"},
}


async def test_what_is_filled_in_by_default_is_read_without_a_warning() -> None:
    async with Toolpath() as tp:
        tp.add(order, account, keep)
        assert [finding for finding in tp.check(PLAN) if finding.severity != "information"] == []
        result = await tp.run(PLAN)
        assert result.status == "completed", result.error
        assert result.outputs["note"] == "none 4"
        assert "1.5" in str(result.outputs["prices"])
