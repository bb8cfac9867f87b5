"""Runs a command under bubblewrap: another user, no network, no sockets, the system read-only, a fresh home and /tmp."""

import os
import pathlib
import shutil
import subprocess
import tempfile

UID = 61234
HOME = "/home/dev"
PROJECT = "/home/dev/project"
# Folders of the system that the box sees, read-only.
SYSTEM = ["usr", "etc", "opt", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "var/lib/dpkg", "var/lib/texmf"]
TOOLS = ["bwrap", "setpriv", "timeout"]


class Missing(Exception):
    """A tool that the oracle cannot do without is not installed."""


class Box:
    """A system to run in (`/`, or the root of another one), and a scratch folder of its own."""

    def __init__(self, root="/"):
        self.root = pathlib.Path(root)
        lacking = [tool for tool in TOOLS if not shutil.which(tool)]
        if not self.find("strace"):
            lacking.append(f"strace (in {root})")
        if os.getuid() != 0:
            lacking.append("root, to become another user")
        if lacking:
            raise Missing(f"the oracle needs {', '.join(lacking)}")

    def folders(self):
        """The folders of programs in the box, those of packages for one language behind the system's."""
        own = sorted(self.root.glob("opt/npm/*/node_modules/.bin"))
        named = ["usr/local/bin", "opt/bin", "usr/bin", "bin", "usr/sbin", "sbin", "usr/games"]
        return [*[f"/{name}" for name in named], *[f"/{path.relative_to(self.root)}" for path in own]]

    def find(self, name):
        """Where the box has the program, as seen from inside."""
        if "/" in name:
            return None
        for folder in self.folders():
            if os.path.lexists(self.root / folder.lstrip("/") / name):
                return f"{folder}/{name}"
        return None

    def arguments(self, home, temp, trace):
        """The words that build the box."""
        words = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--no-new-privs"]
        words += ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        words += ["--uid", "1000", "--gid", "1000", "--hostname", "box"]
        for name in SYSTEM:
            path = self.root / name
            if path.is_symlink():
                words += ["--symlink", os.readlink(path), f"/{name}"]
            elif path.is_dir():
                words += ["--ro-bind", str(path), f"/{name}"]
        for name in ("passwd", "group"):
            words += ["--ro-bind", str(home.parent / name), f"/etc/{name}"]
        words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run", "--bind", str(home), HOME]
        words += ["--bind", str(temp), "/tmp", "--bind", str(trace), "/trace", "--chdir", PROJECT]
        settings = {
            "PATH": ":".join(self.folders()), "HOME": HOME, "USER": "dev", "LOGNAME": "dev", "SHELL": "/bin/bash",
            "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat",
            "EDITOR": "true", "COLUMNS": "200", "MANWIDTH": "200", "NO_COLOR": "1",
            # Whether a tool itself is out of date is asked in passing, whatever it is told to do.
            "npm_config_update_notifier": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }  # fmt: skip
        for name, value in settings.items():
            words += ["--setenv", name, value]
        return words

    def run(self, command, home, temp, trace, seconds=10):
        """Runs a command; its code (124: out of time) and what it printed."""
        words = ["timeout", "-k", "1", str(seconds), *self.arguments(home, temp, trace), *command]
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        return done.returncode, done.stdout[:2_000_000].decode(errors="replace")


class Scratch:
    """Folders for one run, owned by the user in the box, removed afterwards."""

    def __enter__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="oracle-", dir="/var/tmp"))
        self.home, self.temp, self.trace = (self.top / name for name in ("home", "temp", "trace"))
        for path in (self.home / "project", self.temp, self.trace):
            path.mkdir(parents=True)
        (self.top / "passwd").write_text(f"root:x:0:0::/root:/bin/sh\ndev:x:1000:1000::{HOME}:/bin/bash\n")
        (self.top / "group").write_text("root:x:0:\ndev:x:1000:\n")
        return self

    def give(self):
        """Makes the user in the box the owner of everything."""
        for folder, _, files in os.walk(self.top):
            os.chown(folder, UID, UID)
            for name in files:
                os.lchown(os.path.join(folder, name), UID, UID)

    def run(self, box, command, seconds=10):
        self.give()
        return box.run(command, self.home, self.temp, self.trace, seconds)

    def __exit__(self, *_):
        shutil.rmtree(self.top, ignore_errors=True)
