//! What a text brings with it into a file: secrets, scripts that run by themselves, permissions for agents.

use doorward_vocabulary::{Mark, Marks};

use crate::world::World;
use crate::{certificate_checks, foreign_settings, path, secret, switched_off_tests};

/// Keys of a package manifest whose value is run without being asked for.
// `npm install` runs these without being asked; a new one is how a poisoned manifest gets to run (files-022).
const LIFECYCLE: &[&str] = &[
    "\"preinstall\"",
    "\"postinstall\"",
    "\"install\"",
    "\"prepare\"",
    "\"prepublish\"",
    "\"prepack\"",
    "\"postpack\"",
    "\"prepublishOnly\"",
];

/// Phrases that give an agent rights, wherever it reads them.
// Spellings from the agents' own manuals that switch off approval. Text is compared as a whole, since the file may be
// JSON, TOML or prose that an agent reads as instructions (machine-084).
const GRANTS: &[&str] = &[
    "dangerously-skip-permissions",
    "bypassPermissions",
    "disableAllHooks",
    "--yolo",
    "dangerously-bypass-approvals",
    "allowedTools",
    "autoApprove",
    "alwaysAllow",
    "danger-full-access",
];

/// The same for a key with a value: a word to look for first, and the whole without space.
// JSON and TOML allow any space around the value; the first word keeps the costly comparison off ordinary files.
const GRANTS_SPACED: &[(&str, &str)] =
    &[("permissionDecision", "\"permissionDecision\":\"allow\""), ("approval_policy", "approval_policy=\"never\"")];

/// The marks of a text that is put into the file at `path`.
pub(super) fn marks(path: &str, text: &str) -> Marks {
    let mut marks = Marks::default();
    if secret::holds(text) || secret::holds_packed(text) {
        marks.add(Mark::SecretInContent);
    }
    let name = path::name(path).to_ascii_lowercase();
    let is_table = [".csv", ".tsv", ".vcf", ".ndjson"].iter().any(|ending| name.ends_with(ending));
    if is_table && secret::lists_people(text) {
        marks.add(Mark::SecretInContent);
    }
    // Whoever loads the file reads a key as what it means, however its letters are written.
    let plain = text.contains('\\').then(|| unescaped(text));
    let texts = [Some(text), plain.as_deref()];
    let says = |phrase: &&str| texts.iter().flatten().any(|text| text.contains(phrase));
    if name == "package.json" && LIFECYCLE.iter().any(says) {
        marks.add(Mark::LifecycleScript);
    }
    let is_prose = name.ends_with(".md")
        || name.ends_with(".txt")
        || name.ends_with(".rs")
        || name.ends_with(".py")
        || name.ends_with(".ts");
    let spelled =
        |text: &&str| GRANTS_SPACED.iter().any(|(word, whole)| text.contains(word) && squeezed(text).contains(whole));
    if !is_prose && (GRANTS.iter().any(says) || texts.iter().flatten().any(spelled)) {
        marks.add(Mark::GrantsPermission);
    }
    marks
}

/// The marks of a text that replaces another in a file of the project: what it weakens that was not weakened before.
pub(super) fn weakens(path: &str, new: &str, world: &dyn World, old: impl Fn() -> Option<String>) -> Marks {
    let mut marks = Marks::default();
    // `"\/tmp\/x.js"` is the same path to whoever reads the JSON.
    let plain = new.contains('\\').then(|| unescaped(new));
    let is_there = |has: &dyn Fn(&str) -> bool| has(new) || plain.as_deref().is_some_and(has);
    let is_new = |has: &dyn Fn(&str) -> bool| is_there(has) && !old().is_some_and(|old| has(&old));
    if is_new(&|text| certificate_checks::switches_off(path, text)) {
        marks.add(Mark::TlsWeakened);
    }
    if switched_off_tests::are_more(path, new, old().as_deref()) {
        marks.add(Mark::SkipsChecks);
    }
    let project = world.project();
    if is_new(&|text| project.is_some_and(|root| foreign_settings::loads_from_elsewhere(path, text, root))) {
        marks.add(Mark::RunsOnLoad);
    }
    marks
}

/// The text with every escaped letter written out, as JSON, YAML, TOML and JavaScript read them.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let (letter, skipped) = escape(after);
        plain.extend(letter);
        rest = after.get(skipped..).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

/// The letter that an escape stands for, and how long the escape is behind its backslash.
fn escape(after: &str) -> (Option<char>, usize) {
    let digits = |from: usize, count: usize| {
        let digits =
            after.get(from..from + count).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?), from + count))
    };
    let found = match after.as_bytes().first() {
        Some(b'u') if after.get(1..2) == Some("{") => {
            let length = after.find('}').filter(|end| *end > 2 && *end < 10);
            length.and_then(|end| digits(2, end - 2)).map(|(letter, length)| (letter, length + 1))
        }
        Some(b'u') => digits(1, 4),
        Some(b'U') => digits(1, 8),
        Some(b'x') => digits(1, 2),
        // A line that goes on in the next one.
        Some(b'\n' | b'\r') => Some((None, after.len() - after.trim_start().len())),
        Some(_) | None => None,
    };
    // Other escapes stand for the letter itself, or for one that is no part of any key.
    found.unwrap_or((None, 0))
}

/// Without space, and with one kind of quote.
fn squeezed(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| if letter == '\'' { '"' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_what_it_means() {
        let grants = |text: &str| marks("/p/.x/settings.json", text).has(Mark::GrantsPermission);
        for text in [
            r#"{"disableAllHooks": true}"#,
            r#"{"disable\u0041llHooks": true}"#,
            r#"{"\u0064isable\u{41}llHooks": true}"#,
            r#""disable\x41llHooks": true"#,
            r#""disable\U00000041llHooks" = true"#,
            "\"disable\\\n  AllHooks\": true",
            r#"{"permissionDecision":"allow"}"#,
            "approval_policy='never'",
        ] {
            assert!(grants(text), "{text}");
        }
        for text in [r#"{"a": "C:\\users\\u"}"#, r#"{"a": "\u00e4"}"#, r"\", r"\u", r"\u{", r"\u{}", "\\\u{e4}"] {
            assert!(!grants(text), "{text}");
        }
    }

    #[test]
    fn a_script_that_runs_by_itself_is_seen_in_any_spelling() {
        assert!(marks("/p/package.json", r#"{"scripts": {"post\u0069nstall": "x"}}"#).has(Mark::LifecycleScript));
    }
}
