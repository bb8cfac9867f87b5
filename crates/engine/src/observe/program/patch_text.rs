//! The text of a patch: which files it names, as git and patch read the names, and what it puts into them.

use super::patch_hunk::Hunk;

/// What a patch does to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// Every name that a reader of the patch could take, as written.
    pub names: Vec<Name>,
    /// It begins with `diff --git`, so git counts its names from the top of the work tree.
    pub is_git: bool,
    pub creates: bool,
    pub deletes: bool,
    /// It makes or changes a symbolic link: the lines are where the link leads.
    pub is_link: bool,
    /// The new content is packed, so it cannot be seen.
    pub is_binary: bool,
    /// The lines that it puts in, one after the other.
    pub added: String,
    /// The lines that it takes out: what goes in when the patch is reversed.
    pub removed: String,
    pub hunks: Vec<Hunk>,
}

/// A name as it stands in a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub text: String,
    /// Lines such as `rename to` leave out the `a/` and `b/` that the others have.
    pub is_bare: bool,
    pub end: End,
}

/// What the line that holds a name says about the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Changed,
    /// `rename from`: the file is gone afterwards.
    Leaves,
    /// `copy from`: the file is only read.
    Copied,
}

/// A patch, as far as it was understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PatchText {
    pub files: Vec<FilePatch>,
    /// Why its text is not what is applied.
    pub doubt: Option<&'static str>,
}

/// Reads a patch in any of the forms that git and patch take.
pub(super) fn read(text: &str) -> PatchText {
    let mut reader = Reader::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        reader.line(line, next);
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    out: PatchText,
    file: FilePatch,
    hunk: Hunk,
    /// The hunks began, so the next name belongs to another file.
    has_lines: bool,
}

impl Reader {
    fn line(&mut self, line: &str, next: &str) {
        // Removed and added lines may look like names; whoever counts lines otherwise takes them for names.
        let looks_like_names = line.starts_with("--- ") && next.starts_with("+++ ");
        if self.hunk.takes(line) {
            self.body(line);
            if looks_like_names {
                let names = [line, next].iter().flat_map(|line| names_of(line.get(4..).unwrap_or_default())).collect();
                self.out.files.push(FilePatch { names, ..FilePatch::default() });
            }
            return;
        }
        self.end_hunk();
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(hunk) = Hunk::begin(line) {
            (self.hunk, self.has_lines) = (hunk, true);
        } else if !self.header(line) {
            self.other_line(line);
        }
    }

    fn body(&mut self, line: &str) {
        let (sign, rest) = (line.get(..1).unwrap_or(" "), line.get(1..).unwrap_or_default());
        let into = match sign {
            "+" => &mut self.file.added,
            "-" => &mut self.file.removed,
            _ => return,
        };
        into.push_str(rest);
        into.push('\n');
    }

