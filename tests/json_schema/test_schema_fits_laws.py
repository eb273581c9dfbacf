"""The law of `fits`: what it says for sure holds for every value, tried on generated pairs of schemas."""

from typing import Any

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from toolpath.errors import SchemaError
from toolpath.json_schema.fits import fits
from toolpath.json_schema.validate import Validator, schema_faults

#: How many examples most laws are tried with; these have many kinds of schemas.
EXAMPLES = settings().max_examples
NAMES = ["a", "b", "c"]
TEXTS = ["", "a", "ab", "5", "1.5", "true", "1.0", "abc", "-3"]
NUMBERS = [0, 1, 2, 5, -3, 1.0, 1.5, 5.0, 10, 1e20, 7.25]

scalars = st.sampled_from([None, True, False, *TEXTS, *NUMBERS])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=5,
)
sizes = st.integers(0, 3)
bounds = st.sampled_from([-3, 0, 1, 1.5, 2, 5, 10])
type_names = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keywords)


numeric = some(
    minimum=bounds,
    maximum=bounds,
    exclusiveMinimum=bounds,
    exclusiveMaximum=bounds,
    multipleOf=st.sampled_from([1, 2, 5, 0.5]),
)
textual = some(
    minLength=sizes,
    maxLength=sizes,
    pattern=st.sampled_from(["^[0-9]+$", "a"]),
    format=st.sampled_from(["date", "email"]),
)
leaves = st.one_of(
    st.just({}),
    type_names.map(lambda name: {"type": name}),
    st.builds(lambda kind, more: {"type": kind, **more}, st.sampled_from(["integer", "number"]), numeric),
    st.builds(lambda more: {"type": "string", **more}, textual),
    st.lists(type_names, min_size=1, max_size=3, unique=True).map(lambda names: {"type": names}),
    st.lists(scalars, min_size=1, max_size=3).map(lambda listed: {"enum": listed}),
    st.builds(
        lambda kind, listed: {"type": kind, "enum": listed}, type_names, st.lists(scalars, min_size=1, max_size=3)
    ),
    scalars.map(lambda value: {"const": value}),
    st.builds(lambda left, right: {**left, **right}, numeric, textual),
    st.just({"$ref": "#/$defs/a"}),
    st.just({"$ref": "#/$defs/b"}),
)


def compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    branches = st.lists(inner, min_size=1, max_size=3)
    maybe = st.booleans() | inner
    objects = some(
        type=st.just("object"),
        properties=st.dictionaries(st.sampled_from(NAMES), maybe, max_size=3),
        required=st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
        additionalProperties=maybe,
        patternProperties=st.dictionaries(st.sampled_from(["^a", "b|c"]), inner, max_size=1),
        minProperties=sizes,
        maxProperties=sizes,
    )
    arrays = some(
        type=st.just("array"),
        items=maybe,
        prefixItems=st.lists(inner, min_size=1, max_size=2),
        minItems=sizes,
        maxItems=sizes,
        uniqueItems=st.just(True),
        contains=inner,
    )
    return st.one_of(
        objects,
        arrays,
        objects.map(lambda found: {**found, "type": "object"}),
        arrays.map(lambda found: {**found, "type": "array"}),
        branches.map(lambda found: {"anyOf": found}),
        branches.map(lambda found: {"oneOf": found}),
        branches.map(lambda found: {"allOf": found}),
        inner.map(lambda found: {"not": found}),
        st.builds(lambda one, other, third: {**one, **other, "if": third, "then": one}, inner, inner, inner),
        st.builds(lambda one, found: {**one, "anyOf": found}, inner, branches),
        st.builds(lambda one, found: {**one, "allOf": found}, inner, branches),
        st.builds(lambda one, found: {**one, "oneOf": found}, inner, branches),
    )


parts = st.recursive(leaves, compound, max_leaves=6)
schemas = st.builds(
    lambda part, first, second: {**part, "$defs": {"a": first, "b": second}}, parts, parts, parts
).filter(lambda schema: not schema_faults(schema))


def accepted(validator: Validator, value: Any) -> bool:
    try:
        changed = validator.accept(value)
    except SchemaError:
        return False
    assert validator.is_valid(changed)
    return True


@settings(max_examples=2 * EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(schemas, schemas, st.lists(values, min_size=5, max_size=25))
def test_what_surely_fits_is_accepted_and_what_never_fits_is_refused(output, wanted, tried):
    fit = fits(output, wanted)
    note(str(fit))
    giver, taker = Validator(output), Validator(wanted)
    for value in tried:
        if not giver.is_valid(value):
            continue
        if fit.verdict == "fits":
            assert accepted(taker, value), value
        elif fit.verdict == "never":
            assert not accepted(taker, value), value


@settings(max_examples=2 * EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(schemas, st.lists(values, max_size=10))
def test_a_schema_never_refuses_its_own_values_for_sure(schema, tried):
    if fits(schema, schema).verdict == "never":
        assert not any(Validator(schema).is_valid(value) for value in tried)
