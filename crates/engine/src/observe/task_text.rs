//! The text of a task for another agent: commands in it that plainly harm are asked about before the agent starts.
//!
//! The other agent's own calls are judged one by one; this is the earlier question, so ordinary prose stays silent.

use doorward_vocabulary::{Degree, Mark, Operation, Scope, Sensitivity};

use super::sheet::observer::Observer;
use super::shell::runner::Runner;
use super::shell::state::State;
use crate::observe::recipes::trusted::{effects_of, harm_in};
use crate::observe::task_orders::{REFUSING, holds, leads_to_command, leads_to_example, ordered, tells};
use crate::path;
use crate::world::World;

/// More commands than a task needs; the rest is judged when it is run.
// A task is prose with a few commands in it. Those that are left out are still judged when the subagent runs them.
const SNIPPETS: usize = 24;

/// So many programs of one line are looked at where no quotes say that it is a command.
const TYPED: usize = 8;

/// Words that ask to send something.
// With the name of a secret and an address in the same sentence: either alone is harmless.
const SENDING: &[&str] =
    &["upload", "send", "post", "exfiltrate", "transfer", "submit", "share", "copy", "push", "report", "attach"];

/// Judges the commands that a task quotes.
pub(super) fn task_text(out: &mut Observer<'_>, text: &str, cwd: &str) {
    let knowledge = out.knowledge;
    let knows = |word: &str| word.len() > 1 && knowledge.entry(word).is_some();
    for snippet in snippets(text, &knows) {
        let state = State::new(cwd.starts_with('/').then_some(cwd));
        if let Some(harm) = harm_in(&mut Runner::new(out), &snippet.text, &state) {
            return out.lower(Degree::Opaque, format!("a task that asks to run `{}`, which {harm}", snippet.text));
        }
        if snippet.is_ordered && is_asked_later(&mut Runner::new(out), &snippet.text, &state) {
            return out.lower(Degree::Unknown, format!("a task that asks to run `{}`", snippet.text));
        }
    }
    if let Some(secret) = text.split(['\n', ';']).find_map(|sentence| sent_secret(out.world, sentence, cwd)) {
        out.lower(Degree::Opaque, format!("a task that asks to send `{secret}` somewhere"));
    }
    if let Some(order) = ordered(text, cwd, out.world) {
        out.lower(Degree::Unknown, format!("a task that asks to {order}"));
    }
}

/// What a person is asked about when the other agent gets there: it reaches others, or nothing brings it back.
fn is_asked_later(runner: &mut Runner<'_, '_>, text: &str, state: &State<'_>) -> bool {
    const ASKED: &[Mark] = &[
        Mark::Push,
        Mark::HistoryRewrite,
        Mark::Publish,
        Mark::Deploy,
        Mark::ExternalWrite,
        Mark::ExternalMessage,
        Mark::Destroys,
        Mark::Privileged,
        Mark::SkipsChecks,
        Mark::DiscardsWork,
        Mark::TlsWeakened,
        Mark::Obfuscated,
        Mark::Persistence,
        Mark::AgentSettings,
    ];
    let caused = effects_of(runner, text, state);
    caused.iter().any(|effect| {
        let is_away = effect.marks.has(Mark::OutsideProject) || effect.scope > Scope::Project;
        let is_deleted = effect.operation == Operation::Delete && is_away && effect.scope != Scope::Scratch;
        effect.operation != Operation::Read && (is_deleted || effect.marks.has_any(ASKED))
    })
}

/// A sentence that asks to send something secret to an address.
fn sent_secret<'t>(world: &dyn World, sentence: &'t str, cwd: &str) -> Option<&'t str> {
    let lower = sentence.to_ascii_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_ascii_alphabetic() && letter != '\'');
    let asks = words.clone().any(|word| SENDING.contains(&word)) && !words.any(|word| holds(REFUSING, word));
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

/// A command in the text.
struct Snippet {
    text: String,
    /// The sentence wants it run, and does not only speak of it.
    is_ordered: bool,
}

/// What looks like a command: between backticks, in a block, behind a prompt or a colon, or from a program's name on.
fn snippets(text: &str, knows: &dyn Fn(&str) -> bool) -> Vec<Snippet> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_fenced = !is_fenced;
            continue;
        }
        if is_fenced {
            found.push(Snippet { text: trimmed.trim_start_matches("$ ").to_owned(), is_ordered: true });
            continue;
        }
        let lower = line.to_ascii_lowercase();
        let mut words = lower.split(|letter: char| !letter.is_ascii_alphabetic() && letter != '\'');
        if words.any(|word| holds(REFUSING, word)) {
            continue;
        }
        let is_ordered = !tells(line);
        for (place, text) in line.split('`').enumerate().skip(1).step_by(2) {
            let before = line.split('`').nth(place - 1).unwrap_or_default();
            found.push(Snippet { text: text.to_owned(), is_ordered: is_ordered && leads_to_command(before) });
        }
        let behind = line.split_once(": ").map(|(_, rest)| rest.trim());
        let typed = typed(line, knows).filter(|_| is_ordered);
        let bare = trimmed.strip_prefix("$ ").into_iter().chain(behind).chain(typed);
        found.extend(bare.map(|text| Snippet { text: text.to_owned(), is_ordered }));
    }
    found.retain(|snippet| snippet.text.split_whitespace().nth(1).is_some() && snippet.text.len() < 2_000);
    found.truncate(SNIPPETS);
    found
}

/// A command that stands in the sentence as it is: from the name of a program that no word of English is.
fn typed<'t>(line: &'t str, knows: &dyn Fn(&str) -> bool) -> impl Iterator<Item = &'t str> {
    // A command has something that prose has not: a flag, a pipe, an address, a path.
    let is_command = |rest: &str| {
        rest.split_whitespace().skip(1).any(|word| {
            word.starts_with(['-', '|', '~', '/', '<', '>'])
                || word.contains("://")
                || holds("push publish deploy merge", word)
        })
    };
    let after_space = line.match_indices(' ').map(|(at, _)| at + 1);
    let starts = [0].into_iter().chain(after_space).filter_map(|at| {
        let rest = line.get(at..)?;
        let before = line.get(..at).unwrap_or_default();
        (knows(rest.split_whitespace().next()?) && !leads_to_example(before)).then_some(rest)
    });
    // The first ones say it; those behind them are parts of the same command.
    let starts: Vec<&str> = starts.filter(|rest| is_command(rest)).take(TYPED).collect();
    starts.into_iter().flat_map(|rest| {
        let plain = rest.trim_end_matches(['.', ',', ';']);
        let until = [" and ", " to ", " then ", ", ", ". "].iter().filter_map(|end| rest.find(end)).min();
        [Some(plain), until.and_then(|end| rest.get(..end))].into_iter().flatten()
    })
}
