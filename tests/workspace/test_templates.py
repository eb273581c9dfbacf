"""Plan templates that are kept: versions, titles, channels, export and import, on every store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath import PlanInvalid, Toolpath
from toolpath.errors import (
    PolicyViolationError,
    ReadError,
    RecordConflict,
    RecordNotFound,
    RunConflict,
    SchemaError,
    ToolpathError,
)
from toolpath.model.template import PlanTemplate
from toolpath.values import JsonObject, encode
from toolpath.workspace.template_exchange import TemplateExchange
from toolpath.workspace.templates import TemplateDraft

GREET: JsonObject = {
    "name": "Greet",
    "description": "Greets somebody",
    "steps": [{"id": "said", "tool": "talk.say", "inputs": {"text": "Hello <<name>>", "times": "<<times>>"}}],
    "outputs": "{{ said }}",
}
CONFIG: JsonObject = {
    "title": "News",
    "serviceGroup": "reports",
    "steps": [{"stepRequirement": "Collect news on <<topic>>", "selectedToolKeys": ["talk.say"]}],
    "toolConfig": {"enableHttpService": True, "enableInternalToolcall": False},
}


def say(text: str, times: int = 1) -> str:
    """Say a text some times."""
    return " ".join([text] * times)


@pytest.fixture(params=["memory", "sqlite"])
async def tp(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Toolpath]:
    async with Toolpath(None if request.param == "memory" else tmp_path / "runs.db") as door:
        door.add(say, group="talk", effect="read")
        yield door


def changed(document: JsonObject, text: str) -> JsonObject:
    step: Any = document["steps"]
    return {**document, "steps": [{**step[0], "inputs": {"text": text}}]}


async def test_a_template_runs_with_the_values_of_its_parameters(tp: Toolpath) -> None:
    template = await tp.templates.save(GREET, user="ada")
    assert (template.title, template.description, template.group) == ("Greet", "Greets somebody", "ungrouped")
    assert (template.version, template.published, template.user) == (1, 0, "ada")
    result = await tp.run(await tp.templates.run_of(template), {"name": "Bo", "times": 2})
    assert result.outputs == "Hello Bo Hello Bo"
    (run,) = await tp.store.list_runs(plan_id=template.template_id)
    assert run.run_id == result.run_id


async def test_without_a_value_there_is_no_run_and_what_is_missing_is_said_all_at_once(tp: Toolpath) -> None:
    template = await tp.templates.save(GREET)
    with pytest.raises(PlanInvalid) as caught:
        await tp.run(await tp.templates.run_of(template), {})
    assert {finding.code for finding in caught.value.findings} == {"missing_input"}
    assert len(caught.value.findings) == 2
    fixed = await tp.templates.save({**GREET, "name": "x", "timeout": "<<seconds>>"}, TemplateDraft(title="Other"))
    with pytest.raises(PlanInvalid, match="seconds"):
        await tp.templates.run_of(fixed, {"name": "Bo", "times": 1})
    assert await tp.runs() == []


async def test_a_template_says_what_it_is_to_be_given(tp: Toolpath) -> None:
    needed = await tp.templates.parameters(await tp.templates.save(GREET))
    assert [(each.name, each.type, each.required) for each in needed.parameters] == [
        ("name", "string", True),
        ("times", "", True),
    ]
    assert needed.schema["required"] == ["name", "times"]


async def test_a_document_equal_to_the_newest_adds_no_version_whatever_the_order_of_its_keys(tp: Toolpath) -> None:
    first = await tp.templates.save(GREET)
    again = await tp.templates.save(dict(reversed(GREET.items())), template=first)
    assert again == first
    second = await tp.templates.save(
        changed(GREET, "Hi <<name>>"), TemplateDraft(comment="shorter"), template=again, user="bo"
    )
    assert [(each.version, each.by, each.comment) for each in second.versions] == [(1, "", ""), (2, "bo", "shorter")]
    assert await tp.templates.document(second, 1) == GREET


WRITTEN = """# How the counter greets.
name: Greet
steps:
  - id: said
    tool: say
    inputs: {text: "<<text>>"}  # as people call themselves
