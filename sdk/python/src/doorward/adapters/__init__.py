"""Adapters for agent frameworks. Each module needs only the framework that it is for.

A tool of your own is asked about until you say what it does: `tools={"run_shell": doorward.adapters.shell("cmd")}`.
"""

from .._calls import Tools, Translate, fetch, python, read_file, shell, write_file

__all__ = ["Tools", "Translate", "fetch", "python", "read_file", "shell", "write_file"]
