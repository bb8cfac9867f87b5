//! The text of a task for another agent: commands in it that plainly harm are asked about before the agent starts.
//!
//! The other agent's own calls are judged one by one; this is the earlier question, so ordinary prose stays silent.

use doorward_vocabulary::{Degree, Sensitivity};

use super::sheet::observer::Observer;
use super::shell::runner::Runner;
use super::shell::state::State;
use crate::observe::recipes::trusted::harm_in;
use crate::path;
use crate::world::World;

/// More commands than a task needs; the rest is judged when it is run.
// A task is prose with a few commands in it. Those that are left out are still judged when the subagent runs them.
const SNIPPETS: usize = 24;

/// Words that say a command is not to be run.
// "Never run `rm -rf /`" is good advice and must not be read as a request.
const REFUSING: &[&str] = &[
    "never",
    "don't",
    "dont",
    "not",
    "avoid",
    "without",
    "instead",
    "dangerous",
    "forbid",
    "refuse",
    "blocks",
    "prevent",
];

/// Words that ask to send something.
// With the name of a secret and an address in the same sentence: either alone is harmless.
const SENDING: &[&str] =
    &["upload", "send", "post", "exfiltrate", "transfer", "submit", "share", "copy", "push", "report", "attach"];

/// Judges the commands that a task quotes.
pub(super) fn task_text(out: &mut Observer<'_>, text: &str, cwd: &str) {
    for snippet in snippets(text) {
        let state = State::new(cwd.starts_with('/').then_some(cwd));
        if let Some(harm) = harm_in(&mut Runner::new(out), &snippet, &state) {
            return out.lower(Degree::Opaque, format!("a task that asks to run `{snippet}`, which {harm}"));
        }
    }
    if let Some(secret) = text.split(['\n', ';']).find_map(|sentence| sent_secret(out.world, sentence, cwd)) {
        out.lower(Degree::Opaque, format!("a task that asks to send `{secret}` somewhere"));
    }
}

/// A sentence that asks to send something secret to an address.
fn sent_secret<'t>(world: &dyn World, sentence: &'t str, cwd: &str) -> Option<&'t str> {
    let lower = sentence.to_ascii_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_ascii_alphabetic() && letter != '\'');
    let asks = words.clone().any(|word| SENDING.contains(&word)) && !words.any(|word| REFUSING.contains(&word));
    if !asks || !sentence.contains("://") {
        return None;
    }
    let files = sentence
        .split_whitespace()
        .map(|word| word.trim_matches(['`', '"', '\'', ',', '(', ')']).trim_end_matches('.'));
    files.filter(|word| !word.contains("://") && word.contains(['/', '.'])).find(|word| is_secret(world, word, cwd))
}

fn is_secret(world: &dyn World, word: &str, cwd: &str) -> bool {
    let home = world.home().unwrap_or_default();
    let whole = match word.strip_prefix("~/").or_else(|| word.strip_prefix("$HOME/")) {
        Some(rest) => path::join(home, rest),
        None => path::join(cwd, word),
    };
    crate::place::classify(&path::lexical(&whole), world).sensitivity > Sensitivity::None
}

/// What looks like a command: between backticks, behind a prompt or a colon.
fn snippets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_fenced = !is_fenced;
            continue;
        }
        if is_fenced {
            found.push(trimmed.trim_start_matches("$ ").to_owned());
            continue;
        }
        let lower = line.to_ascii_lowercase();
        if lower
            .split(|letter: char| !letter.is_ascii_alphabetic() && letter != '\'')
            .any(|word| REFUSING.contains(&word))
        {
            continue;
        }
        found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        found.extend(trimmed.strip_prefix("$ ").map(str::to_owned));
        found.extend(line.split_once(": ").map(|(_, rest)| rest.trim().to_owned()));
    }
    found.retain(|snippet| snippet.split_whitespace().nth(1).is_some() && snippet.len() < 2_000);
    found.truncate(SNIPPETS);
    found
}