    fn header(&mut self, line: &str) -> bool {
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.begin_file();
            self.file.is_git = true;
            self.file.names = git_names(names);
            return true;
        }
        if line.starts_with("diff --cc ") || line.starts_with("diff --combined ") {
            self.out.doubt = Some("a combined diff");
            return true;
        }
        if self.mode(line) {
            return true;
        }
        // Every header by which `patch` or git picks the file to write. Missing one would let a patch name one file
        // and change another.
        const NAMES: &[(&str, bool, End)] = &[
            ("--- ", false, End::Changed),
            ("+++ ", false, End::Changed),
            ("*** ", false, End::Changed),
            ("Index: ", false, End::Changed),
            ("Prereq: ", false, End::Changed),
            ("rename from ", true, End::Leaves),
            ("rename old ", true, End::Leaves),
            ("rename to ", true, End::Changed),
            ("rename new ", true, End::Changed),
            ("copy from ", true, End::Copied),
            ("copy to ", true, End::Changed),
        ];
        let found =
            NAMES.iter().find_map(|(start, is_bare, end)| Some((start, is_bare, end, line.strip_prefix(start)?)));
        let Some((start, is_bare, end, rest)) = found else { return false };
        if matches!(*start, "Prereq: ") || is_context_range(rest) {
            return true;
        }
        self.name(start, rest, *is_bare, *end);
        true
    }

    fn name(&mut self, start: &str, rest: &str, is_bare: bool, end: End) {
        let opens = matches!(start, "--- " | "*** " | "Index: ");
        if opens && self.has_lines {
            self.begin_file();
        }
        let mut names = names_of(rest);
        if names.iter().any(|name| name.text == "/dev/null") {
            match start {
                "+++ " => self.file.deletes = true,
                _ => self.file.creates = true,
            }
            names.clear();
        }
        for name in names {
            let name = Name { is_bare, end, ..name };
            if !self.file.names.contains(&name) {
                self.file.names.push(name);
            }
        }
    }

    fn mode(&mut self, line: &str) -> bool {
        // Headers that git reads and `patch` ignores; a mode change alone still changes a file.
        const MODES: &[&str] = &["new file mode ", "deleted file mode ", "new mode ", "old mode ", "index "];
        let Some(rest) = MODES.iter().find_map(|start| line.strip_prefix(start)) else { return false };
        self.file.creates |= line.starts_with("new file");
        self.file.deletes |= line.starts_with("deleted file");
        self.file.is_link |= rest.split_whitespace().next_back() == Some("120000");
        true
    }

    /// A line outside of hunks that names nothing: prose, or a form without counted lines.
    fn other_line(&mut self, line: &str) {
        if line.starts_with("GIT binary patch") {
            (self.file.is_binary, self.has_lines) = (true, true);
        }
        let lower = line.to_ascii_lowercase();
        let coding = lower.strip_prefix("content-transfer-encoding:").map(str::trim);
        if coding.is_some_and(|coding| !matches!(coding, "7bit" | "8bit" | "binary")) {
            self.out.doubt = Some("a mail that is encoded");
        }
        if is_editor_command(line) {
            self.out.doubt = Some("commands for an editor");
        }
        // Context diffs and plain diffs.
        let added = ["+ ", "! ", "> "].iter().find_map(|sign| line.strip_prefix(sign));
        let removed = ["- ", "! ", "< "].iter().find_map(|sign| line.strip_prefix(sign));
        self.has_lines |= line.starts_with("***************") || added.or(removed).is_some();
        for (text, into) in [(added, &mut self.file.added), (removed, &mut self.file.removed)] {
            if let Some(text) = text {
                into.push_str(text);
                into.push('\n');
            }
        }
    }

    fn end_hunk(&mut self) {
        let hunk = std::mem::take(&mut self.hunk);
        if !hunk.is_empty() {
            self.file.hunks.push(hunk);
        }
    }

    fn begin_file(&mut self) {
        self.end_hunk();
        let file = std::mem::take(&mut self.file);
        self.has_lines = false;
        if file.names.is_empty() {
            // Lines without a name go into whatever file the command names.
            if file.added.is_empty() && file.removed.is_empty() {
                return;
            }
        }
        self.out.files.push(file);
    }

    fn finish(mut self) -> PatchText {
        self.begin_file();
        self.out
    }
}

/// `*** 1,5 ****` and `--- 1,5 ----` say where lines of a context diff stand.
fn is_context_range(rest: &str) -> bool {
    let range = rest.trim_end_matches(['*', '-', ' ']);
    range.len() < rest.len()
        && !range.is_empty()
        && range.chars().all(|letter| letter.is_ascii_digit() || letter == ',')
}

/// `12,14d`: the patch is a script for `ed`.
fn is_editor_command(line: &str) -> bool {
    let Some(rest) = line.strip_suffix(['a', 'c', 'd', 'i']) else { return false };
    !rest.is_empty() && rest.chars().all(|letter| letter.is_ascii_digit() || letter == ',')
}

/// The name on a line, with and without what may be its time: a tab ends a name, a space may.
fn names_of(rest: &str) -> Vec<Name> {
    let changed = |text: String| Name { text, is_bare: false, end: End::Changed };
    let rest = rest.strip_suffix('\r').unwrap_or(rest);
    if let Some((name, _)) = quoted(rest) {
        return vec![changed(name)];
    }
    let whole = rest.split('\t').next().unwrap_or(rest).trim();
    let mut names = vec![changed(whole.to_owned())];
    if let Some((first, _)) = whole.split_once(' ') {
        names.push(changed(first.to_owned()));
    }
    names.retain(|name| !name.text.is_empty());
    names
}

