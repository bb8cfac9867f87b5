//! Wrappers that put words together before they run them: `env -S`, `flock FILE -c LINE`.

use crate::knowledge::schema::{Entry, Takes};
use crate::observe::field::Field;

/// Writes out `env -S 'a b' c` as `env a b c`, and the lone `-` as `-i`.
///
/// Text that `env` would unquote or fill in stays in its flag, whose value is then not understood.
pub(super) fn env(words: &[Field]) -> Option<Vec<Field>> {
    let mut all = Vec::with_capacity(words.len());
    let mut rest = words.iter();
    let mut changed = false;
    while let Some(word) = rest.next() {
        let text = word.exact();
        let glued = text.and_then(|text| text.strip_prefix("--split-string=").or(text.strip_prefix("-S")));
        let split = match (text, glued) {
            (Some("-"), _) => Some(vec![word.with_text("-i")]),
            (Some("-S" | "--split-string"), _) => {
                let words = rest.clone().next().and_then(split);
                if words.is_some() {
                    rest.next();
                }
                words
            }
            (_, Some(text)) => split(&word.with_text(text)),
            (_, None) => None,
        };
        changed |= split.is_some();
        all.extend(split.unwrap_or_else(|| vec![word.clone()]));
        match text {
            Some("-u" | "--unset" | "-C" | "--chdir" | "-a" | "--argv0") => all.extend(rest.next().cloned()),
            Some(text) if text.starts_with('-') => {}
            Some(_) | None => break,
        }
    }
    all.extend(rest.cloned());
    changed.then_some(all)
}

/// The words of a text that means the same to `env` and to a shell.
fn split(field: &Field) -> Option<Vec<Field>> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" \t-_./,:=+@%^".contains(&byte);
    let text = field.exact().filter(|text| text.bytes().all(plain))?;
    Some(text.split_whitespace().map(|word| field.with_text(word)).collect())
}

/// Writes `flock FILE -c LINE` with its flag in front.
pub(super) fn flock(entry: &Entry, words: &[Field]) -> Option<Vec<Field>> {
    let takes_value = |word: &Field| {
        let flag = entry.flags.find(&word.text);
        flag.is_some_and(|flag| matches!(flag.takes, Takes::Value(_)))
    };
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        at += if takes_value(word) { 2 } else { 1 };
    }
    let (flag, line) = (words.get(at + 1)?, words.get(at + 2)?);
    if !matches!(flag.exact(), Some("-c" | "--command")) || words.len() != at + 3 {
        return None;
    }
    let mut all = words.get(..at)?.to_vec();
    all.extend([flag.clone(), line.clone(), words.get(at)?.clone()]);
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::super::check::{Row, check};

    const ENV: &str = r#"
name = "env"
what = "x"
grammar = "env"
stops = true
operands = ["env*", "command?"]
[flags]
plain = "-i -v"
"-u" = "data"
"-S --split-string" = "code-sh"
"#;
    const FLOCK: &str = r#"
name = "flock"
what = "x"
grammar = "flock"
stops = true
operands = ["create", "command? unless -c --command"]
[flags]
plain = "-n"
"-w" = "data"
"-c --command" = "line"
"#;

    #[test]
    fn words_are_put_together_as_the_wrapper_does() {
        let rows: &[Row] = &[
            ("env - cat a", "full", "read a"),
            ("env -S 'cat a'", "full", "read a"),
            ("env -S 'rm -f' cat", "full", "delete cat"),
            ("env '-Srm -f' cat", "full", "delete cat"),
            ("env --split-string='rm -f' cat", "full", "delete cat"),
            ("env -i -S 'rm' -f x", "full", "delete x"),
            ("env -u A -S 'rm x'", "full", "delete x"),
            ("flock -n l cat a", "full", "write l; read a"),
            ("flock l -c 'rm a; cat b'", "full", "write l; delete a; read b"),
            ("flock -w 3 l -c 'rm a'", "full", "write l; delete a"),
            ("flock -c 'rm a' l", "full", "write l; delete a"),
        ];
        check(&[ENV, FLOCK], rows);
    }
}
