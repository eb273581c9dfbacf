"""The rules of the house that no linter checks."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "src" / "toolpath").rglob("*.py"))
NAMELESS = {"utils", "util", "helpers", "helper", "common", "base", "core", "manager", "misc"}


@cache
def tree_of(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("module", MODULES, ids=named)
def test_a_module_is_short_says_what_lives_in_it_and_has_short_functions(module: Path) -> None:
    tree = tree_of(module)
    assert module.read_text(encoding="utf-8").count("\n") <= 600
    assert ast.get_docstring(tree), "the module's docstring is missing"
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = {
        node.name: node.end_lineno - node.lineno + 1
        for node in functions
        if node.end_lineno is not None and node.end_lineno - node.lineno >= 60
    }
    assert not long
    vague = [node.name for node in functions if (ast.get_docstring(node) or "").startswith("What")]
    assert not vague, "a docstring begins with its subject: *The result of …*, not *What came of …*"


#: Decisions in one function, each `and`, `or`, branch, loop, condition and case counted.
MOST_DECISIONS = 20
#: Rooms that read what people write, sign after sign, until their functions are split.
READS_PEOPLE, MOST_SIGNS = ("planner/offline/", "checks/request/"), 40
#: Functions above the bound; the list only gets shorter.
MANY_DECISIONS = {
    "checks/judge.py type",
    "checks/operators.py binary",
    "engine/decide/people.py _read_value",
    "engine/drive/dispatch.py _prepare",
    "engine/drive/outcomes.py check_result",
    "expressions/emit.py emit",
    "json_schema/branches.py _both",
    "model_output/router.py read_router",
    "planner/scoring/evaluation.py summary_of",
    "providers/annotations.py plain_schema",
    "runs/claims.py take",
    # A column a line.
    "store/postgres/writer.py _columns",
}


def test_a_function_takes_few_decisions() -> None:
    many = set()
    for module in MODULES:
        place = str(module.relative_to(ROOT / "src" / "toolpath"))
        most = MOST_SIGNS if place.startswith(READS_PEOPLE) else MOST_DECISIONS
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and decisions_of(node) > most:
                many.add(f"{place} {node.name}")
    assert many - MANY_DECISIONS == set(), "split it into decisions with names"
    assert MANY_DECISIONS - many == set(), "no longer above the bound: take it from the list"


def decisions_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The decisions of a function, one for the function itself; those of functions inside it are their own."""
    own = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    branches = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.IfExp, ast.ExceptHandler, ast.comprehension, ast.Assert)
    total, pending = 1, list[ast.AST](function.body)
    while pending:
        item = pending.pop()
        if isinstance(item, own):
            continue
        total += isinstance(item, branches)
        if isinstance(item, ast.BoolOp):
            total += len(item.values) - 1
        elif isinstance(item, ast.Match):
            total += len(item.cases)
        pending.extend(ast.iter_child_nodes(item))
    return total


def test_files_are_named_by_what_is_in_them() -> None:
    assert not [named(module) for module in MODULES if module.stem in NAMELESS]


def test_packages_hold_no_code_in_their_init() -> None:
    for module in MODULES:
        if module.name == "__init__.py" and module.parent.name != "toolpath":
            body = tree_of(module).body
            assert len(body) <= 1, named(module)


def test_no_two_modules_of_the_tests_have_one_name() -> None:
    # They are imported by their bare names: of two, the second would be taken for the first.
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))


#: Bounds of a class: how deep it inherits, itself counted, and how many methods it has with those that it inherits.
DEEPEST, MOST_METHODS = 3, 25
#: Classes above these bounds. The public door may have more: each of its methods hands on.
LARGE = {
    "app.Toolpath",
    # One port, and what implements it.
    "ports.Store",
    "store.memory.store.MemoryStore",
    "store.postgres.records.PostgresRecords",
    "store.postgres.store.PostgresStore",
    "store.sqlite.store.SqliteStore",
    "testing.crashing.CrashingStore",
}


def test_a_class_is_a_noun_and_no_slice_of_one() -> None:
    classes = Classes(MODULES)
    large = {name for name in classes.all if classes.depth(name) > DEEPEST or len(classes.methods(name)) > MOST_METHODS}
    assert large - LARGE == set(), "too deep, or too many methods: compose it of parts"
    assert LARGE - large == set(), "no longer large: take it from the list"


#: Class names that two places share, each for a reason.
SHARED = {
    # The schemas of GraphQL and OpenAPI name their types so, and clients write these names.
    "Plan": {"model.plan", "server.graphql.types"},
    "Question": {"server.graphql.types", "server.questions"},
    "Routing": {"server.rest.planning_views", "server.graphql.routing"},
    "TemplateVersion": {"model.template", "server.graphql.templates"},
    "Tool": {"model.tool", "server.graphql.types"},
    "ToolCall": {"model.chat", "server.rest.bodies"},
    # Two stores that are built alike: the same part has the same name in both.
    "Queries": {"store.postgres.sql", "store.sqlite.sql"},
    "Taken": {"store.postgres.journal", "store.sqlite.journal"},
    "Writer": {"store.postgres.writer", "store.sqlite.writer"},
}


