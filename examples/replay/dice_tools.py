"""Tools that never give the same twice, and are not there with OFFLINE set."""

import os
import random

from toolpath import ToolFailed, tool


@tool(group="dice", effect="read")
def roll(sides: int) -> int:
    """Roll a die."""
    if os.environ.get("OFFLINE"):
        raise ToolFailed("The casino is closed.")
    return random.randint(1, sides)
