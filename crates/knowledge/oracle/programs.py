"""Reads the program files: names, flags with what they take, examples."""

import pathlib
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = FOLDER / "programs"

NOTHING, VALUE, GLUED = "nothing", "value", "glued"
# Words on the right side of a flag that are no role.
OTHER = {"flag", "dry-run", "info", "read-only", "opaque", "unknown", "ends"}


class Command:
    """A program or one of its subcommands."""

    def __init__(self, key, table, is_twin):
        self.key = key
        self.style = table.get("style")
        # Another spelling of a command that is listed as well.
        self.is_twin = is_twin
        self.flags = {}
        # Flags that always ask: what they take does not matter.
        self.asking = set()


class Program:
    """A program file."""

    def __init__(self, path, table):
        self.path = path
        self.stem = path.stem
        self.name = table["name"]
        self.names = [self.name, *table.get("aliases", [])]
        self.checked = table.get("checked")
        self.like = table.get("like")
        self.examples = table.get("example", [])
        # Writes files that the call does not name, beside those it names.
        self.beside = table.get("answers", {}).get("beside", "never") != "never"
        self.commands = []


def takes(text):
    """What a flag takes, by the right side of its line."""
    for word in text.split():
        if word in ("for", "unless"):
            break
        if word.startswith("?"):
            return GLUED
        if word in OTHER or word[0] in "+!" or word.startswith("operands="):
            continue
        return VALUE
    return NOTHING


def add_flags(one, table):
    """Adds the flags of one `[flags]` table to a command."""
    for names, text in table.items():
        for name in text.split() if names == "plain" else names.split():
            one.flags[name] = NOTHING if names == "plain" else takes(text)
            if names != "plain" and {"unknown", "opaque"} & set(text.split()):
                one.asking.add(name)


def command(key, table, sets, into, is_twin=False):
    """Reads one command and the commands below it."""
    one = Command(key, table, is_twin)
    for name in table.get("use", []):
        add_flags(one, sets[name])
    add_flags(one, table.get("flags", {}))
    into.append(one)
    for names, below in table.get("sub", {}).items():
        for at, name in enumerate(names.split()):
            command(f"{key} {name}", below, sets, into, is_twin or at > 0)


def read(folder=PROGRAMS):
    """All program files, in the order of their names."""
    sets = tomllib.loads((folder.parent / "flagsets.toml").read_text())
    programs = []
    for path in sorted(folder.glob("*.toml")):
        table = tomllib.loads(path.read_text())
        program = Program(path, table)
        command(program.name, table, sets, program.commands)
        programs.append(program)
    return programs
