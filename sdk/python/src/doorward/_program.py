"""Finds the doorward program: the one in this package's wheel, or an installed one."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path


class NotInstalled(Exception):
    """There is no doorward program on this machine."""


# Where installers put it. The search path comes last: an agent's project may be on it.
_PLACES = ("~/.local/bin", "~/.cargo/bin", "/usr/local/bin", "/opt/homebrew/bin", "/usr/bin")


def find_program(named: str | os.PathLike[str] | None = None) -> str:
    """The absolute path of the program; `named` if it is given, whatever else is installed."""
    if named is not None:
        path = Path(named)
        if not path.is_absolute():
            raise NotInstalled(f"`{path}` is not an absolute path, so any directory could supply it")
        if not _is_program(path):
            raise NotInstalled(f"`{path}` is not a program")
        return str(path)
    own = [Path(sysconfig.get_path("scripts")), Path(sys.executable).parent]
    for directory in own + [Path(place).expanduser() for place in _PLACES]:
        if _is_program(directory / "doorward"):
            return str(directory / "doorward")
    found = shutil.which("doorward")
    here = os.path.realpath(os.getcwd()) + os.sep
    if found and os.path.isabs(found) and not os.path.realpath(found).startswith(here):
        return found
    raise NotInstalled("doorward is not installed; see https://github.com/doorward/doorward")


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
