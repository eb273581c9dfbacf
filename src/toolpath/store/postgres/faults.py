"""Faults of PostgreSQL for the operator of the store, and which of them pass by themselves."""

from __future__ import annotations

import asyncpg

from toolpath.errors import StoreError, ToolpathError, Unstorable
from toolpath.store.postgres.address import Address

#: Whatever the driver and the server may raise.
FAULTS = (
    OSError,
    TimeoutError,
    EOFError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    ValueError,
    TypeError,
    OverflowError,
)

_UNFIT = (asyncpg.DataError, asyncpg.CharacterNotInRepertoireError, asyncpg.UntranslatableCharacterError, UnicodeError)

#: Loss of the connection, a server that restarts or is full, and collisions that a repetition ends.
_PASSING = (
    OSError,
    TimeoutError,
    EOFError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.LockNotAvailableError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.QueryCanceledError,
)

_ADVICE: tuple[tuple[tuple[type[BaseException], ...], str, str], ...] = (
    (
        (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError),
        "does not let this user in",
        "Check the user and the password of the address, and the server's pg_hba.conf.",
    ),
    (
        (asyncpg.InvalidCatalogNameError,),
        "cannot be opened: there is no such database",
        "Make it with `createdb`, or name another one.",
    ),
    (
        (asyncpg.InsufficientPrivilegeError,),
        "does not allow that",
        "Let the user create its schema, or create one that is the user's and name it with ?schema=.",
    ),
    (
        (asyncpg.DiskFullError,),
        "cannot grow: its disk is full",
        "Free space or delete old runs, then resume the run.",
    ),
    (
        (asyncpg.ReadOnlySQLTransactionError,),
        "can only be read: the server is a standby",
        "Name the primary server, or add ?target_session_attrs=read-write to an address of several.",
    ),
    (
        (asyncpg.TooManyConnectionsError,),
        "has no connection left",
        "Raise max_connections of the server, or lower ?pool= of each process.",
    ),
    (
        (asyncpg.UndefinedTableError, asyncpg.UndefinedColumnError, asyncpg.InvalidSchemaNameError),
        "has lost its tables",
        "Somebody dropped or changed them; restore a backup, or begin with another ?schema=.",
    ),
    (
        (
            OSError,
            TimeoutError,
            asyncpg.PostgresConnectionError,
            asyncpg.InterfaceError,
            asyncpg.OperatorInterventionError,
        ),
        "cannot be reached",
        "Check that the server runs and that the address is right; what was kept is not lost.",
    ),
)


def is_passing(error: BaseException) -> bool:
    """Whether the same may succeed in a moment."""
    if isinstance(error, asyncpg.DataError):
        return False
    # The last two are what a connection says that was closed under its user.
    return isinstance(error, (*_PASSING, asyncpg.InterfaceError, asyncpg.InternalClientError))


def store_error(error: BaseException, address: Address, *, tried: float = 0.0) -> ToolpathError:
    """The error to raise for a fault of the database, after trying for so many seconds. Never holds the password."""
    if isinstance(error, ToolpathError):
        return error
    if isinstance(error, _UNFIT):
        hint = "Use valid Unicode text without NUL, and numbers of 64 bits."
        return Unstorable("The store cannot hold a text or number that was given.", hint=hint)
    said = address.without_secrets(str(error)) or type(error).__name__
    spent = f" for {tried:.0f} seconds" if tried >= 1 else ""
    for kinds, what, hint in _ADVICE:
        if isinstance(error, kinds):
            return StoreError(f"The store {address.shown} {what}{spent} ({said}).", hint=hint)
    return StoreError(f"The store {address.shown} failed: {type(error).__name__}: {said}")


def closed(address: Address) -> StoreError:
    """The error to raise when a store is used before `open` or after `close`."""
    return StoreError(f"The store {address.shown} is not open.", hint="Open it first, and use it before it is closed.")
