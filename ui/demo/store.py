"""A store with runs of every kind, and with all that people keep, for the page's demonstration and its pictures."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
from ui.demo import shop

from toolpath import Settings, Toolpath
from toolpath.model.chat import ChatRequest
from toolpath.testing.scripted_model import ScriptedModel

SHELVES = ["A", "B", "D", "E", "F"]
RETURN: dict[str, Any] = {
    "name": "Handle a return",
    "inputs": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    "steps": [
        {"id": "order", "tool": "shop.find_order", "inputs": {"id": "{{ inputs.order }}"}},
        {"id": "left", "tool": "shop.stock", "inputs": {"article": "{{ inputs.order }}"}},
        {
            "id": "refund",
            "tool": "shop.refund",
            "inputs": {"order": "{{ order.id }}", "amount": "{{ order.total }}"},
            "depends_on": ["left"],
        },
        {
            "id": "tell",
            "tool": "mail.send",
            "inputs": {
                "to": "{{ order.customer }}",
                "subject": "Your return",
                "text": "We paid {{ refund.amount }} back for {{ order.id }}.",
            },
        },
        {
            "id": "report",
            "tool": "reports.render",
            "inputs": {"rows": [{"order": "{{ order.id }}"}], "title": "Return of {{ order.id }}"},
        },
    ],
    "outputs": {"refund": "{{ refund.refund }}", "letter": "{{ tell.id }}"},
}
COUNT: dict[str, Any] = {
    "name": "Count the shelves",
    "steps": [
        {
            "id": "shelves",
            "loop": {
                "over": SHELVES,
                "as": "shelf",
                "concurrency": 3,
                "steps": [{"id": "count", "tool": "warehouse.count_shelf", "inputs": {"shelf": "{{ shelf }}"}}],
            },
        },
        {"id": "report", "tool": "reports.render", "inputs": {"rows": "{{ shelves }}", "title": "Stock"}},
    ],
    "outputs": "{{ report.markdown }}",
}
BROKEN: dict[str, Any] = {
    "name": "Count the broken shelf",
    "steps": [
        {
            "id": "count",
            "tool": "warehouse.count_shelf",
            "inputs": {"shelf": "C"},
            "retry": {"max_retries": 1, "initial_delay": 0.01},
        },
        {
            "id": "report",
            "tool": "reports.render",
            "inputs": {"rows": ["{{ count }}"], "title": "Stock"},
        },
    ],
}
APPROVAL: dict[str, Any] = {
    "name": "Forget a customer",
    "steps": [
        {"id": "order", "tool": "shop.find_order", "inputs": {"id": "A-1045"}},
        {
            "id": "forget",
            "tool": "shop.forget_customer",
            "inputs": {"customer": "{{ order.customer }}"},
            "requires_approval": True,
        },
    ],
}
FORM: dict[str, Any] = {
    "name": "Ask for a delivery date",
    "steps": [
        {
            "id": "date",
            "ask": {
                "title": "When may the sofa come?",
                "description": "The customer waits for an answer today.",
                "inputs": [
                    {"name": "day", "label": "Day", "type": "date"},
                    {"name": "floor", "label": "Floor", "type": "integer"},
                    {"name": "lift", "label": "There is a lift", "type": "checkbox", "required": False},
                ],
            },
        },
        {
            "id": "tell",
            "tool": "mail.send",
            "inputs": {"to": "Grace Hopper", "subject": "Your sofa", "text": "It comes on {{ date.day }}."},
        },
    ],
}
LORRY: dict[str, Any] = {
    "name": "Wait for the lorry",
    "steps": [
        {"id": "before", "tool": "shop.stock", "inputs": {"article": "sofa"}},
        {"id": "lorry", "tool": "warehouse.wait_for_lorry", "inputs": {"gate": 4}, "depends_on": ["before"]},
        {"id": "after", "tool": "shop.stock", "inputs": {"article": "sofa"}, "depends_on": ["lorry"]},
    ],
}
PAUSED: dict[str, Any] = {
    "name": "Write to all customers",
    "steps": [
        {"id": "date", "ask": {"title": "Which day?", "inputs": [{"name": "day", "type": "date"}]}},
        {
            "id": "letters",
            "loop": {
                "over": list(shop.ORDERS),
                "as": "order",
                "steps": [
                    {
                        "id": "letter",
                        "tool": "mail.send",
                        "inputs": {"to": "{{ order }}", "subject": "Sale", "text": "On {{ date.day }}."},
                    }
                ],
            },
        },
    ],
}
DOUBT: dict[str, Any] = {
    "name": "Send the invoice",
    "steps": [{"id": "letter", "tool": "mail.send_and_break", "inputs": {"to": "Alan Turing"}}],
}
AGENT: dict[str, Any] = {
    "name": "Find out why the order is late",
    "steps": [
        {
            "id": "clerk",
            "agent": {
                "requirement": "Find out why order A-1044 is late, and say it in one sentence.",
                "tools": ["shop.find_order", "shop.stock"],
                "max_rounds": 6,
            },
        }
    ],
    "outputs": "{{ clerk }}",
}
NESTED: dict[str, Any] = {
    "name": "Evening round",
    "steps": [
        {
            "id": "both",
            "parallel": [
                {"id": "returns", "tool": "template.evening_return", "inputs": {"order": "A-1043"}},
                {"id": "stock", "tool": "shop.stock", "inputs": {"article": "lamp"}},
            ],
        }
    ],
}
RETURN_TEMPLATE: dict[str, Any] = {
    "name": "Return of an order",
    "steps": [
        {"id": "order", "tool": "shop.find_order", "inputs": {"id": "<<order>>"}},
        {"id": "left", "tool": "shop.stock", "inputs": {"article": "<<order>>"}},
    ],
    "outputs": "{{ order }}",
}
FAULTY: dict[str, Any] = {
    "name": "Pay back twice",
    "steps": [
        {"id": "order", "tool": "shop.find_ordr", "inputs": {"id": "A-1042"}},
        {"id": "refund", "tool": "shop.refund", "inputs": {"order": "{{ ordr.id }}", "amount": "much"}},
        {"id": "tell", "tool": "mail.send", "inputs": {"to": "Ada Lovelace", "subject": "Your return"}},
    ],
}
REQUEST = "Find order A-1042, refund it, and send a letter to ada@example.com about it"
LATE = "Order A-1044 is late because only two of its lamps were left; the rest came in this morning."


def _known(request: ChatRequest) -> Any:
    """What it says in the end: an agent ends by a call, a conversation by a text."""
    ends = any(tool.name == "terminate" for tool in request.tools)
    return [("terminate", {"message": LATE})] if ends else LATE


def model() -> ScriptedModel:
    """A model that always looks twice and then knows."""
    return ScriptedModel(
        [("shop.find_order", {"id": "A-1044"}), ("shop.stock", {"article": "lamp"})],
        [("shop.stock", {"article": "shade"})],
        then=_known,
        tokens=640,
        cost=0.0042,
    )


def demo_toolpath(store: Path) -> Toolpath:
    """A Toolpath over the file, with the shop's tools and a model of the demonstration."""
    tp = Toolpath(str(store), settings=Settings(mcp_commands=True, builtin={"files": {}}), chat=model())
    tp.add(*shop.TOOLS)
    return tp


