"""A home in which doorward is set up for agents of one's own, and programs that stand in for a broken doorward."""

import os
import pty
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(os.environ.get("DOORWARD_BINARY", ROOT / "target/debug/doorward"))

#: What a program in doorward's place may do; in no case may a call run.
BROKEN = {
    "killed": "#!/bin/sh\ncat >/dev/null\nkill -9 $$\n",
    "late": "#!/bin/sh\nexec sleep 60\n",
    "silent": "#!/bin/sh\ncat >/dev/null\nexit 0\n",
    "garbage": "#!/bin/sh\necho '{\"verdict\": \"approved\"}'\n",
    "a list": "#!/bin/sh\necho '[\"approve\"]'\n",
    "failing": "#!/bin/sh\necho '{\"verdict\": \"approve\", \"reason\": \"\"}'\nexit 1\n",
    "about another call": "#!/bin/sh\necho '{\"verdict\": \"approve\", \"reason\": \"\", \"id\": \"other\"}'\n",
}


class Room:
    """Use as `with Room() as room:`; `HOME` points to it meanwhile."""

    def __init__(self, *agents):
        self.agents = agents or ("generic",)

    def __enter__(self):
        self.base = Path(tempfile.mkdtemp(prefix="doorward-sdk-"))
        self.home, self.project = self.base / "home", self.base / "project"
        self.home.mkdir(), self.project.mkdir()
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        self.program = self.base / "bin/doorward"
        self.program.parent.mkdir()
        shutil.copy(PROGRAM, self.program)
        self.old = os.environ.get("HOME")
        os.environ["HOME"] = str(self.home)
        for agent in self.agents:
            self.at_terminal("setup", agent, "--yes", "--mode", "auto")
        return self

    def __exit__(self, *_):
        os.environ["HOME"] = self.old or ""
        shutil.rmtree(self.base, ignore_errors=True)

    def at_terminal(self, *words):
        """A mode that asks less takes a person at a terminal."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(self.program, [str(self.program), *words])
        said = b""
        try:
            while part := os.read(terminal, 4096):
                said += part
        except OSError:
            pass
        os.close(terminal)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, said.decode()

    def broken(self, how):
        """The path of a program that is broken in this way."""
        program = self.base / "broken" / how.replace(" ", "-")
        program.parent.mkdir(exist_ok=True)
        program.write_text(BROKEN[how])
        program.chmod(0o755)
        return program

    def records(self, *words):
        return subprocess.run([str(self.program), "audit", "list", "--json", *words], capture_output=True, text=True).stdout
