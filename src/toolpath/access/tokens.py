"""JSON Web Tokens: verified against a secret or public keys, and read as a caller. The key says which algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from toolpath.access.caller import SCOPES, Caller
from toolpath.config import Settings
from toolpath.errors import ConfigError, CredentialsRefused, closest

#: Variable of the environment that holds the secret of HS256.
SECRET = "TOOLPATH_JWT_SECRET"  # noqa: S105  # a name
#: Bytes that a secret must have at least: those of the hash.
LEAST_SECRET = 32
LEAST_RSA_BITS = 2048
LONGEST = 8_192
#: Our name of what a token says → the claim it stands in.
CLAIMS = {
    "tenant": "tenant",
    "user": "sub",
    "session": "session",
    "case": "case",
    "case_state": "case_state",
    "permissions": "permissions",
    "scopes": "scope",
}
_SCOPE_PREFIX = "toolpath:"


class VerifyingKey(msgspec.Struct, frozen=True):
    """A key, the one algorithm it is used with, and its name among others."""

    key: Any
    algorithm: str
    kid: str = ""


class Tokens:
    """Verifies tokens as the settings say."""

    def __init__(
        self,
        keys: tuple[VerifyingKey, ...],
        *,
        issuer: str,
        audience: str,
        leeway: float,
        claims: Mapping[str, str],
        tenant: str,
    ) -> None:
        self._keys = keys
        self._issuer = issuer
        self._audience = audience
        self._leeway = leeway
        self._claims = claims
        self._tenant = tenant
        """Of tokens that name none."""

    def verify(self, text: str) -> Caller:
        """Caller whom the token names. Raises `CredentialsRefused`."""
        if len(text) > LONGEST:
            raise CredentialsRefused("This token is too long.", reason="token too long")
        try:
            header = jwt.get_unverified_header(text)
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise CredentialsRefused("This is no token.", reason="malformed token") from None
        key = self._key_for(header)
        try:
            # The header's algorithm counts for nothing but a refusal: the key's own is the only one allowed.
            said = jwt.decode(
                text,
                key.key,
                algorithms=[key.algorithm],
                audience=self._audience,
                issuer=self._issuer,
                leeway=self._leeway,
                options={"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True},
            )
            return self._caller(said)
        except jwt.PyJWTError as error:
            raise CredentialsRefused(*_words(error)) from None
        except (ValueError, TypeError, OverflowError, RecursionError):
            # Signed, and yet with numbers or texts that nobody can read.
            raise CredentialsRefused("This token cannot be used.", reason="bad token") from None

    def _key_for(self, header: Mapping[str, Any]) -> VerifyingKey:
        kid = header.get("kid")
        if kid is None and len(self._keys) == 1:
            return self._keys[0]
        found = next((key for key in self._keys if kid and key.kid == kid), None)
        if found is None and len(self._keys) == 1 and not self._keys[0].kid:
            # A lone key without a name is meant whatever the token calls it.
            return self._keys[0]
        if found is None:
            raise CredentialsRefused("This token is signed with a key that is not known.", reason="unknown signing key")
        return found

    def _caller(self, said: Mapping[str, Any]) -> Caller:
        def text(name: str) -> str:
            value = said.get(self._claims[name])
            if value is not None and not isinstance(value, str):
                raise CredentialsRefused(f"The token's claim {self._claims[name]!r} is no text.", reason="odd claim")
            return self._readable(value or "", name)

        known = {*SCOPES, "*"}
        wanted = (scope.removeprefix(_SCOPE_PREFIX) for scope in self._listed(said, "scopes"))
        return Caller(
            tenant=text("tenant") or self._tenant,
            user=text("user"),
            session=text("session"),
            case=text("case") or None,
            case_state=text("case_state") or "active",
            permissions=frozenset(self._listed(said, "permissions")),
            scopes=frozenset(scope for scope in wanted if scope in known),
            key=f"jwt:{text('user')}",
            expires_at=float(said["exp"]) + self._leeway,
        )

    def _readable(self, text: str, name: str) -> str:
        """The text. Raises `CredentialsRefused` where it could neither be kept nor be shown."""
        if any(char < " " or "\ud800" <= char <= "\udfff" for char in text):
            claim = ascii(self._claims[name])
            raise CredentialsRefused(f"The token's claim {claim} has characters that are none.", reason="odd claim")
        return text

    def _listed(self, said: Mapping[str, Any], name: str) -> list[str]:
        """A claim that is a list of texts, or one text with blanks between them."""
        match said.get(self._claims[name]):
            case None:
                return []
            case str() as text:
                return self._readable(text, name).split()
            case list() as items if all(isinstance(item, str) for item in items):
                return [self._readable(item, name) for item in items]
            case _:
                raise CredentialsRefused(f"The token's claim {self._claims[name]!r} is no list.", reason="odd claim")


def tokens_of(settings: Settings, env: Mapping[str, str]) -> Tokens | None:
    """The verifier of tokens, or None where the settings name no key. Raises `ConfigError`."""
    secret = env.get(SECRET, "")
    if not secret and not settings.jwt_keys:
        return None
    if secret and settings.jwt_keys:
        raise ConfigError(f"Both {SECRET} and the setting jwt_keys are given.", hint="Keep one of them.")
    for name in ("jwt_issuer", "jwt_audience"):
        if not getattr(settings, name):
            raise ConfigError(
                f"Tokens are verified, but the setting {name} is empty.",
                hint="Without it, tokens meant for others would be taken.",
            )
    return Tokens(
        _of_secret(secret) if secret else _of_file(Path(settings.jwt_keys)),
        issuer=settings.jwt_issuer,
        audience=settings.jwt_audience,
        leeway=settings.jwt_leeway,
        claims=_claims_of(settings.jwt_claims),
        tenant=settings.jwt_tenant,
    )


def _claims_of(pairs: tuple[str, ...]) -> dict[str, str]:
    claims = dict(CLAIMS)
    for pair in pairs:
        name, equals, claim = pair.partition("=")
        if name not in CLAIMS or not equals or not claim:
            raise ConfigError(
                f"jwt_claims has {pair!r}.",
                suggestions=closest(name, CLAIMS),
                hint=f"Write name=claim, the name one of {', '.join(CLAIMS)}.",
            )
        claims[name] = claim
    return claims


def _of_secret(secret: str) -> tuple[VerifyingKey, ...]:
    data = secret.encode()
    if len(data) < LEAST_SECRET:
        raise ConfigError(f"{SECRET} has {len(data)} bytes; it needs {LEAST_SECRET}.", hint="openssl rand -base64 48")
    return (VerifyingKey(data, "HS256"),)


def _of_file(file: Path) -> tuple[VerifyingKey, ...]:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"The file {file} (jwt_keys) cannot be read: {error.strerror or error}.") from None
    if data.lstrip().startswith(b"{"):
        return _of_jwks(file, data)
    try:
        key = load_pem_public_key(data)
    except ValueError:
        raise ConfigError(f"{file} (jwt_keys) holds no public key.", hint="It must be a PEM or a JWKS file.") from None
    return (VerifyingKey(key, _algorithm(key, file)),)


def _of_jwks(file: Path, data: bytes) -> tuple[VerifyingKey, ...]:
    try:
        found = jwt.PyJWKSet.from_json(data.decode()).keys
    except (jwt.PyJWTError, ValueError) as error:
        raise ConfigError(f"{file} (jwt_keys) is no set of keys: {error}.") from None
    # A secret in a file of public keys would let its holder sign with what everybody may read.
    keys = [VerifyingKey(item.key, _algorithm(item.key, file), item.key_id or "") for item in found]
    if len(keys) > 1 and not all(key.kid for key in keys):
        raise ConfigError(f"{file} (jwt_keys) has several keys, and not all have a name (kid).")
    return tuple(keys)


def _algorithm(key: Any, file: Path) -> str:
    match key:
        case RSAPublicKey() if key.key_size >= LEAST_RSA_BITS:
            return "RS256"
        case EllipticCurvePublicKey() if isinstance(key.curve, SECP256R1):
            return "ES256"
        case RSAPublicKey():
            raise ConfigError(f"The key in {file} (jwt_keys) has {key.key_size} bits; RSA needs {LEAST_RSA_BITS}.")
        case _:
            raise ConfigError(f"A key in {file} (jwt_keys) is neither a public RSA nor a public P-256 key.")


def _words(error: jwt.PyJWTError) -> tuple[str, str]:
    """The words for the caller, and those for the log."""
    match error:
        case jwt.ExpiredSignatureError():
            return "This token has expired.", "expired token"
        case jwt.ImmatureSignatureError():
            return "This token is not valid yet.", "token not valid yet"
        case jwt.InvalidAudienceError():
            return "This token is meant for somebody else.", "wrong audience"
        case jwt.InvalidIssuerError():
            return "This token is from somebody who is not trusted here.", "wrong issuer"
        case jwt.MissingRequiredClaimError():
            return f"This token lacks the claim {error.claim!r}.", f"missing claim {error.claim}"
        case jwt.InvalidAlgorithmError():
            return "This token is signed in a way that is not allowed here.", "wrong algorithm"
        case jwt.InvalidSignatureError():
            return "This token's signature is wrong.", "wrong signature"
        case _:
            return "This token cannot be used.", "bad token"
