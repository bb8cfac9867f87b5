"""Finds flags, and what they take, in help texts and manual pages."""

import re

NOTHING, VALUE, FIXED, OPTIONAL, UNSURE = "nothing", "value", "fixed", "optional", "unsure"
# Around words that the manual underlines: names of values.
OPEN, CLOSE = "\x01", "\x02"

FLAG = re.compile(r"(?:--?\[no-?\]|--?|\+)[A-Za-z0-9?#@%:!$][A-Za-z0-9_:+?#@.-]*|-(?=[\s,]|$)")
TOKEN = re.compile(r"(?<![\w/\\-])((?:--?\[no-?\]|--?|\+)[A-Za-z0-9?#@%:!$][A-Za-z0-9_:+?#@.-]*)")
# Types that libraries for flags print instead of a name.
TYPE = "string|strings|stringArray|stringSlice|stringToString|int|ints|int32|int64|uint|uint16|uint32|uint64|float|float32|float64"
TYPE += "|duration|bytes|number|num|file|filename|dir|path|list|regex|regexp|name|value|arg|pattern|format|mode|level|count|n|url"
GLUED = re.compile(r"\[=|\[<|\[\x01|\[[A-Za-z]+\]|\[,")
WORD = re.compile(rf"<[^>]*>|\x01[^\x02]*\x02|\{{[^}}]*\}}|[A-Z][A-Z0-9_|:.,/%-]*(?![a-z])|(?:{TYPE})(?=\s\s|\s*$|,|\])|'[^']+'")
WEAK = re.compile(r"[a-z][\w|.-]*(?=\s{2,}\S|\s*$)")
YARGS = re.compile(r"\[(?:string|number|array|count|choices:[^\]]*|boolean)\]")


def plain(text):
    """A formatted manual page, without bold, with underlined words between OPEN and CLOSE."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    out, underlined, at = [], False, 0
    while at < len(text):
        letter = text[at]
        is_under = text[at + 1 : at + 2] == "\b" and letter == "_" and text[at + 2 : at + 3] != "_"
        while text[at + 1 : at + 2] == "\b":
            at += 2
            letter = text[at : at + 1]
        if is_under != underlined and not (underlined and letter in "-_"):
            out.append(OPEN if is_under else CLOSE)
            underlined = is_under
        out.append(letter)
        at += 1
    return "".join(out).replace("‐", "-").replace("−", "-").replace("–", "-")


def spellings(flag):
    """`--[no-]color` is two flags."""
    flag = flag.rstrip(".:") if len(flag) > 2 else flag
    match = re.match(r"(--?)\[(no-?)\](.*)", flag)
    if match:
        return [match[1] + match[3], match[1] + match[2] + match[3]]
    return [flag]


def value_at(text):
    """What stands behind a flag, and how long that is."""
    if match := GLUED.match(text):
        end = text.find("]", match.end() - 1)
        return OPTIONAL, (end + 1 if end >= 0 else match.end())
    if match := re.match(r"(?:=|\x01=)\s?(?:\x01[^\x02]*\x02|<[^>]*>|\{[^}]*\}|\"[^\"]*\"|[^\s,\[\]]*)", text):
        # `-p, --indicator-style=slash`: what the short flag stands for.
        return (FIXED if re.fullmatch(r"=[a-z-]+", match[0]) else VALUE), match.end()
    if match := re.match(r"(?:\x01[^\x02]*\x02|<[^>]*>)", text):
        return VALUE, match.end()
    if match := re.match(r"\s\[(?![-\]])[^\]]*\]", text):
        inner = match[0].strip(" []")
        if re.fullmatch(r"<.*>|\x01.*\x02?|[A-Z][A-Z0-9_ .]*|=.*", inner):
            return UNSURE, match.end()
    if re.match(r"\s", text) and (match := WORD.match(text, 1)):
        return VALUE, match.end()
    if re.match(r" \S", text) and (match := WEAK.match(text, 1)):
        return UNSURE, match.end()
    return (NOTHING if re.match(r"\s\s|\s*$|,|\s*[/|\]:]|\s-|\s\(|\sor\s|\x02", text) else UNSURE), 0


def entry(line, rest):
    """The flags that a line begins with, and what they take."""
    found, at = [], 0
    while match := FLAG.match(line, at):
        kind, length = value_at(line[match.end() :])
        found += [(name, kind) for name in spellings(match[0])]
        at = match.end() + length
        separator = re.match(r"\x02?\s?(?:,|\||/|\sor\s)\s*|\s(?=-)|\sor\s", line[at:])
        if not separator:
            break
        at += separator.end()
    if match := YARGS.search(rest):
        kind = NOTHING if match[0] in ("[boolean]", "[count]") else VALUE
        return [(name, kind) for name, _ in found]
    kinds = {kind for _, kind in found}
    if VALUE in kinds:
        return [(name, VALUE if kind == NOTHING else kind) for name, kind in found]
    if kinds & {OPTIONAL, UNSURE, FIXED}:
        found = [(name, UNSURE if kind == NOTHING else kind) for name, kind in found]
    return [(name, VALUE if kind == FIXED else kind) for name, kind in found]


def explained(lines, at):
    """The text below a flag, up to the next one."""
    rest = ""
    for line in lines[at + 1 : at + 12]:
        if line.strip().startswith("-"):
            break
        rest += " " + line.strip()
    return rest


class Manual:
    """What a text says: flags that it names, and what those take that it explains."""

    def __init__(self, text, source):
        self.source = source
        text = plain(text)
        self.named = set()
        self.clusters = set()
        bare = text.replace(OPEN, "").replace(CLOSE, "")
        for match in TOKEN.finditer(bare):
            self.named.update(spellings(match[1]))
            self.named.update(spellings(match[1].split(".")[0]))
        for match in re.finditer(r"\[-([A-Za-z0-9?@#]{2,})\]", bare):
            self.clusters.update(f"-{letter}" for letter in match[1])
        self.takes = {}
        self.read(text.splitlines())

    def read(self, lines):
        for at, line in enumerate(lines):
            stripped = line.strip().lstrip(OPEN).lstrip("•*|·").lstrip()
            if stripped.startswith(("-", "+")):
                rest = stripped + explained(lines, at)
                for name, kind in entry(stripped, rest):
                    self.takes.setdefault(name, set()).add(kind)
            for match in re.finditer(r"\[(-[^\]\[]*(?:\[[^\]]*\])?[^\]\[]*)\]", line):
                for name, kind in entry(match[1], match[1]):
                    if kind != NOTHING or name.startswith("--"):
                        self.takes.setdefault(name, set()).add(kind)

    def names(self, flag):
        return flag in self.named or flag in self.takes or flag in self.clusters


class Spec:
    """What a specification for shell completion says; kept outside the project, for programs that cannot be installed."""

    def __init__(self, flags):
        self.named = set(flags) | {"", "--"}
        self.takes = {flag: {kind} for flag, kind in flags.items()}

    def names(self, flag):
        return flag in self.takes
