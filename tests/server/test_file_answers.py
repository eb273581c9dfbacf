"""Fields of files: an upload is answered and the run has the file; what is none, is another's or is gone is refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.rest_cases import OPEN, api, begun, settled, tools, until_asked
from tests.server.serving_cases import assert_problem

from toolpath import Toolpath
from toolpath.access.caller import Caller
from toolpath.errors import SchemaError
from toolpath.model.run import RunContext
from toolpath.values import Json, JsonObject

PLAN: JsonObject = {
    "name": "bring",
    "steps": [
        {
            "id": "bring",
            "ask": {
                "title": "Which?",
                "inputs": [
                    {"name": "doc", "label": "Document", "type": "file", "accept": [".CSV"], "max_bytes": 20},
                    {"name": "more", "type": "file", "required": False},
                ],
            },
        },
    ],
    "outputs": "{{ bring }}",
}
TEA = b"kind,price\n"


async def asked(tp: Toolpath) -> str:
    context = RunContext("ann", tenant="acme")
    run = await tp.run(PLAN, context=context)
    assert run.status == "waiting", run.error
    return run.run_id


async def brought(tp: Toolpath, *names: str, tenant: str = "acme", content: bytes = TEA) -> str:
    upload = await tp.files.create(tenant=tenant)
    for name in names:
        await tp.files.upload(upload, name, content, media_type="text/csv")
    return upload.upload_id


async def test_the_run_has_the_file_whatever_becomes_of_the_upload() -> None:
    async with Toolpath() as tp:
        run_id = await asked(tp)
        await tp.files.put(run_id, "tea.csv", b"older")
        upload = await brought(tp, "tea.csv", "cup.csv")
        answers: JsonObject = {"Document": {"upload_id": upload, "name": "tea.csv"}, "more": f"{upload}/cup.csv"}
        run = await tp.answer(run_id, "bring", answers)
        await tp.files.delete(await tp.files.get(upload))
        done = await run.result()
        assert done.success, done.error
        doc, more = done.outputs["doc"], done.outputs["more"]
        # Nothing of the run is overwritten.
        assert (doc["name"], doc["size"], doc["type"], more["path"]) == ("tea.csv", len(TEA), "text/csv", "cup.csv")
        assert doc["path"] != "tea.csv"
        assert await tp.files.read(run_id, doc["path"]) == TEA
        assert await tp.files.read(run_id, "tea.csv") == b"older"


@pytest.mark.parametrize(
    ("doc", "said"),
    [
        ("../../etc/passwd", "no upload"),
        ("/etc/passwd", "no upload"),
        ("tea.csv", "no upload"),
        ("MINE/../tea.csv", "no file"),
        ("MINE/../../OTHER/tea.csv", "no file"),
        ("OTHER/tea.csv", "no upload"),
        ("GONE/tea.csv", "no upload"),
        ("MINE/cup.csv", "no file"),
        ("MINE", "several files"),
        ("MINE/tea.txt", "no file of these"),
        ("LARGE", "20 are the most"),
        ({"upload_id": "MINE"}, "several files"),
        ({"upload_id": "MINE", "name": 7}, "expected a file"),
        ({"upload_id": "", "name": "tea.csv"}, "no upload"),
        ({"path": "/etc/passwd"}, "expected a file"),
        ({"path": "secret.csv", "name": "secret.csv", "size": 1, "type": ""}, "upload is answered"),
        (["MINE/tea.csv"], "expected a file"),
        (7, "expected a file"),
        ("x" * 100_000, "no upload"),
        ("", "required"),
    ],
)
async def test_what_is_no_file_of_an_upload_of_the_tenant_is_refused(doc: Json, said: str) -> None:
    async with Toolpath() as tp:
        run_id = await asked(tp)
        ids = {
            "MINE": await brought(tp, "tea.csv", "tea.txt"),
            "OTHER": await brought(tp, "tea.csv", tenant="other"),
            "GONE": await brought(tp, "tea.csv"),
            "LARGE": await brought(tp, "tea.csv", content=b"x" * 21),
        }
        await tp.files.delete(await tp.files.get(ids["GONE"]))

        def meant(value: Any) -> Any:
            for word, upload_id in ids.items():
                value = value.replace(word, upload_id) if isinstance(value, str) else value
            return value

        given = {name: meant(one) for name, one in doc.items()} if isinstance(doc, dict) else meant(doc)
        with pytest.raises(SchemaError, match=said):
            await tp.answer(run_id, "bring", {"doc": given})
        assert (await tp.files.tree(run_id)).children == ()
        # The form is open still.
        run = await tp.answer(run_id, "bring", {"doc": f"{ids['MINE']}/tea.csv"})
        assert (await run.result()).success


async def test_a_file_that_goes_while_it_is_copied_leaves_nothing_behind() -> None:
    async with Toolpath() as tp:
        run_id = await asked(tp)
        first, second = await brought(tp, "tea.csv"), await brought(tp, "cup.csv")
        # Its record is there, its bytes are not.
        await tp.files._folders.remove("uploads", second)
        with pytest.raises(SchemaError, match="more: There is no file"):
            await tp.answer(run_id, "bring", {"doc": first, "more": second})
        assert (await tp.files.tree(run_id)).children == ()
        assert len((await tp.info(run_id)).questions) == 1


async def test_over_rest_who_may_answer_uploads_it_and_answers() -> None:
    tp = tools(Toolpath())
    answering = Caller(user=OPEN.user, scopes=frozenset(("read", "answer")), permissions=OPEN.permissions)
    async with api(tp) as anybody, api(tp, caller=answering) as client:
        run_id = await begun(anybody, {"plan": PLAN})
        shown = (await until_asked(client, run_id))["questions"][0]["form"]["inputs"][0]
        assert (shown["type"], shown["accept"]) == ("file", [".CSV"])
        refused = await client.post(f"runs/{run_id}/input", json={"values": {"doc": "upload_0_none"}})
        assert [one["path"] for one in assert_problem(refused, 422, "schema")["findings"]] == ["/doc"]
        kept = (await client.post("files", files={"files": ("tea.csv", TEA)})).json()
        values = {"doc": {"upload_id": kept["upload_id"], "name": "tea.csv"}}
        answer = await client.post(f"runs/{run_id}/input", json={"values": values})
        assert answer.status_code == 202, answer.text
        done = await settled(client, run_id)
        assert done["outputs"]["doc"]["path"] == "tea.csv"
        assert (await client.get(f"runs/{run_id}/files/tea.csv")).content == TEA
