"""The list of differences between the program files and what the oracles saw: read, compared, written."""

import pathlib
import tomllib

from programs import FOLDER

KINDS = ("flag", "example", "unrun", "unchecked")
LIST = FOLDER / "disagreements.toml"
HEAD = """\
# Where the program files and the oracles differ, and why that is left. The list only shrinks: a test holds the two figures.
# `lacking`: the source does not name the flag. `value`, `nothing`, `optional`: what the source says the flag takes.
# `unstated-…`: seen in the box, not said by the example. `unhappened-write`: said by the example, not seen.

"""


def read():
    if not LIST.exists():
        return {name: [] for name in KINDS}
    table = tomllib.loads(LIST.read_text())
    return {name: table.get(name, []) for name in KINDS}


def flags_listed(listed):
    """`(program, command, kind, flag)` with the reason."""
    found = {}
    for row in listed["flag"]:
        for flag in row["flags"].split():
            found[row["program"], row.get("command", row["program"]), row["kind"], flag] = row["reason"]
    return found


def examples_listed(listed):
    return {(row["program"], row["call"], row["kind"], row["what"]): row["reason"] for row in listed["example"]}


def quoted(text):
    if "'" not in text and ('"' in text or "\\" in text):
        return f"'{text}'"
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{text}"'


def wrapped(flags, width=130, name="flags"):
    """The flags, as one string or one over several lines."""
    line = f'{name} = "{" ".join(flags)}"'
    if len(line) <= width:
        return line
    lines, now = [], ""
    for flag in flags:
        if now and len(now) + len(flag) + 1 > width:
            lines.append(now)
            now = ""
        now = f"{now} {flag}".strip()
    body = "\n".join([*lines, now])
    return f'{name} = """\n{body}\n"""'


def row(kind, fields):
    lines = [f"[[{kind}]]"]
    for name, value in fields:
        lines.append(value if name == "flags" else f"{name} = {quoted(value)}")
    return "\n".join(lines) + "\n"


def programs_listed(rows):
    """`{reason: programs}`."""
    return {row["reason"]: row["programs"].split() for row in rows}


def write(flags, examples, unrun, unchecked):
    """`flags`: as `flags_listed`; `examples`: as `examples_listed`; the others: as `programs_listed`."""
    grouped = {}
    for (program, command, kind, flag), reason in flags.items():
        grouped.setdefault((program, command, kind, reason), []).append(flag)
    parts = [f"flags = {len(flags)}\nexamples = {len(examples)}\n"]
    for (program, command, kind, reason), names in sorted(grouped.items()):
        fields = [("program", program)]
        if command != program:
            fields.append(("command", command))
        parts.append(row("flag", [*fields, ("kind", kind), ("flags", wrapped(sorted(names))), ("reason", reason)]))
    for (program, call, kind, what), reason in sorted(examples.items()):
        fields = [("program", program), ("call", call), ("kind", kind), ("what", what), ("reason", reason)]
        parts.append(row("example", fields))
    for kind, groups in (("unrun", unrun), ("unchecked", unchecked)):
        for reason, names in sorted(groups.items()):
            parts.append(row(kind, [("reason", reason), ("flags", wrapped(sorted(names), name="programs"))]))
    LIST.write_text(HEAD + "\n".join(parts))


def set_checked(path: pathlib.Path, text):
    """Writes the line `checked` behind the names."""
    lines = path.read_text().split("\n")
    lines = [line for at, line in enumerate(lines) if not (line.startswith("checked =") and at < 60)]
    at = next(at for at, line in enumerate(lines) if line.startswith("name ="))
    if lines[at + 1].startswith("aliases"):
        at += 1
        while "]" not in lines[at]:
            at += 1
    lines.insert(at + 1, f"checked = {quoted(text)}")
    path.write_text("\n".join(lines))
