"""A model on 127.0.0.1 that plays a script: which tool calls it makes depends only on how many results it has seen.

Speaks, streaming, what the clients speak: Anthropic Messages (Claude Code), OpenAI Responses (Codex), OpenAI chat completions (Pi,
OpenCode, Qwen Code, Copilot CLI), Gemini's generateContent.
A script is a list of turns; a turn is a list of calls made at once; a call is (tool name, input), and `*end` is
the first tool whose name ends so. A conversation whose prompt holds
[[name]] plays the script of that name: that is how a subagent is told apart.
"""
import json, re, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model:
    def __init__(self, script, others=None):
        self.script, self.others = script, others or {}
        self.offered, self.results, self.heard = {}, [], ""
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def say(self, body, kind="application/json"):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.say(b'{"object":"list","data":[],"models":[]}')

            def do_HEAD(self):
                self.say(b"")

            def do_POST(self):
                size = int(self.headers.get("content-length") or 0)
                request = json.loads(self.rfile.read(size) or b"{}")
                path = self.path.split("?")[0].replace(":streamGenerateContent", "/streamGenerateContent")
                speaks = next((how for end, how in WIRES.items() if path.endswith(end)), None)
                if speaks is None or "count_tokens" in path:
                    return self.say(b'{"input_tokens":10}')
                parse, events = speaks
                kind = "text/event-stream"
                if events is say_chat and not request.get("stream"):
                    events, kind = whole_chat, "application/json"
                text, results, tools = parse(request)
                calls = model.calls(text, results, tools)
                self.say("".join(events(request.get("model", "m"), calls)).encode(), kind)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def calls(self, text, results, tools):
        if not tools:
            return []  # a title or a summary
        self.offered.update(tools)
        self.heard = text
        self.results = max(self.results, results, key=len)
        script = next((turns for name, turns in self.others.items() if "[[%s]]" % name in text), self.script)
        done = 0
        for turn in script:
            if len(results) <= done:
                names = [next((tool for tool in tools if tool.endswith(name[1:])), name) if name[0] == "*" else name for name, _ in turn]
                return [(name, self.filled(given, results), tools.get(name, "function")) for name, (_, given) in zip(names, turn)]
            done += len(turn)
        return []

    @staticmethod
    def filled(given, results):
        """The id of a running shell comes with an earlier result."""
        running = re.findall(r"session ID (\d+)", "\n".join(results))
        return {key: int(running[-1]) if value == "@SESSION@" and running else value for key, value in given.items()} if isinstance(given, dict) else given


def text_of(content):
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(map(text_of, content))
    if isinstance(content, dict):
        return content.get("text") or text_of(content.get("content") or content.get("output") or "")
    return ""


def name_of(prefix, number):
    return "%s_%d%d" % (prefix, time.time_ns(), number)


def named(events):
    return ("event: %s\ndata: %s\n\n" % (kind, json.dumps(dict(data, type=kind))) for kind, data in events)


