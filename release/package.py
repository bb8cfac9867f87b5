#!/usr/bin/env python3
"""Packs built programs for every channel, with checksums, an inventory of what is inside, and a signature.

  package.py --out DIR [--key FILE] TRIPLE=PATH…

Only the standard library, `cargo metadata` and, for signing, `openssl` and `ssh-keygen`; `rpmbuild` for the .rpm. The same programs
give the same bytes: names are sorted, times are SOURCE_DATE_EPOCH, owners are 0.
"""
import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

import archives
import channels
import inventory
import signing

ROOT = Path(__file__).resolve().parents[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--key", type=Path)
    parser.add_argument("programs", nargs="+", metavar="TRIPLE=PATH")
    wanted = parser.parse_args()
    programs = dict(word.split("=", 1) for word in wanted.programs)
    out = wanted.out
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():
        old.unlink()
    version = inventory.version(ROOT)
    pages = extras({triple: Path(path).resolve() for triple, path in programs.items()})
    for triple, path in sorted(programs.items()):
        pack(out, version, triple, Path(path).read_bytes(), pages)
    channels.packages_of_all(out, ROOT, version)
    (out / f"doorward-{version}.cdx.json").write_bytes(inventory.cyclonedx(ROOT, version))
    seal(out, version, wanted.key)
    for path in sorted(out.iterdir()):
        print("%10d  %s" % (path.stat().st_size, path.name))


def extras(programs):
    """Manual pages and completions, printed by whichever of the programs runs here."""
    for path in programs.values():
        try:
            return channels.extras(path)
        except (OSError, subprocess.CalledProcessError):
            continue
    sys.exit("none of the programs runs on this machine, so the manual pages can't be printed")


def pack(out, version, triple, program, pages):
    files = {"doorward": (program, 0o755), **pages, **channels.documents(ROOT)}
    name = f"doorward-{version}-{triple}"
    archives.tar_gz(out / f"{name}.tar.gz", {f"{name}/{inside}": content for inside, content in files.items()})
    if triple.endswith("-linux-musl"):
        channels.deb(out, version, triple, files)
        channels.rpm(out, version, triple, files)
    channels.npm_platform(out, ROOT, version, triple, program)
    channels.wheel(out, ROOT, version, triple, program)


def seal(out, version, key):
    """The installer with the key's public half, the formula with the checksums, and all of it in one signed list."""
    public = signing.public(key) if key else None
    channels.formula(out, ROOT, version)
    channels.container(out, ROOT, version)
    if public:
        text = (ROOT / "release/install.sh").read_text()
        text = text.replace("@VERSION@", version).replace("@PUBLIC_KEY@", signing.spki(public)).replace("@SSH_KEY@", signing.ssh_public(public))
        (out / "install.sh").write_text(text)
    else:
        print("NOT SIGNED: no --key, so there is no install.sh either: it runs nothing that is not signed")
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(out.iterdir()))
    (out / "SHA256SUMS").write_text(f"# doorward {version}\n{sums}")
    if public:
        signing.sign(key, out / "SHA256SUMS")


if __name__ == "__main__":
    main()
