"""A bank. Its statement takes a minute, unless somebody is in a hurry."""

import os
import time
from pathlib import Path

from toolpath import tool


@tool(group="bank", effect="write")
def pay(to: str, amount: int) -> str:
    """Pay somebody. Each payment is a line of ledger.txt."""
    with Path("ledger.txt").open("a") as file:
        file.write(f"{amount} to {to}\n")
    return f"{to}-{amount}"


@tool(group="bank", effect="read", timeout="5m")
def statement(receipts: list[str]) -> str:
    """Print the statement; slowly."""
    Path("printing").touch()
    if not os.environ.get("HURRY"):
        time.sleep(60)
    return f"{len(receipts)} payments: {', '.join(receipts)}"
