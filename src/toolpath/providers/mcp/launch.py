"""Launch of a server: its command or URL, as it was written and with `${VAR}` filled in. Pure."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlsplit, urlunsplit

import msgspec

from toolpath.errors import ConfigError
from toolpath.values import JsonObject, digest

#: Says at which addresses a host and port may be reached. Raises `ToolFailed` where at none.
Addresses = Callable[[str, int], Awaitable[list[str]]]

_PLAN_SECRET = re.compile(r"\{\{\s*secrets\.([A-Za-z_]\w*)\s*\}\}")
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SECRET = re.compile(r"token|key|secret|passw|auth|credential", re.IGNORECASE)
#: What a server inherits from this process besides what it is given: nothing that could be a secret.
_INHERITED = frozenset(
    {
        *("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
        *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE"),
        *("PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"),
    }
)


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """Launch of a server: how it is started or found. Exactly one of `command` and `url` is set."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] = {}
    is_literal: bool = False
    """Nothing is filled in: `${VAR}` is what it says, as where others than the owner of this process wrote it."""

    @property
    def identity(self) -> str:
        """The identity that tells this server from others: a digest, since a command may hold secrets."""
        return digest([self.command, *self.args] if self.command else public_url(self.url))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not show up in messages."""
        parts = [*self.env.values(), *self.headers.values()]
        # `Authorization: Bearer x`: the x alone is as secret as the whole.
        parts += [value.rpartition(" ")[2] for value in self.headers.values()]
        split = urlsplit(self.url)
        return tuple(part for part in (*parts, split.password or "", split.query) if len(part) > 5)

    def filled(self, environment: Mapping[str, str], secrets: Mapping[str, str] | None = None) -> Launch:
        """The same with every `${VAR}`, `${env:VAR}` and `${VAR:-default}` replaced from the environment.

        In headers and `env` also every `{{ secrets.NAME }}`. Raises `ConfigError` naming what is not set.
        """

        if self.is_literal:
            return self

        def fill(text: str) -> str:
            return _VARIABLE.sub(lambda match: _value(match, environment), text)

        def fill_secretly(text: str) -> str:
            return _PLAN_SECRET.sub(lambda match: _plan_secret(match[1], secrets or {}), fill(text))

        return Launch(
            command=fill(self.command),
            args=tuple(fill(argument) for argument in self.args),
            env={name: fill_secretly(value) for name, value in self.env.items()},
            cwd=None if self.cwd is None else fill(self.cwd),
            url=fill(self.url),
            headers={name: fill_secretly(value) for name, value in self.headers.items()},
        )

    def process_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment of the server's process: a few harmless variables of ours, and `env`."""
        inherited = {name: value for name, value in environment.items() if name.upper() in _INHERITED}
        # A value that begins with "()" is a function of an old shell, and has been used to break in.
        return {name: value for name, value in inherited.items() if not value.startswith("()")} | self.env

    def described(self) -> JsonObject:
        """The same as JSON without secrets; values that are not just `${VAR}` are named in `hidden`."""
        found: JsonObject = {}
        hidden: list[str] = []
        if self.command:
            found["command"] = self.command
            if self._args_look_secret():
                hidden.append("args")
            else:
                found["args"] = list(self.args)
            if self.cwd is not None:
                found["cwd"] = self.cwd
        else:
            found["url"] = public_url(self.url)
            hidden += ["url"] if found["url"] != self.url else []
        for field, values in (("env", self.env), ("headers", self.headers)):
            shown = {n: value for n, value in values.items() if _VARIABLE.search(value) or _PLAN_SECRET.search(value)}
            if shown:
                found[field] = shown
            hidden += [f"{field}.{name}" for name in values if name not in shown]
        if hidden:
            found["hidden"] = hidden
        return found

    def _args_look_secret(self) -> bool:
        """Some argument is, or follows, one that speaks of a secret, and is more than a `${VAR}`."""
        for before, argument in zip(("", *self.args), self.args, strict=False):
            name, separator, value = argument.partition("=")
            if separator and _SECRET.search(name) and not _VARIABLE.search(value):
                return True
            follows = before.startswith("-") and "=" not in before and _SECRET.search(before)
            if follows and not argument.startswith("-") and not _VARIABLE.search(argument):
                return True
        return False


def _value(match: re.Match[str], environment: Mapping[str, str]) -> str:
    name, default = match.groups()
    value = environment.get(name, default)
    if value is None:
        raise ConfigError(
            f"The environment variable {name!r} is not set.", hint=f"Set it, or write ${{{name}:-default}}."
        )
    return value


def _plan_secret(name: str, secrets: Mapping[str, str]) -> str:
    value = secrets.get(name)
    if value is None:
        raise ConfigError(
            f"The secret {name!r} is not set.", hint=f"Set TOOLPATH_SECRET_{name}, or give Toolpath(secrets={{…}})."
        )
    return value


def public_url(url: str) -> str:
    """The URL without user, password, query and fragment, any of which may be secret."""
    split = urlsplit(url)
    return urlunsplit((split.scheme, split.netloc.rpartition("@")[2], split.path, "", ""))
