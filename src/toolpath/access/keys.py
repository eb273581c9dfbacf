"""API keys: shown once when they are made, kept as a hash, scoped, expiring, revocable."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Any

import msgspec

from toolpath.access.caller import SCOPES, Caller
from toolpath.access.trail import Trail
from toolpath.errors import ConfigError, CredentialsRefused, RecordConflict, RecordNotFound, closest
from toolpath.model.record import Record
from toolpath.model.run import Priority
from toolpath.ports import Clock, Store
from toolpath.values import made_ready

KIND = "key"
PREFIX = "tpk_"
#: A text that is longer is no key; nothing of it is hashed.
LONGEST = 200
_NO_HASH = "0" * 64
_PAGE = 200


class Key(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """API key as it is kept, but for its hash. Times are Unix seconds."""

    id: str
    name: str = ""
    tenant: str = ""
    user: str = ""
    session: str = ""
    case: str | None = None
    case_state: str = "active"
    permissions: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    delegates: bool = False
    """Its holder may say for which user, session and case they ask."""
    all_tenants: bool = False
    priority: Priority = 0
    """Of the runs begun with it, where the request says none."""
    created_at: float = 0.0
    expires_at: float | None = None
    revoked_at: float | None = None

    def state(self, now: float) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"

    def caller(self) -> Caller:
        """Caller who asks with the key."""
        return Caller(
            tenant=self.tenant,
            user=self.user,
            session=self.session,
            case=self.case,
            case_state=self.case_state,
            permissions=frozenset(self.permissions),
            scopes=frozenset(self.scopes),
            sees_all=self.all_tenants,
            delegates=self.delegates,
            priority=self.priority,
            key=self.id,
            expires_at=self.expires_at,
        )


class Keys:
    """The keys of a store. What is done to them is written into the `trail` first."""

    def __init__(self, store: Store, clock: Clock, trail: Trail | None = None) -> None:
        self._store = store
        self._clock = clock
        self._trail = trail

    async def create(
        self, *, name: str, scopes: Iterable[str], lasts: float | None = None, **who: Any
    ) -> tuple[Key, str]:
        """A new key and its text, which is kept nowhere. `lasts` in seconds; `who` are the other fields of `Key`.

        Raises `ConfigError` for a scope that there is not.
        """
        wanted = tuple(dict.fromkeys(scopes))
        for scope in wanted:
            if scope not in (*SCOPES, "*"):
                hint = f"There are {', '.join(SCOPES)}; * is all of them."
                raise ConfigError(f"There is no scope {scope!r}.", suggestions=closest(scope, SCOPES), hint=hint)
        if not wanted:
            raise ConfigError("A key without a scope opens nothing.", hint=f"Give it some of {', '.join(SCOPES)}.")
        now = self._clock.time()
        secret = secrets.token_urlsafe(32)
        key = Key(
            id=f"key_{secrets.token_hex(8)}",
            name=name,
            scopes=wanted,
            created_at=now,
            expires_at=None if lasts is None else now + lasts,
            **who,
        )
        text = f"{PREFIX}{key.id.removeprefix('key_')}_{secret}"
        data = {"key": msgspec.to_builtins(key), "hash": _hash(text)}
        record = Record(kind=KIND, id=key.id, tenant=key.tenant, name=name, data=data, created_at=now)
        await self._record(
            "key.create", key, scopes=list(key.scopes), permissions=list(key.permissions), **{"for": key.user}
        )
        await self._store.put_record(record, expected=0)
        return key, text

    async def _record(self, action: str, key: Key, **data: Any) -> None:
        if self._trail is not None:
            await self._trail.record(action, key.id, tenant=key.tenant, name=key.name, **data)

    async def list(self, *, tenant: str | None = None) -> list[Key]:
        """All keys, newest first."""
        found: list[Key] = []
        before = None
        while page := await self._store.list_records(KIND, tenant=tenant, limit=_PAGE, before=before):
            found += [_key(record) for record in page]
            before = page[-1].id
        return found

    async def revoke(self, key_id: str) -> Key:
        """Let the key open nothing any more, from this moment on. Raises `RecordNotFound`."""
        while True:
            record = await self._store.get_record(KIND, key_id)
            if record is None:
                known = [key.id for key in await self.list()]
                raise RecordNotFound(f"There is no key {key_id[:100]!r}.", suggestions=closest(key_id[:100], known))
            key = _key(record)
            if key.revoked_at is not None:
                return key
            await self._record("key.revoke", key)
            key = msgspec.structs.replace(key, revoked_at=self._clock.time())
            data = {**record.data, "key": msgspec.to_builtins(key)}
            try:
                await self._store.put_record(msgspec.structs.replace(record, data=data), expected=record.version)
            except RecordConflict:
                continue
            return key

    async def any_active(self) -> bool:
        """Whether there is a key that opens something."""
        now = self._clock.time()
        return any(key.state(now) == "active" for key in await self.list())

    async def verify(self, text: str) -> Key:
        """The key of this text. Raises `CredentialsRefused` for one that is unknown, wrong, expired or revoked."""
        number, _, secret = text.removeprefix(PREFIX).partition("_")
        well_formed = len(text) <= LONGEST and number.isalnum() and bool(secret)
        record = await self._store.get_record(KIND, f"key_{number}") if well_formed else None
        kept = _NO_HASH if record is None else str(record.data.get("hash", _NO_HASH))
        # Compared also where there is no such key, so that the time it takes does not tell.
        is_right = hmac.compare_digest(_hash(text[:LONGEST]), kept)
        if record is None or not is_right:
            raise CredentialsRefused("This key is not known.", reason="unknown key")
        key = _key(record)
        state = key.state(self._clock.time())
        if state != "active":
            raise CredentialsRefused(f"This key is {state}.", reason=f"{state} key", key=key.id)
        return key


def _hash(text: str) -> str:
    # The text has 256 bits of chance: a slow hash would protect nothing more.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _key(record: Record) -> Key:
    return msgspec.convert(record.data["key"], Key)


made_ready(Key)
