//! Wildcards: whether a pattern may match a name that matters.

use doorward_vocabulary::Sensitivity;

use crate::place;
use crate::world::World;

/// Names that stand for what a pattern must not hit unseen.
// One real name per kind of secret. A pattern that matches any of them may print a secret, even if no such file
// exists right now (shell-tricks-1347).
const TELLING: &[&str] = &[
    ".env",
    ".env.local",
    ".env.production",
    ".env~",
    "id_rsa",
    "id_ed25519",
    "credentials",
    "credentials.json",
    "secrets.yaml",
    "server.key",
    "key.pem",
    ".netrc",
    ".npmrc",
    ".pypirc",
    "shadow",
    "passwd",
    ".ssh",
    ".aws",
    ".gnupg",
    ".git-credentials",
    ".bash_history",
    ".bashrc",
    "authorized_keys",
    "config.json",
    "hosts.yml",
    "token",
];

/// Further such names, whose parts say nothing in a search.
// `credentials`, `account` and `key` are ordinary words in source code, so only the whole name counts.
const TELLING_WHOLE: &[&str] = &["credentials.toml", "service-account.json", "key.p12"];

/// A pattern with more stars is taken to match anything.
// Matching backtracks once per star, and the pattern is the agent's text: this keeps the worst case small.
const STARS: usize = 6;

/// The pattern, matched in this directory, may hit something sensitive that it does not name.
///
/// A pattern whose every part begins with a wildcard hits no hidden file; whether it hits a visible secret is
/// left to the directory that it stands in.
pub(crate) fn may_match_sensitive(pattern: &str, directory: &str, world: &dyn World) -> bool {
    let inside = world.project().is_some_and(|project| crate::path::under(directory, project));
    let is_secret = |directory: &str, name: &str| {
        place::classify(&format!("{}/{name}", directory.trim_end_matches('/')), world).sensitivity > Sensitivity::None
    };
    // In a directory of settings also such a file may be a secret that it is nowhere else.
    let is_only_here = |name: &str| !world.project().is_some_and(|project| is_secret(project, name));
    pattern.split('/').any(|component| {
        let common = inside && is_data(component);
        let telling = component.starts_with('.') || component.starts_with('[') || literal_letters(component) >= 2;
        telling
            && component.contains(['*', '?', '['])
            && TELLING
                .iter()
                .chain(TELLING_WHOLE)
                .any(|name| matches(component, name) && is_secret(directory, name) && (!common || is_only_here(name)))
    })
}

/// The pattern of a search through a tree picks names of secrets: there a wildcard matches a leading dot as well.
pub(crate) fn may_pick_sensitive(pattern: &str, world: &dyn World) -> bool {
    let directory = world.project().unwrap_or("/");
    let pattern = pattern.to_ascii_lowercase().replace('\\', "");
    let is_secret = |name: &str| {
        place::classify(&format!("{}/{name}", directory.trim_end_matches('/')), world).sensitivity > Sensitivity::None
    };
    let picks = |pattern: &str| {
        let name = pattern.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        !is_data(name)
            && TELLING.iter().chain(TELLING_WHOLE).any(|telling| matches_any(name, telling) && is_secret(telling))
    };
    alternatives(&pattern).iter().any(|pattern| picks(pattern))
}

/// The regular expression, searched for in a list of paths, picks names of secrets rather than everything.
pub(crate) fn may_filter_sensitive(expression: &str, world: &dyn World) -> bool {
    let directory = world.project().unwrap_or("/");
    let is_secret = |name: &str| {
        place::classify(&format!("{}/{name}", directory.trim_end_matches('/')), world).sensitivity > Sensitivity::None
    };
    let all = matches!(expression, "" | "." | ".*");
    let Some(patterns) = searched(expression) else { return true };
    let picks = |pattern: &String| {
        TELLING
            .iter()
            .chain(TELLING_WHOLE)
            .any(|name| is_secret(name) && (matches_any(pattern, name) || matches_any(pattern, &format!("./{name}"))))
    };
    !all && patterns.iter().any(picks)
}

/// The regular expression is found in the name.
pub(crate) fn finds(expression: &str, name: &str) -> bool {
    searched(expression).is_none_or(|patterns| patterns.iter().any(|pattern| matches_any(pattern, name)))
}

