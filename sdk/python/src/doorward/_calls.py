"""How a framework's tools are told to doorward."""

from __future__ import annotations

from typing import Any, Callable, Mapping

#: Turns a tool's arguments into what doorward judges: one of its own tools, and that tool's input.
Translate = Callable[[Mapping[str, Any]], "tuple[str, Mapping[str, Any]]"]

#: The tools that doorward knows more about than their name. Others are asked about.
Tools = Mapping[str, Translate]


def translated(tools: Tools | None, name: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """What doorward judges for a tool call: as described, or by name, which asks."""
    describe = (tools or {}).get(name)
    if describe is not None:
        return describe(arguments)
    return "other", {"name": name, "args": dict(arguments)}


def shell(argument: str = "command") -> Translate:
    """A tool that runs a shell command."""
    return lambda given: ("bash", {"command": given[argument]})


def read_file(argument: str = "path") -> Translate:
    """A tool that reads a file."""
    return lambda given: ("read", {"path": given[argument]})


def write_file(path: str = "path", content: str = "content") -> Translate:
    """A tool that writes a file."""
    return lambda given: ("write", {"path": given[path], "content": given[content]})


def fetch(argument: str = "url") -> Translate:
    """A tool that requests an address."""
    return lambda given: ("fetch", {"url": given[argument]})


def python(argument: str = "code") -> Translate:
    """A tool that runs Python code."""
    return lambda given: ("python", {"code": given[argument]})
