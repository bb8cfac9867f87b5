"""OpenAI Agents SDK: function tools that run only if doorward lets them.

    from doorward.adapters import shell
    from doorward.adapters.openai_agents import guarded

    agent = Agent(name="dev", tools=guarded([run_shell], Doorward(), {"run_shell": shell("cmd")}))

A refused call is not an error: the model reads the reason as the tool's result. Tools that are not function tools (hosted ones,
computer use) can't be judged before they run, and are refused here rather than left unguarded.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any, Sequence

from agents import FunctionTool, Tool

from .. import Doorward, Refused
from .._calls import Tools, translated


def guarded(tools: Sequence[Tool], door: Doorward, described: Tools | None = None) -> list[Tool]:
    """The same tools, each behind doorward."""
    return [_guarded(tool, door, described) for tool in tools]


def _guarded(tool: Tool, door: Doorward, described: Tools | None) -> FunctionTool:
    if not isinstance(tool, FunctionTool):
        raise TypeError(f"`{tool.name}` does not run in this process, so doorward can't judge its calls")
    run = tool.on_invoke_tool

    async def invoke(context: Any, arguments: str) -> Any:
        try:
            given = json.loads(arguments) if arguments else {}
            if not isinstance(given, dict):
                raise ValueError("the arguments are not an object")
            name, seen = translated(described, tool.name, given)
            judgement = await door.adecide(name, seen)
        except Refused as refused:
            return str(refused)
        except Exception as error:
            return f"Not run: doorward could not judge the call: {error!r}"
        result = "failed"
        try:
            value = await run(context, arguments)
            result = "ran"
            return value
        finally:
            await asyncio.to_thread(door.outcome, judgement, result)

    return dataclasses.replace(tool, on_invoke_tool=invoke)
