"""An upload: files that somebody brought, for runs that are to come. Pure data."""

from __future__ import annotations

from typing import Final

import msgspec

#: Uploads are records of this kind.
KIND: Final = "upload"


class UploadedFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file of an upload."""

    name: str
    """As it is kept."""
    original_name: str = ""
    """As it was called, where that is another."""
    size: int = 0
    """Bytes."""
    type: str = ""
    """Media type, as who brought it said."""
    uploaded_at: float = 0.0
    """Unix time."""


class Upload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Files under one id."""

    upload_id: str
    tenant: str = ""
    user: str = ""
    files: tuple[UploadedFile, ...] = ()
    created_at: float = 0.0
    """Unix time."""
    revision: int = 0
