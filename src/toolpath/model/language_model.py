"""Language models by name: the record of one that is stored, and the names that plans may use. Pure data."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from toolpath.model.model_providers import Api

#: Before a model's name in the fingerprints of a run.
MARK = "model:"


#: What is shown in the place of a key.
MASK = "********"


class LanguageModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model that is stored, without its key and the values of its headers."""

    model_id: str
    name: str
    """What plans and people call it; each tenant has a name once."""
    tenant: str = ""
    """Empty: the house's, which every tenant may use."""
    api: Api = "openai"
    model: str = ""
    """What the provider calls it."""
    base_url: str = ""
    """Empty: the provider's own address."""
    headers: tuple[str, ...] = ()
    """Names of headers that are sent besides; their values are secrets."""
    temperature: float | None = None
    """None: as the settings say."""
    top_p: float | None = None
    completions_path: str = ""
    """Path of the requests at the address; empty: the provider's usual one."""
    description: str = ""
    type: str = "GENERAL"
    is_default: bool = False
    has_key: bool = False
    revision: int = 0
    created_at: float = 0.0
    updated_at: float = 0.0


class KnownModels(msgspec.Struct, frozen=True):
    """The names of models that plans of one tenant may use, with the fingerprint of each."""

    default: str = ""
    """What is asked where nobody names one; empty: none, or a chat that the program gave."""
    prints: Mapping[str, str] = {}
    """Name → digest of what the model is: where it is and how it is asked, not its key."""
    providers: Mapping[str, str] = {}
    """Provider whose models go by `provider:model` → digest of where it is."""
    takes_any: bool = False
    """The program gave a chat of its own, which knows what names mean."""

    def settled(self, name: str | None) -> str:
        """The name that a step without one has."""
        return name or self.default

    def knows(self, name: str) -> bool:
        """Whether there is such a model."""
        return self.takes_any or bool(self.fingerprint(name))

    def fingerprint(self, name: str) -> str:
        """Digest of what the model is; empty where it is not known."""
        known = self.prints.get(name, "")
        if known:
            return known
        provider, colon, model = name.partition(":")
        return f"{self.providers[provider]}:{model}" if colon and model and provider in self.providers else ""


#: Nothing is known of models: any name may be one.
UNKNOWN_MODELS = KnownModels(takes_any=True)
