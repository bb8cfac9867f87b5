"""Files for the examples to work on: a small git project, a home with secrets, and content that fits each name."""

import bz2
import gzip
import io
import json
import lzma
import pathlib
import shutil
import sqlite3
import struct
import tarfile
import tempfile
import wave
import zipfile
import zlib

TEXT = "beta 2\nalpha 1\ngamma 3\n"
# What lies in the project and the home of every run.
PROJECT_FILES = {
    "README.md": "# Project\n\nText.\n",
    "a.txt": TEXT,
    "b.txt": "alpha 1\nbeta 2\ndelta 4\n",
    "src/main.rs": 'fn main() { println!("x"); }\n',
    "src/lib.rs": "pub fn one() -> u8 { 1 }\n",
    "src/a.c": "int main(void) { return 0; }\n",
    "src/a.py": "print(1)\n",
    "src/index.js": "console.log(1)\n",
    "src/a.ts": "const a: number = 1\nexport default a\n",
    "tests/test_a.py": "def test_a():\n    assert True\n",
    "docs/index.md": "# Docs\n",
    "package.json": '{"name": "project", "version": "1.0.0", "scripts": {"test": "true"}}\n',
    ".gitignore": "target\nnode_modules\ndist\nbuild\n.env\n",
    ".env": "TOKEN=sample-of-a-token\n",
}
HOME_FILES = {
    ".gitconfig": "[user]\n\tname = Dev\n\temail = dev@example.com\n[init]\n\tdefaultBranch = main\n",
    ".ssh/id_ed25519": "sample of a key\n",
    ".aws/credentials": "[default]\naws_access_key_id = sample\n",
    ".netrc": "machine example.com login dev password sample\n",
    ".bash_history": "ls\n",
}
SOURCES = {
    "py": "import os\n\n\ndef one(a):\n    return a\n\n\nprint(one(1))\n",
    "ipynb": json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
    "js": "console.log(1)\n", "mjs": "console.log(1)\n", "cjs": "console.log(1)\n", "jsx": "export default 1\n",
    "ts": "const a: number = 1\nexport default a\n", "tsx": "export default 1\n",
    "json": '{"a": 1, "b": [1, 2], "name": "x"}\n', "jsonl": '{"a": 1}\n{"a": 2}\n', "ndjson": '{"a": 1}\n',
    "yaml": "a: 1\nb:\n  - 2\n", "yml": "a: 1\nb:\n  - 2\n", "toml": 'a = 1\n[b]\nc = "d"\n', "ini": "[a]\nb = 1\n",
    "csv": "id,name\n1,alpha\n2,beta\n", "tsv": "id\tname\n1\talpha\n", "md": "# Title\n\ntext\n", "rst": "Title\n=====\n\ntext\n",
    "html": "<!doctype html><title>t</title><p>text</p>\n", "xml": "<a><b>1</b></a>\n", "svg":
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="5" height="5"/></svg>\n',
    "css": "a { color: red }\n", "scss": "a { b { color: red } }\n", "sass": "a\n  color: red\n", "less": "a { b { color: red } }\n",
    "c": "int main(void) { return 0; }\n", "h": "int one(void);\n", "cpp": "int main() { return 0; }\n", "cc": "int main() { return 0; }\n",
    "rs": "fn main() {}\n", "go": "package main\n\nfunc main() {}\n", "java": "class A { public static void main(String[] a) {} }\n",
    "rb": "puts 1\n", "pl": "print 1;\n", "php": "<?php echo 1;\n", "lua": "print(1)\n", "sh": "echo 1\n", "bash": "echo 1\n",
    "r": "print(1)\n", "R": "print(1)\n", "hs": "main = print 1\n", "ml": "let () = print_int 1\n", "scm": "(display 1)\n", "f90": "end\n",
    "sql": "select 1;\n", "dot": "digraph { a -> b }\n", "gv": "digraph { a -> b }\n", "tex":
    "\\documentclass{article}\\begin{document}x\\end{document}\n", "l": "%%\nx ;\n%%\n", "y": "%token A\n%%\ns: A;\n%%\n",
    "patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-beta 2\n+beta 3\n alpha 1\n gamma 3\n", "diff":
    "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n-beta 2\n+beta 3\n alpha 1\n gamma 3\n", "proto": 'syntax = "proto3";\nmessage A { string b = 1; }\n',
    "po": 'msgid "a"\nmsgstr "b"\n', "srt": "1\n00:00:01,000 --> 00:00:02,000\nx\n", "s": ".globl _start\n_start: nop\n", "asm": "nop\n",
    "ps": "%!PS\nshowpage\n", "m4": "define(`a', `b')a\n", "awk": "{ print $1 }\n", "sed": "s/a/b/\n", "jq": ".\n", "mk": "all:\n\ttrue\n",
    "nix": "1 + 1\n", "tf": "", "hcl": "", "vtt": "WEBVTT\n", "desktop": "[Desktop Entry]\nType=Application\nName=a\nExec=true\n",
}  # fmt: skip
NAMED = {
    "Makefile": "all:\n\ttrue\ntest:\n\ttrue\n", "Dockerfile": "FROM debian:12\nRUN true\n", "Justfile": "all:\n  true\n", "justfile": "all:\n  true\n",
    "requirements.txt": "# none\n", "Gemfile": "source 'https://rubygems.org'\n", "pyproject.toml": '[project]\nname = "p"\nversion = "1"\n',
    "Cargo.toml": '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n', "package.json": PROJECT_FILES["package.json"],
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.0)\nproject(p NONE)\n", "meson.build": "project('p')\n", "go.mod": "module p\n",
}  # fmt: skip
FOLDERS = set("src dist out build docs doc tests test lib target node_modules dir folder site public packages e2e spec".split())
FOLDERS |= set("old new from to backup data dest templates examples images coverage assets tmp cache bin scripts vendor www html".split())


