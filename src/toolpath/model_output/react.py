"""ReAct: one action a turn, as a JSON object or in two lines; what follows it is imagined."""

from __future__ import annotations

import re

from toolpath.errors import ReadError
from toolpath.model_output.found import Found, ModelCall, Piece
from toolpath.model_output.page import Page
from toolpath.model_output.single import plain, single_call, tool_name
from toolpath.model_output.tolerant import Values
from toolpath.notation.nodes import Node

#: Actions that end the work with an answer for people.
ENDS = frozenset({"final answer", "final_answer", "finalanswer", "finish", "final response", "final_response"})
LINES = r"^[ \t]*\**Action\**:\**[ \t]*([^\n`{}]{1,200}?)[ \t]*\n\s*\**Action Input\**:\**[ \t]*"
RESULT = (
    r"^[ \t]*\**(?:Observation|Tool (?:result|output|response))s?\**[ \t]*(?::|$)"
    r"|<(?:[|]?tool_response[|]?|function_results|tool_result)>"
)
_AFTER_RESULT = re.compile(
    r"^[ \t]*(?:Thought|Action|Final Answer|Question)\b|</(?:tool_response|function_results|tool_result)>", re.M
)
_FENCE = re.compile(r"```\w*\s*")


def read_react(page: Page, node: Node, marked: bool) -> Found | None:
    """`{"action": tool, "action_input": …}`; a text as input stays a text."""
    members = node.value
    if not isinstance(members, dict) or "action" not in members or not isinstance(members["action"].value, str):
        return None
    if members["action"].value.strip().lower() in ENDS and members.keys() & {"action_input", "answer"}:
        answer = members.get("action_input") or members["answer"]
        text = answer.value if isinstance(answer.value, str) else str(plain(answer, page))
        return Found(format="react", prose=text, one_a_turn=True, marked=marked)
    call = single_call(node, page, marked=marked)
    return None if call is None else Found(format="react", calls=(call,), one_a_turn=True, marked=marked)


def read_action_lines(page: Page, match: re.Match[str]) -> Piece | None:
    """`Action: tool` and `Action Input: …` on lines of their own."""
    at = match.end()
    line_end = page.text.find("\n", at)
    line_end = len(page.text) if line_end < 0 else line_end
    written = page.text[at:line_end].strip()
    if match.group(1).strip().lower() in ENDS:
        return Piece(end=line_end, found=Found(format="react", prose=written, one_a_turn=True))
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
            return Piece(end=max(match.end(), page.where(error)), error=error)
    elif not written:
        inputs = {}
    line, column = page.place(match.start(1))
    call = ModelCall(tool=tool_name(match.group(1), page, match.start(1)), inputs=inputs, line=line, column=column)
    return Piece(end=end, found=Found(format="react", calls=(call,), one_a_turn=True))


def read_result(page: Page, match: re.Match[str]) -> Piece | None:
    """A result that the model wrote itself, up to its next thought, action or answer."""
    after = page.search(_AFTER_RESULT, match.end())
    return Piece(end=after.start() if after else len(page.text), hidden=True, imagined=True)
