"""Files of requests in the manner of people over twelve tool sets in four languages, with what is right for each.

Which half a request is in, a bit of the SHA-256 of its text says. The half set aside is looked at only as figures of
all of it, so that no rule is made for one of its requests. Days are meant from Tuesday 10 March 2026, nine o'clock UTC.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
TOOL_SETS: Final = "tool_sets.jsonl"
DEVELOPMENT: Final = "development.jsonl"
SET_ASIDE: Final = "set_aside.jsonl"