def empty_toolpath(store: Path) -> Toolpath:
    """A Toolpath over the file as a newcomer has it: the examples' tools, no model."""
    tp = Toolpath(str(store))
    tp.sources.add_source("builtin", {"examples": {}})
    return tp


def leave_in_doubt(store: Path) -> None:
    """Have a process of its own begin a run and break off in the middle of a write."""
    subprocess.run([sys.executable, "-m", "ui.demo.store", str(store)], check=False)


async def _break_off(store: Path) -> None:
    async with demo_toolpath(store) as tp:
        await tp.run(DOUBT)


class Filling:
    """Fills the store of a service through its REST interface, as people and programs do."""

    def __init__(self, tp: Toolpath, client: httpx.AsyncClient) -> None:
        self._tp = tp
        self._client = client

    async def all(self) -> dict[str, str]:
        """Everything; gives ids by what they are of."""
        ids = {"template": await self._template(), "plan": await self._plan()}
        ids["faulty"] = (await self._post("/plans", {"plan": FAULTY}))["plan_id"]
        asked = await self._post("/plans", {"request": REQUEST, "planner": "offline"})
        ids |= {"asked": asked["plan_id"], "request": asked["request_id"]}
        ids["schedule"] = await self._schedules(ids["template"], ids["plan"])
        ids |= await self._runs()
        ids["upload"] = await self._upload()
        ids["conversation"] = await self._conversation()
        await self._configured()
        return ids

    async def _post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = await self._client.post(f"/api/v1{path}", json=body or {})
        answer.raise_for_status()
        return answer.json()

    async def _run(self, body: dict[str, Any], *, ends: bool = True) -> str:
        run: str = (await self._post("/runs", body))["run_id"]
        if ends:
            await self._tp.result(run)
        return run

    async def _template(self) -> str:
        words = {"document": RETURN_TEMPLATE, "title": "evening_return", "group": "template"}
        made: str = (await self._post("/templates", {**words, "description": "What the counter does with a return."}))[
            "template_id"
        ]
        await self._post(f"/templates/{made}/publish", {"channels": ["tool", "http"]})
        return made

    async def _plan(self) -> str:
        made: str = (await self._post("/plans", {"plan": RETURN}))["plan_id"]
        return made

    async def _schedules(self, template: str, plan: str) -> str:
        daily = {"title": "Count every morning", "template_id": template, "inputs": {"order": "A-1042"}}
        made: str = (
            await self._post("/schedules", {**daily, "cron": "30 6 * * MON-FRI", "time_zone": "Europe/Berlin"})
        )["schedule_id"]
        await self._post(f"/schedules/{made}/run")
        returns = {"title": "Weekly returns", "plan_id": plan, "inputs": {"order": "A-1043"}, "paused": True}
        await self._post("/schedules", {**returns, "cron": "0 22 * * SUN", "time_zone": "UTC"})
        return made

    async def _runs(self) -> dict[str, str]:
        ids = {}
        for order in shop.ORDERS:
            ids["earlier"] = ids.get("done", "")
            ids["done"] = await self._run({"plan": RETURN, "inputs": {"order": order}})
        ids["loop"] = await self._run({"plan": COUNT})
        ids["failed"] = await self._run({"plan": BROKEN})
        ids["agent"] = await self._run({"plan": AGENT})
        ids["nested"] = await self._run({"plan": NESTED})
        for name, plan in (("approval", APPROVAL), ("form", FORM), ("paused", PAUSED), ("running", LORRY)):
            ids[name] = await self._run({"plan": plan}, ends=False)
        await self._post(f"/runs/{ids['paused']}/pause")
        stopped = await self._run({"plan": LORRY}, ends=False)
        await self._post(f"/runs/{stopped}/cancel", {"reason": "The lorry was sent elsewhere."})
        return ids

    async def _upload(self) -> str:
        sent = {"files": ("returns.csv", b"order,total\nA-1042,129.00\nA-1043,18.50\n", "text/csv")}
        answer = await self._client.post("/api/v1/files", files=sent)
        answer.raise_for_status()
        made: str = answer.json()["upload_id"]
        return made

    async def _conversation(self) -> str:
        made: str = (await self._post("/conversations", {"title": "The late order"}))["conversation_id"]
        path = f"/api/v1/conversations/{made}/messages"
        async with self._client.stream("POST", path, json={"text": "Why is order A-1044 late?"}) as answer:
            async for _ in answer.aiter_bytes():
                pass
        return made

    async def _configured(self) -> None:
        words = {"name": "house", "model": "gpt-x", "base_url": "https://models.example/v1", "key": "not-a-key"}
        await self._post("/models", {**words, "description": "For plans and agents."})
        server = {"name": "clock", "command": sys.executable, "args": [str(Path(__file__).with_name("clock.py"))]}
        await self._post("/mcp-servers", server)
        away = {"name": "weather", "command": sys.executable, "args": ["-c", "raise SystemExit('no key')"]}
        await self._post("/mcp-servers", away)


async def fill(tp: Toolpath, client: httpx.AsyncClient, store: Path) -> dict[str, str]:
    """Fill the store that this Toolpath, served to the client, has open; gives ids by what they are of."""
    await asyncio.to_thread(leave_in_doubt, store)
    (left,) = await tp.store.list_runs(name=str(DOUBT["name"]))
    await tp.resume(left.run_id)
    return {**await Filling(tp, client).all(), "doubt": left.run_id}


if __name__ == "__main__":
    asyncio.run(_break_off(Path(sys.argv[1])))
