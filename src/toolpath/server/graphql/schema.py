"""The schema with its bounds, and the router that answers at `/graphql`."""

from __future__ import annotations

import logging
from functools import cache
from json import JSONDecodeError
from typing import Any

import msgspec
from fastapi import APIRouter
from graphql import GraphQLError
from starlette.responses import Response
from strawberry import Schema
from strawberry.extensions import MaskErrors, MaxTokensLimiter
from strawberry.fastapi import GraphQLRouter
from strawberry.http import GraphQLHTTPResponse
from strawberry.subscriptions import GRAPHQL_SSE_PROTOCOL, GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.tools import merge_types
from strawberry.types import ExecutionContext

from toolpath.server.graphql.doors import ResolverContext
from toolpath.server.graphql.limits import LENGTH, TOKENS, Bounded
from toolpath.server.graphql.mutation import Mutation
from toolpath.server.graphql.query import Query
from toolpath.server.graphql.routing import RoutingMutation, RoutingQuery
from toolpath.server.graphql.subscription import Subscription
from toolpath.server.graphql.templates import TemplateMutation, TemplateQuery
from toolpath.server.problems import Problem

PATH = "/graphql"
_log = logging.getLogger("toolpath.graphql")


class _Schema(Schema):
    """Logs what nobody foresaw, and nothing that clients did wrong: their texts may hold anything."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log the unforeseen."""
        for error in filter(_is_unforeseen, errors):
            _log.error("GraphQL: %s", error.path, exc_info=error.original_error)


def _is_unforeseen(error: GraphQLError) -> bool:
    return error.original_error is not None and not isinstance(error.original_error, GraphQLError)


@cache
def make_schema() -> Schema:
    """Queries, mutations and subscriptions, bounded; one for all apps, which is looked over at its first request."""
    return _Schema(
        query=merge_types("Query", (Query, TemplateQuery, RoutingQuery)),
        mutation=merge_types("Mutation", (Mutation, TemplateMutation, RoutingMutation)),
        subscription=Subscription,
        extensions=[
            lambda: MaxTokensLimiter(TOKENS),
            Bounded,
            lambda: MaskErrors(_is_unforeseen, "The server made a mistake; its log says more."),
        ],
    )


class _Router(GraphQLRouter[Any, None]):
    """The library's router, which reads only objects, and none that is larger than a document may be."""

    def parse_json(self, data: str | bytes) -> Any:
        """The body of a request. Raises `Problem`."""
        try:
            value = _decoded(data)
            # A list is a batch, which the library refuses in its own words.
            if not isinstance(value, list):
                _check_length(_object(value))
        except JSONDecodeError as error:
            raise Problem(400, "bad_request", f"The body is no GraphQL request: {error.msg}.") from None
        return value

    def create_response(
        self, response_data: GraphQLHTTPResponse | list[GraphQLHTTPResponse], sub_response: Response
    ) -> Response:
        """The answer, written once: it may hold long texts."""
        data, status = msgspec.json.encode(response_data), sub_response.status_code or 200
        answer = Response(data, status_code=status, media_type="application/json")
        answer.headers.raw.extend(sub_response.headers.raw)
        return answer

    def decode_json(self, data: str | bytes) -> object:
        """A message of a WebSocket. Raises `JSONDecodeError`, as the library expects it."""
        message = _object(_decoded(data))
        payload = message.get("payload")
        if payload is not None:
            _check_length(_object(payload))
        return message


def _decoded(data: str | bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise JSONDecodeError(str(error), "", 0) from None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise JSONDecodeError("it is not an object", "", 0)
    return value


def _check_length(request: dict[str, Any]) -> None:
    query = request.get("query")
    if isinstance(query, str) and len(query) > LENGTH:
        raise JSONDecodeError(f"the document has {len(query):,} characters; the most is {LENGTH:,}", "", 0)


async def _asked() -> ResolverContext:
    return ResolverContext()


def graphql_router() -> APIRouter:
    """The routes at `/graphql`: POST, and WebSockets for subscriptions. GraphiQL loads from elsewhere, so it is off."""
    return _Router(
        make_schema(),
        path=PATH,
        graphql_ide=None,
        allow_queries_via_get=False,
        context_getter=_asked,
        subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL),
        max_subscriptions_per_connection=100,
        include_in_schema=False,
        # The guard before every route has judged the origin.
        allowed_origins=("*",),
    )
