"""An MCP server of the older generation without the library: what it writes, good or bad, is written by hand here."""

from __future__ import annotations

import json
import os
import sys
import time


def write(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def reply(request: dict, result: object) -> None:
    write({"jsonrpc": "2.0", "id": request["id"], "result": result})


def refuse(request: dict, code: int, message: str) -> None:
    write({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})


def text(request: dict, value: str) -> None:
    reply(request, {"content": [{"type": "text", "text": value}]})


def read() -> dict:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


waiting: list[dict] = []
names = ["echo", "ask", "garbage", "flood", "nonsense", "grow", "close", "long", "refuse", "deaf"]


def call(request: dict) -> None:  # noqa: C901 - a list of cases
    match request["params"]["name"]:
        case "echo":
            text(request, request["params"]["arguments"].get("text", ""))
        case "ask":
            question = {
                "message": "Your name?",
                "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
            }
            write({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": question})
            while (answer := read()).get("id") != "q1":
                waiting.append(answer)
            text(request, json.dumps(answer.get("result") or answer))
        case "garbage":
            sys.stdout.write("this is no message\n{\n[]\n\n\xff\n")
            text(request, "still here")
        case "flood":
            sys.stderr.write("noise " * 100_000)
            for _ in range(100):
                sys.stdout.write("noise\n" * 1000)
            text(request, "never read")
        case "nonsense":
            reply(request, {"content": 7})
        case "grow":
            names.append(f"extra{len(names)}")
            write({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            text(request, "grown")
        case "close":
            sys.stdout.close()
            os.close(1)
            time.sleep(600)
        case "long":
            sys.stdout.write("[" + "1," * 20_000_000 + "1]\n")
            sys.stdout.flush()
        case "refuse":
            refuse(request, -32602, "The arguments are wrong.")
        case "deaf":
            time.sleep(600)
        case other:
            refuse(request, -32601, f"no {other}")


while True:
    message = waiting.pop(0) if waiting else read()
    match message.get("method"):
        case "initialize":
            info = {"name": "raw", "version": "0.1"}
            capabilities = {"tools": {"listChanged": True}}
            version = sys.argv[1] if len(sys.argv) > 1 else message["params"]["protocolVersion"]
            reply(message, {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})
        case "tools/list":
            # One tool a page, to make sure that pages are followed.
            start = int((message.get("params") or {}).get("cursor") or 0)
            page = {"tools": [{"name": names[start], "inputSchema": {"type": "object"}}]}
            if start + 1 < len(names):
                page["nextCursor"] = str(start + 1)
            reply(message, page)
        case "tools/call":
            call(message)
        case _ if "id" in message:
            refuse(message, -32601, "Method not found")
