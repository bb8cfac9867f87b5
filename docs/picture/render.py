#!/usr/bin/env python3
"""Renders a run of a command in a terminal of 80 columns as an SVG.

  docs/picture/render.py PATH/TO/doorward            writes demo.svg beside this file, from `doorward demo`
  docs/picture/render.py PATH/TO/doorward --check    writes nothing; exit code 1 if demo.svg shows something else

The command runs in a pseudo-terminal and in an empty home. Durations differ from run to run and are left out; everything
else in the picture is what was printed. Python 3.11, standard library only.
"""
import argparse, dataclasses, fcntl, os, pathlib, pty, re, struct, subprocess, sys, tempfile, termios
from xml.sax.saxutils import escape, quoteattr

COLUMNS, ROWS = 80, 50
SIZE, CELL, LINE, MARGIN, BAR = 14, 8.43, 20, 20, 36
BACKGROUND, EDGE, TEXT, FAINT, PROMPT = "#0d1117", "#30363d", "#e6edf3", "#8b949e", "#58a6ff"
COLOURS = {31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea", 37: TEXT, 90: FAINT}
BUTTONS = ("#ff5f57", "#febc2e", "#28c840")
DURATION = re.compile(r" in \d+(?:\.\d+)? (?:µs|ms|s)\b")
ESCAPE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


@dataclasses.dataclass(frozen=True)
class Style:
    colour: str = TEXT
    bold: bool = False
    faint: bool = False

    def after(self, codes):
        """The style after a sequence such as `1;32`; what is not known is left out."""
        style = self
        for code in (int(code or 0) for code in codes.split(";")):
            if code == 0: style = Style()
            elif code == 1: style = dataclasses.replace(style, bold=True)
            elif code == 2: style = dataclasses.replace(style, faint=True)
            elif code == 22: style = dataclasses.replace(style, bold=False, faint=False)
            elif code == 39: style = dataclasses.replace(style, colour=TEXT)
            elif code in COLOURS: style = dataclasses.replace(style, colour=COLOURS[code])
        return style

    def attributes(self):
        colour = FAINT if self.faint and self.colour == TEXT else self.colour
        return f' fill="{colour}"' + (' font-weight="700"' if self.bold else "")


def run(command):
    """What the command prints in a terminal, in an empty home and with nothing else of this machine's environment."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=home, env=environment)
        os.close(slave)
        printed = b""
        while True:
            try: piece = os.read(master, 65536)
            except OSError: break  # Linux says EIO when the last writer has gone.
            if not piece: break
            printed += piece
        code = child.wait()
    os.close(master)
    if code != 0: sys.exit(f"{' '.join(command)} ended with {code}:\n{printed.decode(errors='replace')}")
    return printed.decode().replace("\r\n", "\n")


def lines_of(printed):
    """Per line its pieces of one style: [(style, text), …]."""
    style, lines = Style(), []
    for line in DURATION.sub("", printed).rstrip("\n").split("\n"):
        pieces, at = [], 0
        for found in ESCAPE.finditer(line):
            pieces.append((style, line[at:found.start()]))
            if found[2] == "m": style = style.after(found[1])
            at = found.end()
        pieces.append((style, line[at:]))
        if not all(text.isprintable() for _, text in pieces): sys.exit(f"more than text and colours: {line!r}")
        lines.append([(style, text) for style, text in pieces if text])
    return lines


def row(number, pieces):
    """Each piece stands at its own column, so that a font of another width cannot shift what follows it."""
    y, column, spans = BAR + MARGIN + number * LINE, 0, []
    for style, text in pieces:
        blank = len(text) - len(text.lstrip(" "))
        shown = text.strip(" ")
        if shown:
            x, width = MARGIN + (column + blank) * CELL, len(shown) * CELL
            spans.append(f'<tspan x="{x:.2f}" textLength="{width:.2f}"{style.attributes()}>{escape(shown)}</tspan>')
        column += len(text)
    return f'<text y="{y}">{"".join(spans)}</text>' if spans else ""


def svg(title, lines):
    width, height = round(2 * MARGIN + COLUMNS * CELL), BAR + 2 * MARGIN + (len(lines) - 1) * LINE
    buttons = "".join(f'<circle cx="{MARGIN + 20 * n}" cy="19" r="6" fill="{colour}"/>' for n, colour in enumerate(BUTTONS))
    rows = "\n".join(filter(None, (row(number, pieces) for number, pieces in enumerate(lines))))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label={quoteattr(title)}>
<title>{escape(title)}</title>
<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10" fill="{BACKGROUND}" stroke="{EDGE}"/>
{buttons}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="{SIZE}" xml:space="preserve">
{rows}
</g>
</svg>
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("doorward", type=pathlib.Path)
    arguments.add_argument("--check", action="store_true", help="write nothing; exit code 1 if demo.svg is not up to date")
    given = arguments.parse_args()
    prompt = [(Style(colour=PROMPT, bold=True), "$ "), (Style(), "doorward demo")]
    picture = svg("a terminal: doorward demo", [prompt, *lines_of(run([str(given.doorward.resolve()), "demo"]))])
    target = pathlib.Path(__file__).with_name("demo.svg")
    if given.check:
        if not target.exists() or target.read_text("utf-8") != picture: sys.exit(f"{target} is out of date: run {__file__} {given.doorward}")
    else:
        target.write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
