"""Tool composition: the examples, patterns and tests of its document, on this engine, by its sections."""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import AsyncIterator
from typing import Any

import pytest

from toolpath import ChainExecutor, PlanInvalid, RunContext, RunResult, Settings, Toolpath, ToolRetry
from toolpath.chains import run_composite
from toolpath.errors import ChainExecutionError, PolicyViolationError
from toolpath.model import events as ev
from toolpath.notation.composite import read_composite
from toolpath.notation.tree import read_tree
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted import ScriptedTool, scripted


def echo(**fields: Any) -> ScriptedTool:
    """Gives its message under `data`, as the document's echo tool does."""
    return scripted("demo.echo_tool", then=lambda inputs: {"data": inputs["message"]}, **fields)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(auto=True)


@pytest.fixture
async def tp(clock: FakeClock) -> AsyncIterator[Toolpath]:
    async with Toolpath(clock=clock, settings=Settings()) as door:
        yield door


async def run(tp: Toolpath, text: str, inputs: dict[str, Any] | None = None, **options: Any) -> RunResult:
    return await tp.run(tp.read(textwrap.dedent(text)), inputs, **options)


def composite(steps: str) -> str:
    """A composite of these steps, without parameters of its own."""
    body = textwrap.indent(textwrap.dedent(steps).strip(), "      ")
    return f"name: tried\nimplementation:\n  type: composite\n  composite:\n    steps:\n{body}\n"


def visited(result: RunResult) -> list[str]:
    return [step.path for step in result.results if step.status != "skipped"]


ECHO_CHAIN = """
    name: echo_chain_demo
    display_name: "Three echoes"
    description: "Says a message three times"
    category: "demo"
    parameters:
      - name: initial_message
        type: string
        required: true
    implementation:
      type: composite
      composite:
        steps:
          - tool: echo_tool
            inputs: {message: "{{ state.initial_message }}", session_id: chain_session}
            on_success: {map_outputs: {data: step1_result}}
          - tool: echo_tool
            inputs: {message: "Step 2: {{ state.step1_result }}", session_id: chain_session}
            on_success: {map_outputs: {data: step2_result}}
          - tool: echo_tool
            inputs: {message: "Step 3: {{ state.step2_result }}", session_id: chain_session}
            on_success: {map_outputs: {data: final_result}}
    """


class TestExample1EchoChain:
    async def test_three_echoes_hand_their_results_on(self, tp: Toolpath) -> None:
        tp.add(tool := echo())
        result = await run(tp, ECHO_CHAIN, {"initial_message": "Hello chain!"})
        assert result.status == "completed"
        assert [call["message"] for call in tool.calls] == [
            "Hello chain!",
            "Step 2: Hello chain!",
            "Step 3: Step 2: Hello chain!",
        ]
        assert result.outputs["final_result"] == "Step 3: Step 2: Hello chain!"

    async def test_success_as_the_document_s_own_test_wants_it(self, tp: Toolpath) -> None:
        tp.add(echo())
        document = document_of(ECHO_CHAIN)
        told = await run_composite(
            tp.context("test_user", session_id="test_session"), document, {"initial_message": "m"}
        )
        assert told["status"] == "success"
        assert told["steps_executed"] == 3
        assert "final_result" in told["data"]["final_state"]

    async def test_a_parameter_that_is_required_is_asked_for(self, tp: Toolpath) -> None:
        tp.add(echo())
        with pytest.raises(PlanInvalid, match="initial_message"):
            await run(tp, ECHO_CHAIN)


def document_of(text: str) -> dict[str, Any]:
    """The YAML text as plain JSON."""

    def value(node: Any) -> Any:
        match node.value:
            case dict() as members:
                return {key: value(inner) for key, inner in members.items()}
            case list() as items:
                return [value(inner) for inner in items]
            case other:
                return other

    found: dict[str, Any] = value(read_tree(textwrap.dedent(text)))
    return found


