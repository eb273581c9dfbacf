"""Uploads and the folders of runs over a real server: streams, limits, names, tenants, retention."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.patience import PATIENCE
from tests.server.rest_cases import Gate, api, settled, tools
from tests.server.serving_cases import assert_problem, serving

from toolpath import Settings, ToolContext, Toolpath
from toolpath.access.caller import OPEN, Caller
from toolpath.errors import FileRefused, PlanInvalid, RecordNotFound, RunConflict, SchemaError, StoreError
from toolpath.model.upload import UploadedFile
from toolpath.server.asgi import create_app

SMALL = Settings(upload_bytes=1_000, upload_count=3, run_files_bytes=5_000)
ADD = {"name": "sum", "steps": [{"id": "s", "tool": "add", "inputs": {"a": 1, "b": 2}}]}


def two(*files: tuple[str, bytes]) -> list[tuple[str, tuple[str, bytes, str]]]:
    return [("files", (name, content, "text/plain")) for name, content in files]


async def uploaded(client: httpx.AsyncClient, *files: tuple[str, bytes]) -> dict[str, Any]:
    answer = await client.post("files", files=two(*files))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_an_upload_is_in_the_folder_of_the_run_from_its_first_moment() -> None:
    async def names(context: ToolContext) -> list[str]:
        return list(context.metadata["uploaded_files"])

    tp = tools(Toolpath(settings=SMALL))
    tp.add(names)
    async with api(tp) as client:
        upload = await uploaded(client, ("a report.txt", b"one"), ("../../a report.txt", b"two"))
        kept = [file["name"] for file in upload["files"]]
        assert kept == ["a report.txt", "a report (2).txt"]
        body = {"tool": "names", "uploads": [upload["upload_id"]]}
        run_id = (await client.post("runs", json=body)).json()["run_id"]
        assert (await settled(client, run_id))["outputs"] == kept
        tree = (await client.get(f"runs/{run_id}/files")).json()["tree"]
        assert [child["path"] for child in tree["children"]] == sorted(kept)
        found = await client.get(f"runs/{run_id}/files/a report (2).txt")
        assert (found.content, found.headers["content-length"]) == (b"two", "3")
        assert found.headers["content-disposition"].startswith("attachment;")
        assert found.headers["x-content-type-options"] == "nosniff"
        await client.delete(f"files/{upload['upload_id']}")
        assert_problem(await client.get(f"files/{upload['upload_id']}"), 404, "unknown_record")
        assert (await client.get(f"runs/{run_id}/files/a report.txt")).content == b"one"


async def test_limits_by_size_count_and_kind_leave_nothing_behind(tmp_path: Path) -> None:
    tp = tools(Toolpath(tmp_path / "runs.db", settings=SMALL))
    async with api(tp) as client:
        for files in (
            [("large", b"x" * 1_001)],
            [(f"f{n}", b"x") for n in range(4)],
            [("ok.txt", b"x"), ("setup.EXE", b"MZ")],
            [("....", b"x")],
        ):
            assert_problem(await client.post("files", files=two(*files)), 422, "file_refused")
        assert_problem(await client.post("files", files={"note": (None, "x")}), 422, "invalid_request")
        assert_problem(await client.post("files", json={}), 415, "unsupported_media_type")
        assert (await client.get("files")).json() == {"uploads": [], "next": None}
    assert not [path for path in (tmp_path / "runs.db.files").rglob("*") if path.is_file()]


@pytest.mark.parametrize("cut", [60, 150, 400])
async def test_a_client_that_goes_away_leaves_no_half_file(tmp_path: Path, cut: int) -> None:
    tp = tools(Toolpath(tmp_path / "runs.db", settings=SMALL))
    async with api(tp) as client:
        body = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n' + b"x" * 900
        head = f"POST /api/v1/files HTTP/1.1\r\nHost: {client.base_url.host}\r\nContent-Length: 5000\r\n"
        head += "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
        _, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        writer.write(head.encode() + body[:cut])
        await writer.drain()
        writer.close()
        async with asyncio.timeout(PATIENCE):
            while (await client.get("files")).json()["uploads"]:
                await client.get("/health")
    assert not [path for path in (tmp_path / "runs.db.files").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "body",
    [b"", b"x", b"--b", b"--b\r\n\r\n", b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--", b"--b--\r\n"],
)
async def test_a_body_that_is_no_form_is_told_so(body: bytes) -> None:
    async with api(tools(Toolpath(settings=SMALL))) as client:
        answer = await client.post("files", content=body, headers={"content-type": "multipart/form-data; boundary=b"})
        assert answer.status_code in (400, 422)
        assert (await client.get("files")).json()["uploads"] == []


@pytest.mark.parametrize("boundary", ["a" * 257, "a" * 5_000, '"a', "é"])
async def test_a_boundary_that_is_none_is_told_so(boundary: str) -> None:
    async with api(tools(Toolpath(settings=SMALL))) as client:
        heads = [("content-type", f"multipart/form-data; boundary={boundary}".encode())]
        answer = await client.post("files", content=b"x", headers=heads)
        assert_problem(answer, 400, "unreadable")


@pytest.mark.parametrize("charset", ["idna", "undefined", "hex", "none", "utf-7"])
async def test_a_file_s_name_in_a_charset_that_is_none_is_taken_as_it_stands(charset: str) -> None:
    part = f"--b\r\nContent-Disposition: form-data; name=\"files\"; filename*={charset}''a.txt\r\n\r\nx\r\n--b--\r\n"
    async with api(tools(Toolpath(settings=SMALL))) as client:
        heads = {"content-type": "multipart/form-data; boundary=b"}
        answer = await client.post("files", content=part.encode(), headers=heads)
        assert answer.status_code == 201, answer.text
        assert [file["name"] for file in answer.json()["files"]] == ["a.txt"]


async def test_files_are_put_into_a_run_that_goes_on_and_not_into_one_that_has_ended() -> None:
    gate = Gate()
    tp = tools(Toolpath(settings=SMALL))
    tp.add(gate.hold)
    async with api(tp) as client:
        run_id = (await client.post("runs", json={"tool": "hold"})).json()["run_id"]
        await gate.entered.wait()
        put = await client.put(f"runs/{run_id}/files/in/here.txt", content=b"x" * 500)
        assert (put.status_code, put.json()["path"]) == (201, "in/here.txt")
        assert_problem(await client.put(f"runs/{run_id}/files/big", content=b"x" * 4_900), 422, "file_refused")
        for path in ("..%2f..%2fx", "%2fetc%2fpasswd", "a%00b", "con", "in%5cx"):
            answer = await client.put(f"runs/{run_id}/files/{path}", content=b"x")
            assert answer.status_code in (404, 422), path
        assert (await client.delete(f"runs/{run_id}/files/in")).status_code == 204
        assert_problem(await client.get(f"runs/{run_id}/files/in/here.txt"), 404, "unknown_record")
        gate.open.set()
        await settled(client, run_id)
        assert_problem(await client.put(f"runs/{run_id}/files/late", content=b"x"), 409, "run_conflict")


async def test_another_tenant_sees_none_of_it() -> None:
    tp = tools(Toolpath(settings=SMALL))
    mine, theirs = (Caller(tenant=name, user=name, scopes=OPEN.scopes, permissions=OPEN.permissions) for name in "ab")
    async with tp, serving(create_app(tp, is_open=True, caller=mine)) as client:
        client.base_url = client.base_url.join("/api/v1/")
        upload = await uploaded(client, ("a", b"x"))
        body = {"tool": "add", "inputs": {"a": 1, "b": 2}, "uploads": [upload["upload_id"]]}
        run_id = (await client.post("runs", json=body)).json()["run_id"]
        async with serving(create_app(tp, is_open=True, caller=theirs)) as other:
            other.base_url = other.base_url.join("/api/v1/")
            assert (await other.get("files")).json()["uploads"] == []
            for path in (f"files/{upload['upload_id']}", f"files/{upload['upload_id']}/a", f"runs/{run_id}/files/a"):
                assert (await other.get(path)).status_code == 404, path
            assert (await other.delete(f"files/{upload['upload_id']}")).status_code == 404
            assert_problem(await other.post("runs", json=body), 404, "unknown_record")


async def test_files_go_with_their_run_and_old_uploads_by_themselves(tmp_path: Path) -> None:
    tp = tools(Toolpath(tmp_path / "runs.db", settings=SMALL))
    async with api(tp) as client:
        upload = await uploaded(client, ("a", b"x"))
        body = {"tool": "add", "inputs": {"a": 1, "b": 2}, "uploads": [upload["upload_id"]]}
        run_id = (await client.post("runs", json=body)).json()["run_id"]
        await settled(client, run_id)
        folder = tmp_path / "runs.db.files"
        assert (folder / "runs" / run_id / "a").is_file()
        await tp.prune(-10)
        assert not (folder / "runs" / run_id).exists()
        tp.trail.clock = _Later(tp.clock)  # type: ignore[assignment]
        assert await tp.files.sweep() == 1
        assert not any((folder / "uploads").iterdir())


class _Later:
    def __init__(self, clock: Any) -> None:
        self._clock = clock

    def time(self) -> float:
        return float(self._clock.time()) + 8 * 86_400


async def test_the_routes_of_the_plan_service() -> None:
    tp = tools(Toolpath(settings=SMALL))
    async with serving(create_app(tp)) as client:
        answer = await client.post("/api/file-upload/upload", files=two(("a.txt", b"abc"), ("b.exe", b"x")))
        told = answer.json()
        assert (told["totalFiles"], told["successfulFiles"], told["failedFiles"]) == (2, 1, 1)
        assert [file["success"] for file in told["uploadedFiles"]] == [True, False]
        key = told["uploadKey"]
        assert [file["name"] for file in (await client.get(f"/api/file-upload/files/{key}")).json()["files"]] == [
            "a.txt"
        ]
        assert "exe" in (await client.get("/api/file-upload/config")).json()["blockedExtensions"]
        plan = tp.read({"name": "sum", "steps": [{"id": "s", "tool": "add", "inputs": {"a": 1, "b": 2}}]})
        run = await tp.files.start(plan, uploads=[key])
        await run.result()
        tree = (await client.get(f"/api/file-browser/tree/{run.run_id}")).json()["data"]
        assert [child["name"] for child in tree["children"]] == ["a.txt"]
        shown = await client.get(f"/api/file-browser/content/{run.run_id}", params={"path": "a.txt"})
        assert shown.json()["data"]["content"] == "abc"
        got = await client.get(f"/api/file-browser/download/{run.run_id}", params={"path": "a.txt"})
        assert got.content == b"abc"
        for path in ("../a.txt", "/etc/passwd"):
            for what in ("content", "download"):
                found = await client.get(f"/api/file-browser/{what}/{run.run_id}", params={"path": path})
                assert (found.status_code, found.json()["errorCode"]) == (400, "INTERNAL_ERROR")
        assert (await client.delete(f"/api/file-upload/files/{key}/a.txt")).json()["success"]
        assert (await client.delete(f"/api/file-upload/files/{key}/a.txt")).status_code == 404


async def test_files_of_an_upload_are_joined_to_a_template_s_run() -> None:
    def names(context: ToolContext) -> list[str]:
        return list(context.metadata.get("uploaded_files", []))

    tp = Toolpath(settings=SMALL)
    tp.add(names, effect="read")
    document = {
        "title": "Named",
        "plan": {"steps": [{"id": "n", "tool": "names"}], "outputs": "{{ n }}"},
        "toolConfig": {"enableHttpService": True},
    }
    async with serving(create_app(tp)) as client:
        kept = await client.post("/api/plan-template/import-all", json=[document])
        assert kept.json()["successCount"] == 1, kept.text
        brought = two(("a.txt", b"one"), ("../b c.txt", b"two"))
        key = (await client.post("/api/file-upload/upload", files=brought)).json()["uploadKey"]
        stored = [file["name"] for file in (await client.get(f"/api/file-upload/files/{key}")).json()["files"]]

        async def ran(**body: Any) -> Any:
            answer = await client.post(
                "/api/executor/executeByToolNameSync", json={"toolName": "Named", "uploadKey": key, **body}
            )
            assert answer.status_code == 200, answer.text
            run_id = answer.json()["planId"]
            tree = (await client.get(f"/api/file-browser/tree/{run_id}")).json()["data"]
            told = json.loads(answer.json()["result"])
            assert sorted(child["name"] for child in tree["children"]) == sorted(told)
            return told

        assert await ran() == stored
        assert await ran(uploadedFiles=[]) == stored
        assert await ran(uploadedFiles=["a.txt"]) == ["a.txt"]
        # Also as the answer of an upload tells it: a record, under the name that it was brought with.
        assert await ran(uploadedFiles=[{"originalName": "a.txt", "size": 3}, stored[1]]) == stored
        assert await ran(uploadedFiles=["a.txt", "a.txt"]) == ["a.txt"]
        refused: list[tuple[dict[str, Any], int]] = [
            ({"uploadKey": key, "uploadedFiles": ["other.txt"]}, 404),
            ({"uploadKey": key, "uploadedFiles": ["../a.txt"]}, 404),
            ({"uploadKey": key, "uploadedFiles": [3]}, 400),
            ({"uploadKey": key, "uploadedFiles": [""]}, 400),
            ({"uploadedFiles": ["a.txt"]}, 400),
            ({"uploadKey": "upload_none"}, 404),
        ]
        before = len(await tp.runs())
        for body, status in refused:
            answer = await client.post("/api/executor/executeByToolNameAsync", json={"toolName": "Named", **body})
            assert answer.status_code == status, (body, answer.text)
        assert len(await tp.runs()) == before


@pytest.mark.parametrize("how", [StoreError("The connection was lost."), asyncio.CancelledError()])
async def test_a_run_that_was_stored_keeps_its_uploads_whatever_came_after(
    how: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tools(Toolpath(settings=SMALL)) as tp:
        upload = await tp.files.create()
        await tp.files.upload(upload, "a.txt", b"mine")
        begin = tp.store.begin_run

        async def breaks_off(*args: Any, **more: Any) -> Any:
            await begin(*args, **more)
            raise how

        monkeypatch.setattr(tp.store, "begin_run", breaks_off)
        with pytest.raises(type(how)):
            await tp.files.start(ADD, uploads=[upload.upload_id], run_id="mine")
        assert (await tp.info("mine")).run_id == "mine"
        assert await tp.files.read("mine", "a.txt") == b"mine"


async def test_a_second_start_under_the_same_id_leaves_the_files_of_the_first_alone() -> None:
    async with tools(Toolpath(settings=SMALL)) as tp:
        uploads = [await tp.files.create(), await tp.files.create()]
        for upload, content in zip(uploads, (b"first", b"second"), strict=True):
            await tp.files.upload(upload, "a.txt", content)
        first, second = ([upload.upload_id] for upload in uploads)
        run = await tp.files.start(ADD, uploads=first, run_id="mine", idempotency_key="k")
        with pytest.raises(RunConflict):
            await tp.files.start(ADD, uploads=second, run_id="mine")
        again = await tp.files.start(ADD, uploads=second, run_id="mine", idempotency_key="k")
        assert (again.run_id, await tp.files.read("mine", "a.txt")) == (run.run_id, b"first")
        came = await asyncio.gather(
            tp.files.start(ADD, uploads=first, run_id="both"),
            tp.files.start(ADD, uploads=second, run_id="both"),
            return_exceptions=True,
        )
        (won,) = [number for number, each in enumerate(came) if not isinstance(each, BaseException)]
        assert isinstance(came[1 - won], RunConflict)
        assert await tp.files.read("both", "a.txt") == (b"first", b"second")[won]


async def test_a_start_that_is_refused_leaves_no_files(tmp_path: Path) -> None:
    async with tools(Toolpath(tmp_path / "runs.db", settings=SMALL)) as tp:
        upload = await tp.files.create()
        await tp.files.upload(upload, "a.txt", b"mine")
        with pytest.raises(PlanInvalid):
            await tp.files.start({"name": "p", "steps": [{"id": "s", "tool": "gone"}]}, uploads=[upload.upload_id])
        with pytest.raises(RecordNotFound):
            await tp.files.start(ADD, uploads=[upload.upload_id, "upload_gone"])
        assert not [path for path in (tmp_path / "runs.db.files" / "runs").rglob("*") if path.is_file()]


async def test_uploads_at_once_have_names_of_their_own_and_are_no_more_than_allowed() -> None:
    async with tools(Toolpath(settings=SMALL)) as tp:
        upload = await tp.files.create()
        everybody = asyncio.Barrier(8)

        async def together(content: bytes) -> AsyncIterator[bytes]:
            await everybody.wait()
            yield content

        names = ("a.txt", "A.txt", "a.txt", "b.txt", "a.txt", "a.txt", "B.txt", "a.txt")
        came = await asyncio.gather(
            *(tp.files.upload(upload, name, together(b"%d" % number)) for number, name in enumerate(names)),
            return_exceptions=True,
        )
        kept = {number: each.name for number, each in enumerate(came) if isinstance(each, UploadedFile)}
        refused = [each for each in came if isinstance(each, BaseException)]
        assert len(kept) == SMALL.upload_count
        assert all(isinstance(each, FileRefused) for each in refused), refused
        assert len({name.casefold() for name in kept.values()}) == len(kept)
        known = await tp.files.get(upload.upload_id)
        assert sorted(file.name for file in known.files) == sorted(kept.values())
        for number, name in kept.items():
            assert [piece async for piece in tp.files.uploaded(known, name)] == [b"%d" % number]


async def test_a_file_for_an_upload_that_is_deleted_meanwhile_is_not_left_behind(tmp_path: Path) -> None:
    async with tools(Toolpath(tmp_path / "runs.db", settings=SMALL)) as tp:
        upload = await tp.files.create()

        async def deleting() -> AsyncIterator[bytes]:
            yield b"x"
            await tp.files.delete(upload)

        with pytest.raises((FileRefused, RecordNotFound)):
            await tp.files.upload(upload, "a.txt", deleting())
        assert not [path for path in (tmp_path / "runs.db.files").rglob("*") if path.is_file()]


async def test_an_upload_is_joined_once_and_no_run_begins_with_very_many() -> None:
    async with tools(Toolpath(settings=SMALL)) as tp:
        upload = await tp.files.create()
        await tp.files.upload(upload, "a.txt", b"mine")
        run = await tp.files.start(ADD, uploads=[upload.upload_id] * 10_000)
        assert [entry.name for entry in (await tp.files.tree(run.run_id)).children] == ["a.txt"]
        with pytest.raises(SchemaError, match="at most 100"):
            await tp.files.start(ADD, uploads=[f"upload_{number}" for number in range(101)])
