"""An agent through the service alone: explained, run, asked for a person's word, looked at, cancelled."""

from __future__ import annotations

from typing import Any

from tests.agents.agent_cases import World, agent
from tests.server.rest_cases import api, begun, settled, until_asked

from toolpath import Toolpath
from toolpath.testing.scripted_model import ScriptedModel, done

FORM = {"title": "Which tea?", "inputs": [{"name": "tea"}]}


def serving(model: ScriptedModel) -> Toolpath:
    tp = Toolpath(chat=model)
    tp.add(*World().tools())
    return tp


async def test_an_agent_is_explained_run_and_answered_over_rest() -> None:
    model = ScriptedModel([("form_input", FORM), ("web.search", {"query": "tea"})], done("ended"))
    async with api(serving(model)) as client:
        plan: dict[str, Any] = agent(tools=["web.search", "blog.post", "form_input"])
        explained = (await client.post("plans", json={"plan": plan})).json()
        assert "a/blog.post" in str(explained)
        run_id = await begun(client, {"plan": plan})
        (question,) = (await until_asked(client, run_id))["questions"]
        assert question["step"] == "a/round[1]/act[0]"
        answer = await client.post(f"runs/{run_id}/input", json={"step": question["step"], "values": {"tea": "green"}})
        assert answer.status_code == 202, answer.text
        found = await settled(client, run_id)
    assert (found["status"], found["outputs"]) == ("completed", "ended")
    paths = {step["path"]: step["status"] for step in found["results"]}
    assert paths["a/round[1]/act[0]"] == paths["a/round[2]/think"] == "succeeded"


async def test_what_is_wrong_with_an_agent_is_a_problem_with_its_findings() -> None:
    async with api(serving(ScriptedModel())) as client:
        refused = await client.post("runs", json={"plan": agent(tools=["web.serch"])})
        assert refused.status_code == 422
        (finding,) = [one for one in refused.json()["findings"] if one["severity"] == "error"]
        assert (finding["code"], finding["suggestions"]) == ("unknown_tool", ["web.search"])
