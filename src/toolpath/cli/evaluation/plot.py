"""A picture of an evaluation, as SVG: the data sets side by side, and how often plans are right for how sure they were.

Pure, and without any library: rectangles, circles, lines and text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

_MARGIN, _NAMES, _COLUMN, _BAR, _LINE, _SIDE = 24, 250, 118, 68, 24, 240
_COLUMNS = 6
_REFUSALS = _MARGIN + _NAMES + _COLUMNS * _COLUMN
_WIDTH = _REFUSALS + 210 + _MARGIN
_TOP = 96
_INK, _GREY, _PALE, _BLUE, _ORANGE = "#1f2933", "#616e7c", "#e4e7eb", "#2b6cb0", "#c05621"
#: Characters of a name that have room before the bars.
_LONGEST = 31


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotRow:
    """A data set, or all of them, in the picture. Shares are 0 to 1; None: there was nothing to count."""

    name: str
    tasks: int
    shares: Mapping[str, float | None]
    refusals: tuple[int, int, int]
    """Right, wrong, missed."""
    calibration_error: float | None


def svg(title: str, rows: Sequence[PlotRow], pairs: Sequence[tuple[float, bool]], *, bins: int = 10) -> str:
    """The picture. The last of several rows is of all together; `pairs`: of each plan its confidence, was it right."""
    curve = _TOP + len(rows) * _LINE + 76
    height = curve + _SIDE + 64
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="12" fill="{_INK}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(_MARGIN, 36, title, size=16, bold=True),
        *_head(rows),
        *(part for number, row in enumerate(rows) for part in _row(row, _TOP + number * _LINE)),
        *_rule(rows),
        *_frame(curve),
        *_calibration(pairs, bins, curve),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _head(rows: Sequence[PlotRow]) -> list[str]:
    y = _TOP - 12
    names = list(rows[0].shares) if rows else []
    return [
        _text(_MARGIN + _NAMES - 14, y, "tasks", anchor="end", fill=_GREY),
        *(_text(_column(number), y, name, fill=_GREY) for number, name in enumerate(names)),
        _text(_REFUSALS + 62, y - 15, "refusals", anchor="middle", fill=_GREY),
        _text(_REFUSALS + 62, y, "right/wrong/missed", anchor="middle", fill=_GREY),
        _text(_WIDTH - _MARGIN, y - 15, "calibration", anchor="end", fill=_GREY),
        _text(_WIDTH - _MARGIN, y, "error", anchor="end", fill=_GREY),
    ]


def _column(number: int) -> float:
    return _MARGIN + _NAMES + number * _COLUMN


def _row(row: PlotRow, top: float) -> list[str]:
    y = top + _LINE / 2 + 4
    name = row.name if len(row.name) <= _LONGEST else f"{row.name[: _LONGEST - 1]}…"
    error = row.calibration_error
    parts = [
        f"<g><title>{escape(row.name)}</title>",
        _text(_MARGIN, y, name),
        _text(_MARGIN + _NAMES - 14, y, f"{row.tasks:,}", anchor="end"),
    ]
    for number, share in enumerate(row.shares.values()):
        x = _column(number)
        parts.append(_box(x, top + 5, _BAR, _LINE - 10, _PALE))
        if share is not None:
            parts.append(_box(x, top + 5, _BAR * share, _LINE - 10, _BLUE))
        parts.append(_text(x + _BAR + 6, y, "-" if share is None else f"{share:.0%}"))
    parts.append(_text(_REFUSALS + 62, y, " / ".join(f"{one:,}" for one in row.refusals), anchor="middle"))
    parts.append(_text(_WIDTH - _MARGIN, y, "-" if error is None else f"{error:.3f}", anchor="end"))
    return [*parts, "</g>"]


def _rule(rows: Sequence[PlotRow]) -> list[str]:
    """A line above the row of all together."""
    if len(rows) < 2:
        return []
    y = _TOP + (len(rows) - 1) * _LINE
    return [f'<line x1="{_MARGIN}" y1="{y}" x2="{_WIDTH - _MARGIN}" y2="{y}" stroke="{_GREY}"/>']


def _frame(top: float) -> list[str]:
    left, bottom = _MARGIN + 46, top + _SIDE
    notes = (
        "On the dashed line the plans are right as often as they say.",
        "Below it they are surer than they should be, above it less sure.",
        "The larger a circle, the more plans are as sure as this.",
    )
    return [
        _text(_MARGIN, top - 24, "how many of the plans were right", fill=_GREY),
        f'<rect x="{left}" y="{top}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="{_PALE}"/>',
        *(
            f'<line x1="{left}" y1="{top + _SIDE * part:.1f}" x2="{left + _SIDE}" y2="{top + _SIDE * part:.1f}" '
            f'stroke="{_PALE}"/>'
            for part in (0.25, 0.5, 0.75)
        ),
        f'<line x1="{left}" y1="{bottom}" x2="{left + _SIDE}" y2="{top}" stroke="{_GREY}" stroke-dasharray="4 4"/>',
        *(_text(left + _SIDE * part, bottom + 22, f"{part:.0%}", anchor="middle") for part in (0, 0.5, 1)),
        *(_text(left - 14, bottom - _SIDE * part + 4, f"{part:.0%}", anchor="end") for part in (0, 0.5, 1)),
        _text(left + _SIDE / 2, bottom + 42, "how sure they were", anchor="middle", fill=_GREY),
        *(_text(left + _SIDE + 40, top + 16 + 20 * line, note, fill=_GREY) for line, note in enumerate(notes)),
    ]


def _calibration(pairs: Sequence[tuple[float, bool]], bins: int, top: float) -> list[str]:
    left = _MARGIN + 46
    if not pairs:
        return [_text(left + _SIDE / 2, top + _SIDE / 2, "no plans", anchor="middle", fill=_GREY)]
    grouped: dict[int, list[tuple[float, bool]]] = {}
    for sure, right in pairs:
        grouped.setdefault(max(0, min(bins - 1, int(sure * bins))), []).append((sure, right))
    points: list[tuple[float, float]] = []
    circles: list[str] = []
    for _, group in sorted(grouped.items()):
        mean = sum(sure for sure, _ in group) / len(group)
        share = sum(right for _, right in group) / len(group)
        x, y = left + _SIDE * mean, top + _SIDE * (1 - share)
        radius = 3 + 9 * (len(group) / len(pairs)) ** 0.5
        points.append((x, y))
        circles.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{_ORANGE}" fill-opacity="0.8">'
            f"<title>{len(group):,} plans, {mean:.0%} sure, {share:.0%} right</title></circle>"
        )
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return [f'<polyline points="{line}" fill="none" stroke="{_ORANGE}" stroke-width="1.5"/>', *circles]


def _box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, fill: str = _INK, bold: bool = False
) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}"{weight}>'
        f"{escape(text)}</text>"
    )
