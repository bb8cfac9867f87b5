"""Claude Agent SDK: doorward as a hook before each tool call.

    from claude_agent_sdk import ClaudeAgentOptions
    from doorward.adapters.claude_agent_sdk import hooks

    options = ClaudeAgentOptions(hooks=hooks(Doorward()))

The SDK sends what Claude Code sends to its hooks, so doorward judges the call as it does there. A question (`ask`) goes to
`can_use_tool`; without that, Claude Code refuses the call.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any

from claude_agent_sdk import HookMatcher

from .. import Doorward

# Events that only go on record; a failure there blocks nothing.
_RECORDED = ("PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "PreCompact")


def hooks(door: Doorward) -> dict[Any, list[HookMatcher]]:
    """The hooks for `ClaudeAgentOptions(hooks=…)`. Merge them with your own event by event."""

    async def decide(payload: Any, _tool_use_id: str | None, _context: Any) -> Any:
        try:
            return _understood(await asyncio.to_thread(door.hook, "claude", payload))
        except Exception as error:
            return _denied(f"Not run: {error}. Tell the user; do not try it another way.")

    async def record(payload: Any, _tool_use_id: str | None, _context: Any) -> Any:
        try:
            await asyncio.to_thread(door.hook, "claude", payload)
        except Exception:
            pass
        return {}

    # The client's own time limit must not strike first: it would let the call run.
    patience = door.timeout + 30
    wanted: dict[Any, list[HookMatcher]] = {"PreToolUse": [_matcher(decide, patience, "block")]}
    wanted.update({event: [_matcher(record, patience, "continue")] for event in _RECORDED})
    return wanted


def _understood(answer: bytes) -> dict[str, Any]:
    """The answer, if it is one: to Claude Code anything else means "no opinion", and the call would run."""
    said = json.loads(answer)
    if said == {"doorward": "none"}:
        return {}
    decision = said["hookSpecificOutput"]
    if decision["hookEventName"] != "PreToolUse" or decision["permissionDecision"] not in ("allow", "ask", "deny"):
        raise ValueError("doorward's answer can't be read")
    return dict(said)


def _matcher(hook: Any, timeout: float, on_failure: str) -> HookMatcher:
    known = {field.name for field in dataclasses.fields(HookMatcher)}
    extra: dict[str, Any] = {"on_failure": on_failure} if "on_failure" in known else {}
    return HookMatcher(hooks=[hook], timeout=timeout, **extra)


def _denied(reason: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}}
