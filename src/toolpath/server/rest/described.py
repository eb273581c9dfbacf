"""Descriptions of what routes take and answer in OpenAPI: by the records that are read and written."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

import msgspec
from fastapi import FastAPI, Query
from fastapi.openapi.utils import get_openapi
from starlette.responses import Response

from toolpath.server.problems import MEDIA_TYPE, ProblemDetails
from toolpath.server.rest.bodies import BODIES
from toolpath.server.rest.operation_views import OPERATION_VIEWS
from toolpath.server.rest.views import VIEWS

#: The records that bodies and answers hold; OpenAPI has a schema of each by its name.
RECORDS: tuple[type, ...] = (ProblemDetails, *BODIES, *VIEWS, *OPERATION_VIEWS)

_REASONS = {
    400: "What was sent cannot be read.",
    401: "Credentials are missing or not valid.",
    403: "The caller may not do this.",
    404: "There is no such thing, or it is not the caller's.",
    408: "The body did not come in time.",
    409: "It is not in a state in which this can be done.",
    413: "The body is too large.",
    415: "The body is no JSON.",
    421: "The server does not answer to this name.",
    422: "It can be read, and is wrong; `findings` say all of it.",
    429: "Too many requests; `Retry-After` says when to come back.",
    500: "The server made a mistake.",
    502: "A tool or a model failed.",
    503: "The store or something else that is needed cannot be reached now.",
}
#: What every route may answer, besides what is its own.
_ALWAYS = (400, 401, 403, 408, 413, 421, 422, 429, 500, 503)
_PLACE = "#/components/schemas/{name}"

Described = dict[int | str, dict[str, Any]]

#: A filter, or the id of something: nothing that a store could stumble over.
TEXT = r"^[^\x00]*$"
Filter = Annotated[str | None, Query(max_length=200, pattern=TEXT)]


def problems(*statuses: int) -> Described:
    """The `responses` of a route that answers these problems, besides those that any may."""
    return {
        status: {
            "description": _REASONS.get(status, HTTPStatus(status).phrase),
            "content": {MEDIA_TYPE: {"schema": _reference(ProblemDetails)}},
        }
        for status in sorted(statuses)
    }


def shows(record: type, description: str, *, status: int = 200) -> Described:
    """The entry of `responses` for an answer that is this record."""
    return {status: {"description": description, "content": {"application/json": {"schema": _reference(record)}}}}


def takes(record: type, *, optional: bool = False) -> dict[str, Any]:
    """The `openapi_extra` of a route whose body is this record."""
    content = {"application/json": {"schema": _reference(record)}}
    return {"requestBody": {"required": not optional, "content": content}}


def _reference(record: type) -> dict[str, str]:
    return {"$ref": _PLACE.format(name=record.__name__)}


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The record as JSON, written as it is."""
    return Response(
        msgspec.json.encode(value), status_code=status, media_type="application/json", headers=headers or None
    )


def describe(app: FastAPI) -> None:
    """Have the app's OpenAPI document hold the schemas of the records."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            _, schemas = msgspec.json.schema_components(RECORDS, ref_template=_PLACE)
            found.setdefault("components", {}).setdefault("schemas", {}).update(schemas)
            _say_problems(found)
            _link(found["paths"])
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _say_problems(document: dict[str, Any]) -> None:
    """Say of each route what any may answer, in the place of what FastAPI would answer to a wrong parameter."""
    always = {str(status): said for status, said in problems(*_ALWAYS).items()}
    for routes in document["paths"].values():
        for route in routes.values():
            route["responses"] = dict(sorted({**route["responses"], **always}.items()))
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)


#: What makes something, its statuses, and the name under which the others take its id.
_MAKERS = (
    ("/api/v1/plans", (201,), "plan_id"),
    ("/api/v1/plans", (201,), "request_id"),
    ("/api/v1/templates", (201,), "template_id"),
    ("/api/v1/schedules", (201,), "schedule_id"),
    ("/api/v1/conversations", (201,), "conversation_id"),
    ("/api/v1/runs", (200, 202), "run_id"),
)


def _link(paths: dict[str, Any]) -> None:
    """Say of answers that make something which routes take its id."""
    for maker, statuses, name in _MAKERS:
        users = [
            route["operationId"] for path, routes in paths.items() if f"{{{name}}}" in path for route in routes.values()
        ]
        for status in statuses:
            links = paths[maker]["post"]["responses"][str(status)].setdefault("links", {})
            for user in users:
                links[user] = {"operationId": user, "parameters": {name: f"$response.body#/{name}"}}
