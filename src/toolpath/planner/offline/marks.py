"""Forms of values that are known by their marks, in whatever reader: addresses, handles. Pure.

Quotations are those of `checks/request/tokens.py`, which the checks of plans go by, too."""

from __future__ import annotations

import re
from typing import Final

EMAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s'\"<>]{1,2000}[^\s'\"<>.,;!?)]")
#: A channel or a person, as chats write them.
HANDLE: Final = re.compile(r"(?<![\w&/#@.+-])[#@][A-Za-z][\w-]{0,80}(?<=\w)(?!@|\.\w)")
