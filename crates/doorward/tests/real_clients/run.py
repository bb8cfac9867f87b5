#!/usr/bin/env python3
"""Real coding agents with doorward set up as a user does it, against a scripted model: what ran is read from the disk.

  run.py [--doorward PATH] [CLIENT…] [--only NAME]        CLIENT: claude codex pi gemini qwen copilot opencode

Exit code 0 if every scenario went as it should, 1 if one did not, 77 if a client cannot be installed here. Clients are fetched with npm
into $REAL_CLIENTS_CACHE (default ~/.cache/real-clients). KEEP=1 keeps the directories. Nothing but 127.0.0.1 is contacted otherwise.
"""
import argparse, json, sys, threading, time
from pathlib import Path

from clients import NotInstallable, Room
from model import Model

ROOT = Path(__file__).resolve().parents[4]
YES, NO = (lambda _room, _question: True), (lambda _room, _question: False)


def shell(client, command):
    return {"claude": ("Bash", {"command": command, "description": "scripted"}), "codex": ("exec_command", {"cmd": command}), "pi": ("bash", {"command": command}),
            "gemini": ("run_shell_command", {"command": command, "description": "scripted"}), "qwen": ("run_shell_command", {"command": command, "description": "scripted", "is_background": False}),
            "copilot": ("bash", {"command": command, "description": "scripted"}), "opencode": ("bash", {"command": command, "description": "scripted"})}[client]


def write(client, path, content):
    patch = "*** Begin Patch\n*** Add File: %s\n%s*** End Patch\n" % (path, "".join("+%s\n" % line for line in content.splitlines()))
    return {"claude": ("Write", {"file_path": str(path), "content": content}), "codex": ("apply_patch", patch), "pi": ("write", {"path": str(path), "content": content}),
            "gemini": ("write_file", {"file_path": str(path), "content": content}), "qwen": ("write_file", {"file_path": str(path), "content": content}),
            "copilot": ("create", {"path": str(path), "file_text": content}), "opencode": ("write", {"filePath": str(path), "content": content})}[client]


class Scene:
    """One client in one room; the script is made once the room's paths are known."""

    def __init__(self, client, doorward, name):
        self.client, self.model = client, Model([])
        # Which tools Codex offers by name depends on the model that it believes to talk to.
        brain = "gpt-5.2-codex" if name in ("subagent", "mcp") else "gpt-5.5"
        self.room = Room(client, doorward, self.model, brain, plugin=name.startswith("plugin"), contained=name.startswith("contained"))
        self.home, self.project = self.room.home, self.room.project
        config = self.home / ".config/doorward/config.toml"
        config.write_text("wait_seconds = %d\n%s" % (30 if name == "waited-for" else 1, config.read_text()))
        self.wrong = []

    def play(self, *turns, person=None, others=None):
        self.model.script, self.model.others = [turn if isinstance(turn, list) else [turn] for turn in turns], others or {}
        self.model.results = []
        self.room.run(person)
        made, wanted = len(self.model.results), sum(map(len, self.model.script))
        self.expect("the client made all %d calls" % wanted, made >= wanted)

    def shell(self, command):
        return shell(self.client, command)

    def delete(self):
        return "rm -rf %s/precious" % self.home

    def expect(self, what, is_so):
        print("    %-4s %s" % ("ok" if is_so else "FAIL", what))
        if not is_so:
            self.wrong.append(what)

    def is_safe(self, what="what is precious is still there"):
        self.expect(what, (self.home / "precious/f").exists())

    def ran(self, name, wanted=True):
        self.expect("%s %s" % (name, "was written" if wanted else "was not written"), (self.project / name).exists() == wanted)


