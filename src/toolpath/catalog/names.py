"""Tool names for model providers: at most 64 of `[A-Za-z0-9_-]`, one for each key. Pure.

A key is never guessed from a mangled name by splitting it: who offers tools by such names keeps the key of each.
"""

from __future__ import annotations

import hashlib
import re

MAX_LENGTH = 64
_DIGEST_LENGTH = 12

#: Runs of signs that hold a dot or a dash; runs of underscores alone stay as they are.
_SIGNS = re.compile(r"_*[.-][._-]*")
_CODES = str.maketrans("._-", "pud")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")


def mangle(key: str) -> str:
    """The name under which a model provider is told of the tool, e.g. `blog--createAuthor` for `blog.createAuthor`.

    A lone dot becomes `--`, a lone dash stays, any other run of signs is spelled out as `---…-`, so that different
    keys have different names. What is longer than 64 characters is cut and gets a digest of the key.
    """
    name = _SIGNS.sub(_encode_run, _ILLEGAL.sub("_", key))
    if len(name) > MAX_LENGTH or _ILLEGAL.search(key):
        suffix = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
        name = f"{name[: MAX_LENGTH - _DIGEST_LENGTH - 1]}-{suffix}"
    return name


def _encode_run(match: re.Match[str]) -> str:
    match match.group():
        case ".":
            return "--"
        case "-":
            return "-"
        case run:
            return f"---{run.translate(_CODES)}-"
