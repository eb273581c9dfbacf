from __future__ import annotations

import subprocess
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import msgspec
import pytest

from toolpath.cli.project.demo.folder import make_folder
from toolpath.cli.project.demo.page import team_page
from toolpath.errors import ConfigError


def commits(repository: Path) -> list[str]:
    done = subprocess.run(
        ["git", "log", "--format=%h %an %s"], cwd=repository, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_the_folder_holds_plan_tools_servers_settings_and_a_repository(tmp_path: Path) -> None:
    demo = make_folder(tmp_path / "demo")
    assert tomllib.loads(demo.settings.read_text())["store"] == "runs.db"
    servers = msgspec.json.decode((demo.folder / "mcp.json").read_bytes())["mcpServers"]
    assert set(servers) == {"git", "time", "fetch", "excel"}
    assert demo.plan.is_file()
    assert len(commits(demo.repository)) == 8


def test_the_repository_is_the_same_every_time_and_made_anew(tmp_path: Path) -> None:
    demo = make_folder(tmp_path / "demo")
    first = commits(demo.repository)
    (demo.repository / "left.txt").write_text("over")
    make_folder(demo.folder)
    assert commits(demo.repository) == first
    assert not (demo.repository / "left.txt").exists()


def test_a_folder_that_is_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    (tmp_path / "toolpath.toml").write_text("parallel_limit = 2\n")
    with pytest.raises(ConfigError, match="not empty and no demo"):
        make_folder(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thesis.txt", "toolpath.toml"]


def test_the_page_is_not_ready_at_first_and_then_tells_the_offices() -> None:
    with team_page() as address:
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(address)
        caught.value.close()
        assert caught.value.code == 503
        with urllib.request.urlopen(address) as answer:
            assert b"Europe/Lisbon" in answer.read()
