"""Choice of model and provider, from settings and the providers' own variables. Imports no client library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import urlsplit

import msgspec

from toolpath.config import Settings
from toolpath.errors import ConfigError, closest
from toolpath.model.model_providers import APIS, MODEL_PROVIDERS, Api

_OPENAI_HOST: Final = "api.openai.com"


class ModelChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A model and how it is reached."""

    api: Api
    model: str
    key: str = ""
    base_url: str = ""
    """Empty: the provider's own address."""
    temperature: float = 0.3
    top_p: float | None = None
    """None: as the provider has it."""
    completions_path: str = ""
    """Path of the requests at `base_url`; empty: the provider's usual one."""
    headers: Mapping[str, str] = {}
    """Sent with each request; their values are secrets."""
    name: str = ""
    """The stored model that this is; empty: it comes of settings and variables."""
    is_guarded: bool = False
    """It is a tenant's: no host of the house's own networks is asked for it."""

    def __repr__(self) -> str:
        return f"ModelChoice(api={self.api!r}, model={self.model!r}, base_url={self.base_url!r})"

    @property
    def is_compatible_server(self) -> bool:
        """Whether it speaks OpenAI's language and is somebody else's."""
        return bool(self.base_url) and urlsplit(self.base_url).hostname != _OPENAI_HOST


def choose_model(settings: Settings, env: Mapping[str, str] | None = None) -> ModelChoice | None:
    """The model that the settings name, or None where they name none.

    Keys and addresses are read from the providers' own variables. Without `planner_llm` the provider whose key is set
    is taken if `planner_model` is given. Raises `ConfigError` for an unknown provider or a key that is not there.
    """
    variables = os.environ if env is None else env
    name = provider_of(settings, variables)
    if not name:
        return None
    if name not in MODEL_PROVIDERS:
        raise ConfigError(
            f"TOOL_PLANNER_LLM is {name!r}; there is {', '.join(APIS)}.",
            suggestions=closest(name, APIS),
            hint="Any server that speaks OpenAI's language is 'openai' with OPENAI_BASE_URL.",
        )
    known = MODEL_PROVIDERS[name]
    base_url = variables.get(known.address_variable, "").strip() or known.assumed_address
    key = next((text for variable in known.keys if (text := variables.get(variable, "").strip())), "")
    # A server of one's own often wants no key; the provider itself always does.
    if not key and not base_url:
        raise ConfigError(
            f"The planner's model is {name}'s, but {known.keys[0]} is not set.",
            hint=f"Set {known.keys[0]}, or another provider in TOOL_PLANNER_LLM.",
        )
    model = settings.planner_model.strip() or known.model
    if not model:
        raise ConfigError(f"No model of {name} is named.", hint="Set TOOL_PLANNER_MODEL to one that the server has.")
    return ModelChoice(
        api=api_at(name, base_url), model=model, key=key, base_url=base_url, temperature=settings.planner_temperature
    )


def provider_of(settings: Settings, env: Mapping[str, str] | None = None) -> str:
    """The provider that the settings name, or whose key is set where they name a model alone; empty: none."""
    name = settings.planner_llm.strip().lower()
    return name or (_provider_with_key(os.environ if env is None else env) if settings.planner_model else "")


def api_at(name: str, base_url: str) -> Api:
    """The protocol in which a provider is asked at an address."""
    # OpenAI's own address answers its newer protocol best; the servers that copy it know the older one.
    if name == "openai" and (not base_url or urlsplit(base_url).hostname == _OPENAI_HOST):
        return "openai-responses"
    return cast("Api", name)


def _provider_with_key(variables: Mapping[str, str]) -> str:
    """The first provider whose key is set; a server that people run themselves has to be named."""
    for name, provider in MODEL_PROVIDERS.items():
        if not provider.is_self_hosted and any(variables.get(variable) for variable in provider.keys):
            return name
    return ""
