"""Carries one event to doorward and its answer back: a process per event, or a socket."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from typing import Any, Protocol

# More than any answer; a longer one is not read into memory.
_LONGEST = 1 << 20


class Unanswered(Exception):
    """There is no usable answer; the call must not run."""


class Transport(Protocol):
    def send(self, event: dict[str, Any], timeout: float) -> dict[str, Any]: ...

    def close(self) -> None: ...


class Process:
    """Runs `doorward hook generic` for each event."""

    def __init__(self, program: str) -> None:
        self._program = program

    def send(self, event: dict[str, Any], timeout: float) -> dict[str, Any]:
        return answer_of(self.run("generic", event, timeout), is_call=event.get("event") == "call")

    def run(self, agent: str, payload: dict[str, Any], timeout: float, *flags: str) -> bytes:
        """What the program prints, if it says that all went well."""
        try:
            ran = subprocess.run([self._program, "hook", agent, *flags], input=_line(payload), capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            raise Unanswered(f"doorward did not answer within {timeout:g} s") from None
        except OSError as error:
            raise Unanswered(f"doorward can't be run: {error}") from error
        if ran.returncode != 0:
            said = ran.stderr.decode(errors="replace").strip()
            raise Unanswered(said or f"doorward ended with {ran.returncode}")
        return ran.stdout

    def close(self) -> None:
        pass


class Socket:
    """Talks to `doorward serve --socket PATH`, one line each way."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._open: socket.socket | None = None

    def send(self, event: dict[str, Any], timeout: float) -> dict[str, Any]:
        deadline = time.monotonic() + timeout
        if not self._lock.acquire(timeout=timeout):
            raise Unanswered(f"doorward did not answer within {timeout:g} s")
        try:
            return answer_of(self._exchange(_line(event), deadline), is_call=event.get("event") == "call")
        except BaseException as error:
            # Whatever is still on its way would be taken for the answer to the next event.
            self._drop()
            if isinstance(error, TimeoutError):
                raise Unanswered(f"doorward did not answer within {timeout:g} s") from None
            if isinstance(error, OSError):
                raise Unanswered(f"the connection to doorward failed: {error}") from error
            raise
        finally:
            self._lock.release()

    def _exchange(self, line: bytes, deadline: float) -> bytes:
        if self._open is None:
            self._open = self._connect(deadline)
        self._open.settimeout(_left(deadline))
        self._open.sendall(line)
        got = b""
        while not got.endswith(b"\n"):
            self._open.settimeout(_left(deadline))
            part = self._open.recv(65536)
            if not part:
                raise Unanswered("doorward closed the connection without an answer")
            got += part
            if len(got) > _LONGEST:
                raise Unanswered("doorward's answer is too long")
        return got

    def _connect(self, deadline: float) -> socket.socket:
        # A socket in a directory that others can write to could be anybody's.
        found = os.stat(os.path.dirname(os.path.abspath(self._path)))
        if found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise Unanswered(f"the directory of `{self._path}` must belong to you and be writable only by you")
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        stream.settimeout(_left(deadline))
        try:
            stream.connect(self._path)
        except BaseException:
            stream.close()
            raise
        return stream

    def _drop(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def close(self) -> None:
        with self._lock:
            self._drop()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _line(event: dict[str, Any]) -> bytes:
    try:
        return json.dumps(event, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise Unanswered(f"the call can't be written as JSON: {error}") from error


def answer_of(text: bytes, *, is_call: bool) -> dict[str, Any]:
    """The answer as an object. Only a call must have one."""
    if not text.strip() and not is_call:
        return {}
    try:
        answer = json.loads(text)
    except ValueError:
        raise Unanswered("doorward's answer can't be read") from None
    if not isinstance(answer, dict):
        raise Unanswered("doorward's answer can't be read")
    return answer
