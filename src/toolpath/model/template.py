"""A plan template as it is kept: a document with parameters, its versions, and where it is published. Data only."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolpath.model.plan import Plan
from toolpath.values import JsonObject

#: Where a published template can be run: by plans and agents, over REST, in conversations, over MCP.
Channel = Literal["tool", "http", "conversation", "mcp"]
Access = Literal["editable", "readOnly"]


class Parameter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Parameter of a template: the value that a run is given under one name."""

    name: str
    type: str = "string"
    """A JSON type; empty: any."""
    description: str = ""
    required: bool = True


class TemplateVersion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the documents that the template was."""

    version: int
    """From 1."""
    digest: str
    """Of the document, whatever the order of its keys."""
    at: float = 0.0
    """Unix time at which it was saved."""
    by: str = ""
    comment: str = ""
    written: str = ""
    """Digest of the text that it was written as, comments and all; empty: it came as data."""


class PlanTemplate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A template of the store."""

    template_id: str
    title: str
    """Its name; one of a kind in its group."""
    group: str = "ungrouped"
    description: str = ""
    channels: tuple[Channel, ...] = ()
    """Where its published version can be run."""
    published: int = 0
    """The version that its channels run; 0: it is a draft."""
    access: Access = "editable"
    """A `readOnly` one is changed by nobody."""
    versions: tuple[TemplateVersion, ...] = ()
    """Oldest first; the last is the newest."""
    tenant: str = ""
    user: str = ""
    """Who made it."""
    revision: int = 0
    """One more with each change; what `expected` of a change is compared with."""
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def version(self) -> int:
        """The newest version."""
        return self.versions[-1].version if self.versions else 0

    @property
    def key(self) -> str:
        """`group.title`."""
        return f"{self.group}.{self.title}"


class TemplateParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters that a run of the template is to be given."""

    parameters: tuple[Parameter, ...]
    schema: JsonObject
    """The same as a JSON Schema of an object."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one document of an import."""

    title: str
    template_id: str = ""
    """Empty: it was not taken."""
    error: str = ""
    """Why it was not taken, or not published."""


class TemplateRun(msgspec.Struct, frozen=True):
    """A version of a template, to be started in place of a plan."""

    template_id: str
    plan: Plan