def archive(suffix):
    buffer = io.BytesIO()
    if suffix in ("zip", "jar", "whl", "epub", "docx", "apk", "odt", "war", "nupkg"):
        with zipfile.ZipFile(buffer, "w") as file:
            file.writestr("inner.txt", TEXT)
        return buffer.getvalue()
    mode = {"tgz": "gz", "gz": "gz", "bz2": "bz2", "tbz2": "bz2", "xz": "xz", "txz": "xz"}.get(suffix, "")
    with tarfile.open(fileobj=buffer, mode=f"w:{mode}") as file:
        info = tarfile.TarInfo("inner.txt")
        info.size = len(TEXT)
        file.addfile(info, io.BytesIO(TEXT.encode()))
    return buffer.getvalue()


def picture():
    part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(b"\0" + b"\x7f" * 24 + (b"\0" + b"\x40" * 24) * 7)) + part(b"IEND", b"")


def sound():
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"\0\1" * 800)
    return buffer.getvalue()


def database():
    with tempfile.NamedTemporaryFile() as file:
        connection = sqlite3.connect(file.name)
        connection.execute("create table t (a)")
        connection.execute("insert into t values (1)")
        connection.commit()
        connection.close()
        return pathlib.Path(file.name).read_bytes()


class Samples:
    """Content by the name of a file. Pictures and films are made once, in the box, by its own programs."""

    def __init__(self, made):
        self.made = {path.suffix[1:]: path.read_bytes() for path in pathlib.Path(made).glob("sample.*")}

    def content(self, name):
        base = name.rsplit("/", 1)[-1]
        suffix = base.rsplit(".", 1)[-1] if "." in base else ""
        if base in NAMED:
            return NAMED[base].encode()
        if suffix in SOURCES:
            return SOURCES[suffix].encode()
        if suffix in self.made:
            return self.made[suffix]
        if base.endswith((".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tbz2", ".txz", ".crate", ".gem")):
            return archive(suffix)
        if suffix in ("zip", "jar", "whl", "epub", "docx", "apk", "odt", "war", "nupkg"):
            return archive(suffix)
        if suffix in ("gz", "bz2", "xz", "lzma"):
            pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
            return pack.get(suffix, lambda data: lzma.compress(data, lzma.FORMAT_ALONE))(TEXT.encode())
        if suffix == "png":
            return picture()
        if suffix == "wav":
            return sound()
        if suffix in ("db", "sqlite", "sqlite3"):
            return database()
        return TEXT.encode()