PIPELINE = """
    name: gmail_to_drive_pipeline
    description: "Finds messages and keeps them in a folder"
    category: "google_workspace"
    parameters:
      - {name: search_query, type: string, required: true, description: What to look for}
      - {name: max_results, type: integer, required: false, default: 10}
      - {name: drive_folder_name, type: string, required: true}
    implementation:
      type: composite
      composite:
        steps:
          - tool: gmail_search_messages
            inputs: {query: "{{ state.search_query }}", max_results: "{{ state.max_results }}"}
            on_success:
              map_outputs: {messages: found_messages, message_count: total_found}
              next: drive_upload_file
            on_failure: {action: stop}
          - tool: drive_upload_file
            inputs:
              file_name: "{{ state.drive_folder_name }}_archive.json"
              content: "{{ state.found_messages }}"
              mime_type: application/json
            on_success:
              map_outputs: {file_id: drive_file_id, web_view_link: archive_link}
            on_failure: {action: retry, max_retries: 3}
    """
MESSAGES = {"messages": [{"id": "m1"}, {"id": "m2"}], "message_count": 2}
FILE = {"file_id": "f1", "web_view_link": "https://drive.example/f1"}
GIVEN = {"search_query": "is:unread", "drive_folder_name": "Notifications"}


class TestExample2GmailToDrive:
    async def test_messages_are_found_and_uploaded(self, tp: Toolpath) -> None:
        search, upload = (
            scripted("gmail_search_messages", MESSAGES),
            scripted("drive_upload_file", FILE, effect="write"),
        )
        tp.add(search, upload)
        told = await run_composite(tp.context("u", session_id="s"), document_of(PIPELINE), {**GIVEN, "max_results": 50})
        assert search.calls == [{"query": "is:unread", "max_results": 50}]
        assert upload.calls == [
            {
                "file_name": "Notifications_archive.json",
                "content": MESSAGES["messages"],
                "mime_type": "application/json",
            }
        ]
        # The document reads these straight from `data`.
        data = told["data"]
        assert (data["total_found"], data["drive_file_id"], data["archive_link"]) == (2, "f1", FILE["web_view_link"])

    async def test_a_default_is_filled_in(self, tp: Toolpath) -> None:
        search = scripted("gmail_search_messages", MESSAGES)
        tp.add(search, scripted("drive_upload_file", FILE, effect="write"))
        await run(tp, PIPELINE, GIVEN)
        assert search.calls[0]["max_results"] == 10

    async def test_a_failed_search_stops(self, tp: Toolpath) -> None:
        upload = scripted("drive_upload_file", FILE, effect="write")
        tp.add(scripted("gmail_search_messages", ValueError("no access")), upload)
        result = await run(tp, PIPELINE, GIVEN)
        assert (result.status, upload.calls) == ("failed", [])

    async def test_the_upload_is_tried_four_times_in_all(self, tp: Toolpath, clock: FakeClock) -> None:
        upload = scripted("drive_upload_file", ValueError("1"), ValueError("2"), ValueError("3"), FILE, effect="write")
        tp.add(scripted("gmail_search_messages", MESSAGES), upload)
        result = await run(tp, PIPELINE, GIVEN)
        assert result.status == "completed"
        upload.assert_complete()
        assert result.total_duration == pytest.approx(1 + 2 + 4)

    async def test_more_failures_than_retries_fail_the_chain_and_say_so(self, tp: Toolpath) -> None:
        tp.add(
            scripted("gmail_search_messages", MESSAGES),
            scripted("drive_upload_file", then=ValueError("full"), effect="write"),
        )
        result = await run(tp, PIPELINE, GIVEN)
        assert result.status == "failed"
        assert result.error is not None
        assert result.error.message == "Max retries (3) exceeded for step drive_upload_file: full"


RESILIENT = """
    name: resilient_workflow
    description: "Asks a second source where the first one fails"
    implementation:
      type: composite
      composite:
        steps:
          - tool: primary_data_tool
            inputs: {query: "{{ state.search_term }}"}
            on_success: {map_outputs: {results: data}, next: process_results}
            on_failure: {action: continue, next: fallback_data_tool}
          - tool: fallback_data_tool
            inputs: {query: "{{ state.search_term }}"}
            on_success: {map_outputs: {results: data}, next: process_results}
            on_failure: {action: stop}
          - tool: process_results
            inputs: {data: "{{ state.data }}"}
            on_failure: {action: retry, max_retries: 2}
    """


