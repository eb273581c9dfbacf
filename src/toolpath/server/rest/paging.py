"""Pages of a list: how many at most, after which one, and the mark that the next page begins at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from fastapi import Query

from toolpath.server.rest.described import TEXT

Row = TypeVar("Row")
Mark = TypeVar("Mark")

#: Rows of a page where nobody says how many.
ROWS = 50
Limit = Annotated[int, Query(ge=1, le=500, description="At most so many.")]
Before = Annotated[str | None, Query(max_length=200, pattern=TEXT, description="Last id of the page before.")]


def one_page(found: Sequence[Row], limit: int, mark: Callable[[Row], Mark]) -> tuple[Sequence[Row], Mark | None]:
    """The page, and the mark of its last row; None: there is no further page.

    `found` has one row more than a page has where there are more.
    """
    page = found[:limit]
    return page, mark(page[-1]) if len(found) > limit else None
