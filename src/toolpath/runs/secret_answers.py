"""Answers to password fields: kept sealed apart from the journal, which has stand-ins, until their run has ended."""

from __future__ import annotations

import logging
import secrets as chance

import msgspec

from toolpath.errors import ConfigError, SealBroken
from toolpath.model.forms import field_type
from toolpath.model.record import Record
from toolpath.model.stand_ins import stand_in
from toolpath.ports import Sealing, Store
from toolpath.values import JsonObject

#: Records of this kind go with the run that is their parent.
KIND = "run_secret"
_PAGE = 200
_log = logging.getLogger("toolpath.runs.secrets")


class SecretAnswers:
    """The secrets that people have told the runs of one store."""

    def __init__(self, store: Store, sealer: Sealing) -> None:
        self._store = store
        self._sealer = sealer

    async def kept(self, run_id: str, tenant: str, form: JsonObject, values: JsonObject) -> JsonObject:
        """The typed answers with stand-ins in the place of passwords, which are kept. Raises `ConfigError`."""
        shown = dict(values)
        for field in form.get("inputs", []):
            name = str(field.get("name"))
            value = values.get(name)
            if field_type(field).is_secret and isinstance(value, str) and value:
                shown[name] = stand_in(await self._keep(run_id, tenant, value))
        return shown

    async def _keep(self, run_id: str, tenant: str, text: str) -> str:
        name = chance.token_hex(12)
        await self._put(run_id, tenant, name, self._sealer.seal(text, _place(run_id, name)))
        return name

    async def of(self, run_id: str) -> dict[str, str]:
        """The secrets of the run by name; one that was let go, or that no key at hand opens, is empty."""
        return {name: self._opened(run_id, name, sealed) for name, sealed in (await self._records(run_id)).items()}

    def _opened(self, run_id: str, name: str, sealed: str) -> str:
        try:
            return self._sealer.unseal(sealed, _place(run_id, name)) if sealed else ""
        except (SealBroken, ConfigError) as error:
            _log.warning("a secret that a person told the run %s cannot be read: %s", run_id, error)
            return ""

    async def copy(self, run_id: str, fork: str, tenant: str) -> None:
        """Keep the secrets of a run for its fork, too."""
        for name, sealed in (await self._records(run_id)).items():
            text = self._opened(run_id, name, sealed)
            await self._put(fork, tenant, name, self._sealer.seal(text, _place(fork, name)) if text else "")

    async def let_go(self, run_id: str) -> None:
        """Forget what they were; that there were such is kept as long as the run."""
        for name, sealed in (await self._records(run_id)).items():
            if sealed:
                await self._put(run_id, "", name, "")

    async def _records(self, run_id: str) -> dict[str, str]:
        found: dict[str, str] = {}
        before = None
        while page := await self._store.list_records(KIND, parent=run_id, limit=_PAGE, before=before):
            found |= {record.name: str(record.data.get("sealed", "")) for record in page}
            before = page[-1].id
        return found

    async def _put(self, run_id: str, tenant: str, name: str, sealed: str) -> None:
        record = Record(kind=KIND, id=f"{run_id}/{name}", tenant=tenant, parent=run_id, name=name)
        data: JsonObject = {"sealed": sealed} if sealed else {}
        await self._store.put_record(msgspec.structs.replace(record, data=data))


def _place(run_id: str, name: str) -> str:
    return f"{KIND}/{run_id}/{name}"
