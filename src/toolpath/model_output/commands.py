"""AutoGPT's answers: thoughts, and one command beside them."""

from __future__ import annotations

from toolpath.model_output.found import ReaderResult
from toolpath.model_output.page import Page
from toolpath.model_output.single import single_call
from toolpath.notation.nodes import DocumentNode

_KEYS = ("command", "ability", "use_tool")
#: Commands that end the work or call nothing.
_ENDS = ("task_complete", "finish", "do_nothing", "goals_accomplished", "")


def read_command(page: Page, node: DocumentNode, marked: bool) -> ReaderResult | None:
    """`{"thoughts": {…}, "command": {"name": …, "args": {…}}}`; None for an object of another kind."""
    members = node.value
    if not isinstance(members, dict):
        return None
    keys = [key for key in _KEYS if key in members and isinstance(members[key].value, dict)]
    if len(keys) != 1 or not ("thoughts" in members or ("command" in keys and len(members) == 1)):
        return None
    command = members[keys[0]]
    if "thoughts" not in members and "name" not in command.value:
        return None
    spoken = _spoken(members.get("thoughts"))
    name = command.value.get("name")
    if name is not None and isinstance(name.value, str) and name.value.strip() in _ENDS:
        return ReaderResult(format="command", prose=spoken, one_a_turn=True, marked=marked)
    call = single_call(command, page, marked=True)
    if call is None:
        raise page.broken("This command is no call: it names no tool.", command)
    return ReaderResult(format="command", calls=(call,), prose=spoken, one_a_turn=True, marked=marked)


def _spoken(thoughts: DocumentNode | None) -> str | None:
    """The thought that is meant for people; the others are not."""
    spoken = thoughts.value.get("speak") if thoughts is not None and isinstance(thoughts.value, dict) else None
    return spoken.value if spoken is not None and isinstance(spoken.value, str) else None
