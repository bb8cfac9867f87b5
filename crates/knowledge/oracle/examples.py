"""Runs the examples of the program files in the box and compares what happens with the effects that they state."""

import concurrent.futures
import os
import re
import shlex
import shutil

import differences
import samples
from box import HOME, Scratch
from seen import Seen, snapshot, trace

TRACE = ["strace", "-f", "-y", "-s", "300", "--seccomp-bpf", "-e", "trace=open,openat,openat2,execve,connect,sendto", "-e", "signal=none"]
CHANGING = ("write", "delete", "mutate")
# Written by anything that looks at a repository, or kept for speed only.
SILENT = re.compile(r"^(\.git/index|~/\.cache(/.*)?|~/\.npm(/.*)?|~/\.local|~/\.config|~/\.local/share|~/\.local/state)$")
# Made by a program for itself when it runs for the first time: an empty key ring, package database or profile.
FIRST_RUN = {
    "gpg": "gnupg", "gsutil": r"gsutil|config/gcloud", "nix-env": "nix-defexpr|nix-profile", "rpm": "rpmdb",
    "top": "config/procps",
}
# A change of something remote goes over the network without saying so twice.
REMOTE = {"+cloud", "+external-write", "+publish", "+push", "+remote", "+registry"}
# Read by programs to learn their settings: the question `settings` of the family, not an effect.
SETTINGS = re.compile(
    r"^(\.git(/.*)?|\.gitignore|~/\.gitconfig|package\.json|\.editorconfig|.*\.(toml|cfg|ini|config\.js)|\.[\w.-]*rc(\.\w+)?|\.env)$"
)


def targets(effects):
    """`(operation, target)` of each effect, without marks."""
    for effect in effects:
        words = [word for word in effect.split() if not word.startswith("+")]
        yield words[0], " ".join(words[1:])


def is_path(target, call):
    """A target names a file, not the command itself or something remote."""
    return " " not in target and "://" not in target and target != call.split()[0] and bool(re.match(r"^[\w.~/@+-]+[\w./@+*?-]*$", target))


def place(scratch, path):
    """Where a path of an example lies outside the box."""
    if path.startswith("~/"):
        return scratch.home / path[2:]
    if path.startswith("/tmp/"):
        return scratch.temp / path[5:]
    if path.startswith(HOME + "/"):
        return scratch.home / path[len(HOME) + 1 :]
    if path.startswith(("/", "..")):
        return None
    return scratch.home / "project" / path


def make(scratch, contents, path, flip):
    """Makes a file or folder for an example to work on."""
    at = place(scratch, path.rstrip("/"))
    if at is None or os.path.lexists(at) or "*" in path:
        return
    name = at.name
    is_folder = path.endswith("/") or (("." not in name[1:]) and ((name in samples.FOLDERS) != flip))
    try:
        at.parent.mkdir(parents=True, exist_ok=True)
        if is_folder:
            at.mkdir()
            (at / "inner.txt").write_text(samples.TEXT)
            (at / "b.txt").write_text(samples.TEXT)
        else:
            at.write_bytes(contents.content(name))
    except (NotADirectoryError, FileExistsError):
        return


class Runner:
    """Runs examples on fresh copies of the samples."""

    def __init__(self, box, cache):
        self.box = box
        self.folder = samples.prepare(box, cache, Scratch)
        self.contents = samples.Samples(self.folder)

    def run(self, example, with_outputs=False, flip=False):
        """Runs one example once."""
        with Scratch() as scratch:
            shutil.rmtree(scratch.home / "project")
            shutil.copytree(self.folder / "project", scratch.home / "project", symlinks=True)
            for name, text in samples.HOME_FILES.items():
                path = scratch.home / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            self.furnish(scratch, example, with_outputs, flip)
            scratch.give()
            before = snapshot(scratch)
            words = [*TRACE, "-o", "/trace/log", "bash", "-c", "ulimit -f 400000; " + example["call"]]
            seen = Seen()
            seen.code, seen.printed = scratch.run(self.box, words, 10)
            seen.ok = seen.code == 0
            self.compare(before, snapshot(scratch), seen)
            log = scratch.trace / "log"
            trace(log.read_text(errors="replace") if log.exists() else "", before, seen)
            return seen

    def furnish(self, scratch, example, with_outputs, flip):
        stated = list(targets(example.get("effects", [])))
        for operation, target in stated:
            if not is_path(target, example["call"]):
                continue
            if operation in ("read", "delete", "execute") or with_outputs:
                make(scratch, self.contents, target, flip)
            elif at := place(scratch, target):
                try:
                    at.parent.mkdir(parents=True, exist_ok=True)
                except (NotADirectoryError, FileExistsError):
                    continue
        outputs = {target for operation, target in stated if operation in CHANGING}
        for word in words_of(example["call"]):
            if word not in outputs and re.match(r"^[\w./~-]+\.\w{1,7}$", word) and not word.startswith("-"):
                make(scratch, self.contents, word, flip)
        for operation, target in stated:
            if operation == "execute" and (at := place(scratch, target)) and at.is_file():
                at.chmod(0o755)

    @staticmethod
    def compare(before, after, seen):
        seen.deleted = set(before) - set(after)
        seen.written = {path for path, state in after.items() if before.get(path) != state}
        # A new file changes its folder; only the file counts.
        seen.written -= {path for path in seen.written if after[path][0] == "folder" and path in before and before[path][1] == after[path][1]}


def words_of(call):
    try:
        return shlex.split(call)
    except ValueError:
        return call.split()


def covered(path, operations, example):
    """A stated effect explains that this path was touched."""
    for operation, target in targets(example.get("effects", [])):
        if operation not in operations:
            continue
        target = target.rstrip("/")
        if target in (path, ".") or path.startswith(target + "/") or is_template(target, path):
            return True
        if not is_path(target, example["call"]) or ("*" in target):
            return True
    return False


