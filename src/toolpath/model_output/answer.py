"""The pieces of one text as one answer: what belongs together, and what contradicts itself."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right

from toolpath.errors import ReadError
from toolpath.model_output.found import ModelText, ReaderResult
from toolpath.model_output.page import Page
from toolpath.model_output.parallel import spread
from toolpath.model_output.scan import Scanned
from toolpath.notation.nodes import DocumentNode
from toolpath.values import canonical

#: What may stand between calls of one list: blanks, separators, fences, numbers and bullets of a list.
_BETWEEN = re.compile(
    r"(?:[\s,;:*-]|```\w*|\d{1,4}[.)]|\b(?:and|then|next|also|finally|second|third|after that|afterwards)\b)*+", re.I
)
#: What only calls say. Where it stands and nothing was found, silence would hide a call.
_LEFT_OVER = re.compile(
    r"[\"'](?:action_input|tool_calls?|tool_name|tool_input|arguments|function_call|executionOrder|toolChain)[\"']\s*:"
    r"|</(?:tool_call|function|invoke|parameter|\w{0,20}arg_value)>|</?(?:escape|longcat_tool_call)>|<\|\"\|>|\[ARGS\]|tool_call_(?:start|end|begin)"
    r"|^[ \t]*(?:(?i:action input):|Parameters:[ \t]*\{|✿ARGS✿)"
    r"|\\\"(?:tool_calls?|tool_name|arguments|tool_uses)\\\"\s*:"
    r"|^[ \t]*\**Action(?: \d{1,3})?\**:\**[ \t]*[`*]{0,2}[a-z]\w*[_.]\w+[`*]{0,2}[ \t]*$"
    r"|<\|tool_call:|<__function="
    r"|<(?:tool|function|call|invoke|tool_call|function_call)\s[^<>\n]{0,200}\bname\s*=[^<>\n]{1,400}/>"
    r"|<tool\s{1,9}name\s{0,9}=\s{0,9}[\"'][^\"'<>\n]{1,99}[\"']\s{0,9}>\s{0,9}\{"
    r"|</tool>\s{0,9}<(?:arg|param|input)\w{0,9}>"
    r"|`[a-z]\w*_\w+`[ \t]+(?:with|using)[^`\n]{0,40}`\{\""
    r"|\A\s*\"[\[{]\s{0,9}\\\""
    r"|\A\s{0,9}[-*][ \t]+\*\*Tool\*\*:[ \t]*\w+[ \t]*\n\s{0,9}[-*][ \t]+\*\*[A-Z]\w*(?![\w*:])",
    re.M,
)
#: What begins a call and stands behind others: the last of several was cut off.
_BEGUN = re.compile(r"\bto=(?:functions|multi_tool_use)\.|<\|recipient\|>[ \t]*(?!all\b)[A-Za-z_]")
_NAMED_VALUE = r"[ \t]*\w{1,60}[ \t]*=[ \t]*[\"'\[{\d]"
#: What says that a call comes now, and then the call: no example is told so.
_ANNOUNCED = re.compile(
    r"\b(?:(?:I(?:['\u2019]ll| will|['\u2019]m going to| am going to)|[Ll]et(?: me|['\u2019]s|s))"
    r"(?: (?:now|first|then|next))?"
    r" (?:call|use|run|invoke|execute)|[Cc]alling|[Ii]nvoking|[Ee]xecuting)[: \t]{1,3}[`*]{0,2}"
    rf"[A-Za-z_][\w.\-]{{0,120}}\({_NAMED_VALUE}"
)
#: A line that is a call with values, outside a block of code: whether it is meant as one cannot be told.
_BARE = re.compile(
    r"^(?:[@/$]|\{\{[ \t]*|\w{1,60}[ \t]*=[ \t]*(?:await[ \t]+)?|await[ \t]+|[A-Za-z_]\w{0,120}\([ \t]*)?"
    rf"[A-Za-z_][\w.\-]{{0,120}}\({_NAMED_VALUE}[^\n]*\)[ \t]*(?:\}}\}}[ \t]*)?$"
    r"|^[a-z][a-z0-9]*(?:_|[A-Z])\w{0,120}[ \t]*\n?[ \t]*\{\s{0,9}\""
    rf"|(?<![\w`\])])\[[ \t]*[A-Za-z_][\w.\-]{{0,120}}\([ \t]*\w{{1,60}}[ \t]*=(?!=)",
    re.M,
)
_FENCES = re.compile(r"^[ \t]*```", re.M)
_Placed = tuple[int, int, ReaderResult]


def answer_of(page: Page) -> ModelText:
    """The one answer that a page holds. Raises `ReadError` where it is broken or contradicts itself."""
    scanned = Scanned(page)
    for _, piece in scanned.pieces:
        if piece.error is not None and not piece.doubtful:
            raise piece.error
    founds = scanned.founds()
    if any(found.one_a_turn for _, _, found in founds):
        _refuse_doubtful(scanned, sure=True)
    placed = [one for one in founds if one[2].calls or one[2].plan is not None]
    if not placed:
        _refuse_doubtful(scanned)
        form = founds[-1][2].format if founds else "text"
        return ModelText(prose=scanned.prose(), format=form, repaired=_repairs(page, scanned))
    _refuse_begun(scanned)
    kept = _agreed(page, placed)
    _refuse_gaps(page, kept)
    return ModelText(
        calls=spread((call for found in kept for call in found.calls), page),
        prose=scanned.prose(),
        plan=next((found.plan for found in kept if found.plan is not None), None),
        format=kept[0].format,
        repaired=_repairs(page, scanned),
    )


def _refuse_doubtful(scanned: Scanned, *, sure: bool = False) -> None:
    errors: list[ReadError] = [piece.error for _, piece in scanned.pieces if piece.error is not None]
    # An empty list of calls is an answer; then a token that opens nothing was a slip.
    # Where one action a turn counts, a later one must not stand in for the one that could not be read.
    if errors and (sure or not scanned.founds()):
        raise errors[0]
    if sure or scanned.founds():
        return
    for start, end in scanned.gaps():
        left = _LEFT_OVER.search(scanned.page.text, start, end) or _BEGUN.search(scanned.page.text, start, end)
        if left:
            raise scanned.page.broken("This looks like a call, and no call can be made of it.", left.start())
    _refuse_bare(scanned)


def _refuse_begun(scanned: Scanned) -> None:
    """Raise `ReadError` where a call is begun behind the others and goes no further."""
    start, end = scanned.gaps()[-1]
    begun = _BEGUN.search(scanned.page.text, start, end)
    if begun:
        raise scanned.page.broken("A call is begun here and does not end.", begun.start(), "It may have been cut off.")


def _refuse_bare(scanned: Scanned) -> None:
    """Raise `ReadError` where a line outside a block of code is a call and was not read as one."""
    fences = [match.start() for match in _FENCES.finditer(scanned.page.text)]
    for start, end in scanned.gaps():
        for bare in itertools.chain(
            _BARE.finditer(scanned.page.text, start, end), _ANNOUNCED.finditer(scanned.page.text, start, end)
        ):
            if bisect_right(fences, bare.start()) % 2 == 0:
                unsure = "This line looks like a call, and whether it is meant as one cannot be told."
                raise scanned.page.broken(unsure, bare.start(), "Give calls alone, in one of the formats.")


def _refuse_gaps(page: Page, kept: list[ReaderResult]) -> None:
    """Raise `ReadError` where a line of a numbered plan is missing: it could not be read."""
    calls = [call for found in kept if found.format == "numbered" for call in found.calls]
    for before, after in itertools.pairwise(calls):
        if int(after.id) != int(before.id) + 1:
            at = page.offset(DocumentNode(None, after.line, after.column))
            raise page.broken(f"After number {before.id} of the plan comes {after.id}.", at)


def _repairs(page: Page, scanned: Scanned) -> tuple[str, ...]:
    return page.repairs([(start, piece.end) for start, piece in scanned.pieces if piece.found or piece.hidden])


def _agreed(page: Page, placed: list[_Placed]) -> list[ReaderResult]:
    """The findings that make up the answer. Raises `ReadError` where there are several answers."""
    marked = [one for one in placed if one[2].marked]
    if marked:
        said = {_key(call) for _, _, found in marked for call in found.calls}
        for start, _, found in placed:
            if not found.marked and any(_key(call) not in said for call in found.calls):
                raise _contradiction(page, start, marked[0][0])
        placed = marked
    plans = [one for one in placed if one[2].plan is not None]
    if plans or not (marked or _is_one_list(page, placed)):
        first = placed[0]
        for other in placed[1:]:
            if not _same(first[2], other[2]):
                raise _contradiction(page, other[0], first[0])
        return [first[2]]
    return [found for _, _, found in placed]


def _is_one_list(page: Page, placed: list[_Placed]) -> bool:
    return all(_BETWEEN.fullmatch(page.text, before[1], after[0]) for before, after in itertools.pairwise(placed))


def _same(left: ReaderResult, right: ReaderResult) -> bool:
    return left.plan == right.plan and [_key(call) for call in left.calls] == [_key(call) for call in right.calls]


def _key(call: object) -> bytes:
    return canonical([getattr(call, "tool", ""), getattr(call, "inputs", None)])


def _contradiction(page: Page, at: int, first: int) -> ReadError:
    line, column = page.place(first)
    return page.broken(
        f"The text holds another answer, which differs from the one at line {line}, column {column}.",
        at,
        "Which one is meant cannot be told; give one.",
    )
