"""Names of spans and their attributes: OpenTelemetry's conventions for generative AI and HTTP, and a few of our own.

The conventions are still in development upstream, so each name stands here once.
"""

from __future__ import annotations

OPERATION = "gen_ai.operation.name"
INVOKE_WORKFLOW = "invoke_workflow"
EXECUTE_TOOL = "execute_tool"
WORKFLOW_NAME = "gen_ai.workflow.name"
CONVERSATION_ID = "gen_ai.conversation.id"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT = "gen_ai.tool.call.result"
CHAT = "chat"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_TEMPERATURE = "gen_ai.request.temperature"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
ERROR_TYPE = "error.type"

HTTP_METHOD = "http.request.method"
HTTP_ROUTE = "http.route"
HTTP_STATUS = "http.response.status_code"
URL_PATH = "url.path"
URL_SCHEME = "url.scheme"

RUN_ID = "toolpath.run.id"
RUN_STATUS = "toolpath.run.status"
STEP_PATH = "toolpath.step.path"
STEP_ATTEMPT = "toolpath.step.attempt"
STEP_STATUS = "toolpath.step.status"
STEP_CACHED = "toolpath.step.cached"
COST = "toolpath.usage.cost"
TOKENS = "toolpath.usage.tokens"