/// Files that every project has, of the kinds that a list is mostly made of.
// A filter that removes these leaves what a person would not call a list of sources: dotfiles, keys, archives. One
// exception is allowed, because no filter fits every project.
const ORDINARY: &[&str] = &["src/main.rs", "readme.md", "package.json", "tests/test_a.py", "makefile", "lib/index.ts"];

/// All ordinary files are meant, with one exception at most.
fn are_most(meant: impl Fn(&str) -> bool) -> bool {
    ORDINARY.iter().filter(|name| !meant(name)).count() <= 1
}

/// What the regular expression leaves of a list of paths are no ordinary files.
pub(crate) fn leaves_odd_names(expression: &str) -> bool {
    let Some(patterns) = searched(expression) else { return true };
    let hits = |name: &str| patterns.iter().any(|pattern| matches_any(pattern, name));
    are_most(|name| hits(name) || hits(&format!("./{name}")))
}

/// Whoever matches none of these patterns of `find` is no ordinary file.
pub(crate) fn bar_ordinary(patterns: &[String]) -> bool {
    let hits = |name: &str| {
        let path = format!("./{name}");
        patterns.iter().map(|pattern| pattern.to_ascii_lowercase()).any(|pattern| {
            let name = if pattern.contains('/') { path.as_str() } else { crate::path::name(name) };
            matches_any(&pattern, name)
        })
    };
    !patterns.is_empty() && are_most(hits)
}

/// Shell patterns for all alternatives of a regular expression; `None` if it may be anything.
fn searched(expression: &str) -> Option<Vec<String>> {
    // Groups and alternatives are written either way, and no secret has such a character in its name.
    let lower = expression.to_ascii_lowercase();
    let expression = lower.replace("\\(", "(").replace("\\)", ")").replace("\\|", "|");
    // A part of a regular expression that may be absent matches more than its letters say, so the letters prove
    // nothing.
    const OPTIONAL: &[&str] = &[")?", ")*", "){", ")\\", "(?"];
    if OPTIONAL.iter().any(|group| expression.contains(group)) {
        return None;
    }
    let group = expression.split_once('(').and_then(|(before, rest)| Some((before, rest.split_once(')')?)));
    let expressions: Vec<String> = match group {
        Some((before, (list, after))) if !list.contains('(') && !after.contains('(') => {
            list.split('|').map(|item| format!("{before}{item}{after}")).collect()
        }
        Some(_) | None => vec![expression.clone()],
    };
    let alternatives = expressions.iter().flat_map(|expression| expression.split(['|', '\n']));
    Some(alternatives.flat_map(as_patterns).collect())
}

/// Shell patterns that together match at least what the regular expression is found in.
fn as_patterns(expression: &str) -> Vec<String> {
    // Each `?` doubles the patterns. Past this the letter before it becomes a wildcard, which matches more, not less.
    const MOST: usize = 16;
    let mut patterns = vec![if expression.starts_with('^') { String::new() } else { "*".to_owned() }];
    let mut characters = expression.trim_start_matches('^').chars().peekable();
    let push = |patterns: &mut Vec<String>, character: char| {
        patterns.iter_mut().for_each(|pattern| pattern.push(character));
    };
    let replace_last = |patterns: &mut Vec<String>| {
        patterns.iter_mut().for_each(|pattern| {
            pattern.pop();
            pattern.push('*');
        });
    };
    let without_last = |patterns: &mut Vec<String>| {
        let mut without = patterns.clone();
        without.iter_mut().for_each(|pattern| {
            pattern.pop();
        });
        patterns.extend(without);
    };
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                None => push(&mut patterns, '*'),
                Some('?') if patterns.len() < MOST => without_last(&mut patterns),
                Some(escaped) if escaped.is_ascii_alphanumeric() || "+?<>{}".contains(escaped) => {
                    replace_last(&mut patterns);
                }
                Some('*') => push(&mut patterns, '?'),
                Some(escaped) => push(&mut patterns, escaped),
            },
            '?' if patterns.len() < MOST => without_last(&mut patterns),
            '*' | '+' | '?' => replace_last(&mut patterns),
            '{' => {
                replace_last(&mut patterns);
                break;
            }
            '[' => {
                characters.next_if_eq(&'^');
                characters.next();
                while characters.next().is_some_and(|member| member != ']') {}
                push(&mut patterns, '?');
            }
            '(' | ')' => push(&mut patterns, '*'),
            '.' => push(&mut patterns, '?'),
            '$' if characters.peek().is_none() => return patterns,
            '$' | '^' => push(&mut patterns, '*'),
            literal => push(&mut patterns, literal),
        }
    }
    push(&mut patterns, '*');
    patterns
}

