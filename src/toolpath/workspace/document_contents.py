"""Documents of the versions of plans and templates in the store: each once, whichever versions have it."""

from __future__ import annotations

from collections.abc import Iterable

from toolpath.model.record import Record
from toolpath.ports import Store
from toolpath.values import JsonObject


class DocumentContents:
    """The documents of one kind of noun; `owner` is the id of the noun that a document is a version of."""

    def __init__(self, store: Store, kind: str) -> None:
        self._store = store
        self._kind = kind

    async def put(self, owner: str, digest: str, content: JsonObject, *, tenant: str) -> None:
        """Keep the content under its digest; what is there already stays."""
        made = Record(kind=self._kind, id=_id(owner, digest), tenant=tenant, parent=owner, data=content)
        await self._store.put_record(made)

    async def get(self, owner: str, digest: str) -> JsonObject | None:
        """The content, or None where it is gone."""
        record = await self._store.get_record(self._kind, _id(owner, digest))
        return None if record is None else record.data

    async def forget(self, owner: str, digests: Iterable[str]) -> None:
        """Forget these contents."""
        for each in digests:
            await self._store.delete_record(self._kind, _id(owner, each))

    async def forget_all(self, owner: str) -> None:
        """Forget whatever is kept of the owner."""
        while found := await self._store.list_records(self._kind, parent=owner, limit=100):
            for record in found:
                await self._store.delete_record(self._kind, record.id)


def _id(owner: str, digest: str) -> str:
    return f"{owner}/{digest}"
