"""Files and secrets of runs on PostgreSQL: shared by processes, and refused where there is no place for them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.store.store_cases import dropped, postgres_url

from toolpath import Settings, Toolpath, tool
from toolpath.access.sealing import KEY_VARIABLE, new_key
from toolpath.errors import ConfigError
from toolpath.model.events import encode_event

pytestmark = pytest.mark.postgres

PLAN: dict[str, Any] = {
    "name": "login",
    "steps": [
        {"id": "form", "ask": {"title": "Log in", "inputs": [{"name": "pw", "type": "password"}]}},
        {"id": "entry", "tool": "login", "inputs": {"password": "{{ form.pw }}"}},
    ],
    "outputs": "{{ entry }}",
}
PASSWORD = "correct horse+Battery/9"


@pytest.fixture
async def url() -> AsyncIterator[str]:
    schema = f"files_and_secrets_{os.getpid()}"
    await dropped(schema)
    yield postgres_url(schema)
    await dropped(schema)


async def test_one_process_begins_and_another_goes_on(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, new_key())
    seen: list[str] = []

    @tool(effect="read")
    async def login(password: str) -> str:
        """Log in."""
        seen.append(password)
        return f"in with {password}"

    settings = Settings(files_dir=str(tmp_path / "shared"))
    async with Toolpath(url, settings=settings) as first:
        first.add(login)
        upload = await first.files.create()
        await first.files.upload(upload, "a.txt", b"x")
        run = await first.files.start(first.read(PLAN), uploads=[upload.upload_id])
        assert (await run.result()).status == "waiting"
    async with Toolpath(url, settings=settings) as second:
        second.add(login)
        assert await second.files.read(run.run_id, "a.txt") == b"x"
        result = await (await second.answer(run.run_id, values={"pw": PASSWORD})).result()
        assert (result.outputs, seen) == ("in with [redacted]", [PASSWORD])
        assert PASSWORD not in "".join(encode_event(event).decode() for event in await second.events(run.run_id))
        (record,) = await second.store.list_records("run_secret", parent=run.run_id)
        assert PASSWORD not in repr(record)
        await second.prune(-10)
        assert not await second.store.list_records("run_secret", parent=run.run_id)
        assert not (tmp_path / "shared" / "runs" / run.run_id).exists()


async def test_without_a_key_and_a_folder_nothing_is_kept(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    async with Toolpath(url, settings=Settings()) as tp:
        tp.add(tool(effect="read", name="login")(_login))
        upload = await tp.files.create()
        with pytest.raises(ConfigError, match="files"):
            await tp.files.upload(upload, "a.txt", b"x")
        waiting = await tp.run(tp.read(PLAN))
        with pytest.raises(ConfigError, match="no key"):
            await tp.answer(waiting.run_id, values={"pw": PASSWORD})
        assert not await tp.store.take_signals(waiting.run_id)
        assert [question.path for question in (await tp.info(waiting.run_id)).questions] == ["form"]


async def _login(password: str) -> str:
    """Log in."""
    return password
