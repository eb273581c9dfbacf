"""The tools `shell.run` and `python.run`: a program in a process that is killed in time. On only where they are named.

They are no sandbox: a program may do what the user may do that Toolpath runs as. What it is kept from is to outlive
its time, to fill the memory, and to read the environment.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Annotated, Any, Final

import msgspec

from toolpath.errors import ConfigError, ToolFailed
from toolpath.model.plan import Retry
from toolpath.model.redaction import Redactor
from toolpath.model.tool import Body, Tool
from toolpath.providers.builtin.groups import BuiltinGroup, options_of
from toolpath.providers.builtin.option_secrets import ToldSecrets, filled
from toolpath.providers.builtin.programs import Bounds, Ended, run_program
from toolpath.providers.surroundings import Surroundings
from toolpath.values import Json, JsonObject, decode

#: Seconds that the engine waits longer than the program may take.
_GRACE: Final = 15.0
#: Characters of a command or program: a system takes no longer argument.
_LONGEST: Final = 30_000
#: Characters of an input.
_LONGEST_INPUT: Final = 10_000_000
#: Bytes at a cut that are looked through for the secrets of the run, at least.
_MARGIN: Final = 4_096
#: Of what is written, so much is told with an error.
_TOLD: Final = 1_000


class CodeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the groups `shell` and `python`. Sizes are bytes, times seconds."""

    timeout: Annotated[float, msgspec.Meta(gt=0, le=3_600)] = 60.0
    """The most that a call may take."""
    max_output: Annotated[int, msgspec.Meta(ge=1_000, le=50_000_000)] = 100_000
    """Of stdout, and of stderr, so much is kept."""
    memory: Annotated[int, msgspec.Meta(ge=0)] = 2 * 1024**3
    """Of each process; 0: no limit."""
    cpu: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Seconds of processor time of each process; 0: no limit."""
    max_file: Annotated[int, msgspec.Meta(ge=0)] = 1024**3
    """Of each file that is written; 0: no limit."""
    env: dict[str, str] = {}
    """Variables that programs have besides PATH, HOME, TMPDIR and LANG; may hold `{{ secrets.NAME }}`."""
    program: str = ""
    """The shell, or the Python; empty: bash or sh, or that of Toolpath."""


def shell_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tool `shell.run`. Raises `ConfigError`."""
    options = options_of("shell", given, CodeOptions)
    shell = options.program or shutil.which("bash") or "/bin/sh"
    return _group(options, surroundings, [_program("shell", shell), "-c"], _SHELL)


def python_group(given: JsonObject, surroundings: Surroundings) -> BuiltinGroup:
    """The tool `python.run`. Raises `ConfigError`."""
    options = options_of("python", given, CodeOptions)
    return _group(options, surroundings, [_program("python", options.program or sys.executable), "-I", "-c"], _PYTHON)


_SHELL: Final = ("shell", "command", "Run a shell command. Each call begins in a fresh shell.", "The command line.")
_PYTHON: Final = ("python", "code", "Run a Python program. What it prints is the result.", "The program.")


def _folder_of_run(surroundings: Surroundings, run_id: str) -> str:
    """Where the files of the run are; empty where runs have no folders here."""
    try:
        place = None if surroundings.folders is None else surroundings.folders.place("runs", run_id)
    except ConfigError:
        return ""
    if place is None:
        return ""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return str(place)


def _program(group: str, path: str) -> str:
    found = shutil.which(path)
    if found is None:
        raise ConfigError(f"Setting 'builtin.{group}': there is no program {path!r}.", hint="Name it with its path.")
    return os.path.abspath(found)