/// The two names behind `diff --git`, which may hold spaces: they are the same but for their first part.
fn git_names(text: &str) -> Vec<Name> {
    let changed = |text: &str| Name { text: text.to_owned(), is_bare: false, end: End::Changed };
    if let Some((first, rest)) = quoted(text) {
        let second = quoted(rest.trim_start()).map_or_else(|| rest.trim().to_owned(), |(second, _)| second);
        return vec![changed(&first), changed(&second)];
    }
    let text = text.trim_end();
    let tail = |name: &str| name.split_once('/').map(|(_, tail)| tail.to_owned());
    let halves = text.match_indices(' ').filter_map(|(at, _)| Some((text.get(..at)?, text.get(at + 1..)?)));
    let mut alike = halves.filter(|(old, new)| old == new || (tail(old).is_some() && tail(old) == tail(new)));
    match (alike.next(), text.rsplit_once(' ')) {
        (Some((old, new)), _) => vec![changed(old), changed(new)],
        (None, Some((old, new))) => {
            let new = new.strip_prefix('"').and_then(|_| quoted(new)).map_or_else(|| new.to_owned(), |(new, _)| new);
            vec![changed(old), changed(&new)]
        }
        (None, None) => vec![changed(text)],
    }
}

/// A name in quotes as C writes them, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut bytes = Vec::new();
    let mut rest = text.strip_prefix('"')?;
    loop {
        let letter = rest.chars().next()?;
        rest = rest.get(letter.len_utf8()..)?;
        match letter {
            '"' => return Some((String::from_utf8_lossy(&bytes).into_owned(), rest)),
            '\\' => {
                let digits = rest.get(..3).filter(|digits| digits.bytes().all(|digit| matches!(digit, b'0'..=b'7')));
                if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
                    bytes.push(byte);
                    rest = rest.get(3..)?;
                    continue;
                }
                let escaped = rest.chars().next()?;
                rest = rest.get(escaped.len_utf8()..)?;
                let plain = match escaped {
                    'a' => '\u{7}',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'v' => '\u{b}',
                    other => other,
                };
                bytes.extend(plain.encode_utf8(&mut [0; 4]).bytes());
            }
            other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let mut names: Vec<String> =
            read(text).files.into_iter().flat_map(|file| file.names).map(|name| name.text).collect();
        names.dedup();
        names
    }

    #[test]
    fn names_in_every_form() {
        assert_eq!(names("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"), ["a/x", "b/x"]);
        assert_eq!(names("--- a/x\t2020-01-01\r\n+++ b/x\t2020\r\n@@ -1 +1 @@\n-1\n+2\n"), ["a/x", "b/x"]);
        assert_eq!(names("--- /dev/null\n+++ \"b/\\303\\244\"\n@@ -0,0 +1 @@\n+2\n"), ["b/ä"]);
        assert_eq!(names("diff --git a/two words b/two words\nnew file mode 100644\n"), ["a/two words", "b/two words"]);
        assert_eq!(names("diff --git a/x b/y\nrename from x\nrename to y\n"), ["a/x", "b/y", "x", "y"]);
        assert_eq!(names("*** x.orig\n--- x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n"), ["x.orig", "x"]);
        assert_eq!(names("Index: src/x\n=====\n--- src/x (revision 1)\n"), ["src/x", "src/x (revision 1)"]);
        assert_eq!(names("prose\n+++ b/only\n@@ -0,0 +1 @@\n+2\n"), ["b/only"]);
    }

    #[test]
    fn two_files_in_one_text_keep_their_own_lines() {
        let read = read("--- a\n+++ a\n@@ -1 +1,2 @@\n 1\n+x\n--- b\n+++ b\n@@ -1 +0,0 @@\n-y\n");
        let lines: Vec<(&str, &str)> = read.files.iter().map(|file| (&*file.added, &*file.removed)).collect();
        assert_eq!(lines, [("x\n", ""), ("", "y\n")]);
    }

    #[test]
    fn lines_that_look_like_names_inside_a_hunk_count_twice() {
        let text = "--- a\n+++ a\n@@ -1 +1 @@\n--- .envrc\n+++ .envrc\n";
        assert_eq!(names(text), [".envrc", "a"]);
    }

    #[test]
    fn links_and_what_cannot_be_seen() {
        assert!(read("diff --git a/l b/l\nnew file mode 120000\n").files.iter().all(|file| file.is_link));
        assert!(read("diff --git a/l b/l\nindex 1..2 120000\n").files.iter().all(|file| file.is_link));
        assert!(read("diff --git a/l b/l\nGIT binary patch\n").files.iter().all(|file| file.is_binary));
        assert_eq!(read("Content-Transfer-Encoding: base64\n\nZGlm\n").doubt, Some("a mail that is encoded"));
        assert_eq!(read("3,4d\n").doubt, Some("commands for an editor"));
    }
}
