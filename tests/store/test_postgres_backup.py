"""The backup that the page of operation names, taken and brought back by its own words."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path

import pytest
from tests.store.store_cases import dropped, keep, new_run, postgres_connection, postgres_url, ready

from toolpath.store.postgres.store import PostgresStore

pytestmark = pytest.mark.postgres

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "operate.md"
SCHEMA = f"test_backup_{os.getpid()}"


def commands() -> list[str]:
    found = re.search(r"```text\n(pg_dump .*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return found[1].splitlines()


async def ran(command: str, folder: Path) -> None:
    url = postgres_url().partition("?")[0]
    words = command.replace("URL", url).replace("FILE", str(folder / "copy")).replace("toolpath", SCHEMA)
    process = await asyncio.create_subprocess_shell(words, stderr=asyncio.subprocess.PIPE)
    _, told = await process.communicate()
    assert process.returncode == 0, told.decode()


@pytest.mark.parametrize("is_there", [True, False], ids=["over what is there", "into an empty database"])
async def test_a_copy_brings_back_what_was_there_when_it_was_taken(tmp_path: Path, *, is_there: bool) -> None:
    await (await postgres_connection()).close()
    if shutil.which("pg_dump") is None:
        pytest.skip("the programs of PostgreSQL are not installed")
    await dropped(SCHEMA)
    store = PostgresStore(postgres_url(SCHEMA))
    await store.open()
    await keep(await new_run(store), ready(1))
    taking, *bringing_back = commands()
    await ran(taking, tmp_path)
    await new_run(store, "run_2")
    await store.close()
    if not is_there:
        await dropped(SCHEMA)
    for command in bringing_back:
        await ran(command, tmp_path)
    store = PostgresStore(postgres_url(SCHEMA))
    await store.open()
    assert [info.run_id for info in await store.list_runs()] == ["run_1"]
    assert [event.seq for event in await store.read_events("run_1")] == [1]
    await keep(await new_run(store, "run_3"), ready(1))
    await store.close()
    await dropped(SCHEMA)
