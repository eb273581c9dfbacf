"""List of the readers of model output, in the order of trial: a new format is one function and one line here.

A text that may stand within a line begins with one of `MAY_BEGIN`, or is never tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from toolpath.model_output import (
    blocks,
    code_blocks,
    commands,
    labelled,
    marked,
    markup,
    native,
    numbered,
    own,
    planner,
    python_literals,
    react,
    recipients,
    router,
    tags,
    thoughts,
)
from toolpath.model_output.found import TextPiece
from toolpath.model_output.page import Page, Shape


class TextReader(msgspec.Struct, frozen=True):
    """Reads what begins where its pattern matches; None where it is something else after all."""

    begins: str
    read: Callable[[Page, re.Match[str]], TextPiece | None]

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern; `re` keeps it."""
        return re.compile(self.begins, re.MULTILINE)


class ShapeReader(msgspec.Struct, frozen=True):
    """Reads a JSON value, wherever in the text it stands; None where it is of another format."""

    read: Shape


READERS: tuple[TextReader | ShapeReader, ...] = (
    # Text, from left to right: at one place the first pattern that matches decides.
    TextReader(thoughts.OPEN, thoughts.read_thought),
    TextReader(thoughts.CLOSE, thoughts.read_end_of_thought),
    TextReader(recipients.STRIPPED_THOUGHT, recipients.read_stripped_thought),
    TextReader(thoughts.CHANNEL, thoughts.read_channel),
    TextReader(recipients.STRIPPED, recipients.read_stripped),
    TextReader(recipients.STRIPPED_ANSWER, recipients.read_stripped_answer),
    TextReader(recipients.STRIPPED_RESULT, recipients.read_stripped_result),
    TextReader(recipients.RECIPIENT, recipients.read_recipient),
    TextReader(recipients.ALL, recipients.read_all),
    TextReader(recipients.FIRST, recipients.read_first),
    TextReader(recipients.PROMPT, recipients.read_prompt),
    TextReader(recipients.ASSISTANT, recipients.read_assistant),
    TextReader(react.RESULT, react.read_result),
    TextReader(marked.OPEN, marked.read_marked),
    TextReader(markup.ELEMENT, markup.read_element),
    TextReader(tags.PAIR, tags.read_pair),
    TextReader(tags.WRAPPER, tags.read_wrapper),
    TextReader(tags.TOOL, tags.read_tool_tag),
    TextReader(code_blocks.FENCE, code_blocks.read_code),
    TextReader(code_blocks.AGENT, code_blocks.read_agent_code),
    TextReader(code_blocks.PRINTED, code_blocks.read_printed),
    TextReader(python_literals.FENCE, python_literals.read_fence),
    TextReader(own.FENCE, own.read_yaml_fence),
    TextReader(react.LINES, react.read_action_lines),
    TextReader(react.CALL, react.read_action_call),
    TextReader(react.COMMAND, react.read_action_command),
    TextReader(numbered.FUNCTION, numbered.read_function_lines),
    TextReader(numbered.EVIDENCE, numbered.read_evidence),
    TextReader(numbered.NUMBERED, numbered.read_numbered),
    TextReader(labelled.LABELLED, labelled.read_labelled),
    TextReader(labelled.CALLED, labelled.read_called),
    TextReader(labelled.BULLET, labelled.read_bullets),
    TextReader(blocks.START, blocks.read_block),
    # JSON values: the first that knows the value decides.
    ShapeReader(planner.read_tools_and_order),
    ShapeReader(planner.read_tool_chain),
    ShapeReader(planner.read_planner_steps),
    ShapeReader(own.read_own),
    ShapeReader(native.read_exchange),
    ShapeReader(native.read_native),
    ShapeReader(commands.read_command),
    ShapeReader(react.read_react),
    ShapeReader(router.read_router),
    ShapeReader(router.read_list),
    ShapeReader(router.read_one),
)
#: Where a text may begin that a reader knows, which is found in a tenth of the time: an answer is mostly prose.
MAY_BEGIN = re.compile(r"^|\A|[<\[`\u25c1{\u273f>]|assistant|commentary|analysis|to=|functools", re.M)
#: As long as the longest of its words.
LONGEST_BEGINNING = 10
TEXT_READERS = tuple(reader for reader in READERS if isinstance(reader, TextReader))
SHAPES = tuple(reader.read for reader in READERS if isinstance(reader, ShapeReader))
