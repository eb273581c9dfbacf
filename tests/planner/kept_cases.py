"""A door with a scripted model, which processes of one test share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.planner.planning_cases import ALICE, answer, schema

from toolpath import Settings, Toolpath
from toolpath.testing.scripted import scripted
from toolpath.testing.scripted_chat import ScriptedChat

REQUEST = "Create author Alice with email alice@test.com"


def door(store: str | Path, *replies: Any, model: Any = None, secrets: Mapping[str, str] | None = None) -> Toolpath:
    chat = ScriptedChat(then=model or answer(ALICE))
    tp = Toolpath(store, chat=chat, secrets=secrets, settings=Settings(planner_experiment=("model=1",)))
    described = {"effect": "write", "description": "Create an author.", "input_schema": schema("name", "email")}
    tp.add(scripted("blog.createAuthor", *replies, then={"_id": "a"}, **described))
    return tp
