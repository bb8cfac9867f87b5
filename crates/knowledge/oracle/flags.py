"""Compares the flags of the program files with what the programs say themselves."""

import concurrent.futures
import json
import pathlib
import re

import differences
import manuals
from programs import GLUED, NOTHING, VALUE
from sources import Sources, builtins

# A command with more doubtful flags than this is not asked about them one by one.
MOST_FLAGS = 80
MOST_OF_SCRIPT = 25


class Verdict:
    """What is known of one flag: it agrees, or the kind of difference."""

    def __init__(self, kind, source=""):
        self.kind = kind
        self.source = source


def judge(command, flag, kinds):
    """The kind of difference between what we say a flag takes and what the texts say; `None`: they agree."""
    ours, sure = command.flags[flag], kinds - {manuals.UNSURE}
    if not sure or flag in command.asking:
        return None
    if ours == GLUED and command.style == "single-dash":
        return None
    if ours == NOTHING:
        return "value" if sure == {manuals.VALUE} else None
    if ours == VALUE:
        if manuals.VALUE in kinds or manuals.UNSURE in kinds:
            return None
        return "optional" if manuals.OPTIONAL in sure else "nothing"
    if manuals.OPTIONAL in sure or manuals.UNSURE in kinds or sure == {manuals.VALUE, manuals.NOTHING}:
        return None
    return "value" if sure == {manuals.VALUE} else "nothing"


class Comparison:
    """One program: the verdict on every flag of every command that the source describes."""

    def __init__(self, program, name, version):
        self.program = program
        self.name = name
        self.version = version
        self.verdicts = {}
        self.sources = set()
        self.undescribed = []

    def differences(self):
        return {
            (self.program.stem, command, verdict.kind, flag)
            for (command, flag), verdict in self.verdicts.items()
            if verdict.kind
        }

    def label(self):
        """What the file was compared with."""
        texts = sorted(self.sources)
        return f"{' and '.join(texts)}, {self.version}"


def above(key, texts):
    """The texts of the commands above one."""
    words = key.split(" ")
    found = {}
    for end in range(len(words) - 1, 0, -1):
        found.update(texts.get(" ".join(words[:end]), {}))
    return found


def compare_command(command, own, parents, ask, most):
    """`{flag: kind of difference or None}`, or `None` if the command is not described at all."""
    own = [manual for manual in own if len(manual.named) > 1]
    if not own and not parents:
        return None
    found, doubtful = {}, []
    for flag in command.flags:
        kinds = set().union(*[manual.takes.get(flag, set()) for manual in own])
        named = any(manual.names(flag) for manual in [*own, *parents])
        kind = judge(command, flag, kinds) if named else "lacking"
        found[flag] = kind
        if kind or not kinds - {manuals.UNSURE} and flag not in command.asking:
            doubtful.append(flag)
    if doubtful and len(doubtful) <= most:
        for flag, said in ask(doubtful).items():
            found[flag] = settle(command, flag, found[flag], said)
    return found


def settle(command, flag, kind, said):
    """The kind of difference, once the program was asked about the flag alone."""
    if said == "value":
        return "value" if command.flags[flag] == NOTHING and flag not in command.asking else None
    return None if said == "taken" and kind in ("lacking", "value") else kind


def compare(sources, program):
    """Compares one program; `None` if it is not installed."""
    name = next((name for name in program.names if sources.box.find(name)), None)
    name = name or (program.name if program.stem in sources.builtins else None)
    version = name and sources.version(name)
    if not version:
        return compare_spec(sources, program)
    texts = sources.texts(program, name)
    result = Comparison(program, name, version)
    slow = sources.is_script(name)
    for command in program.commands:
        if command.is_twin:
            continue
        own = [manuals.Manual(text, source) for source, text in texts.get(command.key, {}).items()]
        parents = [manuals.Manual(text, source) for source, text in above(command.key, texts).items()]
        for manual in own:
            if len(manual.named) > 1 and " " not in command.key:
                page = re.search(r"/man(\w+)/", manual.source)
                result.sources.add(f"man {page[1]} {name}" if page else asked(sources, name))
        if not command.flags:
            continue
        ask = lambda flags, key=command.key: sources.answers(program, name, key, flags)
        if slow and " " in command.key:
            ask = lambda flags: {}
        found = compare_command(command, own, parents, ask, MOST_OF_SCRIPT if slow else MOST_FLAGS)
        if found is None:
            result.undescribed.append(command.key)
            continue
        result.verdicts.update({(command.key, flag): Verdict(kind) for flag, kind in found.items()})
    return result if result.sources else None


def compare_spec(sources, program):
    """Compares a program that is not installed with a specification."""
    if program.name not in sources.specs:
        return None
    result = Comparison(program, program.name, sources.specs["label"])
    result.sources.add(f"specification of {program.name}")
    for command in program.commands:
        if command.is_twin or not command.flags or command.key not in sources.specs:
            continue
        words = command.key.split(" ")
        parents = [manuals.Spec(sources.specs.get(" ".join(words[:end]), {})) for end in range(1, len(words))]
        found = compare_command(command, [manuals.Spec(sources.specs[command.key])], parents, lambda flags: {}, 0)
        result.verdicts.update({(command.key, flag): Verdict(kind) for flag, kind in (found or {}).items()})
    return result


def asked(sources, name):
    return f"{name} --help" if sources.box.find(name) else f"help {name}"


def run(box, programs, options, workers=2):
    """Compares all programs that are installed, or specified."""
    sources = Sources(box, options.cache, options.most)
    sources.specs = json.loads(pathlib.Path(options.specs).read_text()) if options.specs else {}
    sources.builtins = set(builtins(sources))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return [result for result in pool.map(lambda program: compare(sources, program), programs) if result]


def report(results, update):
    """Prints the figures; the differences that are not listed. With `update`, writes list and `checked`."""
    listed = differences.read()
    known = differences.flags_listed(listed)
    seen = set().union(*[result.differences() for result in results])
    compared = {result.program.stem for result in results}
    flags = sum(len(result.verdicts) for result in results)
    new = sorted(seen - set(known))
    gone = sorted(key for key in known if key[0] in compared and key not in seen)
    print(f"flag oracle: {len(results)} programs compared, {flags} flags compared, {len(seen)} differ, {len(new)} unlisted")
    if update:
        kept = {key: reason for key, reason in known.items() if key not in set(gone)}
        kept.update({key: f"not looked at yet; {version_of(results, key)}" for key in new})
        unrun, unchecked = (differences.programs_listed(listed[name]) for name in ("unrun", "unchecked"))
        differences.write(kept, differences.examples_listed(listed), unrun, unchecked)
        for result in results:
            differences.set_checked(result.program.path, result.label())
        return True
    for program, command, kind, flag in new:
        print(f"  unlisted: {program}: `{command} {flag}` {kind} ({version_of(results, (program,))})")
    for program, command, kind, flag in gone:
        print(f"  listed, but agrees now: {program}: `{command} {flag}` {kind}")
    return not new


def version_of(results, key):
    return next(result.version for result in results if result.program.stem == key[0])
