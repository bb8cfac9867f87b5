//! Git's pathspecs: which tracked files a list of them means, rather too many than too few.

use crate::observe::program::searches::hits::matches;
use crate::path;

/// A list of pathspecs.
#[derive(Debug, Default)]
pub(super) struct Pathspecs {
    meant: Vec<Spec>,
    left_out: Vec<Spec>,
}

/// One of them, as an absolute path in which wildcards match slashes as well.
#[derive(Debug)]
struct Spec {
    whole: String,
    is_wild: bool,
    /// Signs that are not followed: taken to match whatever follows.
    is_open: bool,
}

impl Pathspecs {
    /// `root` is the work tree, `cwd` where git runs. Without any, everything is meant.
    pub(super) fn read<'t>(texts: impl Iterator<Item = &'t str>, cwd: &str, root: &str) -> Pathspecs {
        let mut specs = Pathspecs::default();
        for text in texts {
            let (magic, rest) = parted(text);
            let base = if magic.is_top { root } else { cwd };
            let is_wild = !magic.is_literal && rest.contains(['*', '?', '[', '\\']);
            // `**/` also stands for no directory at all.
            let rest = if magic.is_glob { rest.replace("**/", "*") } else { rest.to_owned() };
            let whole = path::lexical(&path::join(base, if rest.is_empty() { "." } else { &rest }));
            let is_open = magic.is_other || (is_wild && whole.contains(['[', '\\']));
            match magic.is_exclude {
                // What is left out must be certain.
                true if !is_open && !magic.is_glob => specs.left_out.push(Spec { whole, is_wild, is_open }),
                true => {}
                false => specs.meant.push(Spec { whole, is_wild, is_open }),
            }
        }
        specs
    }

    pub(super) fn mean(&self, file: &str) -> bool {
        // Git can be told to fold letters, by a flag, a sign in the path or a variable.
        let folded = file.to_ascii_lowercase();
        let is_meant = |spec: &Spec| spec.matches(&folded, true);
        (self.meant.is_empty() || self.meant.iter().any(is_meant))
            && !self.left_out.iter().any(|spec| spec.matches(file, false))
    }
}

impl Spec {
    fn matches(&self, file: &str, folds: bool) -> bool {
        let whole = if folds { self.whole.to_ascii_lowercase() } else { self.whole.clone() };
        if path::under(file, &whole) {
            return true;
        }
        if self.is_open {
            let known = whole.split(['*', '?', '[', '\\']).next().unwrap_or_default();
            return file.starts_with(known);
        }
        self.is_wild && matches(whole.as_bytes(), file.as_bytes())
    }
}

/// The signs before a path.
#[derive(Debug, Default)]
struct Magic {
    is_top: bool,
    is_exclude: bool,
    is_literal: bool,
    is_glob: bool,
    /// One that chooses by something else than the name.
    is_other: bool,
}

/// `:/x`, `:!x`, `:(top,glob)x`: what stands before the path, and the path.
fn parted(text: &str) -> (Magic, &str) {
    let mut magic = Magic::default();
    let Some(rest) = text.strip_prefix(':') else { return (magic, text) };
    if let Some((words, rest)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        for word in words.split(',').map(str::trim) {
            match word {
                "top" => magic.is_top = true,
                "exclude" => magic.is_exclude = true,
                "literal" => magic.is_literal = true,
                "glob" => magic.is_glob = true,
                "icase" | "" => {}
                _ => magic.is_other = true,
            }
        }
        return (magic, rest);
    }
    let end = rest.find(|sign: char| !matches!(sign, '/' | '!' | '^')).unwrap_or(rest.len());
    let (signs, rest) = rest.split_at_checked(end).unwrap_or(("", rest));
    magic.is_top = signs.contains('/');
    magic.is_exclude = signs.contains(['!', '^']);
    (magic, rest.strip_prefix(':').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(specs: &[&str], file: &str, wanted: bool) {
        let read = Pathspecs::read(specs.iter().copied(), "/p/src", "/p");
        assert_eq!(read.mean(file), wanted, "{specs:?} {file}");
    }

    #[test]
    fn a_pathspec_means_what_git_would_take() {
        check(&["*"], "/p/src/deep/a.py", true);
        check(&["*"], "/p/a.py", false);
        check(&["*.py"], "/p/src/deep/a.py", true);
        check(&["*.py"], "/p/src/deep/a.rs", false);
        check(&["deep"], "/p/src/deep/a.rs", true);
        check(&["deep"], "/p/src/deeper/a.rs", false);
        check(&[".."], "/p/a.rs", true);
        check(&[":/"], "/p/a.rs", true);
        check(&[":/docs"], "/p/docs/a.md", true);
        check(&[":(top)*.md"], "/p/docs/a.md", true);
        check(&[":(glob)**/a.md"], "/p/src/a.md", true);
        check(&[":(glob)**/a.md"], "/p/src/x/y/a.md", true);
        check(&[":(literal)*"], "/p/src/a.md", false);
        check(&[":(icase)A.MD"], "/p/src/a.md", true);
        check(&[":(attr:x)"], "/p/src/a.md", true);
        check(&["[ab].md"], "/p/src/a.md", true);
        check(&[":!*.md"], "/p/src/a.md", false);
        check(&[":!*.md"], "/p/src/a.rs", true);
        check(&[".", ":(exclude)deep"], "/p/src/deep/a.rs", false);
        check(&[".", ":^[d]eep"], "/p/src/deep/a.rs", true);
        check(&[], "/p/x", true);
    }
}
