"""Settings: what may be set, where each value comes from, and the one reading of file, environment and flags.

No secrets live here; keys of model providers and `secrets.NAME` keep their own variables.
"""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from toolpath.errors import ConfigError, closest

Seconds = Annotated[float, msgspec.Meta(gt=0, le=31_536_000)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=100_000)]
Bytes = Annotated[int, msgspec.Meta(ge=1_000, le=2**40)]
#: In a file of settings it is meant from the place of that file, unless it is an address as `postgresql://…`.
FilePath = Annotated[str, msgspec.Meta(extra={"is_path": True})]
Synchronous = Literal["NORMAL", "FULL"]

DEFAULT_STORE = ".toolpath/runs.db"
DEFAULT_FILE = "toolpath.toml"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be set. Times are seconds, sizes bytes."""

    default_timeout: Seconds = 30.0
    """Per attempt, where neither step nor tool says."""
    max_retries: Count = 3
    """Attempts after the first, for tools that only read or are idempotent."""
    retry_backoff: Literal["exponential", "fixed", "none"] = "exponential"
    parallel_limit: Limit = 5
    """Calls of a run at the same time, where its plan does not say."""
    cache_enabled: bool = True
    """Results of tools and steps that ask for it are kept."""
    cache_ttl: Annotated[float, msgspec.Meta(ge=0, le=31_536_000)] = 300.0
    adaptive_timeout: bool = True
    """Reads that are known well are cut off earlier, or later, than `default_timeout`."""
    synchronous: Synchronous = "NORMAL"
    """SQLite: NORMAL survives the death of the process, FULL the loss of power."""
    max_result_size: Bytes = 1_000_000
    """A larger result is kept aside and travels as a handle."""
    max_result_bytes: Bytes = 100_000_000
    """A larger result is refused: the call has failed."""
    max_plan_steps: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 40_000
    """A plan with more steps, those inside blocks counted, is refused."""
    max_concurrency: Limit = 1_000
    """The most that a run does at once, whatever its plan says: calls, and items of one loop."""
    max_step_visits: Count = 10_000
    """The most visits of one step of a chain, whatever its plan says."""
    max_run_events: Annotated[int, msgspec.Meta(ge=100, le=100_000_000)] = 250_000
    """A run whose journal is longer begins no more steps: it has failed. A call takes two events or three."""
    max_run_bytes: Bytes = 64_000_000
    """A run whose inputs, arguments and results take more memory begins no more steps: it has failed. Nor is one value
    handed on that would, written out."""
    max_tenant_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**40)] = 1_000_000_000
    """What the runs of one tenant that a process drives may hold in memory together; beyond it those that hold no less
    than their share begin no more steps: they have failed. 0: no limit."""
    max_run_work: Annotated[int, msgspec.Meta(ge=1_000, le=10**12)] = 100_000_000
    """Elements that the expressions of one run may visit, all together: about half a minute."""
    max_threads: Limit = 32
    """Calls of `def` tools at the same time, those that outlived their timeout included."""
    store: FilePath = ""
    """Path of a SQLite file or `postgresql://…`; empty: as the surface says."""
    files_dir: FilePath = ""
    """Folder of the files of runs and uploads, shared by all processes of the store; empty: beside the SQLite file."""
    run_files_bytes: Bytes = 1_000_000_000
    """The files of one run together."""
    run_files_count: Limit = 10_000
    upload_bytes: Bytes = 100_000_000
    """One file of an upload."""
    upload_count: Limit = 10
    """Files of one upload."""
    upload_types: tuple[str, ...] = ()
    """Endings of names that may be uploaded, as `pdf`; empty: all but those of programs."""
    upload_days: Annotated[float, msgspec.Meta(gt=0, le=36_500)] = 7.0
    """The server deletes uploads that are so many days old."""
    sealing_key_file: FilePath = ""
    """File of the keys that kept secrets are sealed with; empty: beside the SQLite file. See `TOOLPATH_SEALING_KEY`."""
    queue: str = ""
    """`amqp://user:password@host:5672/vhost`: from there workers take what `serve` stores; empty: it drives."""
    queue_name: str = "toolpath"
    """Who shares queue and name shares the runs in it."""
    queue_prefix: str = ""
    """Stands before the names of all that is made at the broker, as where a cluster gives each team a prefix."""
    queue_type: Literal["classic", "quorum"] = "classic"
    """How the broker keeps the queue; `quorum`: on several nodes, so that losing one loses nothing."""
    queue_heartbeat: Annotated[int, msgspec.Meta(ge=1, le=600)] = 5
    """Seconds of silence after which broker and worker give each other up, where the queue's address does not say."""
    tenant_calls: Count = 0
    """Calls at the same time for one tenant, by all workers together, and its runs under way on them; 0: no limit."""
    max_losses: Limit = 5
    """A run is put aside when so many of its drivers, workers or servers, were lost while the same step ran."""
    tools: tuple[str, ...] = ()
    """Python modules or files whose tools are loaded."""
    folders: tuple[FilePath, ...] = ()
    """Folders of composites, plans and templates that are loaded as tools."""
    mcp: tuple[FilePath, ...] = ()
    """Files with `mcpServers`, as other MCP clients write them."""
    mcp_commands: bool = False
    """Whether admins may keep MCP servers that are programs over REST: an admin who may do so runs any program here."""
    builtin: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    """Groups of built-in tools that are switched on, as `http` or `database`, each with its options."""
    overrides: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    """Key of a tool, or a pattern of keys → fields that win over what the tool says of itself, as its effect."""
    http_allow: tuple[str, ...] = ()
    """Hosts and networks that `http.get`, `http.request`, stored MCP servers and the models of tenants may reach
    besides the public Internet, as `10.0.0.0/8`. The house's own models may be anywhere."""
    http_proxy: str = ""
    """`http://host:port` of a proxy for `http.get` and `http.request`; variables as HTTP_PROXY are not heeded."""
    http: bool = False
    """Whether `http.get` and `http.request` are offered to every plan and planner, on servers too."""
    search: Literal["words", "meaning"] = "words"
    """How tools are found for a text: by their words, or by words and meaning, with the extra `embed`."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Server and workers: the least that is logged."""
    log_format: Literal["auto", "json", "text"] = "auto"
    """Server and workers: `auto` is text on a terminal, else JSON."""
    metrics_listen: str = ""
    """Workers: `HOST:PORT` on which Prometheus finds `/metrics`, or `HOST:PORT-PORT` for several on one machine; empty:
    nowhere. The server has it beside its API."""
    trace_content: bool = False
    """Spans hold arguments and results of calls, redacted as in the journal."""
    retention_days: Annotated[float, msgspec.Meta(ge=0, le=36_500)] = 0.0
    """The server deletes runs that ended so many days ago; 0: none."""
    audit_retention_days: Annotated[float, msgspec.Meta(ge=0, le=36_500)] = 0.0
    """The server lets go of entries of the audit trail that are so many days old; 0: of none."""
    planner_llm: str = ""
    planner_model: str = ""
    planner_temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] = 0.3
    planner_timeout: Seconds = 60.0
    """For making a plan with a model, repairs included."""
    planner_fallback: Literal["offline", "error"] = "offline"
    """What follows when the model gives no plan that checks."""
    time_zone: str = ""
    """In which dates of requests are meant, as `Europe/Berlin`; empty: UTC."""
    locale: str = ""
    """How dates and numbers of requests are written, as `de-DE`: told to a model that plans."""
    planner_floor: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.4
    """A plan made of words that is less sure is not run; one that only reads may be half as sure."""
    planner_experiment: tuple[str, ...] = ()
    """Ways of planning tried side by side with their weights, `model=3`, `rules=1`; empty: the model alone."""
    max_replans: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    """How often a run that fails is planned anew, where the caller does not say."""
    agent_context: Annotated[int, msgspec.Meta(ge=4_000, le=100_000_000)] = 400_000
    """Characters of an agent's conversation above which old results are left out; about four are a token."""
    agent_rounds: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 30
    """Rounds of an agent whose step does not say how many."""
    agent_parallel_calls: bool = True
    """Whether an agent's model may ask for several calls in one answer; false: the first is made, and it is told."""
    user_input_timeout: Seconds = 300.0
    """For people to fill in a form that an agent puts before them; then the agent is told that nobody did."""
    conversation_memory: Annotated[int, msgspec.Meta(ge=6_000, le=10_000_000)] = 30_000
    """Characters of a conversation that a model is told; of a longer one the newest rounds, and a summary."""
    auth: Literal["auto", "required"] = "auto"
    """`auto`: on a loopback address nobody is asked who they are; `required`: everybody is, everywhere."""
    jwt_keys: FilePath = ""
    """File with the public key (PEM) or keys (JWKS) that tokens are signed with; see also `TOOLPATH_JWT_SECRET`."""
    jwt_issuer: str = ""
    """Who must have issued a token (`iss`)."""
    jwt_audience: str = ""
    """Whom a token must be meant for (`aud`)."""
    jwt_leeway: Annotated[float, msgspec.Meta(ge=0, le=300)] = 30.0
    """By how much clocks may differ."""
    jwt_tenant: str = "default"
    """Tenant of tokens that name none. Empty: they belong to no tenant, as the command line does."""
    jwt_claims: tuple[str, ...] = ()
    """Claims with other names than ours, as `tenant=org_id`."""
    allowed_hosts: tuple[str, ...] = ()
    """Names under which the server is reached; empty: on an open server those of this machine, else any."""
    allowed_origins: tuple[str, ...] = ()
    """Web pages of other origins that may call the server, as `https://app.example.org`."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses of proxies that say truly from where a request came."""
    rate_limit: str = "100/second"
    """Requests of one caller, as `limits` writes it; `off`: any number. An open server does not count."""
    mcp_sessions: Limit = 100
    """MCP sessions over HTTP that one caller may have open at once; one that is not used for 10 minutes is closed."""
    max_body: Bytes = 10_000_000
    """A larger body of a request is refused."""
    max_body_values: Annotated[int, msgspec.Meta(ge=1_000, le=2**40)] = 1_000_000
    """A body with more values in it (texts, numbers, lists, objects) is refused."""
    request_timeout: Seconds = 30.0
    """A request whose head or body takes longer to arrive is refused."""
    audit: bool = True
    """Who asked, decided and ran what is written into the audit trail."""


