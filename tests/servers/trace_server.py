"""An MCP server by hand that answers every call with the `_meta` that came with it."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            result = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "trace", "version": "1"},
            }
        case "tools/list":
            schema = {"type": "object"}
            result = {"tools": [{"name": "meta", "inputSchema": schema, "annotations": {"readOnlyHint": True}}]}
        case "tools/call":
            meta = message["params"].get("_meta") or {}
            result = {"content": [{"type": "text", "text": "meta"}], "structuredContent": {"meta": meta}}
        case _:
            result = None
    if "id" not in message:
        continue
    said = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
    sys.stdout.flush()
