"""A tool server with one tool, which writes down that it was called."""
import json, os, sys

TOOL = {"name": "destroy", "description": "Delete a thing", "inputSchema": {"type": "object", "properties": {"what": {"type": "string"}}}}
for line in sys.stdin:
    message = json.loads(line) if line.strip() else {}
    method, answer = message.get("method"), {}
    if method == "initialize":
        answer = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "things", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [TOOL]}
    elif method == "tools/call":
        open(os.environ["CALLED"], "a").write(line)
        answer = {"content": [{"type": "text", "text": "gone"}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