class SettingsRead(msgspec.Struct, frozen=True, kw_only=True):
    """Settings with the place each value comes from, for `toolpath doctor`."""

    settings: Settings
    sources: dict[str, str]
    """Name of each setting that is not at its default → file, variable or flag."""
    unknown: tuple[str, ...] = ()
    """Variables that begin like ours and name no setting."""


#: The planning engine's names of variables; TOOL_DEFAULT_TIMEOUT is in milliseconds.
ENGINE_NAMES = {
    "TOOL_DEFAULT_TIMEOUT": "default_timeout",
    "TOOL_MAX_RETRIES": "max_retries",
    "TOOL_RETRY_BACKOFF": "retry_backoff",
    "TOOL_PARALLEL_LIMIT": "parallel_limit",
    "TOOL_RESULT_CACHE_ENABLED": "cache_enabled",
    "TOOL_RESULT_CACHE_TTL": "cache_ttl",
    "TOOL_PLANNER_LLM": "planner_llm",
    "TOOL_PLANNER_MODEL": "planner_model",
    "TOOL_PLANNER_TEMPERATURE": "planner_temperature",
}
_OWN_PREFIX = "TOOLPATH_"
#: Read by parts other than the settings.
_OTHER_VARIABLES = frozenset(
    {
        "TOOLPATH_CONFIG",
        "TOOLPATH_BENCHMARK_DATA",
        "TOOLPATH_JWT_SECRET",
        "TOOLPATH_REQUIRE_SERVICES",
        "TOOLPATH_SEALING_KEY",
    }
)
_FIELDS = {field.name: field.type for field in msgspec.structs.fields(Settings)}
#: A host, or a pattern of hosts; what has digits and dots alone is meant as an address.
_HOST = re.compile(r"[\w*?.-]+")
_DIGITS = re.compile(r"[0-9.]+")
_WORDS = {"yes": True, "on": True, "no": False, "off": False}