/// `*.{a,b}` as `*.a` and `*.b`; more than one such list is taken to be anything.
fn alternatives(pattern: &str) -> Vec<String> {
    match pattern
        .split_once('{')
        .and_then(|(before, rest)| rest.split_once('}').map(|(list, after)| (before, list, after)))
    {
        None => vec![pattern.to_owned()],
        Some((before, list, after)) if !list.contains('{') && !after.contains('{') => {
            list.split(',').map(|item| format!("{before}{item}{after}")).collect()
        }
        Some(_) => vec!["*".to_owned()],
    }
}

/// A file that is there matches, and is a secret.
pub(crate) fn lists_sensitive(pattern: &str, directory: &str, world: &dyn World) -> bool {
    let hits = |name: &String| {
        matches(pattern, name)
            && place::classify(&crate::path::join(directory, name), world).sensitivity > Sensitivity::None
    };
    !pattern.contains('/') && world.entries(directory).is_some_and(|names| names.iter().any(hits))
}

/// A directory of the user's settings, with files below it that are secrets there and would not be elsewhere.
pub(crate) fn holds_secrets(directory: &str, world: &dyn World) -> bool {
    // File names that mean a credential only in the right directory (`gh/hosts.yml`, `.docker/config.json`), so each
    // is tried here and in a directory where it would mean nothing.
    const HELD: &[&str] =
        &["config.json", "credentials.toml", "gh/hosts.yml", "hosts.yml", "gcloud", "share/keyrings", "keyrings"];
    let inside = world.project().is_some_and(|project| crate::path::under(directory, project));
    let own = |root: &str| crate::path::under(directory, root);
    let is_own = inside || world.home().is_some_and(own) || world.scratch().iter().any(|scratch| own(scratch));
    if (!is_own && place::holds_system_secrets(directory)) || place::is_secret_folder(directory, world) {
        return true;
    }
    let Some(home) = world.home() else { return false };
    let is_secret = |directory: &str, name: &str| {
        place::classify(&crate::path::join(directory, name), world).sensitivity > Sensitivity::None
    };
    let elsewhere = crate::path::join(home, "elsewhere");
    // The guard's own keys lie there.
    let guard = crate::path::join(home, ".local/state/doorward");
    if !inside && crate::path::under(directory, home) && crate::path::under(&guard, directory) {
        return true;
    }
    !inside
        && crate::path::under(directory, home)
        && HELD.iter().any(|name| is_secret(directory, name) && !is_secret(&elsewhere, name))
}

/// The pattern picks files of source text by their ending.
pub(crate) fn is_source(pattern: &str) -> bool {
    const ENDINGS: &[&str] = &["rs", "c", "h", "cc", "cpp", "hpp", "go", "py", "js", "ts", "tsx", "java", "md", "rb"];
    let name = pattern.rsplit('/').next().unwrap_or_default();
    name.strip_prefix("*.").is_some_and(|ending| ENDINGS.contains(&ending))
}

/// The pattern may hit something sensitive in this directory, or is the name of it.
pub(crate) fn is_sensitive(pattern: &str, directory: &str, world: &dyn World) -> bool {
    let named: String = pattern
        .chars()
        .map(|sign| if matches!(sign, '*' | '?' | '[' | '(' | ']' | ')') { 'x' } else { sign })
        .collect();
    let path = crate::path::lexical(&crate::path::join(directory, &named));
    may_match_sensitive(pattern, directory, world) || place::classify(&path, world).sensitivity > Sensitivity::None
}

/// The text, searched for in names, may find something sensitive.
pub(crate) fn may_find_sensitive(text: &str) -> bool {
    const TELLING_LENGTH: usize = 3;
    let is_meta = |character: char| !character.is_ascii_alphanumeric() && character != '_';
    let mut pieces = text.split(is_meta).filter(|piece| piece.len() >= TELLING_LENGTH);
    pieces.any(|piece| TELLING.iter().any(|name| name.contains(piece)))
}

