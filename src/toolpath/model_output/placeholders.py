"""Values that stand for a value: `extracted`, `extracted@example.com`, `<placeholder>`. No tool can use them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolpath.errors import Finding
from toolpath.model.plan import Call, Plan, every_step
from toolpath.model_output.page import visible
from toolpath.values import walk

_WHOLE = re.compile(
    r"[<\[({]*\s*(?:the[ _-])?(?:"
    r"(?:to[ _-]be[ _-])?extracted(?:[ _-]?(?:from[ _-])?\w{1,30}){0,4}"
    r"|\w{0,30}[ _-]?extracted"
    r"|place[ _-]?holder(?:[ _-]\w{1,30}){0,2}"
    r"|your[ _-]\w{1,40}[ _-]here"
    r")\s*[>\])}]*",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:extracted|placeholder)[\w.+-]{0,60}@example\.(?:com|org|net)", re.IGNORECASE)
_LONGEST = 120


def is_placeholder(text: str) -> bool:
    """The whole text is a word for a value instead of the value. Templates are none."""
    bare = text.strip()
    if not bare or len(bare) > _LONGEST or "{{" in bare or "<<" in bare:
        return False
    return _WHOLE.fullmatch(bare) is not None or _ADDRESS.fullmatch(bare) is not None


def placeholder_findings(plan: Plan) -> Iterator[Finding]:
    """An error for each input of a call that is a placeholder."""
    for at, step in every_step(plan.block):
        if not isinstance(step, Call):
            continue
        for path, value in walk(step.inputs, f"{at}/inputs"):
            if isinstance(value, str) and is_placeholder(value):
                line, column = plan.source.position(path) or (None, None)
                yield Finding(
                    code="placeholder_value",
                    severity="error",
                    message=f"Placeholder value detected: {visible(value)!r}.",
                    path=path,
                    line=line,
                    column=column,
                    hint="Write the value itself, or a reference to the step that gives it.",
                )