def settings_given(settings: Settings | None) -> Settings:
    """The settings as they are given, or those in force where none are. Raises `ConfigError` for what are none."""
    if settings is None:
        return load_settings()
    if not isinstance(settings, Settings):
        raise ConfigError(
            f"The settings are of type {type(settings).__name__}.",
            hint="Write Settings(parallel_limit=20, …), or Settings(**values).",
        )
    return settings


def load_settings(path: str | Path | None = None, env: Mapping[str, str] | None = None, **flags: Any) -> Settings:
    """The settings in force: flags over environment over file over defaults.

    `path` is a file that must be there; without it `toolpath.toml` of the working folder is read if there is one.
    Flags that are None or empty count as not given. Raises `ConfigError`, naming the setting and its source.
    """
    return read_settings(path, env, **flags).settings


def read_settings(path: str | Path | None = None, env: Mapping[str, str] | None = None, **flags: Any) -> SettingsRead:
    """As `load_settings`, with the source of each value."""
    variables = os.environ if env is None else env
    given: dict[str, tuple[Any, str]] = {}
    given.update(_from_file(path or variables.get("TOOLPATH_CONFIG") or None))
    layers = [given, _from_environment(variables), _from_flags(flags)]
    for layer in layers:
        if "builtin" in layer:
            value, source = layer["builtin"]
            layer["builtin"] = (_switched_on(value, given.get("builtin", ({}, ""))[0], source), source)
        given.update(layer)
    values = {name: _convert(name, value, source) for name, (value, source) in given.items()}
    return SettingsRead(
        settings=Settings(**values),
        sources={name: source for name, (_, source) in given.items()},
        unknown=_unknown_variables(variables),
    )


