"""The official conformance suite of MCP against `/mcp`, for both generations of the protocol."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conformance.suite import HERE, ROOT, installed
from tests.patience import PATIENCE

REVISIONS = ("2025-11-25", "2026-07-28")
PAGE = ROOT / "docs" / "reference" / "mcp-conformance.md"


@pytest.fixture
def modules() -> Path:
    return installed()


@pytest.fixture
def port() -> Iterator[int]:
    server = subprocess.Popen(
        [sys.executable, str(HERE / "fixture_server.py"), "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        yield int(server.stdout.readline())
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


@pytest.mark.timeout(900)
def test_the_suite_passes_but_for_what_is_not_offered(modules: Path, port: int, tmp_path: Path) -> None:
    for revision in REVISIONS:
        ran = subprocess.run(
            [
                str(modules / ".bin" / "node"),
                str(modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"),
                "server",
                f"--url=http://127.0.0.1:{port}/mcp",
                "--suite=all",
                f"--spec-version={revision}",
                f"--expected-failures={HERE / f'{revision}.yml'}",
                f"--output-dir={tmp_path / revision}",
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        told = ran.stdout[ran.stdout.find("=== SUMMARY") :]
        assert ran.returncode == 0, f"{revision}:\n{told}\n{ran.stderr[-2000:]}"
        assert "tools-call-simple-text" in told


def test_the_page_lists_every_expected_failure() -> None:
    page = PAGE.read_text()
    for revision in REVISIONS:
        section = page.partition(f"## {revision}")[2].partition("\n## ")[0]
        listed = set(re.findall(r"^\| `([\w-]+)` \| fails", section, re.MULTILINE))
        assert listed == set(re.findall(r"^  - (\S+)$", (HERE / f"{revision}.yml").read_text(), re.MULTILINE))
