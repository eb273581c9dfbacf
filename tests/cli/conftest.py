"""The fixtures of the tests of the command line; what they are made of is in `cli_cases`."""

from __future__ import annotations

from cli_cases import shop, toolpath

__all__ = ["shop", "toolpath"]
