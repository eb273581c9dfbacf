from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.access.access_cases import JWT, RUNS, SECRET, bearer, claims, guarded, token
from tests.server.serving_cases import assert_problem

from toolpath import Settings
from toolpath.access.tokens import tokens_of
from toolpath.errors import ConfigError, CredentialsRefused

ENV = {"TOOLPATH_JWT_SECRET": SECRET}
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


def pem(key: Any) -> bytes:
    return bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def encoded(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


async def test_a_good_token_opens_the_server() -> None:
    async with guarded(env=ENV, **JWT) as door:
        assert_problem(await door.client.get(RUNS, headers=bearer(token())), 404, "unknown_run")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"exp": int(time.time()) - 60}, "expired"),
        ({"exp": None}, "lacks the claim 'exp'"),
        ({"sub": None}, "lacks the claim 'sub'"),
        ({"nbf": int(time.time()) + 10_000_000}, "not valid yet"),
        ({"aud": "somebody"}, "somebody else"),
        ({"aud": None}, "lacks the claim 'aud'"),
        ({"iss": "https://evil.example.org"}, "not trusted"),
        ({"tenant": ["a"]}, "is no text"),
        ({"permissions": {"a": 1}}, "is no list"),
    ],
)
async def test_a_token_that_is_not_for_here_and_now_is_refused(changed: dict[str, Any], said: str) -> None:
    async with guarded(env=ENV, **JWT) as door:
        answer = await door.client.get(RUNS, headers=bearer(token(**changed)))
        assert said in assert_problem(answer, 401, "unauthorized")["detail"]


async def test_forged_tokens_are_refused() -> None:
    head, body, signature = token().split(".")
    other = token(sub="eve").split(".")[1]
    unsigned = f"{encoded({'alg': 'none', 'typ': 'JWT'})}.{encoded(claims())}."
    async with guarded(env=ENV, **JWT) as door:
        for forged in (
            token(key="another secret of thirty-two bytes or more"),
            f"{head}.{other}.{signature}",
            f"{head}.{body}.",
            unsigned,
            f"{encoded({'alg': 'None'})}.{encoded(claims())}.{signature}",
            token(algorithm="HS512"),
            "a.b.c",
            "..",
            "x" * 9000 + ".a.b",
        ):
            assert_problem(await door.client.get(RUNS, headers=bearer(forged)), 401, "unauthorized")


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "RS256"), (EC, "ES256")], ids=["rsa", "ec"])
async def test_a_public_key_takes_tokens_of_its_own_algorithm_alone(key: Any, algorithm: str, tmp_path: Path) -> None:
    file = tmp_path / "public.pem"
    file.write_bytes(pem(key))
    async with guarded(jwt_keys=str(file), **JWT) as door:
        assert (await door.client.get(RUNS, headers=bearer(token(key, algorithm)))).status_code == 404
        # The public key is no secret: whoever signs with it as if it were one has forged the token.
        head = encoded({"alg": "HS256", "typ": "JWT"})
        body = encoded(claims())
        signature = jwt.get_algorithm_by_name("HS256").sign(f"{head}.{body}".encode(), file.read_bytes())
        forged = f"{head}.{body}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"
        for wrong in (forged, token(), token(RSA if key is EC else EC, "RS256" if key is EC else "ES256")):
            assert_problem(await door.client.get(RUNS, headers=bearer(wrong)), 401, "unauthorized")


async def test_a_set_of_keys_is_searched_by_name(tmp_path: Path) -> None:
    sets = [
        jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key(), as_dict=True) | {"kid": "one"},
        jwt.algorithms.ECAlgorithm.to_jwk(EC.public_key(), as_dict=True) | {"kid": "two"},
    ]
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": sets}))
    tokens = tokens_of(Settings(jwt_keys=str(file), **JWT), {})
    assert tokens is not None
    assert tokens.verify(token(EC, "ES256", {"kid": "two"})).user == "ada"
    for key, algorithm, header in (
        (EC, "ES256", {"kid": "one"}),
        (EC, "ES256", {"kid": "three"}),
        (EC, "ES256", {}),
        (EC, "ES256", {"kid": "three", "jwk": sets[1], "jku": "https://evil.example.org/keys.json"}),
    ):
        with pytest.raises(CredentialsRefused):
            tokens.verify(token(key, algorithm, header))


def test_claims_become_the_caller() -> None:
    named = Settings(**JWT, jwt_claims=("tenant=org", "permissions=rights"))
    tokens = tokens_of(named, ENV)
    assert tokens is not None
    said = {"org": "acme", "rights": ["blog.write"], "session": "s1", "case": "c1", "case_state": "open"}
    caller = tokens.verify(token(**said, scope="openid toolpath:read answer"))
    assert (caller.tenant, caller.user, caller.session, caller.case) == ("acme", "ada", "s1", "c1")
    assert (caller.case_state, caller.permissions) == ("open", {"blog.write"})
    assert caller.scopes == {"read", "answer"}
    assert not caller.sees_all


@pytest.mark.parametrize(
    ("settings", "env", "said"),
    [
        ({"jwt_keys": "gone.pem", **JWT}, {}, "cannot be read"),
        (JWT, {"TOOLPATH_JWT_SECRET": "short"}, "needs 32"),
        ({"jwt_issuer": "i"}, ENV, "jwt_audience is empty"),
        ({"jwt_keys": "x", **JWT}, ENV, "Keep one"),
        ({**JWT, "jwt_claims": ("tennant=org",)}, ENV, "Did you mean 'tenant'"),
    ],
)
def test_settings_that_would_let_in_too_many_are_refused(settings: Any, env: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        tokens_of(Settings(**settings), env)


def test_keys_that_are_too_weak_or_no_public_keys_are_refused(tmp_path: Path) -> None:
    weak = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    secret = {"keys": [{"kty": "oct", "k": base64.urlsafe_b64encode(b"x" * 40).decode(), "alg": "HS256"}]}
    for text, said in ((pem(weak), "bits"), (json.dumps(secret).encode(), "neither"), (b"hello", "no public key")):
        file = tmp_path / "keys"
        file.write_bytes(text)
        with pytest.raises(ConfigError, match=said):
            tokens_of(Settings(jwt_keys=str(file), **JWT), {})
