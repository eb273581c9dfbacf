"""Check of the inputs of a run against those its plan declares, and the inputs as the run reads them. Pure."""

from __future__ import annotations

from toolpath.checks.remarks import Suggestions, error, listed
from toolpath.errors import Finding, SchemaError
from toolpath.json_schema.coerce import coerce_in
from toolpath.json_schema.document import SchemaDocument
from toolpath.json_schema.validate import Validator, null_over_default
from toolpath.model.plan import Plan
from toolpath.model.redaction import Redactor
from toolpath.model.tool import Tool
from toolpath.values import JsonObject, pointer


class DeclaredInputs:
    """Inputs that a plan declares: made ready once, for any number of runs."""

    def __init__(self, plan: Plan) -> None:
        schema = plan.inputs
        self._plan = plan
        self._declared: JsonObject = schema.get("properties", {})
        self._defaults = {name: part["default"] for name, part in self._declared.items() if _has_default(part)}
        self._required: list[str] = list(schema.get("required", ()))
        self._needed = [name for name in self._required if name not in self._defaults]
        """Required, and without a default."""
        self._document = SchemaDocument(schema)
        self._validator: Validator | None = None
        self._without_any: JsonObject | None = None
        """What a run reads that is given nothing, once one was."""

    def faults(self, inputs: JsonObject) -> tuple[Finding, ...]:
        """Everything that is wrong with the inputs, with pointers into them below `/inputs`; empty: a run may start.

        Codes: missing_input, unknown_input, wrong_input. What is only missing its default, or has another form of the
        same value (`"3"` for 3), is no fault.
        """
        if not isinstance(inputs, dict):
            return (error("wrong_input", "/inputs", "The inputs are no object.", hint="Give names and values."),)
        declared = self._declared
        found = [
            error(
                "missing_input",
                "/inputs",
                f"The plan needs the input '{name}'{_told(declared.get(name))}.",
                hint=f"Give {name}=….",
            )
            for name in self._needed
            if inputs.get(name) is None and not _admits(declared, name, inputs)
        ]
        wrong = self._wrong(inputs)
        # Of what is missing, parts of the schema would tell a second time.
        wrong = [finding for finding in wrong if finding.path != "/inputs"] if found else wrong
        return (*found, *_surplus(self._plan, inputs), *wrong)

    def filled(self, inputs: JsonObject) -> JsonObject:
        """The inputs as a run reads them: coerced, defaults filled in, optional ones that are not given null.

        Only for inputs without `faults`.
        """
        if inputs:
            return self._filled(inputs)
        if self._without_any is None:
            self._without_any = self._filled({})
        return dict(self._without_any)

    def _filled(self, inputs: JsonObject) -> JsonObject:
        filled = dict(self._defaults)
        nullable = null_over_default(self._plan.inputs) if None in inputs.values() else frozenset()
        filled |= {
            name: value for name, value in inputs.items() if value is not None or name not in filled or name in nullable
        }
        coerced: JsonObject = coerce_in(self._document, filled) if self._plan.inputs else filled
        return {**dict.fromkeys(self._declared), **coerced}

    def _wrong(self, inputs: JsonObject) -> list[Finding]:
        if not self._plan.inputs:
            return []
        # An input given as null is one that is not given, where it is optional or has a default.
        given = {name: value for name, value in inputs.items() if value is not None or name in self._needed}
        # A part of the schema may require what has its default.
        given |= {name: self._defaults[name] for name in self._required if name in self._defaults and name not in given}
        try:
            if self._validator is None:
                self._validator = Validator({**self._plan.inputs, "required": [], "additionalProperties": True})
            self._validator.accept(given)
        except SchemaError as fault:
            return [
                error("wrong_input", f"/inputs{where}", f"The input '{where.lstrip('/')}' does not fit: {what}.")
                for where, what in fault.faults
                if where
            ] or [error("wrong_input", "/inputs", fault.message)]
        return []


def check_inputs(plan: Plan, inputs: JsonObject) -> tuple[Finding, ...]:
    """As `DeclaredInputs.faults`, of a plan that is asked about once."""
    return DeclaredInputs(plan).faults(inputs)


def check_arguments(tool: Tool, inputs: JsonObject) -> tuple[Finding, ...]:
    """As `check_inputs`, of a tool that is called by itself: nothing but its own schema says what it takes."""
    # A schema that does not close its object takes names that it does not know.
    return check_inputs(Plan(inputs={"additionalProperties": True, **tool.input_schema}), inputs)


def secrets_given(inputs: JsonObject, redactor: Redactor) -> tuple[Finding, ...]:
    """Findings on inputs that hold a secret: those of a run are kept in its journal. Code: wrong_input."""
    return tuple(
        error(
            "wrong_input",
            "/inputs" + pointer(redactor.text(name)),
            f"The input '{redactor.text(name)}' holds the value of a secret, and inputs are kept in the journal.",
            hint="Leave it out, and have the plan read it as {{ secrets.NAME }}.",
        )
        for name, value in inputs.items()
        if redactor.finds({name: value})
    )


def check_intent(plan: Plan, floor: float) -> tuple[Finding, ...]:
    """Findings that keep a plan made of words from being run: questions that it leaves open, and too little confidence.

    Codes: open_question, not_sure. `floor`: the least confidence, 0 to 1.
    """
    found = [
        error(
            "open_question",
            f"/origin/questions/{index}",
            question,
            hint="Say it in the request, and have it planned anew.",
        )
        for index, question in enumerate(plan.questions)
    ]
    if not found and plan.confidence is not None and plan.confidence < floor:
        found.append(
            error(
                "not_sure",
                "/origin/confidence",
                f"The planner is {plan.confidence:.0%} sure of this plan; from {floor:.0%} on it is run.",
                hint="Say it more plainly; who has read the plan and answers for it takes `origin` out of it.",
            )
        )
    return tuple(found)


def fill_inputs(plan: Plan, inputs: JsonObject) -> JsonObject:
    """As `DeclaredInputs.filled`, of a plan that is asked about once."""
    return DeclaredInputs(plan).filled(inputs)


def _surplus(plan: Plan, inputs: JsonObject) -> list[Finding]:
    declared = plan.inputs.get("properties", {})
    if plan.inputs.get("additionalProperties") not in (None, False) or "patternProperties" in plan.inputs:
        return []
    suggest = Suggestions()
    return [
        error(
            "unknown_input",
            "/inputs" + pointer(name),
            f"The plan has no input '{name}'; it has {listed(declared)}.",
            suggestions=suggest(name, declared),
        )
        for name in inputs
        if name not in declared
    ]


def _has_default(schema: object) -> bool:
    return isinstance(schema, dict) and "default" in schema


def _admits(declared: JsonObject, name: str, inputs: JsonObject) -> bool:
    """Null was given, and the schema may take it: then it is for the schema to say."""
    return name in inputs and name in declared


def _told(schema: object) -> str:
    if not isinstance(schema, dict):
        return ""
    kind, description = schema.get("type"), str(schema.get("description", "")).split("\n")[0][:80]
    told = ", ".join(str(part) for part in (kind, description) if part)
    return f" ({told})" if told else ""
