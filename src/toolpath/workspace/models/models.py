"""The stored models of one Toolpath: list, add, change, remove, choose the default, try."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from toolpath.access.trail import Trail
from toolpath.config import Settings
from toolpath.errors import RecordNotFound, SchemaError, closest
from toolpath.model.language_model import MASK, KnownModels, LanguageModel
from toolpath.model.model_providers import APIS, MODEL_PROVIDERS
from toolpath.providers.builtin.reach import HostRefused, Reach
from toolpath.workspace.changes import StoredChanges
from toolpath.workspace.models.chats import choice_of
from toolpath.workspace.models.model_records import KeptModel, ModelRecords, ModelSecrets, id_of

if TYPE_CHECKING:
    from toolpath.workspace.models.trial import Trial

_LONGEST_NAME: Final = 200
_LONGEST: Final = 2_000
_MOST_HEADERS: Final = 20
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
#: Headers that say how a request is sent, not by whom.
_NOT_OURS: Final = frozenset({"host", "content-length", "transfer-encoding", "connection"})
_PATH: Final = re.compile(r"/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*")


class ModelDraft(msgspec.Struct, frozen=True, kw_only=True):
    """Draft of a model; None: as it was, or the usual."""

    name: str | None = None
    api: str | None = None
    model: str | None = None
    base_url: str | None = None
    key: str | None = None
    """Empty: none. One that is masked stays as it was."""
    headers: Mapping[str, str] | None = None
    temperature: float | None = None
    top_p: float | None = None
    completions_path: str | None = None
    description: str | None = None
    type: str | None = None

    def __repr__(self) -> str:
        return f"ModelDraft(name={self.name!r})"


class Models:
    """The models of one store. A tenant sees its own and the house's, and changes its own."""

    def __init__(
        self,
        records: ModelRecords,
        trail: Trail,
        changes: StoredChanges,
        *,
        settings: Callable[[], Settings],
        known: Callable[[str], Awaitable[KnownModels]],
    ) -> None:
        self._records = records
        self._trail = trail
        self._changes = changes
        self._settings = settings
        self.known = known
        """The names that a tenant's plans may use, and the default."""

    async def list(self, *, tenant: str | None = None) -> list[LanguageModel]:
        """The tenant's own by name, then the house's; for the house its own."""
        own = [kept.model for kept in await self._records.of_tenant(tenant or "")]
        return [*own, *(kept.model for kept in await self._records.of_tenant(""))] if tenant else own

    async def get(self, name: str, *, tenant: str | None = None) -> LanguageModel:
        """The model of that name or id, the tenant's own before the house's. Raises `RecordNotFound`."""
        return (await self._find(name, tenant)).model

    async def add(self, draft: ModelDraft, *, tenant: str = "", user: str = "") -> LanguageModel:
        """Keep a new one. Raises `SchemaError` for what it cannot be, `RecordConflict` where the name is taken."""
        name = draft.name or draft.model or ""
        now = self._trail.clock.time()
        made = LanguageModel(
            model_id=id_of(tenant, name), name=name, tenant=tenant, model=draft.model or name, created_at=now
        )
        return await self._put(made, ModelSecrets(), draft, "model.add", user=user, expected=0)

    async def change(
        self, model: LanguageModel, draft: ModelDraft, *, expected: int | None = None, user: str = ""
    ) -> LanguageModel:
        """Change what is given; the name stays. Raises as `add`.

        A key stays where it was given: at another address it has to be given anew.
        """
        kept = await self._records.get(model.model_id)
        if draft.name not in (None, model.name):
            raise SchemaError("A model keeps its name.", hint="Add one of the other name, and remove this one.")
        revision = kept.model.revision if expected is None else expected
        # What was sealed with a key that is lost is given anew, whole.
        is_new = draft.key is not None and not _is_masked(draft.key)
        secrets = ModelSecrets() if is_new and draft.headers is not None else self._records.secrets(kept)
        moved = draft.base_url is not None and _host(draft.base_url) != _host(kept.model.base_url)
        if moved and ((secrets.key and not is_new) or (secrets.headers and draft.headers is None)):
            raise SchemaError(
                "The key belongs to the address that it was given with.",
                hint="Give the key and the headers of the new address, too.",
            )
        if moved:
            # A masked header would be taken along.
            secrets = ModelSecrets()
        return await self._put(kept.model, secrets, draft, "model.change", user=user, expected=revision)

    async def remove(self, model: LanguageModel, *, user: str = "") -> None:
        """Forget it, with its key. Runs that go on with it are held until somebody says what is to be."""
        await self._recorded("model.remove", model, user)
        await self._records.delete(model)
        await self._changes.tell()

    async def set_default(self, model: LanguageModel, *, tenant: str = "", user: str = "") -> LanguageModel:
        """Have it asked where nobody names a model. Runs that have begun keep theirs."""
        if model.tenant != tenant:
            raise SchemaError("Only a model of one's own can be the default.", hint="Add it for this tenant.")
        await self._recorded("model.default", model, user)
        await self._records.choose(model.tenant, model.model_id)
        await self._changes.tell()
        return (await self._records.get(model.model_id)).model

    async def validate(self, draft: ModelDraft, *, model: LanguageModel | None = None, tenant: str = "") -> Trial:
        """Whether the provider takes it: a real request, in at most 15 seconds. Raises `SchemaError` for what none is.

        `model` fills in what the draft does not say; its key goes to its own address alone.
        """
        if model is None:
            name = draft.name or draft.model or "?"
            base, secrets = (
                LanguageModel(model_id="", name=name, tenant=tenant, model=draft.model or ""),
                ModelSecrets(),
            )
        else:
            kept = await self._records.get(model.model_id)
            base, secrets = kept.model, self._records.secrets(kept)
            if draft.base_url is not None and _host(draft.base_url) != _host(base.base_url):
                secrets = ModelSecrets()
        from toolpath.workspace.models.trial import try_model  # only who tries a model pays for what it needs

        made, given = await self._made(base, secrets, draft)
        return await try_model(choice_of(KeptModel(made), given, self._settings()), self._reach())

    # Within.

    async def _find(self, name: str, tenant: str | None) -> KeptModel:
        found = [*await self._records.of_tenant(tenant), *await self._records.of_tenant("")] if tenant else []
        found = found or await self._records.of_tenant("")
        for kept in found:
            if name in (kept.model.name, kept.model.model_id):
                return kept
        near = closest(name[:100], [kept.model.name for kept in found])
        raise RecordNotFound(f"There is no model {name[:100]!r}.", suggestions=near)

    async def _put(
        self,
        model: LanguageModel,
        secrets: ModelSecrets,
        draft: ModelDraft,
        action: str,
        *,
        user: str,
        expected: int,
    ) -> LanguageModel:
        made, given = await self._made(model, secrets, draft)
        await self._recorded(action, made, user)
        kept = await self._records.put(made, given, expected=expected)
        await self._changes.tell()
        return kept

    async def _made(
        self, model: LanguageModel, secrets: ModelSecrets, draft: ModelDraft
    ) -> tuple[LanguageModel, ModelSecrets]:
        """The model as the draft has it, checked. Raises `SchemaError`."""
        names = ("api", "model", "base_url", "temperature", "top_p", "completions_path", "description", "type")
        given: dict[str, Any] = {name: value for name in names if (value := getattr(draft, name)) is not None}
        if given.get("base_url"):
            given["base_url"] = given["base_url"].strip().rstrip("/")
        made = msgspec.structs.replace(model, **given)
        _check(made)
        key = secrets.key if draft.key is None or _is_masked(draft.key) else draft.key.strip()
        headers = _headers(draft.headers, secrets.headers)
        if not key.isascii() or not key.isprintable() or len(key) > _LONGEST:
            raise SchemaError("The key is none: it holds signs that no key has.")
        await self._check_host(made)
        made = msgspec.structs.replace(made, headers=tuple(sorted(headers)), has_key=bool(key))
        return made, ModelSecrets(key, headers)

    async def _check_host(self, model: LanguageModel) -> None:
        """Raise `SchemaError` where a tenant's model would have the house's own networks asked."""
        if not model.tenant or not model.base_url:
            return
        try:
            await self._reach().check(model.base_url)
        except HostRefused as error:
            raise SchemaError(error.message, hint=error.hint) from None

    def _reach(self) -> Reach:
        return Reach(allow=self._settings().http_allow)

    async def _recorded(self, action: str, model: LanguageModel, user: str) -> None:
        said = {"name": model.name, "api": model.api, "model": model.model, "base_url": model.base_url}
        await self._trail.record(action, model.model_id, tenant=model.tenant, user=user, **said)


