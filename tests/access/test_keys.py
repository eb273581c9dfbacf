from __future__ import annotations

import pytest
from tests.access.access_cases import RUNS, bearer, guarded
from tests.server.serving_cases import assert_problem

from toolpath import Toolpath
from toolpath.access.keys import Keys
from toolpath.errors import ConfigError, RecordNotFound
from toolpath.machine import SystemClock
from toolpath.testing.clock import FakeClock
from toolpath.values import encode


async def test_a_key_opens_the_server_and_no_key_does_not() -> None:
    async with guarded() as door:
        refused = await door.client.get(RUNS)
        assert_problem(refused, 401, "unauthorized")
        assert refused.headers["www-authenticate"] == "Bearer"
        good = await door.key("read")
        assert_problem(await door.client.get(RUNS, headers=good), 404, "unknown_run")
        text = good["Authorization"].removeprefix("Bearer ")
        assert_problem(await door.client.get(RUNS, headers={"X-API-Key": text}), 404, "unknown_run")


async def test_a_wrong_key_is_refused_however_near_it_is() -> None:
    async with guarded() as door:
        text = (await door.key("read"))["Authorization"].removeprefix("Bearer ")
        swapped = text[:-1] + ("A" if text[-1] != "A" else "B")
        for wrong in (
            swapped,
            text + "A",
            text[:-1],
            text[:20],
            "tpk_",
            "tpk__",
            "tpk_%",
            "tpk_" + "a" * 10_000,
            "nothing",
        ):
            assert_problem(await door.client.get(RUNS, headers=bearer(wrong)), 401, "unauthorized")


async def test_a_revoked_key_opens_nothing_from_that_moment_on() -> None:
    async with guarded() as door:
        headers = await door.key("read")
        assert (await door.client.get(RUNS, headers=headers)).status_code == 404
        (key,) = await door.keys.list()
        await door.keys.revoke(key.id)
        body = assert_problem(await door.client.get(RUNS, headers=headers), 401, "unauthorized")
        assert body["detail"] == "This key is revoked."


async def test_a_key_expires() -> None:
    clock = FakeClock()
    async with Toolpath(clock=clock) as tp:
        keys = Keys(tp.store, clock)
        key, text = await keys.create(name="short", scopes=["read"], lasts=60)
        assert (await keys.verify(text)).id == key.id
        await clock.advance(61)
        with pytest.raises(Exception, match="expired"):
            await keys.verify(text)
        assert not await keys.any_active()


async def test_the_text_of_a_key_is_kept_nowhere() -> None:
    async with Toolpath() as tp:
        key, text = await Keys(tp.store, SystemClock()).create(name="ci", scopes=["run"], tenant="acme")
        record = await tp.store.get_record("key", key.id)
        assert record is not None
        assert text.rpartition("_")[2].encode() not in encode(record.data)
        assert record.tenant == "acme"


async def test_a_key_needs_a_scope_that_there_is() -> None:
    async with Toolpath() as tp:
        keys = Keys(tp.store, tp.clock)
        with pytest.raises(ConfigError, match="Did you mean 'answer'"):
            await keys.create(name="x", scopes=["anwser"])
        with pytest.raises(ConfigError, match="without a scope"):
            await keys.create(name="x", scopes=[])
        with pytest.raises(RecordNotFound):
            await keys.revoke("key_nothing")


async def test_a_key_without_the_scope_is_forbidden_what_needs_it() -> None:
    async with guarded() as door:
        body = assert_problem(await door.client.get(RUNS, headers=await door.key("answer")), 403, "scope")
        assert "'read'" in body["detail"]


async def test_a_key_is_for_the_user_it_was_made_for_unless_it_may_ask_for_others() -> None:
    async with guarded() as door:
        plain = await door.key("read", user="ada", case="c1")
        assert_problem(await door.client.get(RUNS, headers=plain | {"X-Toolpath-User": "bob"}), 401, "unauthorized")
        assert (await door.client.get(RUNS, headers=plain | {"X-Toolpath-User": "ada"})).status_code == 404
        service = await door.key("read", delegates=True)
        assert (await door.client.get(RUNS, headers=service | {"X-Toolpath-Case": "c2"})).status_code == 404
        assert_problem(
            await door.client.get(RUNS, headers=service | {"X-Toolpath-User": "a" * 201}), 401, "unauthorized"
        )