"""


async def test_what_was_written_stays_as_it_was_with_its_comments(tp: Toolpath) -> None:
    template = await tp.templates.save(WRITTEN)
    assert await tp.templates.text(template) == WRITTEN
    again = await tp.templates.save(WRITTEN, template=template)
    assert again.version == 1, "the same text adds no version"
    assert (await tp.templates.save(await tp.templates.document(template), template=again)).version == 1
    other = await tp.templates.save(WRITTEN.replace("How the", "The way the"), template=again)
    assert other.version == 2, "a comment is a change of its own"
    assert "+# The way the counter greets." in (await tp.templates.diff(other, 1, 2)).text
    data = await tp.templates.save(changed(GREET, "data"), template=other)
    assert await tp.templates.text(data) == "", "what came as data has no text"
    back = await tp.templates.roll_back(data, 1)
    assert (back.version, await tp.templates.text(back)) == (4, WRITTEN)
    await tp.templates.delete(back)
    assert await tp.store.list_records("template_text") == []


async def test_texts_of_versions_that_are_gone_go_too(tp: Toolpath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolpath.workspace.templates._MOST_VERSIONS", 2)
    template = await tp.templates.save(WRITTEN)
    for number in range(4):
        template = await tp.templates.save(f"# {number}\n{WRITTEN}", template=template)
    assert len(await tp.store.list_records("template_text")) == 2
    assert await tp.templates.text(template) == f"# 3\n{WRITTEN}"


async def test_versions_are_beside_each_other_step_by_step_and_an_earlier_one_can_be_had_back(tp: Toolpath) -> None:
    first = await tp.templates.save(GREET)
    more = {**changed(GREET, "Hi <<name>>"), "description": "Else"}
    more["steps"] = [*more["steps"], {"id": "then", "tool": "talk.say", "inputs": {"text": "{{ said }}"}}]
    second = await tp.templates.save(more, template=first)
    diff = await tp.templates.diff(second, 1, 2)
    assert (diff.added, diff.removed, diff.changed, diff.fields) == (
        ("then",),
        (),
        {"said": ("inputs",)},
        ("description",),
    )
    assert '-  "description": "Greets somebody",' in diff.text.splitlines()
    assert '+  "description": "Else",' in diff.text.splitlines()
    third = await tp.templates.roll_back(second, 1)
    assert third.version == 3
    assert await tp.templates.document(third) == GREET
    with pytest.raises(RecordNotFound, match="has no version 9"):
        await tp.templates.roll_back(third, 9)


async def test_a_title_is_one_template_s_in_its_group_and_free_again_when_it_lets_go(tp: Toolpath) -> None:
    first = await tp.templates.save(GREET)
    with pytest.raises(RecordConflict, match="already a template 'Greet'"):
        await tp.templates.save(GREET)
    elsewhere = await tp.templates.save(GREET, TemplateDraft(group="other"))
    theirs = await tp.templates.save(GREET, tenant="them")
    with pytest.raises(RecordConflict):
        await tp.templates.change(elsewhere, TemplateDraft(group="ungrouped"))
    first = await tp.templates.change(first, TemplateDraft(title="Hello"))
    moved = await tp.templates.change(elsewhere, TemplateDraft(group="ungrouped"))
    assert moved.key == "ungrouped.Greet"
    await tp.templates.delete(moved)
    assert (await tp.templates.save(GREET)).title == "Greet"
    assert {each.key for each in await tp.templates.newest(tenant="them")} == {theirs.key}


async def test_of_many_who_save_at_once_one_has_the_title_and_no_version_is_lost_in_silence(tp: Toolpath) -> None:
    made = await asyncio.gather(*(tp.templates.save(GREET) for _ in range(8)), return_exceptions=True)
    (first,) = [each for each in made if isinstance(each, PlanTemplate)]
    assert all(isinstance(each, RecordConflict) for each in made if each is not first)
    saves = [
        tp.templates.save(changed(GREET, f"Number {number}"), template=first, user=str(number)) for number in range(8)
    ]
    saved = [each for each in await asyncio.gather(*saves, return_exceptions=True) if isinstance(each, PlanTemplate)]
    kept = await tp.templates.get(first.template_id)
    assert kept in saved
    assert [len(each.versions) for each in saved] == list(range(2, len(saved) + 2))
    document: Any = await tp.templates.document(kept)
    assert document["steps"][0]["inputs"]["text"] == f"Number {kept.versions[-1].by}"


async def test_a_template_is_found_by_id_by_group_and_title_and_by_a_title_that_is_its_alone(tp: Toolpath) -> None:
    one = await tp.templates.save(GREET)
    two = await tp.templates.save(GREET, TemplateDraft(title="Part", group="a.b"))
    for name in (one.template_id, "ungrouped.Greet", "Greet"):
        assert (await tp.templates.get(name)).template_id == one.template_id
    assert (await tp.templates.get("a.b.Part")).template_id == two.template_id
    with pytest.raises(RecordNotFound, match="Did you mean") as caught:
        await tp.templates.get("Gret")
    assert "Greet" in caught.value.suggestions
    await tp.templates.save(GREET, TemplateDraft(group="else"))
    with pytest.raises(RecordNotFound, match="2 templates are called 'Greet'"):
        await tp.templates.get("Greet")
    with pytest.raises(RecordNotFound):
        await tp.templates.get(one.template_id, tenant="them")


async def test_a_draft_runs_in_no_channel_and_a_published_version_stays_until_another_is_published(
    tp: Toolpath,
) -> None:
    template = await tp.templates.save(GREET)
    with pytest.raises(PolicyViolationError, match="is a draft") as caught:
        tp.templates.open_to(template, "http")
    assert caught.value.missing == ("channel:http",)
    template = await tp.templates.publish(template, ["conversation", "http"])
    assert template.channels == ("http", "conversation")
    template = await tp.templates.save(changed(GREET, "Hi"), template=template)
    assert (tp.templates.open_to(template, "http"), template.version) == (1, 2)
    with pytest.raises(PolicyViolationError, match="is published in http, conversation"):
        tp.templates.open_to(template, "mcp")
    template = await tp.templates.withdraw(template)
    with pytest.raises(PolicyViolationError, match="is a draft"):
        tp.templates.open_to(template, "http")


async def test_what_does_not_check_is_kept_as_a_draft_and_not_published(tp: Toolpath) -> None:
    template = await tp.templates.save({"name": "Wrong", "steps": [{"id": "s", "tool": "talk.sya"}]})
    with pytest.raises(PlanInvalid, match=r"talk\.say"):
        await tp.templates.publish(template, ["http"])
    assert (await tp.templates.get("Wrong")).published == 0
    for channels in (["htp"], []):
        with pytest.raises(SchemaError, match="There are tool, http, conversation, mcp"):
            await tp.templates.publish(template, channels)


async def test_a_read_only_template_is_changed_by_nobody_until_it_is_editable(tp: Toolpath) -> None:
    template = await tp.templates.save(GREET, TemplateDraft(access="readOnly"))
    for change in (
        tp.templates.save(changed(GREET, "Hi"), template=template),
        tp.templates.change(template, TemplateDraft(title="Else")),
        tp.templates.delete(template),
    ):
        with pytest.raises(PolicyViolationError, match="read-only"):
            await change
    template = await tp.templates.change(template, TemplateDraft(access="editable"))
    assert (await tp.templates.save(changed(GREET, "Hi"), template=template)).version == 2


async def test_a_change_made_for_an_earlier_revision_is_refused(tp: Toolpath) -> None:
    first = await tp.templates.save(GREET)
    second = await tp.templates.change(first, TemplateDraft(description="New"))
    with pytest.raises(RecordConflict, match="changed meanwhile"):
        await tp.templates.change(first, TemplateDraft(description="Old"))
    with pytest.raises(RecordConflict, match="changed meanwhile"):
        await tp.templates.save(
            changed(GREET, "x"), TemplateDraft(title="Away"), template=second, expected=first.revision
        )
    assert await tp.templates.get(first.template_id) == second
    # What was refused has taken no title.
    assert (await tp.templates.save(GREET, TemplateDraft(title="Away"))).title == "Away"


async def test_the_plan_of_a_run_that_succeeded_becomes_a_template(tp: Toolpath) -> None:
    template = await tp.templates.save(GREET)
    result = await tp.run(await tp.templates.run_of(template), {"name": "Bo", "times": 2})
    made = await tp.templates.from_run(result.run_id, TemplateDraft(title="Copy"))
    again = await tp.run(await tp.templates.run_of(made), {"name": "Cy", "times": 1})
    assert again.outputs == "Hello Cy"
    failed = await tp.run({"steps": [{"id": "s", "tool": "talk.say", "inputs": {"text": "{{ secrets.NONE }}"}}]})
    assert not failed.success
    with pytest.raises(RunConflict, match="is failed"):
        await tp.templates.from_run(failed.run_id)


async def test_templates_go_out_and_come_in_again_with_what_is_said_of_them(tmp_path: Path, tp: Toolpath) -> None:
    await tp.templates.publish(await tp.templates.save(GREET), ["tool", "http"])
    await tp.templates.save(CONFIG)
    documents = await TemplateExchange(tp.templates).exported()
    assert [each["title"] for each in documents] == ["News", "Greet"]
    async with Toolpath(tmp_path / "other.db") as other:
        other.add(say, group="talk", effect="read")
        taken = await TemplateExchange(other.templates).import_all(documents)
        assert [each.error for each in taken] == ["", ""]
        greet = await other.templates.get("Greet")
        assert (greet.channels, greet.published, greet.description) == (("tool", "http"), 1, "Greets somebody")
        assert await other.templates.document(greet) == GREET
        # A second import of the same changes nothing.
        again = await TemplateExchange(other.templates).import_all(documents)
        assert [each.template_id for each in again] == [each.template_id for each in taken]
        assert (await other.templates.get("Greet")).version == 1


async def test_of_an_import_each_document_is_taken_or_said_to_be_wrong(tp: Toolpath) -> None:
    wrong: list[JsonObject] = [{"title": "A", "steps": [7]}, {"title": 3}, {}, {"title": "B", "plan": {"steps": 3}}]
    taken = await TemplateExchange(tp.templates).import_all([*wrong, {**CONFIG, "toolConfig": {}}])
    assert [bool(each.error) for each in taken] == [True, True, True, True, False]
    assert len(await tp.templates.newest()) == 1
    with pytest.raises(ReadError, match="at most 1,000"):
        await TemplateExchange(tp.templates).import_all([{}] * 1_001)


@pytest.mark.parametrize(
    ("document", "draft"),
    [
        ({"steps": "no"}, TemplateDraft()),
        ({"what": 1}, TemplateDraft()),
        ("- a list", TemplateDraft()),
        (GREET, TemplateDraft(title="a\nb")),
        (GREET, TemplateDraft(title="x" * 201)),
        (GREET, TemplateDraft(group="\0")),
        (GREET, TemplateDraft(description="x" * 20_001)),
    ],
)
async def test_what_is_no_template_is_refused_and_nothing_is_kept(
    tp: Toolpath, document: Any, draft: TemplateDraft
) -> None:
    with pytest.raises(ToolpathError):
        await tp.templates.save(document, draft)
    assert await tp.templates.newest() == []


_NAMES = st.sampled_from(["a", "b", "c"])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["save", "rename", "delete", "back"]), _NAMES, _NAMES), max_size=25))
async def test_any_order_of_changes_gives_what_a_dictionary_gives(moves: list[tuple[str, str, str]]) -> None:
    model: dict[str, list[str]] = {}
    async with Toolpath() as tp:
        tp.add(say, group="talk", effect="read")
        for what, name, other in moves:
            try:
                await _moved(tp, model, what, name, other)
            except RecordConflict:
                assert what == "rename"
                assert other in model
        kept = {each.title: each for each in await tp.templates.newest()}
        assert kept.keys() == model.keys()
        for title, texts in model.items():
            found = [await tp.templates.document(kept[title], number + 1) for number in range(len(texts))]
            assert [document["description"] for document in found] == texts


async def _moved(tp: Toolpath, model: dict[str, list[str]], what: str, name: str, other: str) -> None:
    if name not in model:
        if what == "save":
            await tp.templates.save({**GREET, "description": other}, TemplateDraft(title=name))
            model[name] = [other]
        return
    template = await tp.templates.get(f"ungrouped.{name}")
    match what:
        case "save":
            await tp.templates.save({**GREET, "description": other}, template=template)
            if model[name][-1] != other:
                model[name].append(other)
        case "rename":
            await tp.templates.change(template, TemplateDraft(title=other))
            model[other] = model.pop(name)
        case "back":
            await tp.templates.roll_back(template, 1)
            if model[name][-1] != model[name][0]:
                model[name].append(model[name][0])
        case _:
            await tp.templates.delete(template)
            del model[name]


async def test_a_published_template_is_a_tool_and_its_new_version_when_that_is_published(tp: Toolpath) -> None:
    calling = {"steps": [{"id": "c", "tool": "my_group.Greet_people", "inputs": {"name": "Bo", "times": 1}}]}
    template = await tp.templates.save(GREET, TemplateDraft(title="Greet people", group="my group"))
    with pytest.raises(PlanInvalid, match="unknown_tool"):
        await tp.run(calling)
    template = await tp.templates.publish(template, ["tool"])
    assert (await tp.run(calling)).outputs == {"c": "Hello Bo"}
    template = await tp.templates.save(changed(GREET, "Hi <<name>> <<times>>"), template=template)
    assert (await tp.run(calling)).outputs == {"c": "Hello Bo"}
    template = await tp.templates.publish(template, ["tool"])
    assert (await tp.run(calling)).outputs == {"c": "Hi Bo 1"}
    await tp.templates.withdraw(template)
    with pytest.raises(PlanInvalid, match="unknown_tool"):
        await tp.run(calling)


async def test_what_another_process_publishes_is_a_tool_here_too(tmp_path: Path) -> None:
    store = tmp_path / "shared.db"
    calling = {"steps": [{"id": "c", "tool": "ungrouped.Greet", "inputs": {"name": "Bo", "times": 1}}]}
    async with Toolpath(store) as here, Toolpath(store) as there:
        for each in (here, there):
            each.add(say, group="talk", effect="read")
        await here.run({"steps": [{"id": "s", "tool": "talk.say", "inputs": {"text": "x"}}]})
        template = await there.templates.publish(await there.templates.save(GREET), ["tool"])
        assert (await here.run(calling)).outputs == {"c": "Hello Bo"}
        template = await there.templates.save(changed(GREET, "Hi <<name>> <<times>>"), template=template)
        template = await there.templates.publish(template, ["tool"])
        assert (await here.run(calling)).outputs == {"c": "Hi Bo 1"}
        await there.templates.delete(template)
        with pytest.raises(PlanInvalid, match="unknown_tool"):
            await here.run(calling)


async def test_templates_call_one_another_and_none_calls_itself_on_any_way(tp: Toolpath) -> None:
    def calls(name: str) -> JsonObject:
        return {"name": "x", "steps": [{"id": "c", "tool": name}], "outputs": "{{ c }}"}

    said = {"steps": [{"id": "c", "tool": "talk.say", "inputs": {"text": "end"}}], "outputs": "{{ c }}"}
    a = await tp.templates.publish(await tp.templates.save(said, TemplateDraft(title="a", group="g")), ["tool"])
    b = await tp.templates.publish(await tp.templates.save(calls("g.a"), TemplateDraft(title="b", group="g")), ["tool"])
    assert (await tp.run(calls("g.b"))).outputs == "end"
    for title, name in ((a, "g.b"), (a, "g.a"), (b, "g.b")):
        changed_one = await tp.templates.save(calls(name), template=await tp.templates.get(title.template_id))
        with pytest.raises(PlanInvalid, match="calls itself"):
            await tp.templates.publish(changed_one, ["tool"])
    assert (await tp.run(calls("g.b"))).outputs == "end"


async def test_what_can_be_no_tool_is_said_when_it_is_published(tp: Toolpath) -> None:
    fixed = await tp.templates.save({**GREET, "timeout": "<<seconds>>"})
    with pytest.raises(SchemaError, match="seconds"):
        await tp.templates.publish(fixed, ["tool", "http"])
    assert (await tp.templates.publish(fixed, ["http"])).channels == ("http",)


async def test_a_folder_s_templates_are_tools(tmp_path: Path, tp: Toolpath) -> None:
    (tmp_path / "greet.template.json").write_text(encode(GREET).decode())
    (tmp_path / "news.template.json").write_text(encode(CONFIG).decode())
    (tmp_path / "odd.plan.yaml").write_text("name: odd\ntimeout: <<t>>\nsteps: [{tool: talk.say, inputs: {text: a}}]\n")
    tp.add_folder(tmp_path)
    assert await tp.call("Greet", {"name": "Bo", "times": 1}) == "Hello Bo"
    catalog = await tp.tools()
    assert catalog.find("News").input_schema["required"] == ["topic"]
    assert any("odd.plan.yaml" in finding.message and "<<t>>" in finding.message for finding in tp.registry.findings())


async def test_a_refused_rename_and_a_late_delete_free_no_title_that_another_has(tp: Toolpath) -> None:
    old = await tp.templates.save(GREET, TemplateDraft(title="T"))
    await tp.templates.change(old, TemplateDraft(title="B"))
    with pytest.raises(RecordConflict):
        await tp.templates.change(old, TemplateDraft(title="B"))
    with pytest.raises(RecordConflict, match="already a template 'B'"):
        await tp.templates.save(GREET, TemplateDraft(title="B"))
    taken = await tp.templates.save(GREET, TemplateDraft(title="T"))
    await tp.templates.delete(old)
    with pytest.raises(RecordConflict, match="already a template 'T'"):
        await tp.templates.save(GREET, TemplateDraft(title="T"))
    assert [each.template_id for each in await tp.templates.newest()] == [taken.template_id]


async def test_a_change_is_made_of_the_template_at_hand_or_not_at_all(tp: Toolpath) -> None:
    first = await tp.templates.save(GREET)
    second = await tp.templates.save(changed(GREET, "two"), template=first)
    with pytest.raises(RecordConflict, match="changed meanwhile"):
        await tp.templates.save(changed(GREET, "late"), template=first, expected=second.revision)
    kept = await tp.templates.get("Greet")
    assert await tp.templates.document(kept) == changed(GREET, "two")


async def test_what_is_refused_leaves_nothing_behind(tp: Toolpath) -> None:
    await tp.templates.save(GREET)
    for number in range(3):
        with pytest.raises(RecordConflict):
            await tp.templates.save(changed(GREET, str(number)))
    assert len(await tp.store.list_records("template_version")) == 1


async def test_a_published_version_stays_however_many_are_saved_after_it(
    tp: Toolpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolpath.workspace.templates._MOST_VERSIONS", 4)
    template = await tp.templates.publish(await tp.templates.save(GREET), ["http"])
    for number in range(8):
        template = await tp.templates.save(changed(GREET, str(number)), template=template)
    assert [each.version for each in template.versions] == [1, 6, 7, 8, 9]
    run = await tp.templates.run_of(template, {}, version=tp.templates.open_to(template, "http"))
    assert (await tp.run(run, {"name": "Bo", "times": 1})).outputs == "Hello Bo"


async def test_a_tool_s_name_is_never_taken_over_and_moves_with_its_template(tp: Toolpath) -> None:
    one = await tp.templates.publish(
        await tp.templates.save(GREET, TemplateDraft(title="send money", group="pay")), ["tool"]
    )
    two = await tp.templates.save(changed(GREET, "else"), TemplateDraft(title="send_money", group="pay"))
    with pytest.raises(SchemaError, match=r"already a tool 'pay\.send_money'"):
        await tp.templates.publish(two, ["tool"])
    real = await tp.templates.save(GREET, TemplateDraft(title="say", group="talk"))
    with pytest.raises(SchemaError, match=r"already a tool 'talk\.say'"):
        await tp.templates.publish(real, ["tool"])
    await tp.templates.change(one, TemplateDraft(title="Z"))
    call = {"steps": [{"id": "c", "tool": "pay.Z", "inputs": {"name": "Bo", "times": 1}}]}
    assert (await tp.run(call)).outputs == {"c": "Hello Bo"}
    with pytest.raises(PlanInvalid, match="unknown_tool"):
        await tp.run({"steps": [{"id": "c", "tool": "pay.send_money", "inputs": {"name": "Bo", "times": 1}}]})


async def test_an_import_tells_of_every_document_and_a_draft_stays_one(tmp_path: Path, tp: Toolpath) -> None:
    template = await tp.templates.publish(await tp.templates.save(GREET), ["http"])
    await tp.templates.save(changed(GREET, "draft"), template=template)
    (document,) = await TemplateExchange(tp.templates).exported()
    fixed = {"title": "F", "plan": {**GREET, "timeout": "<<t>>"}, "toolConfig": {"enableInternalToolcall": True}}
    async with Toolpath(tmp_path / "other.db") as other:
        other.add(say, group="talk", effect="read")
        taken = await TemplateExchange(other.templates).import_all([document, fixed, {**document, "title": "Last"}])
        assert [bool(each.template_id) for each in taken] == [True, True, True]
        assert "kept as a draft" in taken[1].error
        assert (await other.templates.get("Greet")).published == 0


async def test_a_read_only_template_is_not_published_nor_withdrawn_nor_renamed_on_the_way(tp: Toolpath) -> None:
    template = await tp.templates.save(GREET, TemplateDraft(access="readOnly"))
    for change in (
        tp.templates.publish(template, ["http"]),
        tp.templates.withdraw(template),
        tp.templates.change(template, TemplateDraft(access="editable", title="Else")),
    ):
        with pytest.raises(PolicyViolationError, match="read-only"):
            await change


async def test_tools_of_a_step_that_are_no_list_are_refused(tp: Toolpath) -> None:
    step = {"stepRequirement": "x", "selectedToolKeys": "talk.say"}
    with pytest.raises(ReadError, match="'selectedToolKeys'"):
        await tp.templates.save({"title": "T", "steps": [step]})


HALF = "\ud800"


@pytest.mark.parametrize("field", ["title", "group", "description", "comment"])
async def test_half_a_character_is_refused_in_words_and_nothing_is_kept(tp: Toolpath, field: str) -> None:
    with pytest.raises(SchemaError, match="half a character"):
        await tp.templates.save(GREET, TemplateDraft(**{"title": "whole", field: HALF}))
    assert (await tp.templates.save(GREET, TemplateDraft(title="whole"))).title == "whole"


async def test_half_a_character_in_an_import_is_told_and_the_others_are_taken(tp: Toolpath) -> None:
    wrong = [{**CONFIG, "title": HALF}, {**CONFIG, "serviceGroup": HALF}, {**CONFIG, "planTemplateId": HALF}]
    taken = await TemplateExchange(tp.templates).import_all([*wrong, {**CONFIG, "toolConfig": {}}])
    assert [bool(each.error) for each in taken] == [True, True, True, False]


async def test_what_was_exported_is_no_other_version_when_it_comes_back(tp: Toolpath) -> None:
    exchange = TemplateExchange(tp.templates)
    for document in (CONFIG, GREET, {**CONFIG, "title": "Plain", "serviceGroup": "ungrouped"}):
        await tp.templates.save(document)
    for _ in range(2):
        again = await exchange.exported()
        assert all(not each.error for each in await exchange.import_all([*again, *reversed(again)]))
    assert [each.version async for each in tp.templates.every()] == [1, 1, 1]
    declared = {"name": "topic", "type": "String", "description": "What on", "required": True}
    changed_one = {**CONFIG, "toolConfig": {"inputSchema": [declared]}}
    assert (await exchange.import_all([changed_one]))[0].error == ""
    assert (await tp.templates.get("News")).version == 2


async def test_templates_that_are_published_into_a_circle_at_once_are_not_run(tp: Toolpath) -> None:
    def calls(name: str) -> JsonObject:
        return {"name": "x", "steps": [{"id": "c", "tool": name}]}

    said = {"steps": [{"id": "c", "tool": "talk.say", "inputs": {"text": "end"}}]}
    kept = [await tp.templates.save(said, TemplateDraft(title=title, group="g")) for title in "ab"]
    for each in kept:
        await tp.templates.publish(each, ["tool"])
    turned = [
        await tp.templates.save(calls(name), template=await tp.templates.get(each.template_id))
        for each, name in zip(kept, ("g.b", "g.a"), strict=True)
    ]
    # Each looks at what the other was before.
    await asyncio.gather(*(tp.templates.publish(each, ["tool"]) for each in turned), return_exceptions=True)
    latest = [await tp.templates.get(each.template_id) for each in turned]
    if all(each.published == 2 for each in latest):
        for each in latest:
            with pytest.raises(PlanInvalid, match="comes to call itself"):
                await tp.run(await tp.templates.run_of(each))
    else:
        assert any(each.published == 1 for each in latest)
        assert (await tp.run(calls("g.a"))).status == "completed"


async def test_five_hundred_steps_with_a_parameter_each_are_one_template(tp: Toolpath) -> None:
    names = [f"p{number}" for number in range(500)]
    steps = [{"id": f"s{name}", "tool": "talk.say", "inputs": {"text": f"<<{name}>>"}} for name in names]
    template = await tp.templates.publish(await tp.templates.save({"name": "Long", "steps": steps}), ["http"])
    with pytest.raises(PlanInvalid) as caught:
        await tp.run(await tp.templates.run_of(template), {"p7": "there"})
    assert len(caught.value.findings) == 499
    result = await tp.run(await tp.templates.run_of(template), dict.fromkeys(names, "v"))
    assert (result.status, len(result.results)) == ("completed", 500)


async def test_the_plan_of_a_run_keeps_its_text_when_it_becomes_a_template(tp: Toolpath) -> None:
    text = "cat <<EOF >>file {{ '<<q>>' }} <<"
    step = {"id": "c", "tool": "talk.say", "when": "'<<a>>' == '<<a>>'", "inputs": {"text": text}}
    result = await tp.run({"name": "as <<it>> is", "steps": [step], "outputs": "{{ c }}"})
    template = await tp.templates.from_run(result.run_id, TemplateDraft(title="Kept"))
    assert (await tp.templates.parameters(template)).parameters == ()
    again = await tp.run(await tp.templates.run_of(template))
    assert again.outputs == result.outputs == "cat <<EOF >>file <<q>> <<"


async def test_a_plan_that_is_run_again_calls_what_is_published_now(tmp_path: Path) -> None:
    def says(text: str) -> JsonObject:
        return {"steps": [{"id": "c", "tool": "talk.say", "inputs": {"text": text}}], "outputs": "{{ c }}"}

    async with Toolpath(tmp_path / "t.db") as one, Toolpath(tmp_path / "t.db") as other:
        for each in (one, other):
            each.add(say, group="talk", effect="read")
        inner = await one.templates.publish(
            await one.templates.save(says("first"), TemplateDraft(title="in")), ["tool"]
        )
        plan = other.read({"steps": [{"id": "c", "tool": "ungrouped.in"}], "outputs": "{{ c }}"})
        outer = {"steps": [{"id": "o", "tool": "ungrouped.out"}], "outputs": "{{ o }}"}
        wrapped = await other.templates.save({"steps": [{"id": "c", "tool": "ungrouped.in"}], "outputs": "{{ c }}"},
                                             TemplateDraft(title="out"))  # fmt: skip
        await other.templates.publish(wrapped, ["tool"])
        around = other.read(outer)
        assert ((await other.run(plan)).outputs, (await other.run(around)).outputs) == ("first", "first")
        await one.templates.publish(await one.templates.save(says("second"), template=inner), ["tool"])
        assert ((await other.run(plan)).outputs, (await other.run(around)).outputs) == ("second", "second")