def _is_masked(key: str) -> bool:
    """Whether it is what stands for a key where it is read."""
    return bool(key) and not key.strip(MASK)


def _check(model: LanguageModel) -> None:
    """Raise `SchemaError` for what no model can be."""
    _check_name(model.name)
    if model.api not in APIS:
        raise SchemaError(
            f"There is no protocol {str(model.api)[:50]!r}; there is {', '.join(APIS)}.",
            hint="Any server that speaks OpenAI's language is 'openai' with its base URL.",
        )
    for name in ("model", "description", "type"):
        text = getattr(model, name)
        if len(text) > _LONGEST or not text.replace("\n", " ").replace("\t", " ").isprintable():
            raise SchemaError(f"The field {name!r} has at most {_LONGEST:,} characters, all printable.")
    if not model.model.strip() and model.model_id:
        raise SchemaError("It is not said what the provider calls the model.", hint="Give 'model'.")
    if model.temperature is not None and not 0 <= model.temperature <= 2:
        raise SchemaError(f"The temperature is {model.temperature!r}; it lies from 0 to 2.")
    if model.top_p is not None and not 0 < model.top_p <= 1:
        raise SchemaError(f"top_p is {model.top_p!r}; it lies above 0, up to 1.")
    if model.completions_path and (not _PATH.fullmatch(model.completions_path) or len(model.completions_path) > 200):
        raise SchemaError("The completions path begins with '/' and is the path of a URL.")
    _check_address(model.base_url)
    if not model.base_url and MODEL_PROVIDERS[model.api].is_self_hosted and model.tenant:
        raise SchemaError("A server of one's own needs its base URL.")


