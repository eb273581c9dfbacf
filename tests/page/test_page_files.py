"""The page's files: for everybody, with headers that keep the page to itself; and the cookie of who signed in."""

from __future__ import annotations

import gzip
import re

import httpx
import pytest
from tests.access.access_cases import Guarded, guarded
from tests.server.serving_cases import assert_problem

SESSION = "/api/v1/session"


async def test_everybody_gets_the_page_and_nobody_else_may_frame_it_or_put_scripts_in() -> None:
    async with guarded() as server:
        first, second = [await server.client.get("/") for _ in range(2)]
        assert first.status_code == 200
        policy = first.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert first.headers["x-content-type-options"] == "nosniff"
        assert first.headers["referrer-policy"] == "no-referrer"
        nonces = [re.search(r"'nonce-([^']+)'", each.headers["content-security-policy"]) for each in (first, second)]
        assert all(nonce is not None for nonce in nonces)
        words = [nonce[1] for nonce in nonces if nonce is not None]
        assert words[0] != words[1]
        assert f'content="{words[0]}"' in first.text


async def test_what_the_page_is_made_of_is_packed_and_kept() -> None:
    async with guarded() as server:
        page = (await server.client.get("/")).text
        names = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', page)
        assert names
        sizes = 0
        for name in names:
            found = await server.client.get(f"/{name}", headers={"accept-encoding": "gzip"})
            assert found.status_code == 200
            assert "immutable" in found.headers["cache-control"]
            sizes += len(gzip.compress(found.content))
        # The first view; the others are loaded when they are opened.
        assert sizes < 250_000


@pytest.mark.parametrize(
    "path",
    [
        "/assets/none.js",
        "/assets/..%2findex.html",
        "/assets/%2e%2e/index.html",
        "/assets/index.html",
        "/assets/x%00.js",
    ],
)
async def test_only_files_of_the_page_are_given(path: str) -> None:
    async with guarded() as server:
        found = await server.client.get(path)
        assert found.status_code in (401, 404)
        assert b"<html" not in found.content


async def signed_in(server: Guarded, *scopes: str, **who: str) -> httpx.Response:
    return await server.client.post(SESSION, headers=await server.key(*scopes, **who))


async def test_a_key_becomes_a_cookie_that_no_script_reads_and_no_other_site_sends() -> None:
    async with guarded() as server:
        found = await signed_in(server, "read", tenant="acme")
        assert found.status_code == 201
        assert found.json() == {"user": "", "tenant": "acme", "scopes": ["read"], "signed_in": True}
        cookie = found.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        # The client keeps it, and needs no header any more.
        assert (await server.client.get("/api/v1/runs")).status_code == 200
        assert_problem(await server.client.post("/api/v1/plans", json={"request": "x"}), 403, "scope")
        foreign = await server.client.get("/api/v1/runs", headers={"origin": "https://evil.example"})
        assert_problem(foreign, 403, "wrong_origin")


async def test_who_signs_out_is_out_also_with_a_cookie_that_is_no_good() -> None:
    async with guarded() as server:
        await signed_in(server)
        assert (await server.client.delete(SESSION)).status_code == 204
        assert (await server.client.get("/api/v1/runs")).status_code == 401
        server.client.cookies.set("toolpath_session", "tpk_wrong")
        assert (await server.client.get("/api/v1/runs")).status_code == 401
        gone = await server.client.delete(SESSION)
        assert gone.status_code == 204
        assert 'toolpath_session=""' in gone.headers["set-cookie"]


async def test_a_session_is_as_good_as_its_key() -> None:
    async with guarded() as server:
        key, text = await server.keys.create(name="x", scopes=("*",))
        await server.client.post(SESSION, headers={"authorization": f"Bearer {text}"})
        assert (await server.client.get(SESSION)).status_code == 200
        await server.keys.revoke(key.id)
        assert (await server.client.get(SESSION)).status_code == 401


async def test_a_session_needs_credentials_and_one_cookie() -> None:
    async with guarded() as server:
        assert_problem(await server.client.post(SESSION), 401, "unauthorized")
        twice = {"cookie": "toolpath_session=a; toolpath_session=b"}
        assert_problem(await server.client.get(SESSION, headers=twice), 400, "credentials_twice")
        apart = [("cookie", "toolpath_session=a"), ("cookie", "toolpath_session=b")]
        assert_problem(await server.client.get(SESSION, headers=apart), 400, "credentials_twice")


async def test_a_link_from_elsewhere_opens_the_page_and_nothing_else() -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    async with guarded(is_local=True) as server:
        assert (await server.client.get("/", headers=link)).status_code == 200
        assert_problem(await server.client.get("/api/v1/runs", headers=link), 403, "wrong_origin")


async def test_behind_a_proxy_with_tls_the_cookie_goes_over_tls_alone() -> None:
    async with guarded() as server:
        header = await server.key("*", tenant="acme")
        found = await server.client.post(SESSION, headers={**header, "x-forwarded-proto": "https"})
        assert "secure" in found.headers["set-cookie"].lower()


async def test_on_a_server_that_is_open_nobody_need_sign_in() -> None:
    async with guarded(is_local=True) as server:
        found = await server.client.get(SESSION)
        assert (found.status_code, found.json()["signed_in"]) == (200, False)
        assert_problem(await server.client.post(SESSION), 401, "unauthorized")