class TestExample3ErrorRecovery:
    @pytest.mark.parametrize(
        ("primary", "fallback", "status", "path", "processed"),
        [
            ({"results": [1]}, {"results": [2]}, "completed", ["primary_data_tool", "process_results"], [1]),
            (
                ValueError("down"),
                {"results": [2]},
                "completed_with_errors",
                ["primary_data_tool", "fallback_data_tool", "process_results"],
                [2],
            ),
            (ValueError("down"), ValueError("down too"), "failed", ["primary_data_tool", "fallback_data_tool"], None),
        ],
    )
    async def test_whichever_source_answers_is_processed(
        self, tp: Toolpath, primary: Any, fallback: Any, status: str, path: list[str], processed: Any
    ) -> None:
        process = scripted("process_results", then={"ok": True})
        tp.add(scripted("primary_data_tool", primary), scripted("fallback_data_tool", fallback), process)
        result = await run(tp, RESILIENT, {"search_term": "x"})
        assert (result.status, visited(result)) == (status, path)
        assert [call["data"] for call in process.calls] == ([] if processed is None else [processed])

    async def test_processing_is_tried_three_times_in_all(self, tp: Toolpath) -> None:
        process = scripted("process_results", ValueError("1"), ValueError("2"), {"ok": True})
        tp.add(scripted("primary_data_tool", {"results": [1]}), scripted("fallback_data_tool"), process)
        assert (await run(tp, RESILIENT, {"search_term": "x"})).success
        process.assert_complete()


class TestInterpolation:
    @pytest.mark.parametrize(
        ("template", "value"),
        [
            ("{{ state.user_input }}", {"deep": [1]}),
            ("{{ user_input }}", {"deep": [1]}),
            ("literal string", "literal string"),
            ("{{ state.user_input.deep[0] }}", 1),
            ("n = {{ state.user_input.deep[0] }}!", "n = 1!"),
            ([{"x": "{{ user_input.deep }}"}], [{"x": [1]}]),
        ],
    )
    async def test_state_bare_names_literals_and_nesting(self, tp: Toolpath, template: Any, value: Any) -> None:
        tp.add(see := scripted("see", then={}))
        executor = ChainExecutor(tp.context("u"))
        told = await executor.execute_chain([{"tool": "see", "inputs": {"v": template}}], {"user_input": {"deep": [1]}})
        assert told["success"]
        assert see.calls == [{"v": value}]

    async def test_a_variable_that_is_not_there_has_the_document_s_message(self, tp: Toolpath) -> None:
        tp.add(scripted("one", {"result": 1}), two := scripted("two", then={}))
        text = composite("""
            - {tool: one, on_success: {map_outputs: {wrong_name: step1_output}}}
            - {tool: two, inputs: {data: "{{ state.step1_output }}"}}
            """)
        result = await run(tp, text)
        assert result.status == "failed"
        assert result.error is not None
        assert "Variable not found in chain state: step1_output" in result.error.message
        assert two.calls == []

    async def test_engine_values_are_in_the_state_and_cannot_be_parameters(self, tp: Toolpath) -> None:
        tp.add(see := scripted("see", then={}))
        text = composite(
            """
            - tool: see
              inputs: {id: "{{ state.chain_id }}", name: "{{ chain_name }}", at: "{{ state.started_at }}"}
            """
        )
        result = await run(tp, text)
        assert see.calls == [{"id": result.run_id, "name": "tried", "at": "2023-11-14T22:13:20+00:00"}]


