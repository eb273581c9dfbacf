"""Records of MCP servers in the store: values of `env` and headers sealed, one name once."""

from __future__ import annotations

from typing import Final

import msgspec

from toolpath.errors import RecordConflict, RecordNotFound, SchemaError
from toolpath.model.mcp_server import McpServer
from toolpath.model.record import Record
from toolpath.ports import Sealing, Store
from toolpath.values import digest, made_ready
from toolpath.workspace.record_form import RecordForm

_KIND: Final = "mcp_server"
_FORM = RecordForm(_KIND, McpServer, id="server_id", moved={"name": "name"})
#: Servers of one store.
MOST: Final = 200


class ServerSecrets(msgspec.Struct, frozen=True):
    """Secrets of a server, which nobody reads back."""

    env: dict[str, str] = {}
    headers: dict[str, str] = {}


class KeptServer(msgspec.Struct, frozen=True):
    """A server with what is sealed of it."""

    server: McpServer
    sealed: str = ""


class ServerRecords:
    """The MCP servers of one store."""

    def __init__(self, store: Store, sealer: Sealing) -> None:
        self._store = store
        self._sealer = sealer

    async def all(self) -> list[KeptServer]:
        """All of them by name."""
        # Two processes that add at the same moment may add one more than there may be.
        found = await self._store.list_records(_KIND, limit=2 * MOST)
        return sorted((_kept(record) for record in found), key=lambda kept: kept.server.name)

    async def get(self, server_id: str) -> KeptServer:
        """One. Raises `RecordNotFound`."""
        record = await self._store.get_record(_KIND, server_id)
        if record is None:
            raise RecordNotFound(f"There is no MCP server {server_id[:100]!r}.")
        return _kept(record)

    async def put(self, server: McpServer, secrets: ServerSecrets, *, expected: int) -> McpServer:
        """Keep it. Raises `RecordConflict` where the name is taken, or it was changed meanwhile."""
        if expected == 0 and len(await self.all()) >= MOST:
            raise SchemaError(f"There are {MOST} MCP servers already, which is the most.", hint="Remove one first.")
        has_secrets = bool(secrets.env or secrets.headers)
        text = msgspec.json.encode(secrets).decode()
        sealed = self._sealer.seal(text, _place(server)) if has_secrets else ""
        record = _FORM.written(server)
        record = msgspec.structs.replace(record, data={**record.data, "sealed": sealed})
        try:
            return _kept(await self._store.put_record(record, expected=expected)).server
        except RecordConflict:
            if expected == 0:
                raise taken(server.name) from None
            raise RecordConflict(
                f"The MCP server {server.name!r} was changed meanwhile.", hint="Look at it again."
            ) from None

    async def delete(self, server: McpServer) -> None:
        """Forget it."""
        await self._store.delete_record(_KIND, server.server_id)

    def secrets(self, kept: KeptServer) -> ServerSecrets:
        """The secrets that are sealed in it. Raises `SealBroken`."""
        if not kept.sealed:
            return ServerSecrets()
        return msgspec.json.decode(self._sealer.unseal(kept.sealed, _place(kept.server)), type=ServerSecrets)


def id_of(name: str) -> str:
    """The id of the server of this name: a second attempt to add it finds it there."""
    return f"mcp_{digest(name)[7:31]}"


def taken(name: str) -> RecordConflict:
    """Error for a name that another server has."""
    return RecordConflict(f"MCP server with name {name!r} already exists")


def _place(server: McpServer) -> str:
    return f"mcp_server/{server.server_id}"


def _kept(record: Record) -> KeptServer:
    return KeptServer(_FORM.read(record), str(record.data.get("sealed", "")))


made_ready(ServerSecrets)