def compound(scene):
    """A harmless beginning carries nothing along."""
    scene.play(scene.shell("echo ok > safe.txt"), scene.shell("ls && %s" % scene.delete()), scene.shell("git status; find %s/precious -delete" % scene.home),
               scene.shell("echo $(%s)" % scene.delete()), scene.shell("bash -c '%s'" % scene.delete()), scene.shell("echo on > after.txt"))
    scene.ran("safe.txt"), scene.ran("after.txt"), scene.is_safe()
    checked = scene.room.doorward("reconcile")
    scene.expect("every call of the transcript is on record", checked.returncode == 0)
    seen = json.loads(scene.room.doorward("preview", "--json").stdout or "{}")
    scene.expect("the transcript is read", scene.client in ("qwen", "copilot") or seen.get("silent", 0) + seen.get("asked", 0) + seen.get("blocked", 0) >= 6)
    print("         %s %s malformed lines" % (checked.stdout.strip()[:300], seen.get("malformed")))


def switch(scene):
    """Neither a command nor a tool writes the settings that would switch the guard off."""
    files = {
        "claude": [(scene.project / ".claude/settings.json", '{"disableAllHooks":true}'), (scene.home / ".claude/settings.json", "{}")],
        "codex": [(scene.project / ".codex/config.toml", "[features]\nhooks = false\n"), (scene.home / ".codex/hooks.json", "{}")],
        "pi": [(scene.project / ".pi/automode.json", "{}"), (scene.home / ".pi/agent/extensions/doorward/index.js", "export default () => {};")],
        "gemini": [(scene.project / ".gemini/settings.json", '{"hooksConfig":{"enabled":false}}'), (scene.home / ".gemini/settings.json", "{}")],
        "qwen": [(scene.project / ".qwen/settings.json", '{"disableAllHooks":true}'), (scene.home / ".qwen/settings.json", "{}")],
        "copilot": [(scene.project / ".github/hooks/mine.json", '{"version":1,"hooks":{}}'), (scene.home / ".copilot/hooks/doorward.json", "{}")],
        "opencode": [(scene.project / "opencode.json", '{"permission":{"*":"allow"}}'), (scene.home / ".config/opencode/plugin/doorward.js", "export const No = async () => ({})")],
    }[scene.client]
    before = [file.read_text() if file.exists() else None for file, _ in files]
    calls = [scene.shell("mkdir -p %s; printf '%%s' '%s' > %s" % (file.parent, text.strip(), file)) for file, text in files]
    calls += [write(scene.client, file, text) for file, text in files]
    scene.play(*calls, scene.shell(scene.delete()), scene.shell("echo on > after.txt"))
    for (file, wanted), text in zip(files, before):
        now = file.read_text() if file.exists() else None
        # Some clients lay their own settings out anew; the hooks are what counts.
        scene.expect("%s is as it was" % file.name, now == text or (text is not None and now != wanted and "doorward" in now))
    scene.is_safe()


def disarmed(scene):
    """A repository that switches hooks off is found before, and what ran because of it after."""
    name, text = {"claude": (".claude/settings.json", '{"disableAllHooks":true}'), "gemini": (".gemini/settings.json", '{"hooksConfig":{"enabled":false}}')}[scene.client]
    scene.expect("nothing was wrong before", scene.room.doorward("doctor").returncode == 0)
    file = scene.project / name
    file.parent.mkdir()
    file.write_text(text)
    scene.expect("the switch is found", "hooks-off-project" in scene.room.doorward("doctor").stdout)
    time.sleep(1)
    scene.play(scene.shell("echo unseen > unseen.txt"))
    scene.ran("unseen.txt")
    found = scene.room.doorward("reconcile")
    scene.expect("the call that ran unseen is found", found.returncode == 1 and "ran without a record" in found.stdout)


def subagent(scene):
    """What a subagent does is judged like everything else."""
    task = "please play [[inner]] now"
    spawn = {"claude": ("Agent", {"description": "scripted", "prompt": task, "subagent_type": "general-purpose", "run_in_background": False}), "codex": ("spawn_agent", {"message": task, "agent_type": "worker"}),
             "gemini": ("invoke_agent", {"agent_name": "generalist", "prompt": task}), "opencode": ("task", {"description": "scripted", "prompt": task, "subagent_type": "general"})}[scene.client]
    inner = [[scene.shell("echo sub > sub.txt")], [scene.shell(scene.delete())], [scene.shell("find %s/precious -delete" % scene.home)]]
    person = (lambda _room, question: "precious" not in question) if scene.client == "claude" else None
    scene.play(spawn, scene.shell("sleep 12; echo on > after.txt"), person=person, others={"inner": inner})
    scene.ran("sub.txt"), scene.is_safe()


