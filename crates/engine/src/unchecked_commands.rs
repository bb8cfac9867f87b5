//! Commands in files that take any certificate, by what is known of their programs' flags.

use doorward_vocabulary::Mark;

use crate::knowledge::built_in;
use crate::knowledge::schema::{Entry, Takes};
use crate::path;

/// Words that switch it off whatever they stand behind: a setting for one call, a flag of PowerShell's requests.
const ALONE: &[&str] = &["http.sslverify=false", "-skipcertificatecheck"];

/// Settings that a program is told to keep, as name and value in two words.
const KEPT: &[(&str, &str)] = &[
    ("http.sslverify", "false"),
    ("http.sslverify", "0"),
    ("strict-ssl", "false"),
    ("enablestrictssl", "false"),
    ("ssl_verify", "false"),
];

/// How many words may stand before the name of a program: `- run: sudo -E env A=b curl`.
const BEFORE: usize = 12;

/// How many words of a command are looked at.
// A generated line can have thousands, each of which would be looked up.
const MOST: usize = 200;

/// Files whose lines are commands.
pub(crate) fn holds_commands(name: &str, text: &str) -> bool {
    const ENDINGS: &[&str] = &["sh", "bash", "zsh", "fish", "ps1", "mk", "mak", "just", "yml", "yaml", "dockerfile"];
    let stem = name.split('.').next().unwrap_or_default();
    let is_recipe = ["makefile", "gnumakefile", "justfile", "dockerfile", "containerfile", "procfile", "package"];
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
        || is_recipe.iter().any(|known| stem.starts_with(known))
        || text.starts_with("#!") && text.lines().next().is_some_and(|line| line.contains("sh"))
}

/// A line that calls a program with checks off, and not on one of these hosts.
pub(crate) fn runs_unchecked(line: &str, local: &[&str]) -> bool {
    let is_comment = line.trim_start().starts_with(['#', '*']) || line.trim_start().starts_with("//");
    let says_nothing = !line.contains('-') && !line.contains("ssl") && !line.contains("SSL");
    if is_comment || says_nothing || local.iter().any(|host| line.contains(host)) {
        return false;
    }
    line.replace("&&", ";").replace("$(", ";").split(['|', ';']).any(is_unchecked)
}

fn is_unchecked(command: &str) -> bool {
    let words: Vec<&str> = command
        .split([' ', '\t', '"', '\'', '`', '(', ')', '&', '@', '{', '}', ','])
        .filter(|word| !word.is_empty())
        .take(MOST)
        .collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let is_kept = |pair: &[String]| KEPT.iter().any(|(name, value)| pair == [*name, *value]);
    lower.iter().any(|word| ALONE.contains(&word.as_str()))
        || lower.windows(2).any(is_kept)
        || takes_any_certificate(&words)
}

/// A program is called with a flag of its own that takes any certificate.
fn takes_any_certificate(words: &[&str]) -> bool {
    let last = words.iter().rposition(|word| word.starts_with('-')).unwrap_or_default();
    words.iter().take(last.min(BEFORE)).enumerate().any(|(at, word)| {
        let rest = words.get(at + 1..).unwrap_or_default();
        !word.contains("://")
            && built_in().entry(path::name(word)).is_some_and(|entry| is_called_unchecked(entry, rest))
    })
}

fn is_called_unchecked(program: Entry, words: &[&str]) -> bool {
    let mut chain = vec![program];
    for word in words {
        if word.starts_with('-') {
            if chain.iter().any(|entry| weakens(entry, word)) {
                return true;
            }
        } else if let Some(sub) = chain.last().and_then(|entry| built_in().entry(&format!("{} {word}", entry.key))) {
            chain.push(sub);
        }
    }
    false
}

/// The word is such a flag, or a row of letters with one in it.
fn weakens(entry: &Entry, word: &str) -> bool {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    if let Some(flag) = entry.flags.find(name) {
        let changes = flag.changes.with_value(value);
        let adds = |(name, does): &(_, crate::knowledge::schema::Does)| {
            Some(name) == changes.extra.as_ref() && does.marks.has(Mark::TlsWeakened)
        };
        return changes.marks.has(Mark::TlsWeakened) || entry.extras.iter().any(adds);
    }
    let letters = word.strip_prefix('-').filter(|rest| rest.bytes().all(|byte| byte.is_ascii_alphabetic()));
    for letter in letters.filter(|letters| letters.len() > 1).unwrap_or_default().chars() {
        let short = format!("-{letter}");
        // Behind a letter that takes a value stands the value.
        match entry.flags.find(&short) {
            Some(flag) if flag.takes == Takes::Nothing => {
                if weakens(entry, &short) {
                    return true;
                }
            }
            Some(_) | None => return false,
        }
    }
    false
}
