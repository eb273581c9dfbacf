"""The life of the catalogue: adding, listing only when needed, faults that stay put, overrides, statistics."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from toolpath.catalog.registry import Registry
from toolpath.errors import AmbiguousTool, ConfigError, ToolNotFound, ToolUnavailable
from toolpath.model.plan import Cache, Retry
from toolpath.model.tool import Tool, ToolStats

OBJECT = {"type": "object"}


def make(key: str, **fields: Any) -> Tool:
    group, _, name = key.rpartition(".")
    return Tool(name=name, group=group, input_schema=OBJECT, **fields)


class Source:
    def __init__(self, name: str, *tools: Tool, is_local: bool = False) -> None:
        self.name = name
        self.tools: Any = tools
        self.is_local = is_local
        self.listings = 0
        self.closed = False
        self.changed: Callable[[], None] = lambda: None
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()

    async def list_tools(self) -> Any:
        self.listings += 1
        self.asked.set()
        await self.gate.wait()
        if isinstance(self.tools, Exception):
            raise self.tools
        return self.tools

    async def close(self) -> None:
        self.closed = True

    def watch(self, changed: Callable[[], None]) -> None:
        self.changed = changed

    def describe(self) -> dict[str, Any]:
        return {}


def registry_of(*keys: str) -> Registry:
    registry = Registry()
    for key in keys:
        registry.add(make(key))
    return registry


def test_a_tool_is_found_by_key_then_alias_then_bare_name():
    registry = registry_of("blog.create", "shop.order")
    registry.add(make("mail.send", aliases=("order", "post")))
    catalog = registry.snapshot()

    assert catalog.find("blog.create").key == "blog.create"
    assert catalog.find("create").key == "blog.create"
    assert catalog.find("post").key == "mail.send"
    assert catalog.find("order").key == "mail.send", "an alias goes before a bare name"
    assert catalog.get("nothing") is None


def test_a_bare_name_of_two_tools_names_both():
    catalog = registry_of("a.create", "b.create").snapshot()

    with pytest.raises(AmbiguousTool, match=r"a\.create, b\.create") as caught:
        catalog.find("create")
    assert caught.value.suggestions == ("a.create", "b.create")
    assert catalog.get("create") is None


def test_an_unknown_name_is_answered_with_the_nearest_keys():
    with pytest.raises(ToolNotFound) as caught:
        registry_of("blog.create_author", "shop.order").snapshot().find("createAuthr")

    assert caught.value.suggestions == ("blog.create_author",)


def test_groups_and_names_with_underscores_stay_apart():
    catalog = registry_of("a_b.c", "a.b_c").snapshot()

    assert catalog.find("c").key == "a_b.c"
    assert catalog.find("b_c").key == "a.b_c"


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (Tool(name=""), "cannot be called"),
        (Tool(name="a b"), "cannot be called"),
        (Tool(name="x" * 129), "cannot be called"),
        (Tool(name="a", group="b.c"), "cannot be a group"),
        (Tool(name="a", input_schema={"type": "strin"}), "input_schema is no JSON Schema"),
        (Tool(name="a", input_schema={"type": "string"}), "not an object"),
        (Tool(name="a", output_schema=[]), "output_schema is no JSON Schema"),  # type: ignore[arg-type]
    ],
)
def test_a_tool_that_cannot_be_used_is_refused(tool, message):
    with pytest.raises(ConfigError, match=message):
        Registry().add(tool)


def test_a_snapshot_stays_as_it_is_and_is_the_same_until_something_changes():
    registry = registry_of("a")
    before = registry.snapshot()
    assert registry.snapshot() is before

    registry.add(make("b"))

    assert "b" not in before
    assert list(registry.snapshot().keys()) == ["a", "b"]
    assert registry.snapshot().digest != before.digest


def test_adding_a_key_again_replaces_the_tool_and_is_a_new_revision():
    registry = registry_of("a")
    revision = registry.revision

    registry.add(make("a", description="better"))

    assert registry.revision > revision
    assert registry.snapshot().find("a").description == "better"
    assert registry.remove("a")
    assert not registry.remove("a")


def test_tools_are_found_by_capability():
    registry = Registry()
    registry.add(make("web.search", capabilities=("Search.web",), category="search"))
    registry.add(make("math.add"))
    catalog = registry.snapshot()

    assert [tool.key for tool in catalog.by_capability("search.WEB")] == ["web.search"]


async def test_a_provider_is_asked_only_when_one_of_its_tools_is_needed():
    registry, git, time = Registry(), Source("git", make("git.log")), Source("time", make("time.now"))
    registry.add(make("own"))
    registry.add_provider(git)
    registry.add_provider(time)

    await registry.load(["own"])
    assert (git.listings, time.listings) == (0, 0)
    await registry.load(["git.log", "own"])
    assert (git.listings, time.listings) == (1, 0)
    await registry.load(["git.nothing"])
    assert (git.listings, time.listings) == (1, 0)
    await registry.load(["now"])
    assert (git.listings, time.listings) == (1, 1)
    await registry.load(None)
    assert (git.listings, time.listings) == (1, 1)
    assert registry.snapshot().find("now").key == "time.now"


async def test_local_files_are_listed_before_servers_are_started():
    registry = Registry()
    folder, server = Source("folder", make("publish"), is_local=True), Source("server", make("server.x"))
    registry.add_provider(server)
    registry.add_provider(folder)

    await registry.load(["publish"])

    assert (folder.listings, server.listings) == (1, 0)


async def test_concurrent_loads_share_one_listing_and_survive_one_that_gives_up():
    registry, source = Registry(), Source("git", make("git.log"))
    registry.add_provider(source)
    source.gate.clear()
    loads = [asyncio.create_task(registry.load(None)) for _ in range(3)]
    await source.asked.wait()

    loads[0].cancel()
    source.gate.set()
    await asyncio.gather(*loads[1:])

    assert source.listings == 1
    assert "git.log" in registry.snapshot()


async def test_a_provider_that_fails_is_remembered_asked_again_after_a_pause_and_hides_no_other():
    now = 100.0
    registry = Registry(clock=lambda: now)
    broken, fine = Source("broken"), Source("fine", make("fine.x"))
    broken.tools = ToolUnavailable("It is down.")
    registry.add_provider(broken)
    registry.add_provider(fine)

    await registry.load(None)
    await registry.load(None)
    assert broken.listings == 1
    assert "fine.x" in registry.snapshot()
    assert registry.problems["broken"].message == "It is down."
    assert [finding.code for finding in registry.findings()] == ["provider_problem"]

    now += 60
    broken.tools = (make("broken.x"),)
    await registry.load(["broken.x"])
    assert "broken.x" in registry.snapshot()
    assert not registry.problems


async def test_a_fault_that_is_no_error_of_ours_is_told_all_the_same():
    registry, source = Registry(), Source("odd")
    source.tools = RuntimeError("boom")
    registry.add_provider(source)

    await registry.load(None)

    assert "RuntimeError: boom" in registry.problems["odd"].message


async def test_one_bad_tool_of_a_provider_leaves_the_others():
    registry = Registry()
    bad_input = Tool(name="bad", group="git", input_schema={"type": 1})
    bad_output = make("git.odd", output_schema={"$ref": "http://elsewhere/schema"})
    registry.add_provider(Source("git", make("git.log"), bad_input, bad_output))

    await registry.load(None)

    catalog = registry.snapshot()
    assert list(catalog.keys()) == ["git.log", "git.odd"]
    assert catalog.find("git.odd").output_schema is None
    assert list(registry.problems) == ["git.bad", "git.odd"]

    registry.providers["git"].tools = (make("git.log"),)  # type: ignore[attr-defined]
    await registry.load(None, refresh=True)
    assert not registry.problems


def test_a_schema_nested_without_end_is_refused():
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"again": schema}

    with pytest.raises(ConfigError, match="nested deeper"):
        Registry().add(Tool(name="deep", input_schema=schema))


async def test_an_announced_change_is_read_with_the_next_load_and_kept_when_that_fails():
    registry, source = Registry(), Source("git", make("git.log"))
    registry.add_provider(source)
    await registry.load(None)

    source.tools = (make("git.log"), make("git.diff"))
    source.changed()
    assert "git.diff" not in registry.snapshot()
    await registry.load(["git.diff"])
    assert "git.diff" in registry.snapshot()

    source.tools = ToolUnavailable("gone")
    await registry.load(None, refresh=True)
    assert "git.diff" in registry.snapshot()
    assert "git" in registry.problems


async def test_a_tool_that_was_added_wins_over_one_that_a_provider_lists():
    registry = Registry()
    registry.add_provider(Source("git", make("git.log", description="theirs")))
    registry.add(make("git.log", description="ours"))
    await registry.load(None)

    assert registry.snapshot().find("git.log").description == "ours"


def test_two_providers_of_one_name_and_names_with_dots_are_refused():
    registry = Registry()
    registry.add_provider(Source("git"))

    with pytest.raises(ConfigError, match="already a provider"):
        registry.add_provider(Source("git"))
    with pytest.raises(ConfigError, match="cannot be called"):
        registry.add_provider(Source("a.b"))


def test_overrides_win_over_what_tools_say_and_exact_keys_over_patterns():
    registry = registry_of("git.log", "git.push", "time.now")
    registry.set_override("git.push", {"effect": "destructive", "retry": 2, "timeout": "2m"})
    registry.set_override("git.*", {"effect": "read", "cache": True, "rate": "10/m", "requires": ["git"]})
    catalog = registry.snapshot()

    log, push, now = catalog.find("git.log"), catalog.find("git.push"), catalog.find("time.now")
    assert (log.effect, push.effect, now.effect) == ("read", "destructive", "write")
    assert push.retry == Retry(max_retries=2)
    assert push.timeout == 120
    assert log.cache == Cache()
    assert log.rate is not None
    assert (log.rate.calls, log.rate.seconds) == (10, 60)
    assert log.requires.permissions == ("git",)
    assert log.fingerprint != make("git.log").fingerprint


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"efect": "read"}, "Did you mean 'effect'"),
        ({"effect": "reed"}, "none of read, write, destructive"),
        ({"timeout": "soon"}, "no duration"),
        ({"timeout": 0}, "no duration of more than 0"),
        ({"retry": {"times": 3}}, "unknown field 'times'"),
        ({"max_concurrency": 0}, "less than 1"),
        ({"cost": -1}, "from 0"),
        ({"rate": "often"}, "rate"),
        ({"idempotent": "yes"}, "neither true nor false"),
        ({"name": "other"}, "belongs to the tool itself"),
    ],
)
def test_an_override_that_cannot_be_read_says_what_is_wrong(fields, message):
    with pytest.raises(ConfigError, match=message):
        Registry().set_override("x", fields)


def test_statistics_add_up_and_keep_the_latest_durations():
    registry = registry_of("a")
    before = registry.snapshot()
    for number in range(300):
        change = ToolStats(calls=1, failures=number % 2, total_duration=0.5, durations=(float(number),))
        registry.update_stats("a", change)
    after = registry.snapshot()

    assert not before.stats
    assert after.tools is before.tools
    assert after.digest == before.digest
    assert (after.stats["a"].calls, after.stats["a"].failures) == (300, 150)
    assert after.stats["a"].durations == tuple(float(number) for number in range(100, 300))
    assert registry.snapshot() is after

    registry.update_stats("a", ToolStats(calls=1, total_duration=0.5))

    assert (after.stats["a"].calls, registry.snapshot().stats["a"].calls) == (300, 301)


async def test_closing_closes_every_provider_whatever_the_others_do():
    registry, bad, good = Registry(), Source("bad"), Source("good")

    async def fail() -> None:
        raise RuntimeError("stuck")

    bad.close = fail  # type: ignore[method-assign]
    registry.add_provider(bad)
    registry.add_provider(good)

    await registry.close()

    assert good.closed
    assert "stuck" in registry.problems["bad"].message


async def test_a_tool_that_is_not_there_because_of_its_provider_says_why_until_the_provider_is_well():
    class Sick:
        name = "sick"
        problem: Exception | None = ToolUnavailable("Server 'sick' did not start.", hint="Start it.")

        async def list_tools(self):
            if self.problem is not None:
                raise self.problem
            return [Tool(name="a", group="sick"), Tool(name="b", group="sick", input_schema={"type": 7})]

        async def close(self): ...

        def watch(self, changed): ...

        def describe(self):
            return {}

    sick, registry = Sick(), Registry()
    registry.add_provider(sick)
    await registry.load({"sick.a"})
    with pytest.raises(ToolUnavailable, match=r"'sick\.a' is not there: Server 'sick' did not start\. Start it\."):
        registry.snapshot().find("sick.a")
    with pytest.raises(ToolNotFound):
        registry.snapshot().find("other.a")
    sick.problem = None
    await registry.load({"sick.a"}, refresh=True)
    assert registry.snapshot().find("sick.a").key == "sick.a"
    with pytest.raises(ToolUnavailable, match=r"'sick\.b' is not there: "):
        registry.snapshot().find("sick.b")


async def test_whoever_wants_to_know_hears_of_changes_until_they_want_no_more():
    registry, heard = Registry(), []
    end = registry.on_change(lambda: heard.append(registry.revision))
    registry.add(make("a.one"))
    source = Source("b", make("b.two"))
    registry.add_provider(source)
    await registry.load()
    assert len(heard) == 2
    source.changed()
    assert len(heard) == 3
    end()
    end()
    registry.add(make("a.three"))
    assert len(heard) == 3