def _check_name(name: str) -> None:
    if not name.strip() or name != name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise SchemaError(f"The name of a model has 1 to {_LONGEST_NAME} characters, all printable.")
    head, colon, _ = name.partition(":")
    if colon and head in MODEL_PROVIDERS:
        raise SchemaError(
            f"{head}:… means a model of {head} by its own variables.", hint="Give the model a name without that."
        )


def _check_address(url: str) -> None:
    if not url:
        return
    try:
        split = urlsplit(url)
        _ = split.port
    except ValueError:
        split = urlsplit("")
    if split.scheme not in ("http", "https") or not split.hostname or len(url) > _LONGEST or not url.isprintable():
        raise SchemaError("The base URL is none: it begins with http:// or https:// and names a host.")
    if split.username or split.password or split.query or split.fragment:
        raise SchemaError(
            "The base URL holds a password or a query.", hint="Keys go into 'key', or into 'headers': they are sealed."
        )


def _headers(given: Mapping[str, str] | None, known: Mapping[str, str]) -> dict[str, str]:
    """The headers with those that are masked as they were. Raises `SchemaError`."""
    if given is None:
        return dict(known)
    if len(given) > _MOST_HEADERS:
        raise SchemaError(f"A model has at most {_MOST_HEADERS} headers.")
    made: dict[str, str] = {}
    for name, value in given.items():
        if not isinstance(value, str) or not _HEADER.fullmatch(name) or name.lower() in _NOT_OURS:
            raise SchemaError(f"{name[:50]!r} is no header that can be given.")
        if len(value) > _LONGEST or not value.isascii() or not value.isprintable():
            raise SchemaError(f"The value of the header {name!r} holds signs that no header has.")
        kept = known.get(name, "") if _is_masked(value) else value.strip()
        if kept:
            made[name] = kept
    return made


def _host(url: str) -> tuple[str, str | None, int | None]:
    split = urlsplit(url)
    try:
        return split.scheme, split.hostname, split.port
    except ValueError:
        return split.scheme, split.hostname, None