def test_a_class_name_stands_for_one_thing() -> None:
    homes: dict[str, set[str]] = {}
    for name in Classes(MODULES).all:
        place, _, noun = name.rpartition(".")
        if not noun.startswith("_"):
            homes.setdefault(noun, set()).add(place)
    shared = {noun: places for noun, places in homes.items() if len(places) > 1}
    assert {noun: places for noun, places in shared.items() if places != SHARED.get(noun)} == {}, "rename one of them"
    assert SHARED.keys() - shared.keys() == set(), "no longer shared: take it from the list"


#: Its kinds are given by name: `_convert(value, Retry)`.
NAMED_KINDS = {"catalog/fields.py"}


def test_each_record_that_is_read_is_made_ready_before_two_threads_read_it() -> None:
    # msgspec makes what it knows of a record when it first reads one: two threads at once end the process.
    missing = []
    for module in MODULES:
        place = str(module.relative_to(ROOT / "src" / "toolpath"))
        calls = [node for node in ast.walk(tree_of(module)) if isinstance(node, ast.Call)]
        ready = {ast.unparse(each) for call in calls if ast.unparse(call.func) == "made_ready" for each in call.args}
        for call in calls:
            kind = _kind_that_is_read(call, place)
            if kind and kind not in ready:
                missing.append(f"{kind} ({place})")
    assert sorted(missing) == []


def _kind_that_is_read(call: ast.Call, place: str) -> str:
    """The record that the call reads; empty: none that is known here."""
    function = ast.unparse(call.func)
    readers = {"msgspec.convert", "msgspec.json.decode", *(("_convert",) if place in NAMED_KINDS else ())}
    if function not in readers:
        return ""
    named = [each.value for each in call.keywords if each.arg == "type"]
    kinds = named or ([] if function.endswith("decode") else call.args[1:2])
    found = re.fullmatch(r"(?:tuple\[)?(_?[A-Z]\w*)(?:, \.\.\.\])?", ast.unparse(kinds[0])) if kinds else None
    return found[1] if found else ""


#: Questions about the objects of others, which have no type of ours.
ASKED_OF_OTHERS = {
    "model/http_failures.py": "headers of any HTTP client",
    "providers/builtin/browser_sessions.py": "the operating system",
    "server/graphql/doors.py": "the state of a connection, as Starlette has it",
}


def test_nobody_asks_an_object_of_ours_what_it_has() -> None:
    # What a thing has is said by its type; what it needs comes in through its constructor.
    asking = {
        str(module.relative_to(ROOT / "src" / "toolpath"))
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "hasattr"
    }
    assert asking - ASKED_OF_OTHERS.keys() == set()
    assert ASKED_OF_OTHERS.keys() - asking == set(), "no longer asked: take it from the list"


def test_no_method_waits_for_a_subclass_to_write_it() -> None:
    stubs = {
        named(module)
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Raise) and node.exc is not None and "NotImplementedError" in ast.unparse(node.exc)
    }
    assert stubs == set()


