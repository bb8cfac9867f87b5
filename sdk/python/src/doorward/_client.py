"""Asks doorward about tool calls, guards functions, and reports how calls ended."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import os
import threading
import uuid
from dataclasses import dataclass
from enum import Enum
from typing import Any, Awaitable, Callable, Mapping, ParamSpec, TypeVar, cast

from ._program import NotInstalled, find_program
from ._transport import Process, Socket, Transport, Unanswered

P = ParamSpec("P")
R = TypeVar("R")


class Verdict(str, Enum):
    """What doorward says about a call."""

    APPROVE = "approve"
    CONFIRM = "confirm"
    BLOCK = "block"
    #: Mode `off` or `shadow`: doorward leaves the call to the agent.
    NONE = "none"


@dataclass(frozen=True)
class Judgement:
    """The answer about one call."""

    verdict: Verdict
    reason: str
    id: str
    #: doorward did not judge the call: it is missing, late, silent or broken. The verdict is `block`.
    unanswered: bool = False

    @property
    def may_run(self) -> bool:
        return self.verdict in (Verdict.APPROVE, Verdict.NONE)

    @property
    def needs_person(self) -> bool:
        return self.verdict is Verdict.CONFIRM


class Refused(Exception):
    """The call did not run. The text is for the model: the reason, and what to do instead."""

    def __init__(self, judgement: Judgement) -> None:
        super().__init__(judgement.reason)
        self.judgement = judgement


#: Asks a person about a call; only `True` is a yes.
Ask = Callable[[Judgement, str, Mapping[str, Any]], "bool | Awaitable[bool]"]


class Doorward:
    """One session of an agent."""

    def __init__(
        self,
        *,
        session: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        program: str | os.PathLike[str] | None = None,
        socket: str | os.PathLike[str] | None = None,
        timeout: float = 30.0,
        ask: Ask | None = None,
    ) -> None:
        """
        `session` names the agent's session on record, `cwd` is where its calls run.
        `program` is the path of doorward, found by itself if left out; `socket` is that of `doorward serve`, instead of a process per call.
        `ask` asks a person when doorward wants one; without it such calls are refused and wait in `doorward review`.
        """
        self.session = session or str(uuid.uuid4())
        self.cwd = os.path.abspath(cwd) if cwd is not None else None
        self.timeout = timeout
        self.ask = ask
        self._program = program
        self._transport: Transport | None = Socket(os.fspath(socket)) if socket is not None else None
        self._lock = threading.Lock()

    def check(self, tool: str, input: Mapping[str, Any], *, id: str | None = None, cwd: str | None = None) -> Judgement:
        """What doorward says about a call. Never raises: whatever goes wrong is a block."""
        name = id or str(uuid.uuid4())
        try:
            event = {"event": "call", "tool": tool, "input": dict(input), "cwd": cwd or self.cwd or os.getcwd(),
                     "session": self.session, "id": name, "attended": self.ask is not None}
            answer = self._send(event)
            verdict = Verdict(answer.get("verdict"))
            reason = answer.get("reason")
            # An answer to another call is no answer to this one; only a refusal may name none.
            if not isinstance(reason, str) or (verdict is not Verdict.BLOCK and answer.get("id") != name):
                raise Unanswered("doorward's answer is about another call")
            return Judgement(verdict, reason, name)
        except Exception as error:
            return _blocked(error, name)

    async def acheck(self, tool: str, input: Mapping[str, Any], *, id: str | None = None, cwd: str | None = None) -> Judgement:
        """The same for asynchronous code."""
        return await asyncio.to_thread(self.check, tool, input, id=id, cwd=cwd)

    def decide(self, tool: str, input: Mapping[str, Any], *, id: str | None = None) -> Judgement:
        """Checks a call and asks the person if need be; raises `Refused` unless it may run."""
        judgement = self.check(tool, input, id=id)
        if judgement.needs_person and self.ask is not None:
            said = self.ask(judgement, tool, input)
            if inspect.isawaitable(said):
                if inspect.iscoroutine(said):
                    said.close()
                raise TypeError("`ask` is asynchronous: use `adecide` or guard an asynchronous function")
            return self._answered(judgement, said)
        return self._settled(judgement)

    async def adecide(self, tool: str, input: Mapping[str, Any], *, id: str | None = None) -> Judgement:
        """The same for asynchronous code, where `ask` may be asynchronous too."""
        judgement = await self.acheck(tool, input, id=id)
        if judgement.needs_person and self.ask is not None:
            said = self.ask(judgement, tool, input)
            said = await said if inspect.isawaitable(said) else said
            return await asyncio.to_thread(self._answered, judgement, said)
        return self._settled(judgement)

    def _answered(self, judgement: Judgement, said: object) -> Judgement:
        # A mock, a string or a coroutine that nobody awaited is no yes.
        if said is True:
            return judgement
        self.outcome(judgement, "declined")
        raise Refused(Judgement(Verdict.BLOCK, f"The user said no. {judgement.reason}", judgement.id))

    @staticmethod
    def _settled(judgement: Judgement) -> Judgement:
        if judgement.may_run:
            return judgement
        raise Refused(judgement)

    def outcome(self, judgement: Judgement, result: str) -> bool:
        """Says how a call ended: `ran`, `failed` or `declined`. Yields whether it is on record."""
        try:
            self._send({"event": "outcome", "id": judgement.id, "session": self.session, "result": result})
            return True
        except Exception:
            return False

    def said(self, text: str) -> bool:
        """Passes on what the person typed, so that "don't push" counts. Never pass on text of a model, a file or a tool."""
        try:
            self._send({"event": "said", "origin": "person", "session": self.session, "text": text})
            return True
        except Exception:
            return False

    def guard(self, tool: str, input: Callable[P, Mapping[str, Any]] | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Guards a function that carries out a tool call: it runs only if the call may, and the outcome is reported.

            @door.guard("bash", lambda command: {"command": command})
            def shell(command: str) -> str: ...

        Without `input`, the arguments by name are what doorward sees. A refused call raises `Refused`.
        """

        def around(function: Callable[P, R]) -> Callable[P, R]:
            signature = inspect.signature(function)

            def seen(*args: P.args, **kwargs: P.kwargs) -> Mapping[str, Any]:
                if input is not None:
                    return input(*args, **kwargs)
                bound = signature.bind(*args, **kwargs)
                bound.apply_defaults()
                return dict(bound.arguments)

            if inspect.iscoroutinefunction(function):
                return cast(Callable[P, R], self._guarded_async(function, tool, seen))
            return self._guarded(function, tool, seen)

        return around

    def _guarded(self, function: Callable[..., R], tool: str, seen: Callable[..., Mapping[str, Any]]) -> Callable[..., R]:
        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> R:
            before = seen(*args, **kwargs)
            frozen = _frozen(before)
            judgement = self.decide(tool, before)
            self._unchanged(judgement, frozen, seen(*args, **kwargs))
            result = "failed"
            try:
                value = function(*args, **kwargs)
                result = "ran"
                return value
            finally:
                self.outcome(judgement, result)

        return guarded

    def _guarded_async(self, function: Callable[..., Any], tool: str, seen: Callable[..., Mapping[str, Any]]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            before = seen(*args, **kwargs)
            frozen = _frozen(before)
            judgement = await self.adecide(tool, before)
            self._unchanged(judgement, frozen, seen(*args, **kwargs))
            result = "failed"
            try:
                value = await function(*args, **kwargs)
                result = "ran"
                return value
            finally:
                await asyncio.to_thread(self.outcome, judgement, result)

        return guarded

    def _unchanged(self, judgement: Judgement, frozen: str, now: Mapping[str, Any]) -> None:
        """Arguments are often shared objects; what runs must be what was judged."""
        if _frozen(now) != frozen:
            self.outcome(judgement, "declined")
            raise Refused(Judgement(Verdict.BLOCK, "Not run: the arguments changed while the call was judged.", judgement.id))

    def hook(self, agent: str, payload: Mapping[str, Any]) -> bytes:
        """Passes a payload in an agent's own format to `doorward hook AGENT`; raises if there is no answer.

        Where doorward has no opinion, the answer is `{"doorward": "none"}`.
        """
        answer = Process(find_program(self._program)).run(agent, dict(payload), self.timeout, "--explicit")
        if not answer.strip():
            raise Unanswered("doorward said nothing")
        return answer

    def _send(self, event: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            if self._transport is None:
                self._transport = Process(find_program(self._program))
        return self._transport.send(event, self.timeout)

    def close(self) -> None:
        """Closes the connection, if there is one."""
        if self._transport is not None:
            self._transport.close()

    def __enter__(self) -> Doorward:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _frozen(input: Mapping[str, Any]) -> str:
    return json.dumps(dict(input), sort_keys=True, default=repr)


def _blocked(error: Exception, name: str) -> Judgement:
    why = str(error) if isinstance(error, (Unanswered, NotInstalled)) else f"doorward's answer can't be used: {error!r}"
    return Judgement(Verdict.BLOCK, f"Not run: {why}. Tell the user; do not try it another way.", name, unanswered=True)
