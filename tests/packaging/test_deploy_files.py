"""The image and the composition of services name only what there is: files, commands, settings, services."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main
from ruamel.yaml import YAML

from toolpath.cli.main import app
from toolpath.config import Settings, load_settings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def compose() -> dict[str, Any]:
    return dict(YAML(typ="safe").load((ROOT / "compose.yaml").read_text()))


@pytest.fixture
def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, continued lines joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines if line)]


def check_command(words: list[str]) -> None:
    """The command line takes these words."""
    command = typer.main.get_command(app)
    context = command.make_context("toolpath", list(words), resilient_parsing=True)
    verb = command.commands[words[0]]  # type: ignore[attr-defined]
    # Only this way an option that is not there is refused.
    verb.make_parser(verb.context_class(verb, parent=context)).parse_args(list(words[1:]))


def test_the_image_is_slim_and_of_nobody_in_particular(instructions: list[tuple[str, str]]) -> None:
    last = [index for index, (word, _) in enumerate(instructions) if word == "FROM"][-1]
    final = instructions[last:]
    assert instructions[last][1].endswith("-slim")
    (user,) = [rest for word, rest in final if word == "USER"]
    assert int(user.partition(":")[0]) > 1000, "a number, so that it can be seen not to be root"
    assert [word for word, _ in final].index("USER") < [word for word, _ in final].index("ENTRYPOINT")
    assert any(word == "HEALTHCHECK" for word, _ in final)


def test_the_image_copies_what_is_there_and_what_may_be_sent(instructions: list[tuple[str, str]]) -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for word, rest in instructions:
        if word == "COPY" and "--from" not in rest:
            for name in shlex.split(rest)[:-1]:
                assert (ROOT / name).exists(), name
                assert name.removeprefix("./") in sent, name


def test_the_image_installs_with_the_pip_that_knows_the_options(instructions: list[tuple[str, str]]) -> None:
    (build,) = [rest for word, rest in instructions if word == "RUN" and "--build-constraint" in rest]
    pinned = build.find("grep '^pip==' constraints.txt")
    assert 0 < pinned < build.find("--build-constraint"), "the base image's own pip may be older than this option"


def test_the_image_sets_settings_that_there_are_and_runs_a_command_that_there_is(
    instructions: list[tuple[str, str]],
) -> None:
    said = dict(instructions)
    assert json.loads(said["ENTRYPOINT"]) == ["toolpath"]
    check_command(json.loads(said["CMD"]))
    given = dict(pair.split("=", 1) for pair in shlex.split(said["ENV"]) if pair.startswith("TOOLPATH_"))
    load_settings(env=given)
    assert given
    extras = re.search(r"\.\[([\w,]+)\]", str(instructions))
    assert extras is not None
    assert {"server", "postgres", "workers"} <= set(extras[1].split(","))


def test_services_wait_for_services_that_are_there_and_can_tell_how_they_are(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"server", "worker", "postgres", "rabbitmq"}
    for name, service in services.items():
        for other, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert "healthcheck" in services[other], (name, other)
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source.startswith("./") or source in compose["volumes"]
    assert services["server"]["ports"] == ["127.0.0.1:8000:8000"], "who opens it to others decides that"


def test_services_run_commands_and_set_settings_that_there_are(compose: dict[str, Any]) -> None:
    fields = {f"TOOLPATH_{name.upper()}" for name in Settings.__struct_fields__}
    for name in ("server", "worker"):
        service = compose["services"][name]
        check_command(service["command"])
        own = {key: value for key, value in service["environment"].items() if key.startswith("TOOLPATH_")}
        assert set(own) <= fields
        filled = {key: re.sub(r"\$\{\w+:-(.*?)\}", r"\1", re.sub(r"\$\{\w+:\?.*?\}", "x", v)) for key, v in own.items()}
        settings = load_settings(env=filled)
        assert (settings.store, settings.queue) == (
            "postgresql://toolpath:x@postgres:5432/toolpath",
            "amqp://toolpath:x@rabbitmq:5672/",
        )


def test_no_password_is_written_down(compose: dict[str, Any]) -> None:
    text = (ROOT / "compose.yaml").read_text()
    for line in text.splitlines():
        if "PASS" in line:
            assert re.search(r"\$\{\w+:\?", line), line
