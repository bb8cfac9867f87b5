//! `perl -pi -e 's/a/b/'`: one-liners that put text in the place of other text, and do nothing else.

use super::super::Invocation;
use super::literal_edit::{Substitution, backups, is_elsewhere, see_edits};
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;

/// Flags of a one-liner that goes through files line by line, with the two that say where lines and the script are.
const FLAGS: &[&str] = &["-p", "-i", "-e", "-0", "-w"];

/// Modifiers of `s` and `tr` that run nothing: `e` would.
const MODIFIERS: &str = "gimsxacdr";

/// What the invocation edits, if its whole script is substitutions.
pub(super) fn perl_edit(invocation: &mut Invocation) -> Option<Findings> {
    let args = &invocation.args;
    let is_known = |given: &super::super::args::Given| FLAGS.contains(&given.name.as_str());
    if !args.has("-p") || !args.unknown.is_empty() || !args.given.iter().all(is_known) {
        return None;
    }
    let scripts = args.given.iter().filter(|given| given.name == "-e");
    let script = scripts.map(|given| given.value.as_ref()?.known()).collect::<Option<Vec<_>>>()?.join("\n");
    let edits = read(&script)?;
    let is_in_place = args.has("-i");
    let suffix = args.value("-i").and_then(Field::exact).unwrap_or_default().to_owned();
    let suffix = suffix.as_str();
    if is_elsewhere(suffix) {
        return None;
    }
    if !invocation.args.operands.iter().all(|file| is_plain_name(&file.text)) {
        return None;
    }
    invocation.done = true;
    let mut touched = Findings::default();
    for file in invocation.args.operands.clone() {
        match is_in_place {
            true => touched.write(Touch::Edit, file),
            false => touched.read(Touch::Read, file),
        }
    }
    let mut found = backups(&invocation.args.operands, suffix);
    found.sealed(touched, move |caused, world| see_edits(caused, &edits, world));
    Some(found)
}

/// Perl starts what a name such as `id|` says, so that none may begin or end with such a sign, whatever a pattern matches.
fn is_plain_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '/');
    name.starts_with(is_plain) && name.ends_with(is_plain) && !name.contains(['|', '<', '>'])
}

/// The substitutions of a script; `None` if it may do anything else.
fn read(script: &str) -> Option<Vec<Substitution>> {
    let mut edits = Vec::new();
    let mut rest = script.trim_start_matches([' ', '\t', '\n', ';']);
    while !rest.is_empty() {
        let (edit, behind) = substitution(rest)?;
        edits.push(edit);
        let next = behind.trim_start_matches([' ', '\t']);
        if !next.is_empty() && !next.starts_with([';', '\n']) {
            return None;
        }
        rest = next.trim_start_matches([' ', '\t', '\n', ';']);
    }
    (!edits.is_empty()).then_some(edits)
}

fn substitution(text: &str) -> Option<(Substitution, &str)> {
    let (is_pattern, rest) = match text.strip_prefix('s') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix("tr").or_else(|| text.strip_prefix('y'))?),
    };
    let open = rest.chars().next()?;
    let close = match open {
        '{' => '}',
        '(' => ')',
        '[' => ']',
        '/' | '|' | '!' | ',' | '~' | '%' | ':' => open,
        _ => return None,
    };
    let (old, behind) = until(rest.get(open.len_utf8()..)?, close)?;
    let behind = if open == close { behind } else { behind.strip_prefix(open)? };
    let (new, behind) = until(behind, close)?;
    let end = behind.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(behind.len());
    let (modifiers, behind) = behind.split_at(end);
    let is_plain = modifiers.chars().all(|letter| MODIFIERS.contains(letter));
    (is_plain && interpolates_nothing(old, is_pattern) && interpolates_nothing(new, false))
        .then(|| (Substitution::new(old, new), behind))
}

/// Up to the delimiter, which a backslash hides. Brackets inside brackets are left to those who write them.
fn until(text: &str, close: char) -> Option<(&str, &str)> {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '{' | '(' | '[' if close != letter && matches!(close, '}' | ')' | ']') => return None,
            _ if letter == close => return Some((text.get(..at)?, text.get(at + letter.len_utf8()..)?)),
            _ => {}
        }
    }
    None
}

/// Perl runs what stands in `@{[ … ]}` and `(?{ … })`, and puts variables in the place of their names.
fn interpolates_nothing(text: &str, is_pattern: bool) -> bool {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        match letter {
            '\\' => drop(letters.next()),
            '@' => return false,
            '$' if is_pattern && next.is_none_or(|next| matches!(next, ')' | '|')) => {}
            '$' if !is_pattern && next.is_some_and(|next| next == '&' || next.is_ascii_digit()) => {
                while letters.next_if(|next| *next == '&' || next.is_ascii_digit()).is_some() {}
                // `$1[…]`, `$1{…}` and `$1->[…]` run what stands in the brackets.
                if letters.peek().is_some_and(|next| matches!(next, '[' | '{' | '-' | ':' | '\'')) {
                    return false;
                }
            }
            '$' => return false,
            '(' if is_pattern && next == Some('?') => {
                letters.next();
                if !letters.peek().is_some_and(|kind| matches!(kind, ':' | '=' | '!' | '<' | '>' | 'i')) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn substitutions_are_read() {
        for script in [
            "s/foo/bar/",
            "s/foo/bar/g;",
            "s|a/b|c/d|g; s{x}{y}",
            "tr/a-z/A-Z/",
            "s/(\\w+)=1/$1=2/",
            "s/end$/END/",
            "s/(?:a|b)$/c/i",
            "s/a\\@b/c\\@d/",
        ] {
            assert!(read(script).is_some(), "{script}");
        }
    }

    #[test]
    fn whatever_may_run_code_is_not() {
        for script in [
            "",
            "s/a/b/e",
            "s/a/system(1)/ee",
            "s/a/@{[system 1]}/",
            "s/a/${\\ system 1}/",
            "s/(?{system 1})//",
            "s/(??{system 1})//",
            "s/a/$ENV{TOKEN}/",
            "s/$x/b/",
            "s/a/b/; system 1",
            "s/a/b/ if `id`",
            "print",
            "s'a'b'",
            "s/a/b",
            "s{a}{b{c}}",
            "s a b ",
        ] {
            assert!(read(script).is_none(), "{script}");
        }
    }
}
