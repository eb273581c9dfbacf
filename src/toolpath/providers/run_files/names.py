"""Names of files as they may be kept: one meaning on every system, no way out of a folder. Pure."""

from __future__ import annotations

import unicodedata
from typing import Final

from toolpath.errors import FileRefused

#: Bytes of one name, parts of a path, and characters of a whole one.
_LONGEST_NAME: Final = 200
_DEEPEST: Final = 20
_LONGEST_PATH: Final = 1_000
#: What the names begin with that the house keeps for itself: half-written files, and what was done.
OWN: Final = ".tp~"
#: Devices of Windows, whatever stands behind a dot.
_RESERVED: Final = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in "123456789¹²³")]
)
#: And what looks like one: division slash, fraction slash, big solidus, set minus.
_SEPARATORS: Final = "/\\:\u2215\u2044\u29f8\u29f5\u2216"


def parts_of(path: str) -> tuple[str, ...]:
    """The names of a path inside a folder, outermost first; none: the folder itself. Raises `FileRefused`."""
    if len(path) > _LONGEST_PATH:
        raise FileRefused(f"A path has at most {_LONGEST_PATH} characters.")
    if path in ("", ".", "./"):
        return ()
    if path.startswith(("/", "\\")):
        raise FileRefused(f"{_shown(path)} is no path inside the folder.", hint="Leave the first slash out.")
    parts = tuple(safe_name(part) for part in path.removeprefix("./").removesuffix("/").split("/"))
    if len(parts) > _DEEPEST:
        raise FileRefused(f"A path has at most {_DEEPEST} parts.")
    return parts


def safe_name(name: str) -> str:
    """The name in its one form (Unicode NFC). Raises `FileRefused` for what is none, or would be another elsewhere."""
    found = unicodedata.normalize("NFC", name)
    fault = _fault_of(found)
    if fault:
        raise FileRefused(f"{_shown(name)} is no name of a file: {fault}.", hint="Give it another name.")
    return found


def _fault_of(name: str) -> str:
    # As it looks: a full-width dot or slash is one to somebody.
    seen = unicodedata.normalize("NFKC", name)
    checks = (
        (not name.strip(), "it is empty"),
        (seen in (".", "..") or name.strip(". ") == "", "it means a folder"),
        (any(sign in seen for sign in _SEPARATORS), "it holds a separator of paths"),
        (any(unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for sign in name), "it holds a "
         "sign that is not seen"),
        (any(sign in '<>"|?*' for sign in name), "it holds one of < > \" | ? *"),
        (name != name.strip() or name.endswith("."), "it ends or begins with a space, or ends with a dot"),
        (seen.partition(".")[0].strip().casefold() in _RESERVED, "it is that of a device"),
        (seen.casefold().startswith(OWN), f"names with {OWN} are kept for the house"),
    )  # fmt: skip
    for is_so, fault in checks:
        if is_so:
            return fault
    return f"it has more than {_LONGEST_NAME} bytes" if len(name.encode()) > _LONGEST_NAME else ""


def as_safe_name(name: str) -> str:
    """A safe name that is as much as may be of what a stranger called a file: the last part, without what is refused.

    Raises `FileRefused` where nothing is left.
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join("_" if sign in ':<>"|?*' else sign for sign in unicodedata.normalize("NFKC", last))
    kept = "".join(sign for sign in kept if unicodedata.category(sign)[0] != "C" and sign not in "/\\").strip(" .")
    stem, dot, ending = kept.rpartition(".")
    if len(kept.encode()) > _LONGEST_NAME:
        most = _LONGEST_NAME - len((dot + ending).encode()) if len(ending) < 20 else _LONGEST_NAME
        whole = stem if len(ending) < 20 else kept
        kept = whole.encode()[:most].decode("utf-8", "ignore") + (dot + ending if len(ending) < 20 else "")
    return safe_name(kept)


def ending_of(name: str) -> str:
    """The last ending of a name in lower case, without its dot."""
    return name.rpartition(".")[2].casefold() if "." in name else ""


def _shown(name: str) -> str:
    return ascii(name[:100])