/// The pattern picks files by a name that is one of secrets: `.env*`, `*.pem`, `**/id_rsa`.
pub(crate) fn picks_sensitive(pattern: &str, directory: &str, world: &dyn World) -> bool {
    let alternatives = pattern.split(['{', '}', ',', ' ']).filter(|piece| !piece.is_empty() && !piece.starts_with('!'));
    alternatives.filter_map(|piece| piece.rsplit('/').next()).any(|name| {
        ["x", ""].iter().any(|filler| {
            let named: String = name.split(['*', '?', '[', ']']).collect::<Vec<_>>().join(filler);
            let path = crate::path::lexical(&crate::path::join(directory, &named));
            !named.is_empty() && place::classify(&path, world).sensitivity > Sensitivity::None
        })
    })
}

/// The pattern asks for a piece of text of some length, so it cannot stand for everything in a directory.
pub(crate) fn is_narrow(pattern: &str) -> bool {
    const TELLING_LENGTH: usize = 3;
    !pattern.contains(['/', '[', '('])
        && pattern
            .split(|character: char| !character.is_ascii_alphanumeric())
            .any(|piece| piece.len() >= TELLING_LENGTH)
}

/// All files of a kind that is rarely secret in a project, which a search of the project would read as well.
fn is_data(component: &str) -> bool {
    matches!(component, "*.json" | "*.json*" | "*.yaml" | "*.yml" | "*.toml")
}

fn literal_letters(component: &str) -> usize {
    component.chars().filter(|character| character.is_ascii_alphanumeric()).count()
}

/// Matches a shell pattern with `*`, `?` and bracket expressions; hidden names need a literal dot.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with(['.', '[']) {
        return false;
    }
    matches_any(pattern, name)
}

/// The same where a leading dot is a character like others.
pub(crate) fn matches_any(pattern: &str, name: &str) -> bool {
    if pattern.matches('*').count() > STARS {
        return true;
    }
    matches_from(pattern, name)
}

fn matches_from(pattern: &str, name: &str) -> bool {
    let Some((sign, rest)) = parted(pattern) else { return name.is_empty() };
    let ends = || name.char_indices().map(|(at, _)| at).chain([name.len()]);
    match (sign, parted(name)) {
        ('*', _) => ends().any(|at| matches_from(rest, name.get(at..).unwrap_or_default())),
        (_, None) => false,
        ('?', Some((_, more))) => matches_from(rest, more),
        ('[', Some((first, more))) => match rest.char_indices().skip(1).find(|(_, character)| *character == ']') {
            // A bracket expression is taken to match any character: too much rather than too little.
            Some((end, _)) => matches_from(rest.get(end + 1..).unwrap_or_default(), more),
            None => first == '[' && matches_from(rest, more),
        },
        (literal, Some((first, more))) => first == literal && matches_from(rest, more),
    }
}

/// The first character and the rest.
fn parted(text: &str) -> Option<(char, &str)> {
    let mut characters = text.chars();
    characters.next().map(|first| (first, characters.as_str()))
}

/// The path matches the parts of a pattern, or lies below what does if whole directories go.
pub(crate) fn fits(parts: &[&str], inner: &str, is_tree: bool) -> bool {
    let (name, rest) = inner.split_once('/').map_or((inner, None), |(name, rest)| (name, Some(rest)));
    match parts.split_first() {
        None => is_tree,
        Some((&"**", [])) => true,
        Some((&"**", after)) => fits(after, inner, is_tree) || rest.is_some_and(|rest| fits(parts, rest, is_tree)),
        Some((part, after)) => {
            may_match(part, name)
                && match rest {
                    Some(rest) => fits(after, rest, is_tree),
                    None => after.is_empty(),
                }
        }
    }
}

/// What is more than a plain wildcard is taken to match.
fn may_match(part: &str, name: &str) -> bool {
    part.contains(['[', '(', '{', '\\', '^', '#', '~'])
        || matches(part.trim_start_matches('.'), name.trim_start_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_counts_what_it_may_hit() {
        for (pattern, path, is_tree, wanted) in [
            ("*.py", "a.py", false, true),
            ("*.py", ".a.py", false, true),
            ("*.py", "src/a.py", false, false),
            ("s*", "src/deep/a.py", true, true),
            ("s*", "src/a.py", false, false),
            ("**/*.py", "a.py", false, true),
            ("**/*.py", "src/deep/a.py", false, true),
            ("**/*.py", "src/deep/a.rs", false, false),
            ("*/a.py", "src/a.py", false, true),
            ("[ab]?.py", "zz.py", false, true),
        ] {
            let parts: Vec<&str> = pattern.split('/').collect();
            assert_eq!(fits(&parts, path, is_tree), wanted, "{pattern} {path}");
        }
    }
}
