//! Rewrites words that the flag reader would misread: signals, modes, old-style clusters, expressions.

use crate::knowledge::schema::{Entry, Grammar, Takes};
use crate::observe::field::Field;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::world::World;

/// The words as the flag reader should see them, if they differ from the ones given.
pub(crate) fn prepare(out: &Observer<'_>, entry: &Entry, words: &[Field], state: &State<'_>) -> Option<Vec<Field>> {
    match entry.grammar? {
        Grammar::Find => Some(all_operands(words)),
        Grammar::Kill => signal(words),
        Grammar::Chmod => mode(words),
        Grammar::Ps => environments(words),
        Grammar::Tar => old_cluster(entry, words),
        Grammar::CloudCli => super::cloud_cli::joined(entry, words, out.knowledge),
        Grammar::Git => written_out(out.world, entry, words, state),
        Grammar::Interpreter => module_arguments(entry, words),
        Grammar::Env => super::wrapper::env(words),
        Grammar::Flock => super::wrapper::flock(entry, words),
        Grammar::Sed
        | Grammar::Awk
        | Grammar::Test
        | Grammar::Dd
        | Grammar::Ssh
        | Grammar::Curl
        | Grammar::Xargs
        | Grammar::Echo
        | Grammar::Cd
        | Grammar::Shell
        | Grammar::Make
        | Grammar::PackageScript
        | Grammar::Sql
        | Grammar::Kubectl
        | Grammar::Jq
        | Grammar::GhApi
        | Grammar::Fzf
        | Grammar::Tmux
        | Grammar::GitExtra
        | Grammar::Builtin => None,
    }
}

/// `git st` with `alias.st = status -s`. Aliases that a shell runs stay as they are.
fn written_out(world: &dyn World, entry: &Entry, words: &[Field], state: &State<'_>) -> Option<Vec<Field>> {
    let git = world.git(state.cwd.as_deref()?)?;
    let config = git.config.as_ref().ok()?;
    let mut all = words.to_vec();
    let mut changed = false;
    for _ in 0..ALIASES {
        let Some(at) = subcommand_at(&all) else { break };
        let Some(name) = all.get(at).and_then(Field::exact).filter(|name| !entry.subs.has(name)) else {
            break;
        };
        let Some(text) = config.get(&format!("alias.{}", name.to_ascii_lowercase())) else { break };
        if text.starts_with('!') || text.contains(['"', '\'', '\\']) {
            break;
        }
        let written: Vec<Field> =
            text.split_whitespace().map(|word| Field::literal(word, doorward_shell::Span::default())).collect();
        all.splice(at..=at, written);
        changed = true;
    }
    changed.then_some(all)
}

/// Aliases of aliases deeper than this stay unknown.
// Git itself refuses to loop. People nest an alias once.
const ALIASES: usize = 5;

/// Where the first word stands that is no flag of git itself.
fn subcommand_at(words: &[Field]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.text.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--config-env" | "--attr-source"
            | "--super-prefix" => at += 2,
            text if text.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// `python -m module …`, `python -c code …`: what follows belongs to the module or the code.
fn module_arguments(entry: &Entry, words: &[Field]) -> Option<Vec<Field>> {
    if !["python", "pypy", "ipython"].iter().any(|name| entry.key.starts_with(name)) {
        return None;
    }
    let mut at = 0;
    let end = loop {
        let text = words.get(at)?.text.as_str();
        match text {
            "-W" | "-X" | "--check-hash-based-pycs" => at += 1,
            _ if text.starts_with("--") => {}
            _ => match text.strip_prefix('-').filter(|rest| !rest.is_empty())?.find(['m', 'c']) {
                Some(index) if index + 2 == text.len() => break at + 2,
                Some(_) => break at + 1,
                None => {}
            },
        }
        at += 1;
    };
    let mut all = words.to_vec();
    all.insert(end.min(all.len()), Field::literal("--", doorward_shell::Span::default()));
    Some(all)
}

/// Nothing is a flag.
fn all_operands(words: &[Field]) -> Vec<Field> {
    let mut all = vec![Field::literal("--", doorward_shell::Span::default())];
    all.extend_from_slice(words);
    all
}

/// `kill -9`, `pkill -HUP`: the first such word is the signal.
fn signal(words: &[Field]) -> Option<Vec<Field>> {
    let flags = words.iter().take_while(|word| word.text != "--");
    let at = flags.clone().position(|word| word.exact().is_some_and(is_signal))?;
    if flags.take(at).any(|word| matches!(word.text.as_str(), "-s" | "-n" | "--signal")) {
        return None;
    }
    let mut all = words.to_vec();
    let word = all.get_mut(at)?;
    word.text = format!("--signal={}", word.text.trim_start_matches('-'));
    // After the signal a number with a dash is a process group.
    if all
        .get(at + 1)
        .is_some_and(|next| next.text.starts_with('-') && next.text.bytes().skip(1).all(|byte| byte.is_ascii_digit()))
    {
        all.insert(at + 1, Field::literal("--", doorward_shell::Span::default()));
    }
    Some(all)
}

fn is_signal(text: &str) -> bool {
    // POSIX and Linux signals: `kill -9 1` and `kill -KILL 1` must not read the signal as a flag.
    const NAMES: &[&str] = &[
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",
        "PWR", "SYS",
    ];
    let Some(name) = text.strip_prefix('-') else { return false };
    let number = !name.is_empty() && name.len() <= 2 && name.bytes().all(|byte| byte.is_ascii_digit());
    number || NAMES.contains(&name.strip_prefix("SIG").unwrap_or(name))
}

/// `chmod -x file`: a mode that looks like flags.
fn mode(words: &[Field]) -> Option<Vec<Field>> {
    let is_mode = |text: &str| {
        text.strip_prefix('-').is_some_and(|rest| {
            !rest.is_empty() && rest.chars().all(|letter| "rwxXstugo,=+-".contains(letter)) && !rest.starts_with('-')
        })
    };
    let at = words.iter().position(|word| word.exact().is_some_and(is_mode))?;
    let mut all = words.to_vec();
    let word = all.get_mut(at)?;
    word.text.insert(0, 'a');
    Some(all)
}

/// `tar cfz archive file`: letters first, their values after them in the same order.
fn old_cluster(entry: &Entry, words: &[Field]) -> Option<Vec<Field>> {
    let first = words.first()?;
    let letters = first.exact().filter(|text| !text.is_empty() && !text.starts_with('-'))?;
    let mut rest = words.get(1..).unwrap_or_default().iter();
    let mut all = Vec::new();
    for letter in letters.chars() {
        let name = format!("-{letter}");
        let flag = entry.flags.find(&name)?;
        all.push(first.with_text(name));
        match flag.takes {
            Takes::Value(_) => all.extend(rest.next().cloned()),
            Takes::Nothing | Takes::Glued(_) => {}
        }
    }
    all.extend(rest.cloned());
    Some(all)
}

/// `ps auxe`: the letter `e` without a dash asks for the environment of every process.
fn environments(words: &[Field]) -> Option<Vec<Field>> {
    let first = words.first()?;
    let letters =
        first.exact().filter(|text| !text.starts_with('-') && text.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
    letters.contains('e').then(|| {
        let mut words = words.to_vec();
        words.push(first.with_text("--environment"));
        words
    })
}
