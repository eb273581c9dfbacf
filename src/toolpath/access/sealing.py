"""Sealing of secrets that have to be kept: what the store has is of no use without a key, which it does not have."""

from __future__ import annotations

import base64
import binascii
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from toolpath.errors import ConfigError, SealBroken

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

#: Keys, with commas between: the first seals, all of them open. No plan reads it: it is none of `secrets.NAME`.
KEY_VARIABLE: Final = "TOOLPATH_SEALING_KEY"
_KEY_BYTES: Final = 32
#: A file of keys that is larger is none.
_LARGEST_FILE: Final = 10_000


class Sealer:
    """Seals texts for the places where they are kept, and opens them there again.

    Its keys are those of `TOOLPATH_SEALING_KEY`, else of the file, which is made with a new key when something is
    sealed for the first time. Without either they live as long as the sealer: right for a store in memory.
    """

    def __init__(self, key_file: Path | None = None, *, is_lasting: bool = True, env: Mapping[str, str] | None = None):
        self._file = key_file
        self._is_lasting = is_lasting
        """What is sealed outlives the process: then the keys have to."""
        self._env = os.environ if env is None else env
        self._keys: MultiFernet | None = None

    def seal(self, text: str, place: str) -> str:
        """The text as it may be kept at this place alone, as `model/openai`. Raises `ConfigError` without a key."""
        return self._at_hand(may_make=True).encrypt(msgspec.json.encode((place, text))).decode("ascii")

    def unseal(self, sealed: str, place: str) -> str:
        """The text. Raises `SealBroken` where it was sealed with other keys, for another place, or was changed."""
        from cryptography.fernet import InvalidToken

        try:
            found, text = msgspec.json.decode(
                self._at_hand(may_make=False).decrypt(sealed.encode()), type=tuple[str, str]
            )
        except (InvalidToken, msgspec.DecodeError, UnicodeEncodeError):
            raise SealBroken(
                f"The secret of {place} cannot be read: it was sealed with another key, or was changed.",
                hint=f"Have the key in {KEY_VARIABLE} or in {self._file or 'its file'} with which it was sealed.",
            ) from None
        if found != place:
            raise SealBroken(f"The secret of {place} is that of another place: somebody has moved it.")
        return text

    def _at_hand(self, *, may_make: bool) -> MultiFernet:
        if self._keys is None:
            from cryptography.fernet import Fernet, MultiFernet

            self._keys = MultiFernet([Fernet(key) for key in self._read(may_make=may_make)])
        return self._keys

    def _read(self, *, may_make: bool) -> list[bytes]:
        if text := self._env.get(KEY_VARIABLE, "").strip():
            return keys_in(text, KEY_VARIABLE)
        if self._file is None:
            if not self._is_lasting:
                return [new_key().encode()]
            raise ConfigError(
                "Secrets are kept sealed, and there is no key to seal them with.",
                hint=f"Set {KEY_VARIABLE} to what `openssl rand -base64 32` prints, in every process of this store.",
            )
        try:
            return _keys_of(self._file)
        except FileNotFoundError:
            if not may_make:
                raise SealBroken(
                    f"The file of the key {self._file} is gone, and with it what was sealed with it.",
                    hint=f"Bring it back from a backup, or give the key in {KEY_VARIABLE}.",
                ) from None
        _make_file(self._file)
        return _keys_of(self._file)


def new_key() -> str:
    """A key as `TOOLPATH_SEALING_KEY` has it."""
    return base64.urlsafe_b64encode(secrets.token_bytes(_KEY_BYTES)).decode("ascii")


def keys_in(text: str, source: str) -> list[bytes]:
    """The keys of a text, with commas or lines between. Raises `ConfigError`, without what stands there."""
    keys: list[bytes] = []
    for number, part in enumerate(filter(None, (one.strip() for one in text.replace("\n", ",").split(","))), 1):
        try:
            raw = base64.b64decode(part.replace("-", "+").replace("_", "/"), validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) != _KEY_BYTES:
            raise ConfigError(
                f"Key {number} of {source} is none: it has to be {_KEY_BYTES} bytes in base64.",
                hint="`openssl rand -base64 32` prints one.",
            )
        keys.append(base64.urlsafe_b64encode(raw))
    if not keys:
        raise ConfigError(f"{source} holds no key.", hint="`openssl rand -base64 32` prints one.")
    return keys


def _keys_of(file: Path) -> list[bytes]:
    """The keys in the file. Raises `FileNotFoundError`, `ConfigError`."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"The file of the key {file} cannot be read: {error.strerror or error}.") from None
    if len(data) > _LARGEST_FILE:
        raise ConfigError(f"The file of the key {file} is too large to be one.")
    return keys_in(data.decode("ascii", "replace"), str(file))


def _make_file(file: Path) -> None:
    """Make the file with a new key, for its owner's eyes. Where another process has made it meanwhile, that one stays.

    Raises `ConfigError`.
    """
    fresh = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(handle, new_key().encode() + b"\n")
            os.fsync(handle)
        finally:
            os.close(handle)
        # A link is made whole or not at all, and never in the place of another file.
        with suppress(FileExistsError):
            os.link(fresh, file)
    except OSError as error:
        raise ConfigError(
            f"The file of the key {file} cannot be made: {error.strerror or error}.",
            hint=f"Give the key in {KEY_VARIABLE}, or another file in the setting sealing_key_file.",
        ) from None
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