class TestExecutionResult:
    async def test_it_has_all_the_fields_of_the_document(self, tp: Toolpath) -> None:
        tp.add(scripted("gmail_search_messages", MESSAGES), scripted("drive_upload_file", FILE, effect="write"))
        tool = read_composite(document_of(PIPELINE))
        told = await ChainExecutor(tp.context("u", session_id="s")).run_plan(
            tool.body, {**GIVEN, "max_results": 5}, chain_name="gmail_to_drive_pipeline"
        )
        assert {
            "success", "chain_id", "chain_name", "steps_executed", "steps_succeeded", "steps_failed", "results",
            "execution_history", "final_state", "completed_at",
        } <= set(told)  # fmt: skip
        assert (told["steps_executed"], told["steps_succeeded"], told["steps_failed"]) == (2, 2, 0)
        assert told["results"] == [
            {"step": "gmail_search_messages", "status": "success", "result": MESSAGES},
            {"step": "drive_upload_file", "status": "success", "result": FILE},
        ]
        assert {"chain_id", "chain_name", "started_at", "found_messages"} <= set(told["final_state"])
        assert told["completed_at"].startswith("2023-11-14T")

    async def test_retries_are_told_in_the_state(self, tp: Toolpath) -> None:
        tp.add(scripted("one", {"a": 1}), scripted("two", ValueError("1"), ValueError("2"), {"b": 1}))
        told = await ChainExecutor(tp.context("u")).execute_chain(
            [{"tool": "one"}, {"tool": "two", "on_failure": {"action": "retry", "max_retries": 3}}]
        )
        assert told["final_state"]["step_1_retry_count"] == 2
        assert told["steps_executed"] == 4

    @pytest.mark.parametrize("failures", [0, 1, 2])
    async def test_how_often_a_step_was_retried_can_be_read_by_later_steps(self, tp: Toolpath, failures: int) -> None:
        tp.add(scripted("one", *[ValueError("x")] * failures, {"a": 1}), see := scripted("see", then=lambda i: i))
        steps: list[dict[str, Any]] = [
            {"tool": "one", "on_failure": {"action": "retry", "max_retries": 3}},
            {"tool": "see", "inputs": {"n": "{{ state.step_0_retry_count }}", "t": "{{ step_0_retry_count }} times"}},
        ]
        told = await ChainExecutor(tp.context("u")).execute_chain(steps)
        assert see.calls == [{"n": failures, "t": f"{failures} times"}]
        assert told["success"]
        # The same in a composite, and folded again from the journal.
        tp.add(scripted("one", *[ValueError("x")] * failures, {"a": 1}))
        document = {"name": "c", "implementation": {"type": "composite", "composite": {"steps": steps}}}
        tool = read_composite(document)
        assert tool.input_schema.get("properties", {}) == {}
        result = await tp.run(document)
        assert result.outputs["step_0_retry_count"] == failures

    async def test_a_retry_count_of_the_plan_s_own_is_the_plan_s(self, tp: Toolpath) -> None:
        tp.add(scripted("one", ValueError("x"), {"a": 1}), see := scripted("see", then=lambda i: i))
        steps: list[dict[str, Any]] = [
            {"tool": "one", "on_failure": {"action": "retry", "max_retries": 3}},
            {"tool": "see", "inputs": {"n": "{{ state.step_0_retry_count }}"}},
        ]
        await ChainExecutor(tp.context("u")).execute_chain(steps, {"step_0_retry_count": "mine"})
        assert see.calls == [{"n": "mine"}]

    async def test_blocks_go_by_their_ids(self, tp: Toolpath) -> None:
        tp.add(echo())
        steps: list[dict[str, Any]] = [
            {"tool": "echo_tool", "inputs": {"message": "a"}},
            {"id": "both", "parallel": [{"tool": "echo_tool", "inputs": {"message": n}} for n in "bc"]},
            {"loop": {"over": [1, 2], "as": "n", "steps": [{"tool": "echo_tool", "inputs": {"message": "{{ n }}"}}]}},
            {"id": "form", "when": False, "ask": {"title": "?", "inputs": [{"name": "x"}]}},
        ]
        context = tp.context("u")
        told = await ChainExecutor(context).execute_chain(steps)
        assert [entry["step"] for entry in told["results"]] == ["echo_tool", "both", "loop"]
        assert [entry["step_name"] for entry in told["execution_history"]] == ["echo_tool", "both", "loop"]
        assert [tool["tool"] for tool in context.previous_tools] == ["echo_tool", "both", "loop"]
        (chain,) = context.active_chains.values()
        assert [tool["tool"] for tool in chain["tools"]] == ["echo_tool", "both", "loop", "form"]


