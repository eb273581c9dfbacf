"""Generator of a composite's module and its tests, as texts, once nothing is wrong with it.

Writes text only; where it is stored is the caller's matter. The texts pass ruff and mypy's strict mode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check, has_errors
from toolpath.checks.start import check_inputs
from toolpath.cli.project.factory.generated_tests import CompositeFacts, tests_text
from toolpath.cli.project.factory.module import module_text
from toolpath.cli.project.factory.source import TAKEN, arguments_of, python_name
from toolpath.errors import Finding, PlanInvalid, SchemaError
from toolpath.model.plan import Call, Plan, every_step
from toolpath.model.tool import Requires, Tool
from toolpath.notation.composite_printing import composite_to_dict
from toolpath.values import JsonObject

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)


class Generated(msgspec.Struct, frozen=True):
    """The texts of a module and of its tests, and the name that module and function have."""

    name: str
    module: str
    tests: str
    findings: tuple[Finding, ...] = ()
    """What the check said of the composite; none of it is an error."""


def generate(tool: Tool, *, source_file: str, package: str = "", catalog: Catalog | None = None) -> Generated:
    """The module and the tests of a composite; `package` is the dotted place from which the tests import the module.

    `catalog`: the tools that it calls, so that it is checked against them, and the tests too; None, or one without any
    tool: they are taken for tools that take and give anything. Raises `SchemaError` for a tool whose body is no plan,
    `PlanInvalid` for one with errors.
    """
    try:
        document = composite_to_dict(tool)
    except ValueError as error:
        raise SchemaError(str(error), hint="Only composites are generated.") from None
    assert isinstance(tool.body, Plan)  # it was written down
    if package and not _DOTTED.fullmatch(package):
        raise SchemaError(f"{package!r:.100} is no package.", hint="Write the dotted name of one: tools.generated.")
    used = _used(tool.body)
    known = {name: found for name in used if catalog is not None and (found := catalog.get(name)) is not None}
    findings = check(tool.body, catalog if catalog is not None and catalog.tools else _open(used))
    if has_errors(findings):
        raise PlanInvalid(findings)
    name = python_name(tool.name, TAKEN)
    arguments = arguments_of(tool.input_schema)
    place = f"{package}.{name}" if package else name
    texts = {
        "module": module_text(tool, document, name, arguments, source_file),
        "tests": tests_text(tool, name, place, arguments, source_file, facts=_facts(tool, known)),
    }
    for what, text in texts.items():
        _compiled(what, text)
    return Generated(name=name, findings=findings, **texts)


def _compiled(what: str, text: str) -> None:
    """Raise `SchemaError` where Python cannot read what was generated: nothing of it may be written."""
    try:
        compile(text, what, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SchemaError(
            f"The {what} of this composite cannot be written as Python: {error}",
            hint="Its values are nested too deeply, or hold what no source can.",
        ) from None


def _used(plan: Plan) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for _, step in every_step(plan.block):
        if isinstance(step, Call):
            found[step.tool] = None
            found.update(dict.fromkeys(fallback.tool for fallback in step.fallback))
    return tuple(sorted(found))


def _open(names: Iterable[str]) -> Catalog:
    """Tools of these names that take and give anything."""
    tools = {}
    for name in names:
        group, _, bare = name.rpartition(".")
        tools[name] = Tool(name=bare, group=group, input_schema={"type": "object"})
    return Catalog(tools)


def _facts(tool: Tool, known: Mapping[str, Tool]) -> CompositeFacts:
    assert isinstance(tool.body, Plan)
    full = _allowed([tool.requires, *(one.requires for one in known.values())])
    scenarios = tool.metadata.get("error_scenarios", [])
    return CompositeFacts(
        tools={name: _described(one) for name, one in sorted(known.items())},
        context=full,
        refused=_refused(tool.requires, full),
        unfit=frozenset(
            place
            for place, item in enumerate(scenarios)
            if isinstance(item.get("input", {}), dict) and check_inputs(tool.body, item.get("input", {}))
        ),
    )


def _described(tool: Tool) -> JsonObject:
    """The facts that a stand-in of the tool has to know."""
    found: JsonObject = {
        "key": tool.key,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "effect": tool.effect,
        "idempotent": tool.idempotent or None,
        "output_validation": tool.output_validation,
        "requires": msgspec.to_builtins(tool.requires),
    }
    return {name: value for name, value in found.items() if value is not None and value != {}}


def _allowed(all_requires: Iterable[Requires]) -> JsonObject:
    """The arguments of a context that has all of this."""
    found: JsonObject = {"user_id": "test_user", "session_id": "test_session"}
    permissions: set[str] = set()
    for requires in all_requires:
        permissions.update(requires.permissions)
        if requires.case:
            found["case_id"] = "test_case"
        if requires.case_states:
            found["case_state"] = requires.case_states[0]
    return found | ({"permissions": sorted(permissions)} if permissions else {})


def _refused(requires: Requires, full: JsonObject) -> dict[str, JsonObject]:
    """For each thing that the composite requires, a context that lacks it alone."""
    found: dict[str, JsonObject] = {}

    def without(name: str) -> JsonObject:
        return {key: value for key, value in full.items() if key != name}

    if requires.auth:
        found["a user"] = without("user_id")
    if requires.session:
        found["a session"] = without("session_id")
    if requires.case:
        found["a case"] = without("case_id")
    for permission in requires.permissions:
        left = [name for name in full.get("permissions", []) if name != permission]
        found[f"the permission {permission}"] = {**full, "permissions": left}
    return found
