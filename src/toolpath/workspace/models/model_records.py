"""Records of models in the store: keys and headers sealed, one name once for each tenant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from toolpath.errors import RecordConflict, RecordNotFound, SchemaError
from toolpath.model.language_model import LanguageModel
from toolpath.model.record import Record
from toolpath.ports import Sealing, Store
from toolpath.values import digest, made_ready
from toolpath.workspace.record_form import RecordForm

_KIND: Final = "model"
_DEFAULT: Final = "model_default"
_FORM = RecordForm(_KIND, LanguageModel, id="model_id", moved={"name": "name"})
#: Models of one tenant.
MOST: Final = 200


class ModelSecrets(msgspec.Struct, frozen=True):
    """Secrets of a model, which nobody reads back."""

    key: str = ""
    headers: dict[str, str] = {}


class KeptModel(msgspec.Struct, frozen=True):
    """A model with what is sealed of it."""

    model: LanguageModel
    sealed: str = ""


class ModelRecords:
    """The models of one store."""

    def __init__(self, store: Store, sealer: Sealing) -> None:
        self._store = store
        self._sealer = sealer

    async def of_tenant(self, tenant: str) -> list[KeptModel]:
        """The tenant's own models by name; for the house those of the house."""
        chosen = await self._chosen(tenant)
        found = await self._store.list_records(_KIND, tenant=tenant, limit=MOST)
        return sorted((_kept(record, chosen) for record in found), key=lambda kept: kept.model.name)

    async def get(self, model_id: str) -> KeptModel:
        """One model. Raises `RecordNotFound`."""
        record = await self._store.get_record(_KIND, model_id)
        if record is None:
            raise RecordNotFound(f"There is no model {model_id[:100]!r}.")
        return _kept(record, await self._chosen(record.tenant))

    async def put(self, model: LanguageModel, secrets: ModelSecrets, *, expected: int) -> LanguageModel:
        """Keep it. Raises `RecordConflict` where the name is taken, or it was changed meanwhile."""
        if expected == 0 and len(await self.of_tenant(model.tenant)) >= MOST:
            raise SchemaError(f"There are {MOST} models already, which is the most.", hint="Remove one first.")
        record = _FORM.written(model)
        has_secrets = bool(secrets.key or secrets.headers)
        sealed = self._sealer.seal(_text_of(secrets), _place(model)) if has_secrets else ""
        data = {name: value for name, value in record.data.items() if name != "is_default"}
        record = msgspec.structs.replace(record, data={**data, "sealed": sealed})
        try:
            kept = await self._store.put_record(record, expected=expected)
        except RecordConflict:
            message = f"The model {model.name!r} was changed meanwhile."
            if expected == 0:
                message = f"There is already a model {model.name!r}."
            raise RecordConflict(message, hint="Look at it again." if expected else "Give another name.") from None
        return _kept(kept, await self._chosen(model.tenant)).model

    async def delete(self, model: LanguageModel) -> None:
        """Forget it; where it was the default there is none then."""
        await self._store.delete_record(_KIND, model.model_id)
        if await self._chosen(model.tenant) == model.model_id:
            await self._store.delete_record(_DEFAULT, _slot(model.tenant))

    async def choose(self, tenant: str, model_id: str) -> None:
        """Make it the tenant's default; empty: none is."""
        if not model_id:
            await self._store.delete_record(_DEFAULT, _slot(tenant))
            return
        record = Record(kind=_DEFAULT, id=_slot(tenant), tenant=tenant, data={"model": model_id})
        await self._store.put_record(record)

    def secrets(self, kept: KeptModel) -> ModelSecrets:
        """The secrets that are sealed in it. Raises `SealBroken`."""
        if not kept.sealed:
            return ModelSecrets()
        return msgspec.json.decode(self._sealer.unseal(kept.sealed, _place(kept.model)), type=ModelSecrets)

    async def _chosen(self, tenant: str) -> str:
        record = await self._store.get_record(_DEFAULT, _slot(tenant))
        return "" if record is None else str(record.data.get("model", ""))


def id_of(tenant: str, name: str) -> str:
    """The id of the model of this name: a second attempt to add it finds it there."""
    return f"model_{digest([tenant, name])[7:31]}"


def print_of(model: LanguageModel, defaults: Mapping[str, Any]) -> str:
    """Digest of what the model is, with these for what it leaves open: not of its key, nor of how it is shown."""
    names = ("api", "model", "base_url", "headers", "temperature", "top_p", "completions_path")
    said = {name: value for name in names if (value := getattr(model, name)) not in (None, "", ())}
    return digest({**defaults, **msgspec.to_builtins(said)})


def _slot(tenant: str) -> str:
    return f"of:{tenant}"


def _place(model: LanguageModel) -> str:
    return f"model/{model.model_id}"


def _text_of(secrets: ModelSecrets) -> str:
    return msgspec.json.encode(secrets).decode()


def _kept(record: Record, chosen: str) -> KeptModel:
    return KeptModel(_FORM.read(record, is_default=record.id == chosen), str(record.data.get("sealed", "")))


made_ready(ModelSecrets)
