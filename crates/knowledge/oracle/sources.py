"""What a program itself says about its flags: help texts, manual pages, its answers to single flags; and its version."""

import functools
import json
import pathlib
import re
import shlex

from box import Scratch
from manuals import Manual

MARK = "@@@oracle@@@"
# Programs that show all their flags only if asked for more than `--help`.
LONGER = {
    "curl": ["--help all"], "ffmpeg": ["-h full"], "ffprobe": ["-h full"], "gcc": ["--help=common", "--help=warnings",
    "--help=optimizers", "--help=target", "-v --help"], "g++": ["-v --help"], "python": ["--help-all"], "java": ["-X"],
    "clang": ["--help-hidden"], "openssl": ["list -commands"], "vim": ["-h"], "rustc": ["--help -v", "-C help"],
    "ld": ["--help"], "node": ["--v8-options"], "yarn": ["help"], "mypy": ["--help"], "pytest": ["--help"],
}  # fmt: skip
SHOW = f"""
show() {{ key=$1; shift; printf '\\n{MARK}%s\\n' "$key"; "$@" </dev/null 2>&1 | head -c 300000; }}
long() {{ grep -qE '(^|[[ ])--?[A-Za-z]' /tmp/.said; }}
said() {{ timeout 15 "$@" </dev/null 2>&1 | head -c 300000 >/tmp/.said; }}
"""
# The program does not know the flag.
UNKNOWN = re.compile(
    r"unrecogni[sz]ed|unknown (?:[\w-]+ )?(?:option|flag|argument|switch|parameter|arg)|(?:invalid|illegal|bad|undefined|unsupported|unexpected)"
    r" (?:[\w-]+ )?(?:option|flag|argument|switch|parameter)|no such option|not (?:a )?(?:recogni[sz]ed|valid|known|understood)"
    r"|flag provided but not defined|does not exist|unknown|did you mean|unexpected",
    re.I,
)  # fmt: skip
# The program misses the value of the flag.
NEEDS = re.compile(
    r"(?:requires?|needs?|expects?|takes|expected|missing|without|must have|wants)[^.\n]{0,40}(?:argument|parameter|value|operand|filename|arg\b|param)"
    r"|(?:argument|parameter|value|option)[^.\n]{0,40}(?:is )?(?:missing|required|expected|must be given|not specified|requires)"
    r"|not enough arguments|must be followed|argument to .* is missing|option requires",
    re.I,
)  # fmt: skip
OPERANDS = re.compile(r"missing (?:file )?operand|the following (?:required )?arguments (?:are|were) (?:required|not provided)", re.I)


class Sources:
    """The texts of one program, gathered once and kept."""

    def __init__(self, box, cache, most=300):
        self.box = box
        # Of a program with more commands only so many are looked at.
        self.most = most
        self.cache = pathlib.Path(cache)
        self.cache.mkdir(parents=True, exist_ok=True)

    def kept(self, name, make):
        path = self.cache / f"{name.replace('/', '_')}.json"
        if path.exists():
            return json.loads(path.read_text())
        value = make()
        path.write_text(json.dumps(value))
        return value

    def script(self, text, seconds):
        """Runs a shell script in the box; what it printed behind each mark."""
        with Scratch() as scratch:
            (scratch.home / "script").write_text(SHOW + text)
            _, printed = scratch.run(self.box, ["/bin/bash", "/home/dev/script"], seconds)
        parts = printed.split("\n" + MARK)[1:]
        return {key: text for key, _, text in (part.partition("\n") for part in parts)}

    def pages(self, key):
        """The manual pages of a command."""
        name = key.replace(" ", "-")
        return [
            f"/{path.relative_to(self.box.root)}"
            for section in ("1", "8", "6", "7" if " " in key else "1p")
            for path in sorted((self.box.root / f"usr/share/man/man{section}").glob(f"{glob_safe(name)}.{section}*"))
            if re.fullmatch(rf"{re.escape(name)}\.{section}\w*(\.gz)?", path.name)
        ][:1]

    def texts(self, program, name):
        """The texts of each command: `{key: {source: text}}`."""

        def gather():
            lines = []
            builtin = not self.box.find(name)
            for command in [command for command in program.commands if not command.is_twin][: self.most]:
                rest = command.key.split(" ")[1:]
                words = " ".join(shlex.quote(word) for word in [name, *rest])
                below = " ".join(shlex.quote(word) for word in rest)
                tag = shlex.quote(command.key)
                if builtin:
                    lines.append(f"show {tag}'|help' help {words}")
                    continue
                lines += [
                    f"said {words} --help; long || said {words} -h; long || said {name} help {below}; long || said {words} -help",
                    f"show {tag}'|help' cat /tmp/.said",
                ]
                if name == "git" and rest:
                    lines.append(f"show {tag}'|help' timeout 8 {words} -h")
                if not rest:
                    for more in LONGER.get(name, []):
                        lines.append(f"show {tag}'|{more}' timeout 8 {name} {more}")
                for page in self.pages(f"{name} {' '.join(rest)}".strip()):
                    lines.append(
                        f"show {tag}'|man {page}' env MAN_KEEP_FORMATTING=1 GROFF_NO_SGR=1 MAN_DISABLE_SECCOMP=1"
                        f" timeout 20 man --no-hyphenation --no-justification -P cat -l {page}"
                    )
            found = {}
            for key, text in self.script("\n".join(lines), 60 + 3 * len(lines)).items():
                command, _, source = key.partition("|")
                found.setdefault(command, {})[source] = text
            return found

        return self.kept(f"texts-{program.stem}", gather)

    def answers(self, program, name, key, wanted):
        """What a command says to single flags: `unknown`, `value` (it misses one), `taken` or `unclear`."""
        bogus = "--oracle-bogus"
        words = " ".join(shlex.quote(word) for word in [name, *key.split(" ")[1:]])

        def ask():
            flags = [bogus, *wanted]
            lines = [f"show {shlex.quote(flag)} timeout 5 {words} {shlex.quote(flag)}" for flag in flags]
            said = self.script("\n".join(lines), 30 + 2 * len(lines))
            return {flag: text[:1500] for flag, text in said.items()}

        said = self.kept(f"answers-{program.stem}-{'_'.join(key.split(' ')[1:])}"[:180], ask)
        refuses = bool(UNKNOWN.search(said.get(bogus, "")))
        return {flag: answer(flag, text, refuses) for flag, text in said.items() if flag != bogus}

    def is_script(self, name):
        """It starts slowly, so it is not asked about single flags of its subcommands."""
        path = self.box.find(name)
        file = path and self.box.root / resolve(self.box.root, path).lstrip("/")
        return bool(file) and file.is_file() and file.open("rb").read(2) == b"#!"

    def version(self, name):
        """The package that a program comes from, with its version."""
        path = self.box.find(name)
        if path is None:
            return f"bash {package_version(self.box.root, 'bash')}"
        path = resolve(self.box.root, path)
        if match := re.match(r"/opt/tools/([^/]+)/", path):
            return python_version(self.box.root, match[1])
        if "/node_modules/" in path:
            return node_version(self.box.root, path)
        package = owners(self.box.root).get(path.removeprefix("/usr")) or name
        version = package_version(self.box.root, package)
        return f"{package} {version}" if version else None


