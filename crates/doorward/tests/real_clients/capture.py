#!/usr/bin/env python3
"""What a person sees: real agents on a tmux screen with doorward set up, while a scripted model proposes a call that is asked about and one that is blocked.

  capture.py [--doorward PATH] [--out DIR] [--size 100x30]… [CLIENT | CLIENT:MODE]…      claude:default claude:auto claude:acceptEdits claude:plan codex opencode gemini pi

Writes DIR/CLIENT-MODE-{confirm,block}-SIZE.txt (default /tmp/captures) and prints, for each, after how many milliseconds the call was answered on the screen and
the longest time before that in which the screen did not change. Everything runs in a bubblewrap box without network, as an ordinary user.
Exit code 0 if doorward's words were on every screen, 1 if not.
"""
import argparse, os, shutil, subprocess, sys, tempfile, time
from pathlib import Path

from clients import CACHE, NotInstallable, PROMPT, Room, install
from model import Model
from run import ROOT, shell

BOX = "/mnt"
ALL = ("claude:default", "claude:auto", "claude:acceptEdits", "claude:plan", "codex", "opencode", "gemini", "pi")
CALLS = {"confirm": "git push origin main", "block": "rm -rf /"}
# What follows `doorward` wherever it explains itself: its name alone also stands in the paths and footers of a client.
ANSWERS = ("doorward asks", "doorward blocks", "doorward approve", "doorward needs")
KEYS = {"claude": ["--permission-mode"], "codex": [], "opencode": [], "gemini": ["-m", "gemini-2.5-flash"], "pi": ["--provider", "fake", "--model", "m"]}


class Timed(Model):
    """A model that remembers when it proposed its first call."""

    proposed = None

    def calls(self, text, results, tools):
        made = super().calls(text, results, tools)
        if made and self.proposed is None:
            self.proposed = time.monotonic()
        return made


