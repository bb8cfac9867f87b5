#!/usr/bin/env python3
"""Builds the documentation site: static pages from the Markdown of this repository, searchable without a server.

  docs/site/build.py --out DIR [--engine FILE.wasm]

Needs markdown-it-py. With the engine (docs/site/try/build.sh makes it), the page try.html judges commands in the browser. Every link between pages, and every heading that is linked to, is checked; a broken one is an error.
"""
import argparse
import html
import json
import posixpath
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
FORGE = "https://github.com/doorward/doorward/blob/main/"

# What is a page, in the order of the menu.
MENU = [
    ("Start", ["README.md", "docs/agents.md", "docs/rollout.md", "CHANGELOG.md", "SECURITY.md"]),
    ("Use", ["docs/consent.md", "docs/reviewer.md", "docs/review.md", "docs/replay.md", "docs/report.md", "docs/tuning.md", "docs/pi-automode.md"]),
    ("Build on it", ["sdk/python/README.md", "sdk/typescript/README.md", "extensions/claude/README.md", "extensions/pi/README.md", "extensions/opencode/README.md", "release/README.md"]),
    ("Reference", ["docs/generated/*.md"]),
    ("Inside", ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/*.md", "corpus/README.md", "spec/*.md", "crates/knowledge/programs/README.md"]),
    ("Decisions", ["docs/decisions/*.md"]),
]


class Page:
    def __init__(self, source):
        self.source = source
        self.text = (ROOT / source).read_text()
        self.target = "index.html" if source == "README.md" else source[:-3].replace("/README", "/index") + ".html"
        heading = re.search(r"^# (.+)$", self.text, re.M)
        self.title = re.sub(r"[`*]", "", heading[1]) if heading else source
        self.anchors = set()


def pages():
    """The menu as pages; a file belongs where it is named first."""
    seen, menu = set(), []
    for title, patterns in MENU:
        found = []
        for pattern in patterns:
            for path in sorted(ROOT.glob(pattern)):
                name = str(path.relative_to(ROOT))
                if name not in seen:
                    seen.add(name)
                    found.append(Page(name))
        menu.append((title, found))
    return menu


def slug(text):
    """The anchor of a heading, as the forge makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


class Writer:
    def __init__(self, menu, has_engine):
        self.menu, self.has_engine = menu, has_engine
        self.by_source = {page.source: page for _, found in menu for page in found}
        self.wanted, self.broken, self.files = [], [], {}

    def body(self, page):
        parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        tokens = parser.parse(page.text)
        for token, inside in zip(tokens, tokens[1:]):
            if token.type == "heading_open":
                anchor = base = slug(re.sub(r"[`*]|\]\([^)]*\)|\[", "", inside.content))
                number = 0
                while anchor in page.anchors:
                    number += 1
                    anchor = f"{base}-{number}"
                page.anchors.add(anchor)
                token.attrSet("id", anchor)
        for token in tokens:
            for child in token.children or []:
                for name in ("href", "src"):
                    if child.attrGet(name):
                        child.attrSet(name, self.link(page, child.attrGet(name)))
        return parser.renderer.render(tokens, parser.options, {})

    def link(self, page, address):
        if re.match(r"[a-z]+:|//", address):
            return address
        path, _, anchor = address.partition("#")
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), unquote(path))) if path else page.source
        other = self.by_source.get(inside) or self.by_source.get(inside + "/README.md")
        if other:
            self.wanted.append((page.source, other.source, unquote(anchor)))
            return self.relative(page, other.target) + (f"#{anchor}" if anchor else "")
        if not (ROOT / inside).exists():
            self.broken.append(f"{page.source}: `{address}`")
            return address
        if inside.endswith((".svg", ".png")):
            self.files[inside] = ROOT / inside
            return self.relative(page, inside)
        return FORGE + inside

    @staticmethod
    def relative(page, target):
        return posixpath.relpath(target, posixpath.dirname(page.target) or ".")

    def navigation(self, page):
        parts = []
        if self.has_engine:
            parts.append(f'<p><a href="{self.relative(page, "try.html")}"><b>Try it</b></a></p>')
        for title, found in self.menu:
            items = "".join(f'<li><a href="{self.relative(page, other.target)}"{" aria-current=page" if other is page else ""}>{html.escape(other.title)}</a></li>' for other in found)
            is_open = " open" if page in found or title == "Start" else ""
            parts.append(f"<details{is_open}><summary>{html.escape(title)}</summary><ul>{items}</ul></details>")
        return "".join(parts)

    def whole(self, page, body):
        frame = (HERE / "page.html").read_text()
        up = self.relative(page, ".")
        return frame.replace("@TITLE@", html.escape(page.title)).replace("@UP@", up).replace("@MENU@", self.navigation(page)).replace("@BODY@", body)

    def check(self):
        for source, other, anchor in self.wanted:
            if anchor and anchor not in self.by_source[other].anchors:
                self.broken.append(f"{source}: `{other}#{anchor}` has no such heading")


def index(menu):
    """What the search looks through: each page's title and words."""
    found = []
    for _, group in menu:
        for page in group:
            text = re.sub(r"\s+", " ", re.sub(r"[#|`*>]|\]\([^)]*\)|\[", " ", page.text))
            found.append({"at": page.target, "title": page.title, "text": text[:60000]})
    return "const PAGES = " + json.dumps(found, ensure_ascii=False).replace("</", "<\\/") + ";\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--engine", type=Path)
    wanted = parser.parse_args()
    menu = pages()
    writer = Writer(menu, wanted.engine is not None)
    shutil.rmtree(wanted.out, ignore_errors=True)
    bodies = [(page, writer.body(page)) for _, group in menu for page in group]
    if wanted.engine:
        page = Page("README.md")
        page.title, page.target = "Try it", "try.html"
        bodies.append((page, (HERE / "try.html").read_text().replace("@WORLD@", (ROOT / "corpus/world.json").read_text().replace("</", "<\\/"))))
    writer.check()
    for page, body in bodies:
        target = wanted.out / page.target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(writer.whole(page, body))
    for name, source in writer.files.items():
        (wanted.out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, wanted.out / name)
    for name in ("style.css", "search.js", *(["try.js"] if wanted.engine else [])):
        shutil.copy(HERE / name, wanted.out / name)
    (wanted.out / "pages.js").write_text(index(menu))
    if wanted.engine:
        shutil.copy(wanted.engine, wanted.out / "engine.wasm")
    for problem in sorted(set(writer.broken)):
        print(f"broken link in {problem}")
    print(f"{len(bodies)} pages, {len(writer.wanted)} links between them")
    sys.exit(1 if writer.broken else 0)


if __name__ == "__main__":
    main()