MAKE = """
cd /tmp; cp /home/dev/project/in.png /home/dev/project/in.wav . ; p=/home/dev/project
for s in jpg jpeg gif webp tiff tif bmp ico pdf eps ppm pgm pnm; do timeout 20 convert in.png $p/sample.$s; done
for s in mp3 flac ogg opus m4a aac; do timeout 20 ffmpeg -loglevel quiet -i in.wav $p/sample.$s; done
for s in mp4 mkv avi mov webm; do timeout 40 ffmpeg -loglevel quiet -f lavfi -i testsrc=d=1:s=32x32:r=5 $p/sample.$s; done
echo 'int one(void) { return 1; } int main(void) { return 0; }' > a.c
gcc -g -c a.c -o $p/sample.o; gcc -g a.c -o $p/sample.out; cp $p/sample.out $p/sample.exe; gcc -shared -fPIC a.c -o $p/sample.so; ar rc $p/sample.a $p/sample.o
echo 'class A { int a; }' > A.java; javac A.java; cp A.class $p/sample.class
zstd -q /home/dev/project/README.md -o $p/sample.zst; lz4 -q /home/dev/project/README.md $p/sample.lz4; 7z a $p/sample.7z /home/dev/project/README.md
msgfmt -o $p/sample.mo /dev/null; python3 -c 'import py_compile; open("/tmp/m.py", "w").write("1"); py_compile.compile("/tmp/m.py", "/home/dev/project/sample.pyc")'
openssl req -x509 -newkey rsa:2048 -nodes -keyout $p/sample.key -out $p/sample.pem -subj /CN=a -days 9; cp $p/sample.pem $p/sample.crt
mkdir -p d/DEBIAN; printf 'Package: a\\nVersion: 1\\nArchitecture: all\\nMaintainer: a <a@example.com>\\nDescription: a\\n' > d/DEBIAN/control; dpkg-deb -b d $p/sample.deb
truncate -s 1M $p/sample.img; mke2fs -q -F $p/sample.img; mkisofs -quiet -o $p/sample.iso d
rm -f $p/in.png $p/in.wav
"""
# Copies have other times and numbers than the original, which would make git read every file again.
REPOSITORY = "git init -q; git config core.checkStat minimal; git config core.trustctime false; find . -type f -exec touch -d yesterday {} +; git add -A; git commit -q -m one; echo more >> a.txt; touch -d yesterday a.txt; git commit -q -am two; git checkout -q -b feature/x"


def prepare(box, cache, scratch_type):
    """Makes the project and the samples once; their folder."""
    folder = pathlib.Path(cache) / "samples"
    if folder.exists():
        return folder
    making = folder.with_name("samples.new")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    with scratch_type() as scratch:
        for name, text in PROJECT_FILES.items():
            path = scratch.home / "project" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (scratch.home / ".gitconfig").write_text(HOME_FILES[".gitconfig"])
        scratch.run(box, ["bash", "-c", REPOSITORY], 60)
        shutil.copytree(scratch.home / "project", making / "project", symlinks=True)
        (scratch.home / "project/in.png").write_bytes(picture())
        (scratch.home / "project/in.wav").write_bytes(sound())
        scratch.run(box, ["bash", "-c", MAKE], 300)
        for path in (scratch.home / "project").glob("sample.*"):
            shutil.copy(path, making / path.name)
    making.rename(folder)
    return folder
