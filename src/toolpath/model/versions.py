"""Versions of a document that is kept, and how two of them differ. Data only."""

from __future__ import annotations

import msgspec


class DocumentDiff(msgspec.Struct, frozen=True, kw_only=True):
    """Difference of two versions of a plan or a template."""

    added: tuple[str, ...] = ()
    """Ids of steps that the later one has alone."""
    removed: tuple[str, ...] = ()
    changed: dict[str, tuple[str, ...]] = {}
    """Id of each step that both have and that differs → which of its fields."""
    fields: tuple[str, ...] = ()
    """Fields of the plan itself that differ."""
    moved: bool = False
    """The steps stand in another order."""
    text: str = ""
    """The difference of the documents, line by line; of what was written, where both came as text."""