def parse_messages(request):
    messages = request.get("messages", [])
    first = "\n".join(text_of(message["content"]) for message in messages[:2] if message["role"] == "user")
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    results = [text_of(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
    return first, results, {tool["name"]: "function" for tool in request.get("tools", []) if "name" in tool}


def say_messages(model, calls):
    usage = {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {"id": name_of("msg", 0), "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events = [("message_start", {"message": message})]
    blocks = [({"type": "tool_use", "id": name_of("toolu", at), "name": name, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(given)})
              for at, (name, given, _) in enumerate(calls)] or [({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"})]
    for at, (block, delta) in enumerate(blocks):
        events += [("content_block_start", {"index": at, "content_block": block}), ("content_block_delta", {"index": at, "delta": delta}), ("content_block_stop", {"index": at})]
    events += [("message_delta", {"delta": {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}}), ("message_stop", {})]
    return named(events)


def parse_responses(request):
    items = request.get("input") if isinstance(request.get("input"), list) else []
    first = "\n".join(text_of(item.get("content")) for item in items if item.get("role") == "user")
    results = [text_of(item.get("output")) for item in items if str(item.get("type")).endswith("call_output")]
    tools = {}
    for tool in request.get("tools", []):
        tools[tool.get("name") or tool.get("type")] = tool.get("type", "function")
        for inner in tool.get("tools", []) if tool.get("type") == "namespace" else []:
            tools[inner["name"]] = "namespace:" + tool["name"]
    return first, results, tools


def say_responses(model, calls):
    items = []
    for at, (name, given, kind) in enumerate(calls):
        call = name_of("call", at)
        if kind == "custom":
            items.append({"type": "custom_tool_call", "id": "c" + call, "call_id": call, "name": name, "input": given})
        else:
            items.append({"type": "function_call", "id": "f" + call, "call_id": call, "name": name, "arguments": json.dumps(given), "status": "completed"})
            if kind.startswith("namespace:"):
                items[-1]["namespace"] = kind.split(":", 1)[1]
    items = items or [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "done", "annotations": []}]}]
    base = {"id": name_of("resp", 0), "object": "response", "model": model}
    events = [("response.created", {"response": dict(base, status="in_progress", output=[])})]
    for at, item in enumerate(items):
        events += [("response.output_item.added", {"output_index": at, "item": item}), ("response.output_item.done", {"output_index": at, "item": item})]
    usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}
    return named(events + [("response.completed", {"response": dict(base, status="completed", output=items, usage=usage)})])


def parse_chat(request):
    messages = request.get("messages", [])
    first = "\n".join(text_of(message.get("content")) for message in messages if message["role"] == "user")
    results = [text_of(message.get("content")) for message in messages if message["role"] == "tool"]
    return first, results, {tool["function"]["name"]: "function" for tool in request.get("tools") or [] if tool.get("type") == "function"}


def say_chat(model, calls):
    made = [{"index": at, "id": name_of("call", at), "type": "function", "function": {"name": name, "arguments": json.dumps(given)}} for at, (name, given, _) in enumerate(calls)]
    deltas = [({"role": "assistant", "content": None if made else ""}, None), ({"tool_calls": made} if made else {"content": "done"}, None), ({}, "tool_calls" if made else "stop")]
    for delta, end in deltas:
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": model, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        yield "data: %s\n\n" % json.dumps(chunk)
    yield "data: [DONE]\n\n"


def parse_gemini(request):
    parts = [(content.get("role"), part) for content in request.get("contents", []) for part in content.get("parts", [])]
    first = "\n".join(part.get("text", "") for role, part in parts if role == "user")
    results = [json.dumps(part["functionResponse"].get("response")) for _, part in parts if "functionResponse" in part]
    declared = [one for tool in request.get("tools", []) for one in tool.get("functionDeclarations", [])]
    return first, results, {one["name"]: "function" for one in declared}


def say_gemini(model, calls):
    parts = [{"functionCall": {"id": name_of("fc", at), "name": name, "args": given}} for at, (name, given, _) in enumerate(calls)] or [{"text": "done"}]
    answer = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
              "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": model}
    yield "data: %s\n\n" % json.dumps(answer)


def whole_chat(model, calls):
    """The same without a stream."""
    made = [{"id": name_of("call", at), "type": "function", "function": {"name": name, "arguments": json.dumps(given)}} for at, (name, given, _) in enumerate(calls)]
    message = {"role": "assistant", "content": None if made else "done"} | ({"tool_calls": made} if made else {})
    yield json.dumps({"id": "c", "object": "chat.completion", "created": 0, "model": model, "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
                      "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if made else "stop"}]})


WIRES = {"/streamGenerateContent": (parse_gemini, say_gemini), "/messages": (parse_messages, say_messages), "/responses": (parse_responses, say_responses), "/chat/completions": (parse_chat, say_chat)}
