//! One hunk of a unified diff: its lines, and the text that it makes of another one.

/// Lines to take out and to put in at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The line at which it begins in the old file.
    start: usize,
    old: Vec<String>,
    new: Vec<String>,
    old_left: usize,
    new_left: usize,
    /// The last line of the new file has no end.
    open_end: bool,
}

impl Hunk {
    /// `@@ -1,3 +1,4 @@`
    pub(super) fn begin(line: &str) -> Option<Hunk> {
        let mut words = line.strip_prefix("@@ ")?.split(' ');
        let (start, old_left) = range(words.next()?.strip_prefix('-')?)?;
        let (_, new_left) = range(words.next()?.strip_prefix('+')?)?;
        Some(Hunk { start, old_left, new_left, ..Hunk::default() })
    }

    /// The line belongs to the hunk, which then keeps it.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let rest = || line.get(1..).unwrap_or_default().to_owned();
        if line.starts_with('\\') && !self.is_empty() {
            self.open_end = true;
            return true;
        }
        if self.old_left == 0 && self.new_left == 0 {
            return false;
        }
        match line.chars().next() {
            Some('+') => {
                self.new.push(rest());
                self.new_left = self.new_left.saturating_sub(1);
            }
            Some('-') => {
                self.old.push(rest());
                self.old_left = self.old_left.saturating_sub(1);
            }
            // Mail may lose the space of an empty line.
            Some(' ') | None => {
                self.old.push(rest());
                self.new.push(rest());
                (self.old_left, self.new_left) = (self.old_left.saturating_sub(1), self.new_left.saturating_sub(1));
            }
            Some(_) => {
                (self.old_left, self.new_left) = (0, 0);
                return false;
            }
        }
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// The text after all hunks, if each of them fits exactly where it says.
pub(super) fn applied(before: &str, hunks: &[Hunk]) -> Option<String> {
    let mut lines: Vec<&str> = before.lines().collect();
    let mut moved: isize = 0;
    let mut open_end = !before.is_empty() && !before.ends_with('\n');
    for hunk in hunks {
        let at = hunk.start.checked_add_signed(moved)?.saturating_sub(usize::from(!hunk.old.is_empty()));
        let end = at.checked_add(hunk.old.len())?;
        if lines.get(at..end)?.iter().ne(hunk.old.iter()) {
            return None;
        }
        lines.splice(at..end, hunk.new.iter().map(String::as_str));
        moved += isize::try_from(hunk.new.len()).ok()? - isize::try_from(hunk.old.len()).ok()?;
        open_end = hunk.open_end || (open_end && at + hunk.new.len() < lines.len());
    }
    let mut text = lines.join("\n");
    if !open_end && !text.is_empty() {
        text.push('\n');
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(text: &str) -> Hunk {
        let mut lines = text.lines();
        let mut hunk = lines.next().and_then(Hunk::begin).unwrap_or_default();
        for line in lines {
            hunk.takes(line);
        }
        hunk
    }

    #[test]
    fn a_hunk_is_put_where_it_says_or_not_at_all() {
        let change = hunk("@@ -2,2 +2,3 @@\n b\n-c\n+C\n+D");
        assert_eq!(applied("a\nb\nc\nd\n", std::slice::from_ref(&change)).as_deref(), Some("a\nb\nC\nD\nd\n"));
        assert_eq!(applied("a\na\nb\nc\n", &[change]), None);
        assert_eq!(applied("", &[hunk("@@ -0,0 +1,2 @@\n+a\n+b")]).as_deref(), Some("a\nb\n"));
        let second = [hunk("@@ -1 +1,2 @@\n a\n+x"), hunk("@@ -3 +4 @@\n-c\n+y")];
        assert_eq!(applied("a\nb\nc\n", &second).as_deref(), Some("a\nx\nb\ny\n"));
    }
}
