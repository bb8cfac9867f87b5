"""pydantic-ai: a toolset whose calls go through doorward.

    from pydantic_ai.toolsets import FunctionToolset
    from doorward.adapters.pydantic_ai import GuardedToolset

    agent = Agent(model, toolsets=[GuardedToolset(FunctionToolset([run_shell]), Doorward(), {"run_shell": shell("cmd")})])

Tools given to the agent directly (`Agent(tools=…)`, `@agent.tool`) are not in a toolset and not guarded.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from pydantic_ai.toolsets import WrapperToolset

from .. import Doorward, Refused
from .._calls import Tools, translated


@dataclass
class GuardedToolset(WrapperToolset[Any]):
    """A toolset behind doorward. The model reads the reason of a refusal as the tool's result."""

    door: Doorward
    described: Tools | None = None

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        try:
            judged, seen = translated(self.described, name, tool_args)
            judgement = await self.door.adecide(judged, seen)
        except Refused as refused:
            return str(refused)
        except Exception as error:
            return f"Not run: doorward could not judge the call: {error!r}"
        result = "failed"
        try:
            value = await self.wrapped.call_tool(name, tool_args, ctx, tool)
            result = "ran"
            return value
        finally:
            await asyncio.to_thread(self.door.outcome, judgement, result)
