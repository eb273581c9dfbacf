"""A picture of how a planner did, as SVG: its shares as bars, and how often its plans are right for how sure it was.

Pure, and without any library: rectangles, circles and text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT, _SIDE, _TOP = 760, 360, 240, 70
_LEFT, _RIGHT = 190, 490
_INK, _PALE, _BLUE, _ORANGE = "#1f2933", "#cbd2d9", "#2b6cb0", "#c05621"


def svg(title: str, shares: Mapping[str, float | None], pairs: Sequence[tuple[float, bool]], *, bins: int = 10) -> str:
    """The picture. `shares`: name → 0 to 1; `pairs`: of each plan its confidence, and whether it was right."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="{_INK}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        _text(20, 32, title, size=16),
        *_bars(shares),
        *_frame(),
        *_calibration(pairs, bins),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _bars(shares: Mapping[str, float | None]) -> list[str]:
    parts: list[str] = []
    each = _SIDE / max(1, len(shares))
    for number, (name, share) in enumerate(shares.items()):
        y = _TOP + number * each
        parts.append(_text(_LEFT - 10, y + each / 2 + 4, name, anchor="end"))
        parts.append(_box(_LEFT, y + 4, 200, each - 8, _PALE, opacity=0.4))
        if share is not None:
            parts.append(_box(_LEFT, y + 4, 200 * share, each - 8, _BLUE))
        parts.append(_text(_LEFT + 206, y + each / 2 + 4, "-" if share is None else f"{share:.0%}"))
    return parts


def _frame() -> list[str]:
    bottom = _TOP + _SIDE
    return [
        f'<rect x="{_RIGHT}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="{_PALE}"/>',
        f'<line x1="{_RIGHT}" y1="{bottom}" x2="{_RIGHT + _SIDE}" y2="{_TOP}" stroke="{_INK}" stroke-dasharray="4 4"/>',
        *(_text(_RIGHT + _SIDE * part, bottom + 16, f"{part:.0%}", anchor="middle") for part in (0, 0.5, 1)),
        *(_text(_RIGHT - 6, bottom - _SIDE * part + 4, f"{part:.0%}", anchor="end") for part in (0.5, 1)),
        _text(_RIGHT + _SIDE / 2, bottom + 34, "how sure the planner was", anchor="middle"),
        _text(_RIGHT, _TOP - 10, "how many of its plans were right"),
    ]


def _calibration(pairs: Sequence[tuple[float, bool]], bins: int) -> list[str]:
    grouped: dict[int, list[tuple[float, bool]]] = {}
    for sure, right in pairs:
        grouped.setdefault(max(0, min(bins - 1, int(sure * bins))), []).append((sure, right))
    parts: list[str] = []
    for _, group in sorted(grouped.items()):
        mean = sum(sure for sure, _ in group) / len(group)
        share = sum(right for _, right in group) / len(group)
        radius = 3 + 9 * (len(group) / len(pairs)) ** 0.5
        parts.append(
            f'<circle cx="{_RIGHT + _SIDE * mean:.1f}" cy="{_TOP + _SIDE * (1 - share):.1f}" r="{radius:.1f}" '
            f'fill="{_ORANGE}" fill-opacity="0.8"><title>{len(group)} plans, {mean:.0%} sure, {share:.0%} right</title>'
            "</circle>"
        )
    return parts


def _box(x: float, y: float, width: float, height: float, fill: str, *, opacity: float = 1.0) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" '
        f'fill-opacity="{opacity:g}"/>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
