"""Providers of language models: one table of what is to be known of each. Pure data.

The client of each is built in `llm/models.py`, where the type checker names a provider that is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

import msgspec

Api = Literal["anthropic", "openai", "openai-responses", "google", "ollama"]
"""Names of the providers, each with a protocol of its own."""
APIS: Final[tuple[Api, ...]] = get_args(Api)

OutputMode = Literal["native", "tool", "json", "prompted"]
"""How a value of a schema is asked for: by the protocol's own field, as a call of a tool, as JSON of any form with the
schema in words, or in words alone."""


class ModelProvider(msgspec.Struct, frozen=True, kw_only=True):
    """One provider: its environment variables, its address, and what its protocol is like."""

    keys: tuple[str, ...]
    """Variables of its key; the first one that is set counts."""
    address_variable: str
    address: str
    """The provider's own address, or the usual one of a server that people run themselves."""
    is_self_hosted: bool = False
    """People run it themselves: it needs no key, and has the models that were put there."""
    model: str = ""
    """The model that is asked where none is named; empty: none can be assumed."""
    list_path: str = "/models"
    """Path of the list of its models, after the address."""
    key_header: str = ""
    """Header of a request for that list that holds the key; empty: `Authorization: Bearer KEY`."""
    list_headers: Mapping[str, str] = {}
    """Headers that a request for that list needs besides."""
    output_modes: tuple[OutputMode, ...] = ("native", "json", "prompted")
    """Ways to ask for a value, best first; a later one is taken where the server rejects an earlier one."""
    conventional_name: str = ""
    """OpenTelemetry's name of it; empty: the same as here."""

    @property
    def assumed_address(self) -> str:
        """The address that has to be given to its client where nobody sets one; empty: the client knows it."""
        return self.address if self.is_self_hosted else ""


MODEL_PROVIDERS: Final[Mapping[str, ModelProvider]] = {
    "anthropic": ModelProvider(
        keys=("ANTHROPIC_API_KEY",),
        address_variable="ANTHROPIC_BASE_URL",
        address="https://api.anthropic.com",
        model="claude-sonnet-5-5",
        list_path="/v1/models",
        key_header="x-api-key",
        list_headers={"anthropic-version": "2023-06-01"},
        # Its own structured output closes every object, and a plan holds open ones.
        output_modes=("tool", "prompted"),
    ),
    "openai": ModelProvider(
        keys=("OPENAI_API_KEY",),
        address_variable="OPENAI_BASE_URL",
        address="https://api.openai.com/v1",
        model="gpt-6.1-terra",
    ),
    "openai-responses": ModelProvider(
        keys=("OPENAI_API_KEY",),
        address_variable="OPENAI_BASE_URL",
        address="https://api.openai.com/v1",
        model="gpt-6.1-terra",
        conventional_name="openai",
    ),
    "google": ModelProvider(
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        address_variable="GOOGLE_GEMINI_BASE_URL",
        address="https://generativelanguage.googleapis.com",
        model="gemini-3.8-flash",
        list_path="/v1beta/models",
        key_header="x-goog-api-key",
        conventional_name="gcp.gemini",
    ),
    "ollama": ModelProvider(
        keys=("OLLAMA_API_KEY",),
        address_variable="OLLAMA_BASE_URL",
        address="http://localhost:11434/v1",
        is_self_hosted=True,
    ),
}
