"""Form in which a noun of the workspace is a record of the store: which fields are columns of the record. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

from toolpath.model.record import Record
from toolpath.values import made_ready

Noun = TypeVar("Noun", bound=msgspec.Struct)

#: Columns of every record, by the names that nouns have for them.
_COLUMNS = {"tenant": "tenant", "revision": "version", "created_at": "created_at", "updated_at": "updated_at"}


class RecordForm(Generic[Noun]):
    """Form of one noun.

    `id`: the field with its id. `moved`: field → column of fields that the record has as columns alone; `copied`: of
    those that it has in its data too, so that they can be listed or found by.
    """

    def __init__(
        self,
        kind: str,
        noun: type[Noun],
        *,
        id: str,
        moved: Mapping[str, str] | None = None,
        copied: Mapping[str, str] | None = None,
    ) -> None:
        self._kind = kind
        self._noun = noun
        made_ready(noun)
        fields = set(noun.__struct_fields__)
        self._columns = {id: "id", **{name: _COLUMNS[name] for name in _COLUMNS if name in fields}, **(moved or {})}
        self._copied = dict(copied or {})

    def written(self, value: Noun) -> Record:
        """The record of the noun, to be put in the place of the one that it was read from."""
        data = msgspec.to_builtins(value)
        columns = {column: getattr(value, name) for name, column in {**self._columns, **self._copied}.items()}
        for name in self._columns:
            data.pop(name, None)
        # The store itself counts versions, and notes when it wrote.
        own = {name: columns[name] for name in columns if name not in ("version", "updated_at")}
        return Record(kind=self._kind, **own, data=data)

    def read(self, record: Record, **more: Any) -> Noun:
        """The noun of the record. `more`: fields that stand elsewhere."""
        columns = {name: getattr(record, column) for name, column in self._columns.items()}
        return msgspec.convert({**record.data, **columns, **more}, self._noun)