def _from_flags(flags: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
    return {
        _known(name, "a flag"): (value, f"--{name.replace('_', '-')}")
        for name, value in flags.items()
        if value is not None and value not in ("", (), [])
    }


def _from_file(path: str | Path | None) -> dict[str, tuple[Any, str]]:
    file = Path(path or DEFAULT_FILE)
    if path is None and not file.is_file():
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"The settings file {file} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"The settings file {file} is no TOML: {error}") from None
    source = str(file)
    return {_known(name, source): (_beside(file, name, value), source) for name, value in content.items()}


def _beside(file: Path, name: str, value: Any) -> Any:
    # Paths in a file are relative to the file; addresses and names of modules are no paths.
    match value:
        case list():
            return [_beside(file, name, item) for item in value]
        case str() if value and "://" not in value and value != ":memory:" and _is_path(name, value):
            return str(file.parent / value)
        case _:
            return value


def _is_path(name: str, value: str) -> bool:
    kind = _FIELDS[name]
    return FilePath in (kind, *get_args(kind)) or (name == "tools" and (value.endswith(".py") or "/" in value))


def _from_environment(env: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    found: dict[str, tuple[Any, str]] = {}
    for variable, name in ENGINE_NAMES.items():
        if text := env.get(variable, "").strip():
            found[name] = (_milliseconds(text) if name == "default_timeout" else text, variable)
    for name in _FIELDS:
        variable = _OWN_PREFIX + name.upper()
        if text := env.get(variable, "").strip():
            found[name] = (text, variable)
    return found


def _milliseconds(text: str) -> float:
    try:
        return float(text) / 1000
    except ValueError:
        raise ConfigError(
            f"TOOL_DEFAULT_TIMEOUT is {text!r}; it must be a number of milliseconds.", hint="30000 is 30 seconds."
        ) from None


def _convert(name: str, value: Any, source: str) -> Any:
    wanted = _FIELDS[name]
    if isinstance(value, str) and wanted is bool:
        value = _WORDS.get(value.lower(), value)
    elif isinstance(value, str) and get_origin(wanted) is tuple:
        value = _listed(value)
    elif isinstance(value, str) and name == "overrides":
        value = _table(name, value, source, '{"db.read_*": {"effect": "read"}}')
    elif isinstance(value, str) and name == "synchronous":
        value = value.upper()
    try:
        converted = msgspec.convert(value, wanted, strict=False)
    except msgspec.ValidationError as error:
        # Options of built-in tools may be secrets.
        shown = "no table of tables" if name == "builtin" else repr(value)
        raise ConfigError(f"Setting {name!r} (from {source}) is {shown}: {error}.") from None
    if name == "http_allow":
        _refuse_no_hosts(converted, source)
    return converted


def _table(name: str, text: str, source: str, example: str) -> Any:
    """The table that a variable holds, as JSON."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ConfigError(f"Setting {name!r} (from {source}) is no JSON: {error}.", hint=f"Write {example}.") from None


def _switched_on(value: Any, below: Any, source: str) -> Any:
    """Groups of built-in tools with their options: where they are named alone, with the options that they have below.

    A variable or flag that names groups says which are on; what the file says of those holds on.
    """
    if isinstance(value, str):
        value = (
            _table("builtin", value, source, '{"http": {"hosts": ["*"]}}') if value.startswith("{") else _listed(value)
        )
    if not isinstance(value, list | tuple):
        return value
    options = below if isinstance(below, dict) else {}
    return {str(name): options.get(name, {}) for name in value}


def _listed(text: str) -> list[str]:
    """The items that a variable lists: with commas between, or as a list in JSON."""
    if text.startswith("[") and text.endswith("]"):
        try:
            return msgspec.json.decode(text, type=list[str])
        except (msgspec.DecodeError, msgspec.ValidationError):
            # An IPv6 address stands in brackets, too.
            pass
    return [part.strip() for part in text.split(",") if part.strip()]


def _refuse_no_hosts(entries: tuple[str, ...], source: str) -> None:
    """Raise `ConfigError` for an entry that no host or address could ever be like: it would allow nothing, unseen."""
    for entry in entries:
        try:
            ipaddress.ip_network(entry.strip("[]"), strict=False)
        except ValueError:
            if _HOST.fullmatch(entry) and not _DIGITS.fullmatch(entry):
                continue
            raise ConfigError(
                f"Setting 'http_allow' (from {source}) holds {entry!r}, which is neither a host nor a network.",
                hint="Write a host without scheme, port or path, as localhost or *.example.org, or a network, "
                "as 10.0.0.0/8.",
            ) from None


def _known(name: str, source: str) -> str:
    if name not in _FIELDS:
        raise ConfigError(
            f"There is no setting {name!r} (from {source}).",
            suggestions=closest(name, _FIELDS),
            hint="`toolpath doctor` lists all settings.",
        )
    return name


def _unknown_variables(env: Mapping[str, str]) -> tuple[str, ...]:
    known = {_OWN_PREFIX + name.upper() for name in _FIELDS} | _OTHER_VARIABLES
    return tuple(sorted(name for name in env if name.startswith(_OWN_PREFIX) and name not in known))
