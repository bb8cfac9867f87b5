"""LangGraph and LangChain: a tool node whose calls go through doorward.

    from langgraph.prebuilt import ToolNode
    from doorward.adapters.langgraph import wrappers, interrupt

    node = ToolNode(tools, **wrappers(Doorward(ask=interrupt), {"run_shell": shell("cmd")}))

With `ask=interrupt` a question stops the graph (it needs a checkpointer); `Command(resume=True)` is the yes.
"""

from __future__ import annotations

import asyncio
from typing import Any, Mapping

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import interrupt as _interrupt

from .. import Doorward, Judgement, Refused
from .._calls import Tools, translated


def interrupt(judgement: Judgement, tool: str, input: Mapping[str, Any]) -> bool:
    """Asks by interrupting the graph. Only `True` is a yes."""
    return _interrupt({"doorward": judgement.reason, "tool": tool, "input": dict(input)}) is True


def wrappers(door: Doorward, described: Tools | None = None) -> dict[str, Any]:
    """`wrap_tool_call` and `awrap_tool_call` for `ToolNode` or `create_agent` middleware."""

    def judged(request: Any) -> tuple[str, Mapping[str, Any]]:
        return translated(described, request.tool_call["name"], request.tool_call["args"])

    def wrap(request: Any, execute: Any) -> Any:
        try:
            judgement = door.decide(*judged(request))
        except GraphBubbleUp:
            raise
        except Exception as error:
            return _refused(request, error)
        result = "failed"
        try:
            value = execute(request)
            result = "ran"
            return value
        finally:
            door.outcome(judgement, result)

    async def awrap(request: Any, execute: Any) -> Any:
        try:
            judgement = await door.adecide(*judged(request))
        except GraphBubbleUp:
            raise
        except Exception as error:
            return _refused(request, error)
        result = "failed"
        try:
            value = await execute(request)
            result = "ran"
            return value
        finally:
            await asyncio.to_thread(door.outcome, judgement, result)

    return {"wrap_tool_call": wrap, "awrap_tool_call": awrap}


def _refused(request: Any, error: Exception) -> ToolMessage:
    text = str(error) if isinstance(error, Refused) else f"Not run: doorward could not judge the call: {error!r}"
    return ToolMessage(content=text, name=request.tool_call["name"], tool_call_id=request.tool_call["id"], status="error")
