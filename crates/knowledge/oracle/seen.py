"""What happened in the box: files before and after, and the trace of the system calls."""

import os
import re

from box import HOME, PROJECT


class Seen:
    """What happened in one run."""

    def __init__(self):
        self.written, self.deleted, self.read, self.ran = set(), set(), set(), set()
        self.contacted = set()
        self.ok = False
        self.code = 0
        self.printed = ""


def shown(path):
    """A path as examples write it."""
    for top, prefix in ((PROJECT, ""), (HOME, "~/")):
        if path == top:
            return "." if top == PROJECT else "~"
        if path.startswith(top + "/"):
            return prefix + path[len(top) + 1 :]
    return path


def snapshot(scratch):
    """Every file of home and /tmp with what identifies its state."""
    found = {}
    for top, name in ((scratch.home, HOME), (scratch.temp, "/tmp")):
        for folder, folders, files in os.walk(top):
            for entry in [*folders, *files]:
                path = os.path.join(folder, entry)
                state = os.lstat(path)
                inside = shown(name + path[len(str(top)) :])
                is_folder = os.path.isdir(path) and not os.path.islink(path)
                found[inside] = ("folder", state.st_mode) if is_folder else (state.st_ino, state.st_size, state.st_mtime_ns, state.st_mode)
    return found


def trace(log, before, seen):
    """Reads, runs and contacts out of the trace."""
    for line in log.splitlines():
        if match := re.search(r'\bopen(?:at2?)?\(.*?"([^"]*)".*?(O_RDONLY|O_RDWR).*= \d+<([^>]*)>', line):
            path = shown(match[3])
            if path in before and before[path][0] != "folder":
                seen.read.add(path)
        elif match := re.search(r'\bexecve\("([^"]+)".*\) = 0', line):
            if match[1].startswith((HOME, "/tmp", ".")) or "/" not in match[1]:
                seen.ran.add(shown(match[1]).removeprefix("./"))
        elif match := re.search(r'sin6?_port=htons\((\d+)\).*?"([0-9a-fA-F.:]+)"', line):
            if not match[2].startswith(("127.", "::1", "0.0.0.0")) and match[2] != "::" or match[1] == "53":
                seen.contacted.add("a name server" if match[1] == "53" else "another machine")
