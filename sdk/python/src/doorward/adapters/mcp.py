"""MCP clients: a client session whose tool calls go through doorward.

    from doorward.adapters.mcp import GuardedSession

    async with ClientSession(read, write) as session:
        session = GuardedSession(session, Doorward(), server="files")

Everything but `call_tool` is the session's own. A server that nobody has trusted (`doorward trust server`) is asked about.
"""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.types import CallToolResult, TextContent

from .. import Doorward, Refused


class GuardedSession:
    """A client session behind doorward. A refused call yields an error result with the reason."""

    def __init__(self, session: Any, door: Doorward, *, server: str) -> None:
        self._session, self._door, self._server = session, door, server

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any) -> Any:
        try:
            judgement = await self._door.adecide("mcp", {"server": self._server, "name": name, "args": arguments or {}})
        except Refused as refused:
            return _error(str(refused))
        except Exception as error:
            return _error(f"Not run: doorward could not judge the call: {error!r}")
        result = "failed"
        try:
            value = await self._session.call_tool(name, arguments, *args, **kwargs)
            result = "ran"
            return value
        finally:
            await asyncio.to_thread(self._door.outcome, judgement, result)

    # The raw way to make a call would be a way past doorward.
    async def send_request(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        if "tools/call" in str(getattr(request, "method", "") or getattr(getattr(request, "root", None), "method", "")):
            raise PermissionError("call tools with `call_tool`, so that doorward sees the call")
        return await self._session.send_request(request, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


def _error(text: str) -> CallToolResult:
    content = [TextContent(type="text", text=text)]
    fields = CallToolResult.model_fields
    return CallToolResult(content=content, **{"is_error" if "is_error" in fields else "isError": True})
