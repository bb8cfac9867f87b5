//! Wildcards that lead to a place which a rule of the user's is about: what they match on this disk is touched by its own name.

use doorward_vocabulary::{Degree, Marks};

use super::touch::Touch;
use crate::observe::sheet::observer::{By, Observer};
use crate::path;
use crate::world::{Kind, World};

/// More names are not compared with the rules.
// Every name is compared with every rule about paths. A directory this large is asked about as a whole.
const MOST: usize = 1_024;

/// More files that a rule is about are not written down: one is enough.
// One denied file decides the verdict; a few more help the reader, and the record stays short.
const TOLD: usize = 8;

/// Touches what the pattern matches and a rule is about. Where it cannot be said what that is, a person is asked.
pub(crate) fn touch_ruled(out: &mut Observer<'_>, touch: Touch, directory: &str, pattern: &str, by: &By) {
    let world = out.world;
    let rules = &world.settings().file_patterns;
    if rules.is_empty() || world.project().is_none_or(|project| !path::under(directory, project)) {
        return;
    }
    let Some(matched) = expanded(out.world, directory, pattern) else {
        return out.lower(
            Degree::Opaque,
            format!("what `{pattern}` matches, because the directory can't be listed and a rule may cover part of it"),
        );
    };
    let is_ruled = |file: &&String| {
        let spellings = spellings(file, world.home(), world.project());
        rules.iter().any(|rule| spellings.iter().any(|spelling| rule.is_about(spelling)))
    };
    let ruled: Vec<&String> = matched.iter().filter(is_ruled).take(TOLD).collect();
    for file in ruled {
        out.touch_path(touch, file, by, Marks::default());
    }
}

/// What an absolute path with wildcards stands for, as far as that is known and each part of it is one directory.
pub(crate) fn expanded_names(world: &dyn World, absolute: &str) -> Vec<String> {
    let at = absolute.find(['*', '?', '[', '(']).unwrap_or(absolute.len());
    let fixed = absolute.get(..at).and_then(|fixed| fixed.rsplit_once('/')).map_or("", |(fixed, _)| fixed);
    let pattern = absolute.get(fixed.len()..).unwrap_or_default().trim_start_matches('/');
    let is_deep = pattern.contains("**");
    let found = if is_deep { None } else { expanded(world, &path::lexical(fixed), pattern) };
    found.unwrap_or_default()
}

/// Every path that the pattern matches; `None` if that is not known.
fn expanded(world: &dyn World, directory: &str, pattern: &str) -> Option<Vec<String>> {
    if pattern.contains(['(', '{', '\\', '#', '~', '<', '|']) {
        return None;
    }
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return None;
    }
    if parts.iter().any(|part| part.contains("**")) {
        return expanded_deep(world, directory, &parts);
    }
    let mut found = vec![directory.to_owned()];
    for part in parts {
        let mut next = Vec::new();
        for above in &found {
            let kind = world.look(&path::resolve(above, world, path::Follow::Last).real).kind;
            if kind == Kind::Directory {
                let names = world.entries(above)?.into_iter().filter(|name| is_match(part, name));
                next.extend(names.map(|name| path::join(above, &name)));
            }
        }
        if next.len() > MOST {
            return None;
        }
        found = next;
    }
    Some(found)
}

/// `**` is one directory in some shells and any number of them in others: both count.
fn expanded_deep(world: &dyn World, directory: &str, parts: &[&str]) -> Option<Vec<String>> {
    let below = world.below(directory)?;
    let is_hit = |file: &String| {
        let inner = file.strip_prefix(directory).unwrap_or(file).trim_start_matches('/');
        fits(parts, &inner.split('/').collect::<Vec<_>>())
    };
    Some(below.into_iter().map(|(file, _)| file).filter(is_hit).collect())
}

fn fits(parts: &[&str], names: &[&str]) -> bool {
    match (parts.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((part, after)), _) if part.contains("**") => {
            fits(after, names) || names.split_first().is_some_and(|(_, rest)| fits(parts, rest))
        }
        (Some((part, after)), Some((name, rest))) => is_match(part, name) && fits(after, rest),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// As a shell matches one name: hidden names need a dot, a list in brackets is one of its characters.
fn is_match(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        let one = pattern.get(at).zip(name.get(from)).and_then(|(sign, letter)| match sign {
            '*' => None,
            '?' => Some(at + 1),
            '[' => bracket(pattern.get(at..).unwrap_or_default(), *letter).map(|length| at + length),
            sign => (sign == letter).then_some(at + 1),
        });
        if pattern.get(at) == Some(&'*') {
            star = Some((at + 1, from));
            at += 1;
        } else if let Some(next) = one {
            (at, from) = (next, from + 1);
        } else if let Some((back, taken)) = star {
            star = Some((back, taken + 1));
            (at, from) = (back, taken + 1);
        } else {
            return false;
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|sign| *sign == '*')
}

/// The length of the list in brackets if the letter is in it. A class such as `[:alpha:]` may be any letter.
fn bracket(pattern: &[char], letter: char) -> Option<usize> {
    let Some(end) = pattern.iter().skip(2).position(|sign| *sign == ']').map(|at| at + 2) else {
        return (letter == '[').then_some(1);
    };
    let list = pattern.get(1..end).unwrap_or_default();
    if list.contains(&':') || list.contains(&'.') && list.contains(&'[') || list.contains(&'=') {
        let end = pattern.iter().rposition(|sign| *sign == ']').unwrap_or(end);
        return Some(end + 1);
    }
    let (is_negated, list) = match list.split_first() {
        Some(('!' | '^', rest)) => (true, rest),
        Some(_) | None => (false, list),
    };
    let is_range = |range: &[char]| matches!(range, [low, '-', high] if *low <= letter && letter <= *high);
    let is_in = list.contains(&letter) || list.windows(3).any(is_range);
    (is_in != is_negated).then_some(end + 1)
}

/// A path as rules may spell it: whole, below the home, below the project.
pub(crate) fn spellings(path: &str, home: Option<&str>, project: Option<&str>) -> Vec<String> {
    let below = |root: Option<&str>| path.strip_prefix(root?)?.strip_prefix('/').map(str::to_owned);
    let mut all = vec![path.to_owned()];
    all.extend(below(home).map(|rest| format!("~/{rest}")));
    all.extend(below(project));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_as_a_shell_does() {
        for (pattern, name, wanted) in [
            ("pri*", "private", true),
            ("*", "private", true),
            ("*", ".hidden", false),
            (".*", ".hidden", true),
            ("pr?vate", "private", true),
            ("[p]rivate", "private", true),
            ("[!p]rivate", "private", false),
            ("[a-q]rivate", "private", true),
            ("[x-z]rivate", "private", false),
            ("[[:alpha:]]rivate", "private", true),
            ("*v*te", "private", true),
            ("*v*ts", "private", false),
            ("[", "[", true),
        ] {
            assert_eq!(is_match(pattern, name), wanted, "{pattern} {name}");
        }
        for (pattern, file, wanted) in
            [("**/notes", "private/notes", true), ("**/notes", "a/b/notes", true), ("**/notes", "a/note", false)]
        {
            let split = |text: &'static str| text.split('/').collect::<Vec<_>>();
            assert_eq!(fits(&split(pattern), &split(file)), wanted, "{pattern} {file}");
        }
    }
}