def _group(
    options: CodeOptions, surroundings: Surroundings, begin: list[str], texts: tuple[str, str, str, str]
) -> BuiltinGroup:
    group, argument, description, argument_text = texts

    async def run(inputs: JsonObject, context: Any) -> Json:
        own = Redactor()
        secrets = ToldSecrets(surroundings.secrets, own.add)
        try:
            env = {name: filled(value, secrets) for name, value in options.env.items()}
        except ConfigError as error:
            raise ToolFailed(error.message, hint=error.hint) from None
        bounds = Bounds(
            seconds=min(inputs.get("timeout") or options.timeout, options.timeout),
            output=options.max_output,
            memory=options.memory,
            cpu=options.cpu,
            file=options.max_file,
            margin=max(_MARGIN, own.longest),
        )
        if len(inputs.get("stdin") or "") > _LONGEST_INPUT:
            raise ToolFailed(f"The input has more than {_LONGEST_INPUT:,} characters.", hint="Give a part of it.")

        def clean(text: str) -> str:
            return own.text(context.redact(text))

        home = await asyncio.to_thread(tempfile.mkdtemp, prefix="toolpath-")
        try:
            folder = await asyncio.to_thread(_folder_of_run, surroundings, str(context.run_id)) or home
            argv = [*begin, inputs[argument]]
            env = {"HOME": home, "TMPDIR": home, **env}
            stdin = inputs.get("stdin") or ""
            ended = await run_program(argv, folder=folder, bounds=bounds, stdin=stdin, env=env, clean=clean)
        finally:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, home, ignore_errors=True))
        return await asyncio.to_thread(_shown, ended, bounds, inputs, clean, own)

    tool = Tool(
        name="run",
        group=group,
        title=f"Run {group}",
        description=(
            f"{description} It has {options.timeout:g} seconds at most, no terminal, and begins in the "
            "folder of the run's files; all that it starts ends with it. An exit code other than 0 is no failure of "
            "the call unless must_succeed says so."
        ),
        category="external",
        input_schema=_input_schema(argument, argument_text, options.timeout),
        output_schema=_OUTPUT,
        output_validation="strict",
        effect="write",
        timeout=options.timeout + _GRACE,
        retry=Retry(max_retries=0),
        capabilities=(f"{group}.run",),
        limitations=(f"Of each output {options.max_output:,} bytes are kept.",),
        body=Body(invoke=run, wants_context=True),
    )
    return BuiltinGroup((tool,), said=f"{begin[0]}, {options.timeout:g} s")


def _input_schema(argument: str, argument_text: str, timeout: float) -> JsonObject:
    return {
        "type": "object",
        "properties": {
            argument: {"type": "string", "minLength": 1, "maxLength": _LONGEST, "description": argument_text},
            "stdin": {"type": "string", "description": "What it reads from its input."},
            "timeout": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": timeout,
                "description": "Seconds; then it is killed.",
            },
            "must_succeed": {"type": "boolean", "description": "Fail where the exit code is not 0."},
            "json": {"type": "boolean", "description": "Read what it prints as JSON: that is `value`."},
        },
        "required": [argument],
        "additionalProperties": False,
    }


_OUTPUT: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "exit_code": {"type": ["integer", "null"], "description": "null: it was ended."},
        "ended_by": {"type": "string", "description": "timeout, output, or a signal; empty: it ended by itself."},
        "stdout": {"type": "string"},
        "stderr": {"type": "string"},
        "cut": {"type": "boolean", "description": "More was written than is here: the middle is left out."},
        "value": {"description": "What was printed, where it was asked for as JSON; else null."},
    },
    "required": ["exit_code", "ended_by", "stdout", "stderr", "cut", "value"],
}


def _value(ended: Ended) -> Json:
    try:
        return decode(ended.stdout)
    except (ValueError, RecursionError):
        cut = " It was cut: more was printed than is kept." if ended.cut else ""
        raise ToolFailed(f"What the program printed is no JSON.{cut}", details=msgspec.to_builtins(ended)) from None


def _shown(ended: Ended, bounds: Bounds, inputs: JsonObject, clean: Callable[[str], str], own: Redactor) -> Json:
    """The result without the secrets that the program was given. Raises `ToolFailed`, without them as well."""
    try:
        return own.value(_result(ended, bounds, inputs, clean))
    except ToolFailed as error:
        error.details = own.value(error.details)
        raise


def _result(ended: Ended, bounds: Bounds, inputs: JsonObject, clean: Callable[[str], str]) -> Json:
    answer: JsonObject = msgspec.to_builtins(ended)
    if not inputs.get("must_succeed") or ended.exit_code == 0:
        return {**answer, "value": _value(ended) if inputs.get("json") else None}
    how = f"was ended: {ended.ended_by}" if ended.exit_code is None else f"ended with exit code {ended.exit_code}"
    # Cut short only without the secrets: a piece of one is not found any more.
    said = clean(ended.stderr.strip() or ended.stdout.strip())[-_TOLD:]
    hint = f"It had {bounds.seconds:g} seconds." if ended.ended_by == "timeout" else ""
    raise ToolFailed(f"The program {how}.{f' {said}' if said else ''}", details=answer, hint=hint)
