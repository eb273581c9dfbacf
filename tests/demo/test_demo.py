from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import msgspec
import pytest
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared

from toolpath.cli.project.demo.folder import missing_servers

pytestmark = pytest.mark.mcp


def toolpath(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("TOOL")}
    command = prepared("toolpath", *arguments)
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.slow
def test_the_demo_runs_on_real_servers_and_what_it_made_can_be_looked_into(tmp_path: Path) -> None:
    if missing_servers() and os.environ.get("TOOLPATH_REQUIRE_SERVICES") != "1":
        pytest.skip("the extra 'demo' is not installed")
    done = toolpath(tmp_path, "demo", "--into", "here")
    assert done.returncode == 0, done.stderr
    assert "8 commits by 3 people, 29 lines added, on main" in done.stdout
    assert "18:00 in Nairobi" in done.stdout
    assert "page attempt 1 failed" in done.stderr
    assert "praise skipped" in done.stderr
    folder = tmp_path / "here"
    assert (folder / "report.md").read_text() in done.stdout
    assert zipfile.is_zipfile(folder / "report.xlsx")

    shown = msgspec.json.decode(toolpath(folder, "runs", "show", "last", "--json").stdout)
    attempts = {step["path"]: step["attempts"] for step in shown["results"] if "attempts" in step}
    assert shown["status"] == "completed"
    assert attempts["page"] == 2
    assert sum(path.endswith("/diff") for path in attempts) == 8

    checked = toolpath(folder, "validate", "report.plan.yaml")
    assert checked.returncode == 0
    assert "0 errors, 0 warnings" in checked.stdout + checked.stderr
    assert "critical path" in toolpath(folder, "explain", "report.plan.yaml").stdout
    assert (
        "Asia/Tokyo" in toolpath(folder, "tools", "call", "time.get_current_time", "-i", "timezone=Asia/Tokyo").stdout
    )