class Classes:
    """The classes of the package by dotted name, with what they inherit of one another."""

    def __init__(self, modules: list[Path]) -> None:
        self.all: dict[str, ast.ClassDef] = {}
        self._bases: dict[str, list[str]] = {}
        for module in modules:
            tree = tree_of(module)
            here = ".".join(module.relative_to(ROOT / "src" / "toolpath").with_suffix("").parts)
            known = {
                alias.asname or alias.name: f"{node.module}.{alias.name}".removeprefix("toolpath.")
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and node.module
                for alias in node.names
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    known[node.name] = name = f"{here}.{node.name}"
                    self.all[name] = node
                    self._bases[name] = [known.get(ast.unparse(base).partition("[")[0], "") for base in node.bases]

    def bases(self, name: str) -> list[str]:
        return [base for base in self._bases[name] if base in self.all]

    def depth(self, name: str) -> int:
        return 1 + max((self.depth(base) for base in self.bases(name)), default=0)

    def methods(self, name: str) -> set[str]:
        own = {
            node.name
            for node in self.all[name].body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__")
        }
        return own.union(*(self.methods(base) for base in self.bases(name)))


def test_versions_are_pinned_for_everything_that_is_declared() -> None:
    declared = re.findall(r'^ +"([a-z0-9._-]+)>=', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
    }
    assert {name.replace(".", "-") for name in declared} <= {name.replace(".", "-") for name in pinned}


def test_the_root_of_the_package_can_be_seen_at_one_glance() -> None:
    root = ROOT / "src" / "toolpath"
    rooms = [path.name for path in root.iterdir() if path.is_dir() and path.name != "__pycache__"]
    files = [path.name for path in root.glob("*.py") if not path.name.startswith("__")]
    assert len(rooms) + len(files) <= 30, sorted([*rooms, *files])


PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_for_contributors_names_only_places_that_are_there(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    places = {place for place in re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", page) if _is_place(place)}
    assert len(places) > 5
    roots = (ROOT, ROOT / "src" / "toolpath")
    assert sorted(place for place in places if not any((root / place).exists() for root in roots)) == []


def _is_place(text: str) -> bool:
    """A folder, or a file in one; a name alone may be that of a file which was named before."""
    if text.startswith("build/"):
        return False
    return text.endswith("/") or ("/" in text and bool(re.search(r"\.(py|sql|ts|vue|css|txt|md|json)$", text)))


def test_each_folder_has_its_place_in_the_table_of_where_to_change_what() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page.partition("## Where do I change what")[2].partition("### To add one")[0]
    named_there = re.findall(r"`([\w/<>.-]+)`", table)
    folders = {place.rpartition("/")[0] for place in named_there}
    code = {module.parent.relative_to(ROOT / "src" / "toolpath") for module in MODULES if module.name != "__init__.py"}
    drawn = {path.relative_to(ROOT) for path in (ROOT / "ui" / "src").iterdir() if path.is_dir()}
    everywhere = {folder.as_posix() for folder in code | drawn}
    # The commands of a noun are found by its name.
    assert "cli/<noun>" in folders
    by_noun = {folder for folder in everywhere if re.fullmatch(r"cli/\w+", folder)}
    assert everywhere - folders - by_noun - {"."} - DATA == set()


def test_a_row_of_the_table_names_few_places() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = page.partition("## Where do I change what")[2].partition("## Parts")[0].splitlines()
    long = {
        row.split("|")[1].strip(): len(places)
        for row in rows
        if row.startswith("| ") and len(places := set(re.findall(r"`([\w<>.-]+(?:/[\w<>.-]+)+)`", row))) > 6
    }
    assert long == {}, "split the row: who looks for one thing reads one line"


#: Folders that hold files of data, and the one module that finds them.
DATA = {"cli/project/demo/files", "planner/scoring/people"}


def test_no_test_gives_up_what_it_waits_for_before_a_busy_machine_can_be_done_with_it() -> None:
    # Where nothing may come, a test waits shortly on purpose: below a second, or where this list says so.
    shortly = {("test_outages.py", "4")}
    limit = re.compile(
        r"asyncio\.timeout\((\d+)(?:\.0)?\)|wait_for\(.*, (\d+)(?:\.0)?\)|mark\.timeout\((\d+)\)"
        r"|(?:subprocess\.run|communicate|process\.wait)\(.*timeout=(\d+)|monotonic\(\) \+ (\d+)$"
    )
    hasty = [
        f"{named(path)}: {found[0]}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for found in limit.finditer(path.read_text(encoding="utf-8"))
        for seconds in found.groups()
        if seconds and 0 < int(seconds) < PATIENCE and (path.name, seconds) not in shortly
    ]
    assert hasty == []


#: Lines above which a module is looked for by name.
LOOKED_FOR = 40
#: Rooms with a module for each noun or verb of their door, which is found by that.
BY_NOUN = re.compile(
    r"server/rest/|server/plan_service/|cli/\w+/(commands|\w+_verbs|audit|catalogue|routing)\.py|cli/project/demo/"
)


def test_a_module_of_some_length_is_named_by_the_page_of_the_house_or_by_its_room() -> None:
    page = set(re.findall(r"[\w/]+\.py", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")))
    nameless = []
    for module in MODULES:
        place = str(module.relative_to(ROOT / "src" / "toolpath"))
        if place in page or BY_NOUN.match(place) or module.name == "__init__.py":
            continue
        room = ast.get_docstring(tree_of(module.parent / "__init__.py")) or ""
        if module.read_text(encoding="utf-8").count("\n") > LOOKED_FOR and f"`{module.name}`" not in room:
            nameless.append(place)
    assert nameless == [], "give it a row, or a word in the sentence of its room (`__init__.py`)"


def test_what_the_sentence_of_a_room_names_is_in_that_room() -> None:
    gone = {
        f"{place} ({named(room)})"
        for room in MODULES
        if room.name == "__init__.py"
        for place in re.findall(r"`([\w/]+\.py)`", ast.get_docstring(tree_of(room)) or "")
        if not (room.parent / place).is_file()
    }
    assert gone == set()


def test_what_the_page_of_the_house_names_in_a_file_is_in_that_file() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    page = page.partition("## Where do I change what")[2].partition("## Parts")[0]
    named_in = re.findall(r"((?:`[\w.]+`(?:, | and | of )?)+) \(`([\w/]+\.(?:py|ts|vue))`\)", page)
    assert len(named_in) > 30
    roots = (ROOT / "src" / "toolpath", ROOT)
    missing = []
    for names, place in named_in:
        texts = [(root / place).read_text(encoding="utf-8") for root in roots if (root / place).is_file()]
        for name in re.findall(r"`([\w.]+)`", names):
            if not any(re.search(rf"\b{name.rpartition('.')[2]}\b", text) for text in texts):
                missing.append(f"{name} ({place})")
    assert missing == []


def test_the_page_of_the_house_shows_the_layers_that_are_held() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    shown = page.partition("## Layers")[2].split("```")[1].split()
    held = (ROOT / ".importlinter").read_text(encoding="utf-8").partition("layers =")[2].partition("\n[")[0].split()
    assert shown == [name for name in held if name != "__main__"]
