"""Results as tables between markers of a page, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "README.md"
RESULTS = HERE / "results"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; numbers to the right."""
    listed = [[_cell(cell) for cell in row] for row in rows]
    right = ["--:" if all(_is_number(row[i]) for row in listed) else ":--" for i in range(len(head))]
    return "\n".join("| " + " | ".join(line) + " |" for line in [list(head), right, *listed])


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
        case int():
            return f"{value:,}"
        case _:
            return str(value).replace("|", "\\|")


def _is_number(cell: str) -> bool:
    return not cell or cell.replace(",", "").replace(".", "").replace("-", "").isdigit()


def publish(section: str, text: str, data: Any, *, page: Path = PAGE, results: Path = RESULTS) -> None:
    """Put the text between the section's markers of the page and the data into `results/SECTION.json`."""
    results.mkdir(exist_ok=True)
    (results / f"{section}.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    written = page.read_text(encoding="utf-8")
    start, end = f"<!-- {section} -->", f"<!-- /{section} -->"
    before, found, rest = written.partition(start)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{page.name} has no place for {section}: it lacks {start} … {end}.")
    page.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")