def is_template(target, path):
    """`notes.XXXX` and `part-` are names to which the program adds."""
    return path.startswith(target) if target.endswith(("-", "_")) else bool(re.fullmatch(re.sub("X{3,}", r"\\w+", re.escape(target)), path))


def is_beside(path, example):
    """A file of the family `writes beside`: in the folder of a stated path, under almost the same name."""
    folder, _, name = path.rpartition("/")
    for _, target in targets(example.get("effects", [])):
        other, _, known = target.rpartition("/")
        if folder == other and name.split(".")[0] == known.split(".")[0]:
            return True
    return False


def is_first_run(path, program):
    own = FIRST_RUN.get(program.stem)
    return own is not None and re.match(rf"^~/\.({own})(/.*)?$", path) is not None


def mismatches(example, seen, program):
    """What happened and is not stated: `(kind, what)`."""
    found = set()
    stated = {operation for operation, _ in targets(example.get("effects", []))}
    if example.get("coverage", "full") == "unknown" or "execute" in stated:
        return found
    for path in seen.written:
        is_stated = covered(path, CHANGING, example) or (program.beside and is_beside(path, example))
        if not SILENT.match(path) and not is_first_run(path, program) and not path.startswith("/tmp") and not is_stated:
            found.add(("unstated-write", path))
    for path in seen.deleted:
        if not path.startswith("/tmp") and not covered(path, CHANGING, example):
            found.add(("unstated-delete", path))
    for path in seen.read - seen.written:
        if not SETTINGS.match(path) and not covered(path, ("read", *CHANGING), example):
            found.add(("unstated-read", path))
    found |= {("unstated-run", path) for path in seen.ran if path not in seen.written}
    remote = any(REMOTE & set(effect.split()) for effect in example.get("effects", []))
    if "network" not in stated and not remote:
        found |= {("unstated-network", who) for who in seen.contacted}
    return found


def unhappened(example, runs):
    """Stated writes and deletions that never happened, though the call succeeded."""
    if not any(seen.ok for seen in runs):
        return set()
    touched = set().union(*[seen.written | seen.deleted for seen in runs])
    found = set()
    for operation, target in targets(example.get("effects", [])):
        if operation in ("write", "delete") and is_path(target, example["call"]) and place_is_known(target):
            name = target.rstrip("/")
            if not any(path.startswith((name + "/", name)) or name == "." or is_template(name, path) for path in touched):
                found.add((f"unhappened-{operation}", target))
    return found


def place_is_known(target):
    return not target.startswith(("/", "..")) and "*" not in target


class Outcome:
    """One example, run: mismatches, or why it did not run."""

    def __init__(self, program, call):
        self.program = program
        self.call = call
        self.found = set()
        self.unrun = None
        self.failed = False
        self.printed = ""


def try_example(runner, program, example):
    outcome = Outcome(program.stem, example["call"])
    if not any(runner.box.find(name) for name in program.names) and program.stem not in runner.builtins:
        outcome.unrun = "not installed here"
        return outcome
    runs = [runner.run(example)]
    if not runs[0].ok or unhappened(example, runs):
        runs.append(runner.run(example, with_outputs=True))
    if not any(seen.ok for seen in runs):
        runs.append(runner.run(example, with_outputs=True, flip=True))
    if all(seen.code in (126, 127) and "not found" in seen.printed for seen in runs):
        outcome.unrun = "not installed here under that name"
        return outcome
    outcome.found = set().union(*[mismatches(example, seen, program) for seen in runs]) | unhappened(example, runs)
    outcome.failed = not any(seen.ok for seen in runs)
    outcome.printed = runs[0].printed[-400:]
    return outcome


def run(box, cache, programs, builtins, workers=2):
    runner = Runner(box, cache)
    runner.builtins = builtins
    pairs = [(program, example) for program in programs for example in program.examples]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda pair: try_example(runner, *pair), pairs))


def report(outcomes, update):
    """Prints the figures and what is not listed. With `update`, writes the list."""
    listed = differences.read()
    known = differences.examples_listed(listed)
    seen = {(outcome.program, outcome.call, *pair) for outcome in outcomes for pair in outcome.found}
    ran = [outcome for outcome in outcomes if not outcome.unrun]
    new = sorted(seen - set(known))
    calls = {(outcome.program, outcome.call) for outcome in ran}
    gone = sorted(key for key in known if key[:2] in calls and key not in seen)
    failed = sum(outcome.failed for outcome in ran)
    print(
        f"box oracle: {len({outcome.program for outcome in ran})} programs, {len(ran)} examples run ({failed} of them failed in the box),"
        f" {len(outcomes) - len(ran)} not run, {len(seen)} mismatches, {len(new)} unlisted"
    )
    if update:
        kept = {key: reason for key, reason in known.items() if key not in set(gone)}
        kept.update({key: "not looked at yet" for key in new})
        seen_programs = {outcome.program for outcome in outcomes}
        unrun = {why: set(names) - seen_programs for why, names in differences.programs_listed(listed["unrun"]).items()}
        for outcome in outcomes:
            if outcome.unrun:
                unrun.setdefault(outcome.unrun, set()).add(outcome.program)
        unchecked = differences.programs_listed(listed["unchecked"])
        differences.write(differences.flags_listed(listed), kept, unrun, unchecked)
        return True
    for program, call, kind, what in new:
        print(f"  unlisted: {program}: `{call}`: {kind} {what}")
    for program, call, kind, what in gone:
        print(f"  listed, but agrees now: {program}: `{call}`: {kind} {what}")
    return not new