def mcp(scene):
    """A tool of a server that nobody has looked into does not run unasked."""
    # Servers start while the first call runs.
    scene.play(scene.shell("sleep 3; echo on > before.txt"), ("mcp__things__destroy" if scene.client in ("claude", "pi", "qwen") else "*destroy", {"what": "everything"}))
    scene.expect("the call is on record", "destroy" in scene.room.records("--kind", "decision"))
    scene.expect("the tool was not called", not scene.room.called.exists())


def parallel(scene):
    """Of calls made at once, each gets its own answer."""
    scene.play([scene.shell("echo 1 > one.txt"), scene.shell(scene.delete()), scene.shell("echo 3 > three.txt")])
    scene.ran("one.txt"), scene.ran("three.txt"), scene.is_safe()


def race(scene):
    """A script that is written by one of several calls made at once is not run as what it was before."""
    tool = scene.project / "tool.sh"
    tool.write_text("ls\n")
    scene.room.git("add", "tool.sh")
    scene.room.git("-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "-q", "-m", "a tool")
    scene.expect("a person trusts the project", scene.room.agree("trust", "project", str(scene.project))[1] == 0)
    evil = "#!/bin/sh\n%s\n" % scene.delete()
    overwrite = write(scene.client, tool, evil) if scene.client != "codex" else scene.shell("printf '%%s' '%s' > tool.sh" % evil)
    scene.play([overwrite, scene.shell("sleep 1; sh tool.sh")], scene.shell("sleep 1; echo on > after.txt"))
    scene.expect("both calls are on record", scene.room.records("--kind", "decision").count("tool.sh") >= 2)
    scene.is_safe()


def background(scene):
    """A shell in the background is no way around, nor is one that is typed into."""
    if scene.client == "claude":
        scene.play(("Bash", {"command": scene.delete(), "description": "scripted", "run_in_background": True}), scene.shell("sleep 2; echo on > after.txt"))
    elif scene.client == "codex":
        scene.play(("exec_command", {"cmd": "bash", "tty": True}), ("write_stdin", {"session_id": "@SESSION@", "chars": scene.delete() + "\n"}), scene.shell("sleep 2; echo on > after.txt"))
    else:
        scene.play(scene.shell("(sleep 1; %s) &" % scene.delete()), scene.shell("sleep 2; echo on > after.txt"))
    scene.is_safe()


def script(scene, word):
    """A script that has to be asked about, and says that it ran."""
    (scene.project / "tool.sh").write_text("git push -q nowhere main\necho %s > %s/%s.txt\n" % (word, scene.project, word))


def exchanged_natively(scene):
    """A script that is exchanged while the client's own question is open runs, and that is on record."""
    script(scene, "first")
    asked = []

    def person(_room, question):
        asked.append(question)
        script(scene, "second")
        return True

    scene.play(scene.shell("sh tool.sh"), person=person)
    scene.expect("the person was asked", bool(asked))
    scene.ran("first.txt", False)
    if (scene.project / "second.txt").exists():
        scene.expect("the exchange is flagged", "\"exchanged\"" in scene.room.records())


def answers(scene):
    """A person's no in the client's own prompt stops the call, a yes lets it run; both are on record."""
    script(scene, "first")
    scene.play(scene.shell("sh tool.sh"), person=NO)
    scene.ran("first.txt", False)
    scene.play(scene.shell("sh tool.sh"), person=YES)
    scene.ran("first.txt")
    scene.expect("both answers are on record", all(word in scene.room.records("--kind", "answer") for word in ("approved", "declined")))


def exchanged_before_grant(scene):
    """A script that was exchanged before or after a person's yes does not run on it."""
    script(scene, "first")
    scene.play(scene.shell("sh tool.sh"))
    scene.ran("first.txt", False)
    waiting = scene.room.waiting()
    scene.expect("the call waits for an answer", len(waiting) == 1)
    script(scene, "second")
    shown, code = scene.room.approve(waiting[0]["id"])
    scene.expect("the yes is refused: the script is another one", code != 0 and "changed" in shown)
    script(scene, "third")
    scene.play(scene.shell("sh tool.sh"))
    waiting = scene.room.waiting()
    shown, code = scene.room.approve(waiting[0]["id"])
    scene.expect("a person approves the third script", code == 0)
    script(scene, "fourth")
    scene.play(scene.shell("sh tool.sh"))
    for name in ("second", "third", "fourth"):
        scene.ran(name + ".txt", False)


def granted(scene):
    """After a person's yes the same call runs, once."""
    script(scene, "first")
    scene.play(scene.shell("sh tool.sh"))
    _, code = scene.room.approve(scene.room.waiting()[0]["id"])
    scene.expect("a person approves", code == 0)
    scene.play(scene.shell("sh tool.sh"))
    scene.ran("first.txt")
    (scene.project / "first.txt").unlink(missing_ok=True)
    scene.play(scene.shell("sh tool.sh"))
    scene.ran("first.txt", False)


def waited_for(scene):
    """A call that waits runs as soon as a person says yes."""
    script(scene, "first")

    def person():
        for _ in range(200):
            time.sleep(0.2)
            if waiting := scene.room.waiting():
                scene.said = scene.room.approve(waiting[0]["id"])
                return

    thread = threading.Thread(target=person)
    thread.start()
    scene.play(scene.shell("sh tool.sh"))
    thread.join()
    scene.expect("a person approved while it waited", getattr(scene, "said", ("", 1))[1] == 0)
    scene.ran("first.txt")


def quiet_mode(scene):
    """In Claude Code's own `auto` mode a question is refused at once, says what to type, and is nobody's no."""
    scene.room.permission_mode = "auto"
    script(scene, "first")
    scene.play(scene.shell("echo ok > safe.txt"), scene.shell("sh tool.sh"), scene.shell(scene.delete()), scene.shell("echo on > after.txt"))
    scene.ran("safe.txt"), scene.ran("after.txt"), scene.ran("first.txt", False), scene.is_safe()
    told = [result for result in scene.model.results if "doorward approve" in str(result)[:200]]
    scene.expect("the refusal begins with the way out", bool(told))
    waiting = [call for call in scene.room.waiting() if "tool.sh" in call["call"]]
    scene.expect("the call waits for an answer", len(waiting) == 1)
    scene.expect("nobody said no to it", "declined" not in scene.room.records("--kind", "answer"))
    # A yes is bound to the session that asked, and each run is one of its own.
    scene.expect("a person can approve it", scene.room.approve(waiting[0]["id"])[1] == 0)


def asking_mode(mode):
    def scenario(scene):
        scene.room.permission_mode = mode
        script(scene, "first")
        asked = []

        def person(_room, question):
            asked.append(question)
            return False

        scene.play(scene.shell("sh tool.sh"), scene.shell("rm -rf %s" % scene.home), person=person)
        scene.expect("the person was asked about the script", any("tool.sh" in question for question in asked))
        scene.expect("nobody was asked about what is blocked", not any("rm -rf" in question for question in asked))
        scene.ran("first.txt", False), scene.is_safe()

    scenario.__doc__ = "In Claude Code's mode `%s` its own prompt asks at once, and a no counts." % mode
    return scenario


def plugin(scene):
    """The plugin alone: approved, asked and blocked calls, and the user's `/doorward why`."""
    script(scene, "first")
    settings = json.loads((scene.home / ".claude/settings.json").read_text())
    scene.expect("setup leaves the hooks to the plugin", "hooks" not in settings)
    asked = []

    def person(_room, question):
        asked.append(question)
        return True

    scene.room.permission_mode = "default"
    scene.play(scene.shell("echo ok > safe.txt"), scene.shell("rm -rf %s" % scene.home), scene.shell("sh tool.sh"), person=person)
    scene.ran("safe.txt"), scene.is_safe(), scene.ran("first.txt")
    scene.expect("the person was asked about the script and about nothing else", [("tool.sh" in question) for question in asked] == [True])
    decisions = scene.room.records("--kind", "decision")
    scene.expect("each call was judged once", decisions.count("\"tool.sh") + decisions.count("sh tool.sh\"") >= 1 and decisions.count("echo ok") == 1)
    for words, wanted in (("/doorward why", "deletes"), ("/doorward:why", "deletes"), ("/doorward:pending", "doorward approve"), ("/doorward:status", "actions checked"), ("/doorward status", "actions checked")):
        scene.model.script, scene.model.heard = [], ""
        scene.room.run(prompt=words)
        heard = scene.model.heard
        scene.expect("`%s` tells the model what doorward says" % words, wanted in heard and "!`" not in heard)


def plugin_beside_setup(scene):
    """The plugin and the hooks of `doorward setup` together: each call is judged once; without the user's settings the plugin still judges."""
    scene.expect("setup's hooks are put beside the plugin", scene.room.install_hooks_too() == 0)
    scene.play(scene.shell("echo ok > safe.txt"), scene.shell(scene.delete()), scene.shell("echo on > after.txt"))
    scene.ran("safe.txt"), scene.ran("after.txt"), scene.is_safe()
    decisions = json.loads(scene.room.records("--kind", "decision"))
    once = [line for line in decisions if "echo ok" in json.dumps(line)]
    scene.expect("each call is on record once", len(once) == 1)


def broken(how):
    def scenario(scene):
        program = scene.room.program
        text = {"missing": None, "crashing": "#!/bin/sh\nkill -9 $$\n", "failing": "#!/bin/sh\nexit 1\n", "garbage": "#!/bin/sh\necho 'all is well'\n", "hanging": "#!/bin/sh\nexec sleep 300\n"}[how]
        program.unlink()
        if text:
            program.write_text(text)
            program.chmod(0o755)
        scene.play(scene.shell("echo ran > ran.txt"))
        # Where the client takes garbage for no answer it goes on; docs/agents.md says so.
        runs = how == "garbage" and scene.client not in ("pi", "opencode")
        scene.ran("ran.txt", runs)

    scenario.__doc__ = "A program that is %s in doorward's place." % how
    return scenario


def kept(scene, name):
    """A call that is asked about, since nobody knows the program, and then writes a line."""
    return scene.shell("box-unknown-program $(echo now) || echo line >> %s" % name)


def runs(scene, **wanted):
    figures = json.loads(scene.room.doorward("metrics", "--json").stdout or "{}")
    found = dict(figures.get("runs", [])) | {"mismatches": figures.get("mismatches")}
    scene.expect("contained runs: %s" % wanted, all(found.get(name, 0) == count for name, count in wanted.items()))
    if scene.wrong:
        print("        ", found)


def once(scene, name, times=1):
    file = scene.project / name
    scene.expect("%s ran %d times" % (name, times), (file.read_text().count("line") if file.exists() else 0) == times)


def contained_answered(scene):
    """The box answers a question, and what the call did there is in place, once. A `$(` in the call is no obstacle."""
    scene.play(kept(scene, "kept.txt"), scene.shell("echo on > after.txt"))
    once(scene, "kept.txt"), scene.ran("after.txt")
    runs(scene, replaced=1, committed=1, mismatches=0)
    scene.expect("nobody was asked", not scene.room.waiting())


def contained_held(scene):
    """What a person has to see is held, and a yes puts exactly that in place."""
    made = ".github/workflows/ci.yml"
    scene.play(scene.shell("box-unknown-program || { mkdir -p .github/workflows; echo 'on: push' > %s; }" % made), scene.shell("echo on > after.txt"))
    scene.ran(made, False), scene.ran("after.txt")
    waiting = scene.room.waiting()
    scene.expect("the run waits with its changes", len(waiting) == 1 and any(made in change["path"] for change in waiting[0].get("changes", [])))
    scene.expect("a person says yes", bool(waiting) and scene.room.approve(waiting[0]["id"])[1] == 0)
    scene.ran(made)
    runs(scene, replaced=1, held=1, mismatches=0)


def contained_discarded(scene):
    """What is blocked when it is seen leaves nothing behind."""
    profile = scene.home / ".bashrc"
    before = profile.read_text() if profile.exists() else None
    hidden = "perl -e 'open(my $f, q(>>), $ENV{HOME} . q(/.bash) . q(rc)); print $f qq(line\\n)'"
    scene.play(scene.shell(hidden), scene.shell("echo on > after.txt"))
    scene.expect("the profile is as it was", (profile.read_text() if profile.exists() else None) == before)
    scene.ran("after.txt"), runs(scene, replaced=1, discarded=1, mismatches=0)


def contained_rival(scene):
    """Where another hook rewrites calls too, none is replaced: the agent is told, and neither command runs."""
    rival = scene.room.put("rival.py", "import json, sys\nasked = json.load(sys.stdin)\nif 'unknown' in str(asked.get('tool_input')):\n"
                           "    new = dict(asked['tool_input'], command='echo line >> theirs.txt')\n"
                           "    say = {'hookEventName': asked['hook_event_name'], 'permissionDecision': 'allow', 'updatedInput': new}\n"
                           "    print(json.dumps({'hookSpecificOutput': say, 'decision': 'allow'} if asked['hook_event_name'] == 'BeforeTool' else {'hookSpecificOutput': say}))\n")
    file = scene.home / {"claude": ".claude/settings.json", "gemini": ".gemini/settings.json"}[scene.client]
    settings = json.loads(file.read_text())
    event = "PreToolUse" if scene.client == "claude" else "BeforeTool"
    settings["hooks"][event].append({"matcher": "*", "hooks": [{"type": "command", "command": "sleep 1; %s %s" % (sys.executable, rival)}]})
    file.write_text(json.dumps(settings))
    scene.play(kept(scene, "kept.txt"), scene.shell("echo on > after.txt"))
    once(scene, "kept.txt", 0), once(scene, "theirs.txt", 0)
    runs(scene, steered=1, mismatches=0)


def contained_steered(scene):
    """An agent that is told to use the box uses it."""
    scene.room.doorward("config")
    config = scene.home / ".config/doorward/config.toml"
    config.write_text(config.read_text().replace('"rewrite"', '"steer"'))
    scene.play(scene.shell("box-unknown-program || echo line >> kept.txt"), scene.shell("%s run -- 'box-unknown-program || echo line >> kept.txt'" % scene.room.program), scene.shell("echo on > after.txt"))
    once(scene, "kept.txt"), scene.ran("after.txt")
    runs(scene, steered=1, committed=1, mismatches=0)
    scene.expect("it is no denial", "breaker" not in scene.room.records("--kind", "alert"))


def contained_guessed(scene):
    """A token that was not made for a call is refused, whoever types it."""
    scene.play(scene.shell("doorward run %s" % ("0" * 32)), scene.shell("doorward run 8f3a"), scene.shell("echo on > after.txt"))
    scene.ran("after.txt"), runs(scene, replaced=0, committed=0)
    scene.expect("both were refused", scene.room.records("--verdict", "block").count("doorward run") >= 2)


def contained_voided(scene):
    """If an answer is void and the agent runs the call as it was, that is an alert, and the next call is not replaced."""
    real = scene.room.program.with_name("real-doorward")
    scene.room.program.rename(real)
    scene.room.program.write_text("#!/bin/sh\n'%s' \"$@\" | sed 's/\"updatedInput\"/\"unknown\":1,\"updatedInput\"/'\n" % real)
    scene.room.program.chmod(0o755)
    scene.play(kept(scene, "kept.txt"), kept(scene, "again.txt"), scene.shell("echo on > after.txt"))
    real.replace(scene.room.program)
    once(scene, "again.txt", 0)
    scene.expect("the alert is on record", "unboxed" in scene.room.records("--kind", "alert"))
    runs(scene, replaced=1, committed=0, mismatches=1)


FIRST = ("claude", "codex", "pi")
SECOND = ("gemini", "qwen", "copilot", "opencode")
EVERYWHERE = FIRST + SECOND
CONTAINED = ("claude", "codex", "gemini", "opencode", "pi")
SCENARIOS = {
    "compound": (compound, EVERYWHERE), "switch": (switch, EVERYWHERE), "disarmed": (disarmed, ("claude", "gemini")), "subagent": (subagent, ("claude", "codex", "gemini", "opencode")), "mcp": (mcp, EVERYWHERE), "parallel": (parallel, EVERYWHERE), "race": (race, FIRST),
    "background": (background, EVERYWHERE), "exchanged-natively": (exchanged_natively, ("claude", "pi")), "answers": (answers, ("claude", "pi")),
    "exchanged-before-grant": (exchanged_before_grant, FIRST), "granted": (granted, FIRST + ("gemini", "opencode")), "waited-for": (waited_for, ("codex", "pi", "gemini", "opencode")),
    "mode-auto": (quiet_mode, ("claude",)), "mode-default": (asking_mode("default"), ("claude",)), "mode-accept-edits": (asking_mode("acceptEdits"), ("claude",)), "mode-plan": (asking_mode("plan"), ("claude",)),
    "plugin": (plugin, ("claude",)), "plugin-beside-setup": (plugin_beside_setup, ("claude",)),
    "missing": (broken("missing"), EVERYWHERE), "crashing": (broken("crashing"), EVERYWHERE), "failing": (broken("failing"), EVERYWHERE),
    "contained-answered": (contained_answered, CONTAINED), "contained-held": (contained_held, CONTAINED), "contained-discarded": (contained_discarded, CONTAINED), "contained-steered": (contained_steered, CONTAINED),
    "contained-guessed": (contained_guessed, CONTAINED), "contained-rival": (contained_rival, ("claude", "gemini")), "contained-voided": (contained_voided, ("codex",)),
    "garbage": (broken("garbage"), EVERYWHERE), "hanging": (broken("hanging"), ("pi",)),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clients", nargs="*", default=[], metavar="CLIENT")
    parser.add_argument("--doorward", default=ROOT / "target/debug/doorward", type=Path)
    parser.add_argument("--only", action="append", default=[], choices=SCENARIOS)
    wanted = parser.parse_args()
    failed, skipped, done = [], [], 0
    for client in wanted.clients or EVERYWHERE:
        for name, (scenario, clients) in SCENARIOS.items():
            if client not in clients or (wanted.only and name not in wanted.only):
                continue
            try:
                scene = Scene(client, wanted.doorward, name)
            except NotInstallable as why:
                print("SKIPPED: %s cannot be installed here, so it is NOT TESTED: %s" % (client, why))
                skipped.append(client)
                break
            print("  %s, %s: %s" % (client, name, scenario.__doc__.strip()), flush=True)
            began = time.time()
            try:
                scenario(scene)
            except Exception as error:  # a scenario that cannot go on has failed, the others go on
                scene.expect("it went on: %r" % error, False)
            done += 1
            if scene.wrong:
                failed.append("%s %s" % (client, name))
            scene.room.leave()
            print("         %.0f s" % (time.time() - began), flush=True)
    print("%d scenarios, %d failed%s" % (done, len(failed), ": " + ", ".join(failed) if failed else ""))
    sys.exit(1 if failed else 77 if skipped else 0)


if __name__ == "__main__":
    main()