class TestChainsOfAContext:
    async def test_a_chain_keeps_its_tools_and_leaves_those_of_others(self, tp: Toolpath) -> None:
        tp.add(echo())
        context = tp.context("u")
        other = context.plan_tool_chain([{"tool": "later"}], chain_name="other")
        told = await ChainExecutor(context).execute_chain(
            [{"tool": "echo_tool", "inputs": {"message": "m"}}], chain_name="this"
        )
        assert [tool["tool"] for tool in context.active_chains["this"]["tools"]] == ["echo_tool"]
        assert context.active_chains["this"]["status"] == "completed"
        assert context.active_chains["this"]["chain_id"] == told["chain_id"] == told["final_state"]["chain_id"]
        assert [(tool["tool"], tool["chain_id"]) for tool in context.next_planned_tools] == [("later", other)]
        assert context.active_chains["other"]["status"] == "planned"

    async def test_a_chain_that_was_planned_runs_under_the_id_that_it_was_given(self, tp: Toolpath) -> None:
        tp.add(echo())
        context = tp.context("u")
        planned = context.plan_tool_chain([{"tool": "echo_tool"}], reasoning="why", chain_name="named")
        steps = [{"tool": "echo_tool", "inputs": {"message": "{{ state.chain_id }}"}}]
        told = await ChainExecutor(context).execute_chain(steps, chain_name="named")
        assert told["chain_id"] == planned == told["results"][0]["result"]["data"]
        assert (await tp.result(planned)).success
        assert context.active_chains["named"]["reasoning"] == "why"
        again = await ChainExecutor(context).execute_chain(steps, chain_name="named")
        assert again["chain_id"] != planned
        assert context.next_planned_tools == []

    @pytest.mark.parametrize(
        ("step", "words"),
        [
            ({"tool": "nope"}, "Tool not found in registry: nope"),
            ({"tool": "echo_tool", "inputs": {"message": "{{ state.q }}"}}, "Variable not found in chain state: q"),
            ({"inputs": {}}, "Step must have 'tool' field"),
            ({"tool": "echo_tool", "on_failure": {"action": "explode"}}, "Unknown failure action: explode"),
        ],
    )
    async def test_a_refused_chain_is_told_in_the_document_s_words_and_is_no_longer_planned(
        self, tp: Toolpath, step: dict[str, Any], words: str
    ) -> None:
        tp.add(echo())
        context = tp.context("u")
        with pytest.raises(PlanInvalid, match=words):
            await ChainExecutor(context).execute_chain([step], chain_name="x")
        assert context.active_chains["x"]["status"] == "refused"
        assert context.next_planned_tools == []

    async def test_the_end_of_a_failed_chain_is_told_in_the_document_s_words(self, tp: Toolpath) -> None:
        tp.add(echo(), scripted("bad", then=ValueError("no")))
        steps: list[dict[str, Any]] = [{"tool": "echo_tool", "inputs": {"message": "m"}}, {"tool": "bad"}]
        with pytest.raises(ChainExecutionError, match="Chain execution stopped at step 1: bad") as caught:
            await ChainExecutor(tp.context("u")).execute_chain(steps, raise_on_error=True)
        assert (caught.value.step_index, caught.value.step_name) == (1, "bad")
        steps[1]["on_failure"] = {"action": "retry", "max_retries": 2}
        told = await ChainExecutor(tp.context("u")).execute_chain(steps)
        assert told["error"].startswith("Max retries (2) exceeded for step bad")

    async def test_a_chain_that_nobody_waits_for_any_more_is_cancelled(self, tp: Toolpath) -> None:
        begun = asyncio.Event()

        async def hold(inputs: Any) -> Any:
            begun.set()
            await asyncio.Event().wait()

        tp.add(scripted("hold", then=hold))
        context = tp.context("u")
        task = asyncio.create_task(ChainExecutor(context).execute_chain([{"tool": "hold"}], chain_name="x"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert context.active_chains["x"]["status"] == "cancelled"
        assert (await tp.result(context.active_chains["x"]["chain_id"])).status == "cancelled"


class TestPatterns:
    async def test_sequential_execution_stops_on_the_first_failure(self, tp: Toolpath) -> None:
        tp.add(scripted("step1", {}), scripted("step2", ValueError("no")), third := scripted("step3", {}))
        result = await run(tp, composite("- {tool: step1}\n- {tool: step2}\n- {tool: step3}"))
        assert (result.status, visited(result), third.calls) == ("failed", ["step1", "step2"], [])

    @pytest.mark.parametrize(("valid", "path"), [(True, "process_valid_data"), (False, "handle_invalid_data")])
    async def test_conditional_branching_takes_one_branch(self, tp: Toolpath, valid: bool, path: str) -> None:
        """As the document writes it the valid branch runs on into the other one; `next: end` says what is meant."""
        tp.add(
            scripted("validation_tool", {} if valid else ValueError("invalid")),
            scripted("process_valid_data", {}),
            scripted("handle_invalid_data", {}),
        )
        steps = """
            - tool: validation_tool
              on_success: {next: process_valid_data}
              on_failure: {next: handle_invalid_data}
            - {tool: process_valid_data, on_success: {next: end}}
            - {tool: handle_invalid_data}
            """
        result = await run(tp, composite(steps))
        assert visited(result) == ["validation_tool", path]
        assert result.success
        as_written = composite(steps.replace(", on_success: {next: end}", ""))
        assert "fall_through" in [finding.code for finding in tp.check(tp.read(as_written))]

    async def test_retry_with_fallback(self, tp: Toolpath) -> None:
        primary = scripted("primary_service", then=ToolRetry("down"))
        tp.add(primary, scripted("backup_service", {"ok": 1}))
        result = await run(
            tp,
            composite("""
            - tool: primary_service
              on_failure: {action: retry, max_retries: 3, continue_on_max_retries: true, next: backup_service}
            - {tool: backup_service}
            """),
        )
        assert (result.status, len(primary.calls)) == ("completed_with_errors", 4)
        delays = [event.delay for event in await tp.events(result.run_id) if isinstance(event, ev.StepRetrying)]
        assert delays == [1, 2, 4]

    @pytest.mark.parametrize(("second", "status"), [({}, "completed_with_errors"), (ValueError("no"), "failed")])
    async def test_continue_despite_errors(self, tp: Toolpath, second: Any, status: str) -> None:
        tp.add(scripted("optional_enrichment", ValueError("no")), scripted("required_processing", second))
        result = await run(
            tp,
            composite("""
            - {tool: optional_enrichment, on_failure: {action: continue}}
            - {tool: required_processing, on_failure: {action: stop}}
            """),
        )
        assert result.status == status

    async def test_an_action_that_is_none_is_refused_with_the_document_s_message(self, tp: Toolpath) -> None:
        tp.add(scripted("one", {}))
        with pytest.raises(PlanInvalid, match="Unknown failure action: explode"):
            await run(tp, composite("- {tool: one, on_failure: {action: explode}}"))

    async def test_a_step_without_a_tool_is_refused_with_the_document_s_message(self, tp: Toolpath) -> None:
        with pytest.raises(PlanInvalid, match="Step must have 'tool' field"):
            await run(tp, composite("- {inputs: {a: 1}}"))

    async def test_a_tool_that_is_not_there_is_said_before_anything_runs(self, tp: Toolpath) -> None:
        tp.add(one := scripted("one_tool", {}))
        with pytest.raises(PlanInvalid, match="two_tool"):
            await run(tp, composite("- {tool: one_tool}\n- {tool: two_tool}"))
        assert one.calls == []


BRANCHING = """
steps:
  - tool: validation_tool
    inputs: {...}
    on_success:
      next: process_valid_data
    on_failure:
      next: handle_invalid_data

  - tool: process_valid_data
    inputs: {...}

  - tool: handle_invalid_data
    inputs: {...}
"""
RETRY_WITH_FALLBACK = """
steps:
  - tool: primary_service
    inputs: {...}
    on_failure:
      action: retry
      max_retries: 3
      continue_on_max_retries: true
      next: backup_service

  - tool: backup_service
    inputs: {...}
"""
PARAMETERIZED = """
parameters:
  - name: search_query
    type: string
    required: true

steps:
  - tool: gmail_search_messages
    inputs:
      query: "{{ state.search_query }}"
"""
CONDITIONAL = """
steps:
  - tool: check_balance
    on_success:
      map_outputs:
        balance: "account_balance"

  - tool: send_alert
    when: "{{ state.account_balance < 100 }}"
    inputs:
      message: "Low balance alert"
"""
LOOP = """
steps:
  - tool: gmail_search_messages
    on_success:
      map_outputs:
        messages: "message_list"

  - loop:
      over: "{{ state.message_list }}"
      as: "current_message"
      steps:
        - tool: process_single_message
          inputs:
            message: "{{ current_message }}"
"""


class TestStepsAsPasted:
    """The fragments of the document that are `steps:` alone, as they stand there."""

    async def test_branching_takes_the_branch_that_the_document_means(self, tp: Toolpath) -> None:
        tp.add(
            scripted("validation_tool", ValueError("invalid")),
            valid := scripted("process_valid_data", {}),
            scripted("handle_invalid_data", {}),
        )
        result = await run(tp, BRANCHING)
        assert (visited(result), valid.calls) == (["validation_tool", "handle_invalid_data"], [])
        assert result.success

    async def test_a_retry_that_is_used_up_goes_on_to_the_backup(self, tp: Toolpath) -> None:
        primary = scripted("primary_service", then=ToolRetry("down"))
        tp.add(primary, scripted("backup_service", {"ok": 1}))
        result = await run(tp, RETRY_WITH_FALLBACK)
        assert (result.status, len(primary.calls)) == ("completed_with_errors", 4)
        assert visited(result) == ["primary_service", "backup_service"]

    async def test_steps_under_a_list_of_parameters_read_them_in_their_state(self, tp: Toolpath) -> None:
        tp.add(search := scripted("gmail_search_messages", {"messages": []}))
        result = await run(tp, PARAMETERIZED, {"search_query": "is:unread"})
        assert result.success
        assert search.calls == [{"query": "is:unread"}]

    @pytest.mark.parametrize(("balance", "alerts"), [(50, 1), (500, 0)])
    async def test_a_step_whose_condition_reads_the_state_waits_for_who_sets_it(
        self, tp: Toolpath, balance: int, alerts: int
    ) -> None:
        tp.add(scripted("check_balance", {"balance": balance}), alert := scripted("send_alert", {}))
        assert (await run(tp, CONDITIONAL)).success
        assert len(alert.calls) == alerts

    async def test_a_loop_goes_over_what_the_step_before_found(self, tp: Toolpath) -> None:
        tp.add(
            scripted("gmail_search_messages", {"messages": ["a", "b"]}),
            process := scripted("process_single_message", {}, {}),
        )
        assert (await run(tp, LOOP)).success
        assert process.calls == [{"message": "a"}, {"message": "b"}]

    @pytest.mark.parametrize(
        ("text", "flow"),
        [
            (BRANCHING, "chain"),
            (RETRY_WITH_FALLBACK, "chain"),
            (PARAMETERIZED, "chain"),
            ("steps:\n  - {tool: step1}\n  - {tool: step2}\n", "graph"),
            (f"flow: graph\n{BRANCHING.strip()}", "graph"),
        ],
    )
    async def test_jumps_and_parameters_alone_tell_a_chain_where_no_flow_is_said(
        self, tp: Toolpath, text: str, flow: str
    ) -> None:
        plan = tp.read(text)
        assert plan.flow == flow


class TestIntegrationTesting:
    async def test_chain_with_failure(self, tp: Toolpath) -> None:
        tp.add(scripted("demo.echo_tool", {"data": "1"}, ValueError("second fails")))
        told = await run_composite(tp.context("u", session_id="s"), document_of(ECHO_CHAIN), {"initial_message": "m"})
        assert (told["status"], told["steps_executed"]) == ("failure", 2)
        assert told["data"]["steps_failed"] == 1
        assert told["data"]["final_state"]["step1_result"] == "1"

    async def test_chain_retry_logic_fails_so_many_times_then_succeeds(self, tp: Toolpath) -> None:
        flaky = scripted("flaky", ValueError("1"), ValueError("2"), {"ok": 1})
        tp.add(flaky)
        told = await ChainExecutor(tp.context("u")).execute_chain(
            [{"tool": "flaky", "on_failure": {"action": "retry", "max_retries": 3}}]
        )
        assert told["success"]
        flaky.assert_complete()

    async def test_a_composite_that_needs_a_case_is_refused_without_one(self, tp: Toolpath) -> None:
        search = scripted("gmail_search_messages", MESSAGES)
        tp.add(search, scripted("drive_upload_file", FILE, effect="write"))
        document = document_of(PIPELINE) | {"business_rules": {"requires_casefile": True}}
        with pytest.raises(PolicyViolationError, match="case"):
            await run_composite(tp.context("test_user", session_id="test_session", casefile_id=None), document, GIVEN)
        assert search.calls == []
        told = await run_composite(
            tp.context("u", session_id="s", casefile_id="cf_1"), document, {**GIVEN, "max_results": 1}
        )
        assert told["status"] == "success"


class TestPlanToolChain:
    def test_a_planned_chain_is_recorded_under_its_name(self) -> None:
        context = RunContext("user_123", "session_456")
        chain_id = context.plan_tool_chain([{"tool": "a", "inputs": {}}], reasoning="why", chain_name="named")
        assert context.active_chains["named"]["chain_id"] == chain_id
        assert context.active_chains["named"]["reasoning"] == "why"
        assert [tool["tool"] for tool in context.next_planned_tools] == ["a"]


class TestPlannedEnhancements:
    @pytest.mark.parametrize("wait_for", ["all", "any", "first_success"])
    async def test_parallel_execution(self, tp: Toolpath, clock: FakeClock, wait_for: str) -> None:
        async def slow(inputs: Any, seconds: int) -> Any:
            await clock.sleep(seconds)
            return {"n": seconds}

        tp.add(*(scripted(f"fetch_data_source_{n}", then=lambda i, n=n: slow(i, n)) for n in (1, 2, 3)))
        result = await run(
            tp,
            composite(f"""
            - id: fetch
              parallel:
                - tool: fetch_data_source_3
                - tool: fetch_data_source_1
                - tool: fetch_data_source_2
              wait_for: {wait_for}
            """),
        )
        output = result.step("fetch").output
        if wait_for == "all":
            assert list(output.values()) == [{"n": 3}, {"n": 1}, {"n": 2}]
            assert result.total_duration == pytest.approx(3)
        else:
            assert output == {"winner": "fetch_data_source_1", "output": {"n": 1}}
            assert result.total_duration == pytest.approx(1)

    async def test_loop_support(self, tp: Toolpath) -> None:
        process = scripted("process_single_message", then=lambda inputs: inputs["message"])
        tp.add(scripted("gmail_search_messages", MESSAGES), process)
        result = await run(
            tp,
            composite("""
            - tool: gmail_search_messages
              on_success: {map_outputs: {messages: message_list}}
            - id: each
              loop:
                over: "{{ state.message_list }}"
                as: current_message
                steps:
                  - tool: process_single_message
                    inputs: {message: "{{ current_message }}"}
            """),
        )
        assert result.status == "completed"
        assert process.calls == [{"message": {"id": "m1"}}, {"message": {"id": "m2"}}]
        assert result.step("each").output == [{"id": "m1"}, {"id": "m2"}]

    @pytest.mark.parametrize(("balance", "alerts"), [(99, 1), (100, 0)])
    async def test_conditional_steps(self, tp: Toolpath, balance: int, alerts: int) -> None:
        tp.add(
            scripted("check_balance", {"balance": balance}), alert := scripted("send_alert", then={}, effect="write")
        )
        await run(
            tp,
            composite("""
            - tool: check_balance
              on_success: {map_outputs: {balance: account_balance}}
            - tool: send_alert
              when: "{{ state.account_balance < 100 }}"
              inputs: {message: "Low balance"}
            """),
        )
        assert len(alert.calls) == alerts

    async def test_data_transformations(self, tp: Toolpath) -> None:
        tp.add(scripted("fetch_raw_data", {"data": [{"value": 10}, {"value": 51}, {"value": 50}]}))
        result = await run(
            tp,
            composite("""
            - tool: fetch_raw_data
              on_success:
                map_outputs: {data: raw_data}
                transform: {filtered_data: "{{ state.raw_data | filter(lambda x: x.value > 50) }}"}
            """),
        )
        assert result.outputs["filtered_data"] == [{"value": 51}]