def builtins(sources):
    """The builtins of bash."""
    return sources.kept("builtins", lambda: sources.script("show all compgen -b", 10)["all"].split())


def glob_safe(name):
    return re.sub(r"([\[\]*?])", r"[\1]", name)


def answer(flag, text, refuses):
    head = "\n".join(text.strip().splitlines()[:12])
    about = re.search(rf"(?<!\w)(?:{re.escape(flag)}|{re.escape(flag.lstrip('-+'))})(?!\w)", head)
    if about and NEEDS.search(head) and not OPERANDS.search(head):
        return "value"
    if about and UNKNOWN.search(head):
        return "unknown"
    return "taken" if refuses and not UNKNOWN.search(head) else "unclear"


def resolve(root, path):
    """Where a path leads inside the root."""
    for _ in range(20):
        full = root / path.lstrip("/")
        if not full.is_symlink():
            return path
        target = str(full.readlink())
        path = target if target.startswith("/") else str(pathlib.PurePosixPath(path).parent / target)
        path = "/" + str(pathlib.PurePosixPath(*normal(path)))
    return path


def normal(path):
    parts = []
    for part in path.split("/"):
        if part == "..":
            parts[-1:] = []
        elif part not in ("", "."):
            parts.append(part)
    return parts


@functools.cache
def owners(root):
    """Files in folders for programs, without `/usr`, with the package that they belong to."""
    found = {}
    for listing in (root / "var/lib/dpkg/info").glob("*.list"):
        for line in listing.read_text().splitlines():
            if re.search(r"/(s?bin|games)/|/lib/", line):
                found[line.removeprefix("/usr")] = listing.stem.split(":")[0]
    return found


@functools.cache
def packages(root):
    text = (root / "var/lib/dpkg/status").read_text()
    return dict(re.findall(r"^Package: (\S+)$.*?^Version: (\S+)$", text, re.M | re.S))


def package_version(root, package):
    """The upstream version of a Debian package, without epoch, revision and repack marks."""
    version = packages(root).get(package, "")
    return re.sub(r"[+~](?:dfsg|ds|git|really).*", "", re.sub(r"-[^-]*$", "", re.sub(r"^\d+:", "", version)))


def python_version(root, tool):
    found = sorted((root / "opt/tools" / tool).glob("lib/python*/site-packages/*.dist-info"))
    plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
    for path in found:
        name, _, version = path.name.removesuffix(".dist-info").rpartition("-")
        if plain(name) == plain(tool):
            return f"{tool} {version}"
    return None


def node_version(root, path):
    head, _, tail = path.rpartition("/node_modules/")
    parts = tail.split("/")
    package = "/".join(parts[:2]) if tail.startswith("@") else parts[0]
    manifest = json.loads((root / f"{head}/node_modules/{package}/package.json".lstrip("/")).read_text())
    return f"{package} {manifest['version']}"


def manuals(texts, label):
    """The manuals of one command; those of `label` name it."""
    return [Manual(text, f"{source.split(' ')[0]} {label}") for source, text in texts.items() if text.strip()]
