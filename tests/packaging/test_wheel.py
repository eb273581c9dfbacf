"""The wheel, built and installed into a fresh environment, does what the source does. Needs a package index."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]


def run(*command: object, **options: object) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TOOLPATH"))}
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, env=env, check=False, **options
    )  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    there = tmp_path_factory.mktemp("wheel")
    constraints = ROOT / "constraints.txt"
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--build-constraint",
        constraints,
        "--wheel-dir",
        there,
        ROOT,
    )
    (built,) = there.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    there = tmp_path_factory.mktemp("venv")
    venv.create(there, with_pip=True)
    run(there / "bin" / "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel)
    return there / "bin"


def test_the_wheel_holds_all_files_of_the_package_and_no_others(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.startswith("toolpath-")}
    source = ROOT / "src"
    files = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert names == files


def test_the_package_alone_runs_a_plan(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "from toolpath import tool\n\n\n@tool(group='shop', effect='read')\n"
        'def price(item: str) -> float:\n    """The price."""\n    return 2.5\n'
    )
    ran = run(environment / "toolpath", "--tools", "shop.py", "run", "shop.price", "-i", "item=tea", cwd=tmp_path)
    assert ran.strip() == "2.5"
    assert run(environment / "toolpath", "--version").startswith("toolpath ")
    listed = json.loads(run(environment / "pip", "list", "--format", "json"))
    assert not {"fastapi", "asyncpg", "taskiq", "structlog"} & {package["name"].lower() for package in listed}


def test_with_the_extra_it_serves(environment: Path, wheel: Path, tmp_path: Path) -> None:
    run(environment / "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", f"{wheel}[server]")
    process = subprocess.Popen(
        [environment / "toolpath", "serve", "--port", "0"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        address = process.stderr.readline().removeprefix("Listening on ").strip()
        with urllib.request.urlopen(f"{address}/ready", timeout=PATIENCE) as answer:
            assert answer.status == 200
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 0
        process.stderr.close()
