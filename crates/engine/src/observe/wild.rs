//! Wildcards: whether a pattern may match a name that matters.

use crate::effect::Sensitivity;
use crate::place;
use crate::world::World;

/// Names that stand for what a pattern must not hit unseen.
const TELLING: &[&str] = &[
    ".env",
    ".env.local",
    ".env.production",
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

/// A pattern with more stars is taken to match anything.
const STARS: usize = 6;

/// The pattern, matched in this directory, may hit something sensitive that it does not name.
///
/// A pattern whose every part begins with a wildcard hits no hidden file; whether it hits a visible secret is
/// left to the directory that it stands in.
pub fn may_match_sensitive(pattern: &str, directory: &str, world: &dyn World) -> bool {
    let inside = world.project().is_some_and(|project| crate::path::under(directory, project));
    pattern.split('/').filter(|component| !(inside && is_data(component))).any(|component| {
        let telling = component.starts_with('.') || component.starts_with('[') || literal_letters(component) >= 2;
        telling
            && component.contains(['*', '?', '['])
            && TELLING.iter().any(|name| {
                matches(component, name)
                    && place::classify(&format!("{}/{name}", directory.trim_end_matches('/')), world).sensitivity
                        > Sensitivity::None
            })
    })
}

/// The pattern may hit something sensitive in this directory, or is the name of it.
pub fn is_sensitive(pattern: &str, directory: &str, world: &dyn World) -> bool {
    let named: String =
        pattern.chars().map(|character| if "*?[(])".contains(character) { 'x' } else { character }).collect();
    let path = crate::path::lexical(&crate::path::join(directory, &named));
    may_match_sensitive(pattern, directory, world) || place::classify(&path, world).sensitivity > Sensitivity::None
}

/// The text, searched for in names, may find something sensitive.
pub fn may_find_sensitive(text: &str) -> bool {
    const TELLING_LENGTH: usize = 3;
    let is_meta = |character: char| !character.is_ascii_alphanumeric() && character != '_';
    let mut pieces = text.split(is_meta).filter(|piece| piece.len() >= TELLING_LENGTH);
    pieces.any(|piece| TELLING.iter().any(|name| name.contains(piece)))
}

/// The pattern picks files by a name that is one of secrets: `.env*`, `*.pem`, `**/id_rsa`.
pub fn picks_sensitive(pattern: &str, directory: &str, world: &dyn World) -> bool {
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
pub fn is_narrow(pattern: &str) -> bool {
    const TELLING_LENGTH: usize = 3;
    !pattern.contains(['/', '[', '('])
        && pattern
            .split(|character: char| !character.is_ascii_alphanumeric())
            .any(|piece| piece.len() >= TELLING_LENGTH)
}

/// All files of a kind that is rarely secret in a project, which a search of the project would read as well.
fn is_data(component: &str) -> bool {
    matches!(component, "*.json" | "*.yaml" | "*.yml" | "*.toml")
}

fn literal_letters(component: &str) -> usize {
    component.chars().filter(|character| character.is_ascii_alphanumeric()).count()
}

/// Matches a shell pattern with `*`, `?` and bracket expressions; hidden names need a literal dot.
pub fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with(['.', '[']) {
        return false;
    }
    if pattern.matches('*').count() > STARS {
        return true;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    matches_from(&pattern, &name)
}

fn matches_from(pattern: &[char], name: &[char]) -> bool {
    match pattern {
        [] => name.is_empty(),
        ['*', rest @ ..] => (0..=name.len()).any(|skip| matches_from(rest, name.get(skip..).unwrap_or_default())),
        ['?', rest @ ..] => matches!(name, [_, more @ ..] if matches_from(rest, more)),
        ['[', rest @ ..] => match rest.iter().skip(1).position(|character| *character == ']') {
            // A bracket expression is taken to match any character: too much rather than too little.
            Some(end) => matches!(name, [_, more @ ..] if matches_from(rest.get(end + 2..).unwrap_or_default(), more)),
            None => matches!(name, ['[', more @ ..] if matches_from(rest, more)),
        },
        [literal, rest @ ..] => matches!(name, [first, more @ ..] if first == literal && matches_from(rest, more)),
    }
}
