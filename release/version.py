#!/usr/bin/env python3
"""Makes a version: writes its number everywhere, turns *Unreleased* of CHANGELOG.md into it, commits, and tags.

  release/version.py 0.2.0              shows what would change
  release/version.py 0.2.0 --commit     changes it, commits and tags `v0.2.0`; pushing the tag is yours
"""
import argparse
import datetime
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FORM = re.compile(r"\d+\.\d+\.\d+(-[0-9a-z.]+)?")

# Each file, and what stands around the number in it.
PLACES = [
    ("Cargo.toml", r'(?<=\nversion = ")[^"]+'),
    *((str(path.relative_to(ROOT)), r'(?<=, version = ")[^"]+') for path in sorted(ROOT.glob("crates/*/Cargo.toml"))),
    ("sdk/python/pyproject.toml", r'(?<=\nversion = ")[^"]+'),
    ("sdk/python/src/doorward/__init__.py", r'(?<=__version__ = ")[^"]+'),
    ("sdk/typescript/package.json", r'(?<="version": ")[^"]+|(?<=-x64": ")[^"]+|(?<=-arm64": ")[^"]+'),
    ("extensions/pi/package.json", r'(?<="version": ")[^"]+'),
    ("extensions/opencode/package.json", r'(?<="version": ")[^"]+'),
    ("extensions/claude/.claude-plugin/plugin.json", r'(?<="version": ")[^"]+'),
]


def own_dependencies(text, number):
    """Only lines that name a crate of this workspace; other dependencies have versions of their own."""
    return re.sub(r'(?m)^(doorward-[a-z]+ = \{ path = "[^"]+", version = ")[^"]+', rf"\g<1>{number}", text)


def changed(number, root=ROOT):
    """The files with the new number."""
    files = {}
    for name, around in PLACES:
        text = (root / name).read_text()
        files[name] = own_dependencies(text, number) if name.startswith("crates/") else re.sub(around, number, text)
    old = re.search(PLACES[0][1], (root / "Cargo.toml").read_text())[0]
    lock = (root / "Cargo.lock").read_text()
    files["Cargo.lock"] = re.sub(rf'(name = "doorward[a-z-]*"\nversion = "){re.escape(old)}"', rf'\g<1>{number}"', lock)
    log = (root / "CHANGELOG.md").read_text()
    if "\n## Unreleased\n" not in log or f"\n## {number} " in log:
        raise SystemExit("CHANGELOG.md has no *Unreleased*, or this version already")
    files["CHANGELOG.md"] = log.replace("\n## Unreleased\n", f"\n## Unreleased\n\n## {number} ({datetime.date.today()})\n", 1)
    return {name: text for name, text in files.items() if text != (root / name).read_text()}


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("number")
    parser.add_argument("--commit", action="store_true")
    wanted = parser.parse_args()
    if not FORM.fullmatch(wanted.number):
        raise SystemExit(f"`{wanted.number}` is not a version like 1.2.3")
    files = changed(wanted.number)
    if not wanted.commit:
        print("\n".join(f"would change {name}" for name in files))
        return
    if git("status", "--porcelain") or git("tag", "--list", f"v{wanted.number}"):
        raise SystemExit("there are uncommitted changes, or the tag is there already")
    for name, text in files.items():
        (ROOT / name).write_text(text)
    git("commit", "--quiet", "--all", "--message", f"release: {wanted.number}")
    git("tag", "--annotate", f"v{wanted.number}", "--message", f"doorward {wanted.number}")
    print(f"tagged v{wanted.number}; `git push --follow-tags` starts the release")


if __name__ == "__main__":
    main()
