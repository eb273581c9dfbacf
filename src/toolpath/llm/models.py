"""Builds pydantic-ai's model for a choice. Loads pydantic-ai and the provider's client library, so only when used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from toolpath.errors import ConfigError
from toolpath.llm.choice import ModelChoice

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI
    from pydantic_ai.models import Model
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.providers import Provider

#: Local servers want no key, their client libraries do.
_NO_KEY = "none"


def build_model(choice: ModelChoice, client: httpx2.AsyncClient, model: str = "") -> Model:
    """The model, which sends its requests through `client`. Raises `ConfigError` where its library is not installed."""
    name = model or choice.model
    try:
        match choice.api:
            case "anthropic":
                return _anthropic(choice, client, name)
            case "google":
                return _google(choice, client, name)
            case "openai" | "openai-responses" | "ollama":
                return _openai(choice, client, name)
            case _:
                assert_never(choice.api)
    except ImportError as error:
        raise ConfigError(
            f"The client library of {choice.api} is not installed ({error.name}).",
            hint="pip install 'toolpath[llm]'",
        ) from None


def takes_temperature(model: Model) -> bool:
    """Whether the model may be told how freely to choose its words; those that reason mostly may not."""
    profile: Mapping[str, object] = {**model.profile}
    if profile.get("anthropic_disallows_sampling_settings"):
        return False
    can_be_still = profile.get("openai_supports_reasoning_effort_none") and not profile.get(
        "thinking_enabled_by_default"
    )
    return not profile.get("openai_supports_reasoning") or bool(can_be_still)


def _anthropic(choice: ModelChoice, client: httpx2.AsyncClient, name: str) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=choice.key or _NO_KEY, base_url=choice.base_url or None, http_client=client)
    return AnthropicModel(name, provider=provider)


def _google(choice: ModelChoice, client: httpx2.AsyncClient, name: str) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=choice.key or _NO_KEY, base_url=choice.base_url or None, http_client=client)
    return GoogleModel(name, provider=provider)


def _openai(choice: ModelChoice, client: httpx2.AsyncClient, name: str) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    key = choice.key or _NO_KEY
    provider: Provider[AsyncOpenAI]
    if choice.api == "ollama":
        provider = OllamaProvider(base_url=choice.base_url, api_key=key, http_client=client)
    elif choice.is_compatible_server and choice.api == "openai":
        provider = OpenAICompatibleProvider(
            "openai-compatible", base_url=choice.base_url, api_key=key, http_client=client
        )
    else:
        provider = OpenAIProvider(base_url=choice.base_url or None, api_key=key, http_client=client)
    if choice.api == "openai-responses":
        return OpenAIResponsesModel(name, provider=provider)
    # The library tells by a model's name what its maker's own service can do. A server of one's own bears any names,
    # as `Qwen/…`, and says itself what it cannot do.
    if not choice.is_compatible_server:
        return OpenAIChatModel(name, provider=provider)
    from toolpath.llm.compatible import CompatibleModel

    return CompatibleModel(name, provider=provider, profile=_as_openai(name))


def _as_openai(name: str) -> ModelProfile:
    """The profile of a server that speaks OpenAI's language, whatever its model is called."""
    from pydantic_ai.profiles import ModelProfile, merge_profile
    from pydantic_ai.profiles.openai import openai_model_profile

    can = ModelProfile(
        supports_tools=True,
        supports_json_schema_output=True,
        supports_json_object_output=True,
        # Schemas go as they are: a list of properties that is made up for an open object would close it.
        json_schema_transformer=None,
    )
    return merge_profile(openai_model_profile(name.rpartition("/")[2]), can)
