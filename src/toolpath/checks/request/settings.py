"""Settings of a tool that words beside a command speak of: `no refund`, `they would rather have a voucher`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import STOPS, listed_concepts
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.verbs import folded
from toolpath.model.tool import Tool
from toolpath.values import Json, JsonObject

#: Options that say that something is not done.
_NONE: Final = frozenset(("none", "no", "never", "nothing", "off", "without", "keine", "aucun", "ninguno"))
#: Concepts that say nothing of what is set.
_PALE: Final = frozenset(("id", "name", "number", "path", "such", "new", "show", "title", "call", "change"))
_WORD: Final = re.compile(r"[^\W\d_][\w'\u2019-]*")


class CallSetting(msgspec.Struct, frozen=True):
    """A parameter, as words beside a command may speak of it."""

    name: str
    words: frozenset[str]
    """Of its name, without those that every call of the tool is about; none of one that has to be given."""
    options: tuple[Json, ...]
    is_flag: bool
    preset: Json = None
    is_needed: bool = False


def settings_of(tool: Tool) -> Sequence[CallSetting]:
    """The parameters of a tool."""
    known = tool.__dict__.get("_settings")
    if known is None:
        known = tuple(_settings(tool))
        tool.__dict__["_settings"] = known
    return known


def _settings(tool: Tool) -> Iterator[CallSetting]:
    properties, required = plain_inputs(tool).get("properties"), plain_inputs(tool).get("required")
    if not isinstance(properties, dict):
        return
    needed = [one for one in required if isinstance(one, str)] if isinstance(required, list) else []
    own = {stem(folded(word)) for text in (tool.name, *needed) for word in raw_words(text)}
    for name, schema in properties.items():
        if not isinstance(schema, dict):
            continue
        items = schema.get("items")
        options = (items if isinstance(items, dict) else schema).get("enum")
        words = frozenset(folded(word) for word in raw_words(name) if stem(folded(word)) not in own)
        yield CallSetting(
            name,
            words - STOPS - _PALE,
            tuple(options) if isinstance(options, list) else (),
            schema.get("type") == "boolean",
            schema.get("default"),
            name in needed,
        )


def none_of(setting: CallSetting) -> Json:
    """The value that says that it is not done; None where there is not one such value."""
    if setting.is_needed:
        return None
    if setting.is_flag:
        return False
    found = [one for one in setting.options if isinstance(one, str) and _is_none(one, setting)]
    return found[0] if len(found) == 1 else None


def _is_none(option: str, setting: CallSetting) -> bool:
    words = {folded(word) for word in raw_words(option)}
    return bool(words & _NONE) and words <= _NONE | setting.words


def is_named(word: str, setting: CallSetting) -> bool:
    """Whether a word names the parameter, in its own words or in others that mean it."""
    return any(_is_alike(word, one) for one in setting.words)


def options_said(word: str, setting: CallSetting) -> list[Json]:
    """The options that a word says, by themselves or in another language."""
    return [
        one
        for one in setting.options
        if isinstance(one, str)
        and not _is_none(one, setting)
        and any(_is_alike(word, part) for part in raw_words(one) if folded(part) not in STOPS)
    ]


def _is_alike(word: str, own: str) -> bool:
    plain = folded(word)
    if plain in STOPS or len(plain) < 3:
        return False
    return stem(plain) == stem(folded(own)) or bool((listed_concepts(word) & listed_concepts(own)) - _PALE)


class Spoken(msgspec.Struct, frozen=True):
    """The settings of a call that a denial speaks of."""

    words: frozenset[str] = frozenset()
    """Of the denial: those that name a setting, as they stand there."""
    is_open: bool = False
    """The call does not set it so."""


def spoken_of(words: Sequence[str], tool: Tool, inputs: JsonObject) -> Spoken:
    """The settings of a call that a denial with these words speaks of."""
    named: set[str] = set()
    is_open = False
    for setting in settings_of(tool):
        own = [word for word in words if is_named(word, setting)]
        said = {str(option): word for word in words for option in options_said(word, setting)}
        if not own and not said:
            continue
        named |= {*own, *said.values()}
        value = inputs.get(setting.name, setting.preset)
        held = {str(one) for one in value} if isinstance(value, list) else {str(value)}
        is_none = value is False or (isinstance(value, str) and _is_none(value, setting))
        is_other = value is not None and bool(said) and not held & said.keys()
        is_open = is_open or not (is_none or is_other)
    return Spoken(frozenset(named), is_open)


def may_be_set(tool: Tool, inputs: JsonObject) -> bool:
    """Whether something is left to the tool that it might do as the request says not to."""
    return any(
        not one.is_needed and not one.is_flag and one.preset is None and one.name not in inputs
        for one in settings_of(tool)
    )


def says_an_open_option(text: str, tool: Tool, inputs: JsonObject) -> bool:
    """Whether a text says one of the options of a setting that a call leaves as it is: `they want a voucher`."""
    words = _WORD.findall(text)
    return any(
        setting.name not in inputs and any(options_said(word, setting) for word in words)
        for setting in settings_of(tool)
    )


def is_denied_setting(text: str, tools: Sequence[Tool]) -> bool:
    """Whether what is denied is a setting of one of these tools, which has a value for that: `no refund`."""
    words = _WORD.findall(text)
    return any(
        none_of(setting) is not None and (_is_whole(words, setting) if setting.is_flag else _is_one(words, setting))
        for tool in tools
        for setting in settings_of(tool)
    )


def _is_one(words: Sequence[str], setting: CallSetting) -> bool:
    return any(is_named(word, setting) for word in words)


def _is_whole(words: Sequence[str], setting: CallSetting) -> bool:
    """A flag is named by all of its words: of `waive_fee` one says something else."""
    return bool(setting.words) and all(any(_is_alike(word, one) for word in words) for one in setting.words)
