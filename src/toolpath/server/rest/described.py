"""How routes describe their answers in OpenAPI: by the records that are written, and problem details for the rest."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import Response

from toolpath.model.run import RunInfo
from toolpath.server.problems import MEDIA_TYPE, ProblemDetails

#: The records that answers hold; OpenAPI has a schema of each by its name.
RECORDS: tuple[type, ...] = (ProblemDetails, RunInfo)

_REASONS = {
    400: "What was sent cannot be read.",
    401: "Credentials are missing or not valid.",
    403: "The caller may not do this.",
    404: "There is no such thing, or it is not the caller's.",
    409: "It is not in a state in which this can be done.",
    413: "The body is too large.",
    422: "It can be read, and is wrong; `findings` say all of it.",
    429: "Too many requests; `Retry-After` says when to come back.",
    502: "A tool or a model failed.",
    503: "The store or something else that is needed cannot be reached now.",
}
#: What every route may answer, besides what is its own.
_ALWAYS = (400, 401, 403, 413, 422, 429, 500, 503)
_PLACE = "#/components/schemas/{name}"

Described = dict[int | str, dict[str, Any]]


def problems(*statuses: int) -> Described:
    """The `responses` of a route that answers these problems, besides those that any route may."""
    return {
        status: {
            "description": _REASONS.get(status, HTTPStatus(status).phrase),
            "content": {MEDIA_TYPE: {"schema": {"$ref": _PLACE.format(name=ProblemDetails.__name__)}}},
        }
        for status in sorted({*_ALWAYS, *statuses})
    }


def shows(record: type, description: str, *, status: int = 200) -> Described:
    """The entry of `responses` for an answer that is this record."""
    schema = {"$ref": _PLACE.format(name=record.__name__)}
    return {status: {"description": description, "content": {"application/json": {"schema": schema}}}}


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The record as JSON, written as it is."""
    return Response(
        msgspec.json.encode(value), status_code=status, media_type="application/json", headers=headers or None
    )


def describe(app: FastAPI) -> None:
    """Have the app's OpenAPI document hold the schemas of the records."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                tags=app.openapi_tags,
            )
            _, schemas = msgspec.json.schema_components(RECORDS, ref_template=_PLACE)
            found.setdefault("components", {}).setdefault("schemas", {}).update(schemas)
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]
