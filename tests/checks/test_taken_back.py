"""A request that takes back that something is to be done does not do it."""

from __future__ import annotations

import contextlib

import pytest

from toolpath import Toolpath, tool
from toolpath.errors import ToolpathError

ACTS = {"cancel order O-77": "cancelling order O-77", "delete contact C-4512": "deleting contact C-4512"}
TAKING_BACK = [
    "Cancel my request to {act}",
    "cancel the plan to {act}",
    "withdraw my order to {act}.",
    "Revoke the instruction to {act}",
    "delete the reminder to {act}",
    "remove the step to {act}",
    "Cancel the job that will {act}",
    "delete the draft asking to {act}",
    "reject any proposal to {act}",
    "cancel {doing}",
    "delete {doing}",
    "undo {doing}",
    "{act} — scratch that",
    "{act}. Strike that.",
    "{act}, no, forget it",
]


async def written(request: str) -> list[str]:
    """What carrying out the request writes."""
    calls: list[str] = []

    @tool(group="crm", effect="destructive")
    async def delete_contact(contact_id: str) -> dict[str, bool]:
        """Delete a contact by its id."""
        calls.append(contact_id)
        return {"ok": True}

    @tool(group="shop", effect="write")
    async def cancel_order(order_id: str) -> dict[str, bool]:
        """Cancel an order."""
        calls.append(order_id)
        return {"ok": True}

    async with Toolpath() as tp:
        tp.add(delete_contact, cancel_order)
        with contextlib.suppress(ToolpathError):
            await tp.run(await tp.plan(request, planner="offline"))
    return calls


@pytest.mark.parametrize("frame", TAKING_BACK)
async def test_what_takes_an_act_back_does_not_make_it(frame: str) -> None:
    for act, doing in ACTS.items():
        assert await written(frame.format(act=act, doing=doing)) == []


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("frame", ["{act}", "Please {act}.", "I want you to {act}"])
async def test_a_plain_command_still_does(act: str, frame: str) -> None:
    assert await written(frame.format(act=act)) == [act.rsplit(maxsplit=1)[-1]]
