"""ReAct: one action a turn, as a JSON object or in two lines; what follows it is imagined."""

from __future__ import annotations

import re

from toolpath.errors import ReadError
from toolpath.model_output.found import ModelCall, ReaderResult, TextPiece
from toolpath.model_output.page import Page
from toolpath.model_output.python_literals import NAME, read_call
from toolpath.model_output.single import plain, single_call, tool_name
from toolpath.model_output.tolerant import Values
from toolpath.notation.nodes import DocumentNode

#: Actions that end the work with an answer for people.
ENDS = frozenset({"final answer", "final_answer", "finalanswer", "finish", "final response", "final_response"})
LINES = r"^[ \t]*\**Action\**:\**[ \t]*([^\n`{}]{1,200}?)[ \t]*\n\s*\**Action Input\**:\**[ \t]*"
CALL = rf"^[ \t]*\**Action(?:[ \t]\d{{1,3}})?\**:\**[ \t]*`?(?=({NAME})[(\[])"
#: Willison's loop: the tool, a colon, its one text, and the word that ends the turn.
COMMAND = rf"^[ \t]*Action:[ \t]*({NAME}):[ \t]*([^\n]{{1,2000}})\n\s{{0,9}}PAUSE\b"
RESULT = (
    r"^[ \t]*\**(?:Observation(?:[ \t]\d{1,3})?|Tool (?:result|output|response))s?\**[ \t]*(?::|$)"
    r"|<(?:[|]?tool_response[|]?|function_results|tool_result)>"
)
_RESULT_END = re.compile(r"</(?:tool_response|function_results|tool_result)>|<\|/tool_response\|>|<tool_response\|>")
_AFTER_RESULT = re.compile(r"^[ \t]*(?:Thought|Action|Final Answer|Question)\b", re.M)
_LINE_END = re.compile(r"[`*]{0,2}[ \t]*(?=\n|\Z|<\|)")
_RAW = re.compile(r"\[([^\]\n]{0,2000})\]|\(([^()\n]{0,2000})\)")
#: What is written as Python writes values or names them; all else is one text.
_QUOTED = re.compile(r"\s*(?:[\"'\[{]|[-+]?\d[\d.]*\s*(?:,|\Z)|(?:True|False|None)\b|[A-Za-z_]\w*\s*=(?!=))")
_FENCE = re.compile(r"```\w*\s*")


def read_react(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """`{"action": tool, "action_input": …}`; a text as input stays a text."""
    members = node.value
    if not isinstance(members, dict) or "action" not in members or not isinstance(members["action"].value, str):
        return None
    if members["action"].value.strip().lower() in ENDS and members.keys() & {"action_input", "answer"}:
        answer = members.get("action_input") or members["answer"]
        text = answer.value if isinstance(answer.value, str) else str(plain(answer, page))
        return ReaderResult(format="react", prose=text, one_a_turn=True, marked=marked)
    call = single_call(node, page, marked=marked)
    return None if call is None else ReaderResult(format="react", calls=(call,), one_a_turn=True, marked=marked)


def read_action_lines(page: Page, match: re.Match[str]) -> TextPiece | None:
    """`Action: tool` and `Action Input: …` on lines of their own."""
    at = match.end()
    line_end = page.text.find("\n", at)
    line_end = len(page.text) if line_end < 0 else line_end
    written = page.text[at:line_end].strip()
    if match.group(1).strip().lower() in ENDS:
        return TextPiece(end=line_end, found=ReaderResult(format="react", prose=written, one_a_turn=True))
    inputs: object = written
    start = page.skip(at)
    fence = _FENCE.match(page.text, start)
    start = fence.end() if fence else start
    end = line_end
    if page.text.startswith("{", start):
        try:
            node, end = Values(page).whole(start)
            inputs = plain(node, page)
        except ReadError as error:
            return TextPiece(end=max(match.end(), page.where(error)), error=error)
    elif not written and line_end == len(page.text):
        cut = page.broken("The input of the action is missing.", line_end, "It may have been cut off.")
        return TextPiece(end=line_end, error=cut)
    elif not written:
        inputs = {}
    line, column = page.place(match.start(1))
    call = ModelCall(tool=tool_name(match.group(1), page, match.start(1)), inputs=inputs, line=line, column=column)
    return TextPiece(end=end, found=ReaderResult(format="react", calls=(call,), one_a_turn=True))


def read_action_call(page: Page, match: re.Match[str]) -> TextPiece | None:
    """`Action: tool(name="value")` or `Action: Tool[text]`; unsure where the line goes on after it."""
    at = match.end()
    try:
        call, end = _bracketed(page, at, match.group(1))
    except ReadError as error:
        return TextPiece(end=max(at + 1, page.where(error)), error=error)
    ended = _LINE_END.match(page.text, end)
    if ended is None:
        unsure = page.broken("After the action its line goes on.", end)
        return TextPiece(end=end, error=unsure, doubtful=True)
    if call.tool.strip().lower() in ENDS:
        given = list(call.inputs.values()) if isinstance(call.inputs, dict) else call.inputs
        said = "\n".join(str(one) for one in given) if isinstance(given, list) else str(given)
        return TextPiece(end=ended.end(), found=ReaderResult(format="react", prose=said, one_a_turn=True))
    return TextPiece(end=ended.end(), found=ReaderResult(format="react", calls=(call,), one_a_turn=True))


def _bracketed(page: Page, at: int, name: str) -> tuple[ModelCall, int]:
    """The call in round or square brackets; a text in them needs no quotes where it holds no bracket."""
    line, column = page.place(at)
    raw = _RAW.match(page.text, at + len(name))
    if raw and (page.text[at + len(name)] == "[" or not _QUOTED.match(raw.group(1) or raw.group(2) or '"')):
        text = (raw.group(1) or raw.group(2) or "").strip()
        text = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
        return ModelCall(tool=tool_name(name, page, at), inputs=text, line=line, column=column), raw.end()
    return read_call(page, at)


def read_action_command(page: Page, match: re.Match[str]) -> TextPiece | None:
    """`Action: tool: text` and `PAUSE` below."""
    line, column = page.place(match.start(1))
    name = tool_name(match.group(1), page, match.start(1))
    call = ModelCall(tool=name, inputs=match.group(2).strip(), line=line, column=column)
    return TextPiece(end=match.end(), found=ReaderResult(format="react", calls=(call,), one_a_turn=True))


def read_result(page: Page, match: re.Match[str]) -> TextPiece | None:
    """A result that the model wrote itself, up to its next thought, action or answer; between tags, all of it."""
    if match.group().startswith("<"):
        closing = page.search(_RESULT_END, match.end())
        return TextPiece(end=closing.end() if closing else len(page.text), hidden=True, imagined=True)
    after = page.search(_AFTER_RESULT, match.end())
    return TextPiece(end=after.start() if after else len(page.text), hidden=True, imagined=True)