class Screen:
    """A tmux session of its own."""

    def __init__(self, room, command, size):
        self.socket = str(room.base / "tmux")
        wide, high = size.split("x")
        env = {name: value for name, value in room.env.items() if name not in ("TMUX", "NO_COLOR")} | {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
        # A client that ends leaves its last words on the screen.
        settings = room.put("tmux.conf", "set -g remain-on-exit on\nset -g extended-keys on\n")
        subprocess.run(["tmux", "-S", self.socket, "-f", str(settings), "new-session", "-d", "-x", wide, "-y", high, *command], cwd=room.project, env=env, check=True)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def text(self):
        return self.tmux("capture-pane", "-p")

    def settle(self, quiet=2.0, limit=60):
        """Waits until something is there and nothing has moved for a while."""
        began = moved = time.monotonic()
        last = self.text()
        while (time.monotonic() - moved < quiet or not last.strip()) and time.monotonic() - began < limit:
            time.sleep(0.1)
            now = self.text()
            if now != last:
                last, moved = now, time.monotonic()

    def type(self, text):
        """A client that is still starting swallows what is typed, so it is typed until it is seen."""
        for _ in range(6):
            self.settle()
            # News and offers of the client stand in the way.
            if "Use existing model" in self.text():
                self.tmux("send-keys", "2")
                continue
            self.tmux("send-keys", "-l", text)
            time.sleep(1)
            if text in self.text():
                break
            self.tmux("send-keys", "Escape")
        self.tmux("send-keys", "Enter")

    def end(self):
        self.tmux("kill-server")


def ready(room):
    """What a person who has used the client before has already answered."""
    if room.client == "claude":
        known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        seen = {"hasSeenAutoDefaultNudge": True, "hasSeenAutoDefaultNotice": True, "hasSeenAutoModeEntryWarning": True}
        room.put("home/.claude.json", seen | {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": ["none"]}, "projects": {str(room.project): known}})
    (room.project / "README.md").write_text("a project\n")
    me = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    room.git("checkout", "-q", "-b", "main"), room.git("add", "."), room.git(*me, "commit", "-q", "-m", "a first one"), room.git("remote", "add", "origin", "https://example.invalid/me/project.git")


def words(room, mode):
    start = ["node", *room.words] if room.client == "gemini" else room.words
    return [*start, *KEYS[room.client], *([mode] if room.client == "claude" else [])]


def watch(screen, model, limit=20):
    """Until doorward is on the screen: after how long that was, and the longest time before in which nothing changed."""
    began = time.monotonic()
    while model.proposed is None and time.monotonic() - began < limit:
        time.sleep(0.02)
    start = moved = model.proposed or time.monotonic()
    last, longest = screen.text(), 0.0
    while time.monotonic() - start < limit:
        now, at = screen.text(), time.monotonic()
        if now != last:
            longest, last, moved = max(longest, at - moved), now, at
        if any(word in " ".join(now.split()) for word in ANSWERS):
            return at - start, longest
        time.sleep(0.1)
    return None, max(longest, time.monotonic() - moved)


def capture(client, mode, kind, size, doorward, out):
    model = Timed([[shell(client, CALLS[kind])]])
    room = Room(client, doorward, model, "gpt-5.5")
    ready(room)
    screen = Screen(room, words(room, mode), size)
    try:
        screen.type(PROMPT)
        told, silent = watch(screen, model)
        time.sleep(1.5)
        (out / ("%s-%s-%s-%s.txt" % (client, mode or "own", kind, size))).write_text(screen.text())
    finally:
        screen.end()
        room.leave()
    print("%-9s %-12s %-8s %-7s told after %6s ms, longest silence %5.0f ms" % (client, mode or "own", kind, size, "-" if told is None else round(told * 1000), silent * 1000), flush=True)
    return told is not None


def boxed(wanted):
    """The same once more inside the box: nothing of this machine can be written, and root is nobody there."""
    wanted.out.mkdir(parents=True, exist_ok=True)
    wanted.out.chmod(0o777)
    inside = [sys.executable, __file__, "--doorward", BOX + "/doorward", "--out", BOX + "/out", *[word for size in wanted.size for word in ("--size", size)], *wanted.clients]
    if os.getuid() == 0:
        inside = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--no-new-privs", *inside]
    binds = ["--dir", BOX + "/out", "--bind", str(wanted.out), BOX + "/out", "--ro-bind", str(CACHE), BOX + "/cache", "--ro-bind", str(wanted.doorward), BOX + "/doorward"]
    box = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--perms", "1777", "--tmpfs", "/tmp", "--tmpfs", "/run", "--tmpfs", "/home", "--perms", "0777", "--dir", "/home/me", "--tmpfs", BOX, *binds,
           "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent", "--setenv", "REAL_CLIENTS_CACHE", BOX + "/cache", "--setenv", "CAPTURE_BOXED", "1", "--setenv", "PYTHONDONTWRITEBYTECODE", "1"]
    return subprocess.run([*box, *inside]).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clients", nargs="*", metavar="CLIENT")
    parser.add_argument("--doorward", default=ROOT / "target/debug/doorward", type=Path)
    parser.add_argument("--out", default="/tmp/captures", type=Path)
    parser.add_argument("--size", action="append", default=[])
    wanted = parser.parse_args()
    wanted.clients, wanted.size = wanted.clients or list(ALL), wanted.size or ["100x30", "80x24"]
    if not os.environ.get("CAPTURE_BOXED"):
        for client in {name.split(":")[0] for name in wanted.clients}:
            install(client)
        sys.exit(boxed(wanted))
    tempfile.tempdir = "/home/me"
    asked = [(*name.partition(":")[::2], kind, size) for name in wanted.clients for kind in CALLS for size in wanted.size]
    seen = [capture(client, mode, kind, size, wanted.doorward, wanted.out) for client, mode, kind, size in asked]
    sys.exit(0 if all(seen) else 1)


if __name__ == "__main__":
    main()
