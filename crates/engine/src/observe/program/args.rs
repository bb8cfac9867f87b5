//! Reads an argument list by a program's flag table.

use crate::knowledge::packed::Packed;
use crate::knowledge::schema::{Changes, Entry, Facet, Flag, Grammar, Role, Sense, Style, Takes, Text};
use crate::observe::field::Field;
use crate::observe::stream::Shape;

/// A flag as it was given.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub name: String,
    pub value: Option<Field>,
    pub role: Role,
    pub changes: Changes,
    /// How many words of the command were read before it: 1 for a flag of the program itself.
    pub level: usize,
}

/// An argument list, read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Args {
    /// The program and the subcommands that were named: `git`, `git stash`, `git stash push`.
    pub chain: Vec<Entry>,
    pub given: Vec<Given>,
    /// `-20`, where the program takes numbers so.
    pub count: Option<usize>,
    pub operands: Vec<Field>,
    /// The words behind a flag that takes a whole command.
    pub rest: Vec<Field>,
    /// Flags that no table knows.
    pub unknown: Vec<String>,
    /// Words that may be flags but cannot be read.
    pub unreadable: Vec<String>,
    /// All of these are names of files in the project.
    pub are_names: bool,
    /// `--` was seen, so what follows are operands for certain.
    pub ended: bool,
    /// How many operands stood before `--`.
    pub ended_at: usize,
    /// A subcommand that no table knows.
    pub unknown_sub: Option<String>,
}

impl Args {
    /// Some flag makes this change, and makes it wherever it is given: `--dry-run=client --dry-run=none` does not.
    pub(crate) fn always(&self, makes: impl Fn(&Changes) -> bool) -> bool {
        let held = |name: &str| self.given.iter().filter(|given| given.name == name).all(|given| makes(&given.changes));
        self.given.iter().any(|given| makes(&given.changes) && held(&given.name))
    }

    /// The entry of the innermost subcommand.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.chain.last()
    }

    /// The program or the subcommand is known to be so.
    pub(crate) fn is(&self, facet: Facet) -> bool {
        self.chain.iter().any(|entry| entry.facets.has(facet))
    }

    /// The words that mean this to the innermost command that has any.
    pub(crate) fn words(&self, sense: Sense) -> Vec<Text> {
        self.chain.iter().rev().find_map(|entry| entry.senses.of(sense)).unwrap_or_default()
    }

    /// A flag that means this is given.
    pub(crate) fn gives(&self, sense: Sense) -> bool {
        !self.given.is_empty() && self.words(sense).iter().any(|word| self.has(word))
    }

    /// Every flag that is given means this.
    pub(crate) fn gives_only(&self, sense: Sense) -> bool {
        let words = self.words(sense);
        self.given.iter().all(|given| words.iter().any(|word| *word == given.name))
    }

    /// The values of the flags that mean this; one that is not known is `None`.
    pub(crate) fn values(&self, sense: Sense) -> Vec<Option<&str>> {
        self.fields(sense).into_iter().map(Field::known).collect()
    }

    /// The same as words of the call.
    pub(crate) fn fields(&self, sense: Sense) -> Vec<&Field> {
        let words = self.words(sense);
        let given = self.given.iter().filter(|given| words.iter().any(|word| *word == given.name));
        given.filter_map(|given| given.value.as_ref()).collect()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|given| given.name == name)
    }

    pub(crate) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    pub(crate) fn value(&self, name: &str) -> Option<&Field> {
        self.given.iter().find(|given| given.name == name).and_then(|given| given.value.as_ref())
    }

    fn style(&self) -> Style {
        self.chain.iter().rev().find_map(|entry| entry.style).unwrap_or(Style::Gnu)
    }

    /// Finds a flag in the innermost table, then outward as far as tables inherit.
    fn find(&self, name: &str) -> Option<Flag> {
        for entry in self.chain.iter().rev() {
            let found = entry.flags.find(name);
            if found.is_some() || !entry.inherits {
                return found;
            }
        }
        None
    }

    fn numbers(&self) -> bool {
        self.entry().is_some_and(|entry| entry.numbers)
    }
}

/// Reads the words after the program's name.
pub(crate) fn read(program: Entry, words: &[Field], knowledge: Packed) -> Args {
    let mut args = Args { chain: vec![program], ..Args::default() };
    let mut at = 0;
    let mut first = true;
    while let Some(word) = words.get(at) {
        at += 1;
        let is_first = std::mem::replace(&mut first, false);
        if args.ended || args.style() == Style::None {
            operand(&mut args, word, knowledge);
            continue;
        }
        if word.may_be_flag() {
            cannot_read(&mut args, word);
            operand(&mut args, word, knowledge);
            continue;
        }
        let text = word.text.as_str();
        if text == "--" {
            args.ended = true;
            if args.entry().is_some_and(|entry| !entry.subs.is_empty() && entry.operands.is_empty()) {
                args.unknown.push("--".to_owned());
            }
            args.ended_at = args.operands.len();
        } else if is_flag(&args, text) {
            at += flag(&mut args, word, words.get(at..).unwrap_or_default());
        } else if is_first && args.style() == Style::Dashless && !text.is_empty() && bare_cluster(&args, text) {
            let cluster = word.with_text(format!("-{text}"));
            at += flag(&mut args, &cluster, words.get(at..).unwrap_or_default());
        } else {
            let stops = args.entry().is_some_and(|entry| entry.stops);
            let is_sub = operand(&mut args, word, knowledge);
            if stops && !is_sub {
                args.operands.extend(words.get(at..).unwrap_or_default().iter().cloned());
                break;
            }
        }
    }
    args
}

/// The word may be a flag, or some of the words that it becomes may be.
fn cannot_read(args: &mut Args, word: &Field) {
    args.are_names = word.shape == Shape::ProjectNames && (args.unreadable.is_empty() || args.are_names);
    args.unreadable.push(word.shown());
}

/// Takes a word as a subcommand if there is one of that name, otherwise as an operand.
fn operand(args: &mut Args, word: &Field, knowledge: Packed) -> bool {
    let Some(entry) = args.entry() else { return false };
    if !args.operands.is_empty() || entry.subs.is_empty() {
        args.operands.push(word.clone());
        return false;
    }
    let sub = word.exact().filter(|name| entry.subs.has(name));
    match sub.and_then(|name| knowledge.entry(&format!("{} {name}", entry.key))) {
        Some(found) => {
            args.chain.push(found);
            true
        }
        None => {
            // Where a command takes operands or acts by itself, another word is an operand.
            let stands_alone = !entry.operands.is_empty()
                || !entry.does.is_empty()
                || entry
                    .grammar
                    .is_some_and(|grammar| !matches!(grammar, Grammar::Git | Grammar::GitExtra | Grammar::Kubectl));
            if args.unknown_sub.is_none() && !stands_alone {
                args.unknown_sub = Some(word.shown());
            }
            args.operands.push(word.clone());
            false
        }
    }
}

fn is_flag(args: &Args, text: &str) -> bool {
    (text.len() > 1 && text.starts_with('-'))
        || (text.len() > 1 && text.starts_with('+') && (args.find(text).is_some() || args.find("+").is_some()))
}

/// Every letter of a first word without dash is a known flag.
fn bare_cluster(args: &Args, text: &str) -> bool {
    text.chars().all(|letter| args.find(&format!("-{letter}")).is_some())
}

/// Reads one flag; yields how many further words it used.
fn flag(args: &mut Args, word: &Field, next: &[Field]) -> usize {
    let text = word.text.as_str();
    if text.starts_with('+') && args.find(text).is_none() {
        if let Some(found) = args.find("+") {
            give(args, &found, text.get(1..).map(|value| word.with_text(value)));
        }
        return 0;
    }
    if let Some((name, value)) =
        text.split_once('=').filter(|(name, _)| name.starts_with("--") || args.style() == Style::SingleDash)
    {
        match args.find(name) {
            // A flag without a value that gets one means something else.
            Some(found) if found.takes == Takes::Nothing => args.unknown.push(word.shown()),
            Some(found) => {
                give(args, &found, Some(word.with_text(value)));
                return further(args, &found, next);
            }
            None if attached(args, word) || is_for_tests(args, word) => {}
            None => args.unknown.push(name.to_owned()),
        }
        return 0;
    }
    if let Some(found) = args.find(text) {
        return take(args, &found, next);
    }
    if args.style() == Style::SingleDash || text.starts_with("--") {
        if !attached(args, word) && !is_for_tests(args, word) {
            args.unknown.push(word.shown());
        }
        return 0;
    }
    if args.numbers() && text.get(1..).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) {
        args.count = text.get(1..).and_then(|digits| digits.parse().ok());
        return 0;
    }
    cluster(args, word, next)
}

/// `pytest tests --fast`, `go test ./... -update`: behind what is tested stands what the tests themselves take.
// A name that a flag of the runner begins with may be short for that one, and loads or writes what it says.
fn is_for_tests(args: &Args, word: &Field) -> bool {
    let takes_so = args.chain.iter().any(|entry| entry.facets.has(Facet::TestsTakeFlags));
    let Some(text) = word.exact().filter(|_| takes_so && !args.operands.is_empty()) else { return false };
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let is_short_for = |flag: &Flag| flag.name.trim_start_matches('-').starts_with(name.trim_start_matches('-'));
    let known = args.chain.iter().flat_map(|entry| entry.flags.all());
    crate::observe::names::is_plain_switch(name, value) && !known.into_iter().any(|flag| is_short_for(&flag))
}

/// `-Iinclude`: a flag of one letter with its value, where the program takes them so.
fn attached(args: &mut Args, word: &Field) -> bool {
    let takes_so = args.chain.iter().any(|entry| entry.facets.has(Facet::AttachedValues));
    let Some((name, value)) = word.text.split_at_checked(2).filter(|(_, value)| takes_so && !value.is_empty()) else {
        return false;
    };
    let Some(found) = args.find(name).filter(|found| matches!(found.takes, Takes::Value(_))) else { return false };
    give(args, &found, Some(word.with_text(value)));
    true
}

/// The values after the first one.
fn further(args: &mut Args, found: &Flag, next: &[Field]) -> usize {
    for (role, value) in found.more.iter().zip(next) {
        args.given.push(Given {
            name: found.name.to_string(),
            value: Some(value.clone()),
            role: *role,
            changes: Changes::default(),
            level: args.chain.len(),
        });
    }
    found.more.len().min(next.len())
}

fn take(args: &mut Args, found: &Flag, next: &[Field]) -> usize {
    match found.takes {
        Takes::Value(Role::Command) => {
            args.rest = next.to_vec();
            give(args, found, next.first().cloned());
            next.len()
        }
        Takes::Value(_) => {
            let first = next.first();
            // Only the first of several words is the value.
            if let Some(value) = first.filter(|value| value.many && value.may_be_flag()) {
                cannot_read(args, value);
            }
            if let Some(value) = first.filter(|value| acts_as_flag(args, value)) {
                args.unknown.push(format!("{} {}", found.name, value.shown()));
            }
            give(args, found, first.cloned());
            usize::from(first.is_some()) + further(args, found, next.get(1..).unwrap_or_default())
        }
        Takes::Nothing | Takes::Glued(_) => {
            give(args, found, None);
            0
        }
    }
}

/// The value would be a flag with an effect by itself: many programs do not take such a word for a value.
fn acts_as_flag(args: &Args, value: &Field) -> bool {
    let name = value.text.split('=').next().unwrap_or_default();
    let role = |takes: Takes| match takes {
        Takes::Nothing => Role::Data,
        Takes::Value(role) | Takes::Glued(role) => role,
    };
    name.len() > 1
        && name.starts_with('-')
        && args.find(name).is_some_and(|flag| flag.changes.has_effect() || !role(flag.takes).is_plain())
}

/// `-abc`, `-ofile`: letters one by one until one takes the rest as its value.
fn cluster(args: &mut Args, word: &Field, next: &[Field]) -> usize {
    let letters: Vec<(usize, char)> = word.text.char_indices().skip(1).collect();
    for (index, (at, letter)) in letters.iter().enumerate() {
        let Some(found) = args.find(&format!("-{letter}")) else {
            args.unknown.push(if letters.len() == 1 { word.shown() } else { format!("-{letter}") });
            return 0;
        };
        let rest = word.text.get(at + letter.len_utf8()..).unwrap_or_default();
        match found.takes {
            Takes::Nothing => give(args, &found, None),
            Takes::Value(_) if rest.is_empty() && index + 1 == letters.len() => return take(args, &found, next),
            // Some programs take only digits as such a value, and read further letters as flags.
            Takes::Glued(_) if may_go_on(args, rest) => {
                args.unknown.push(word.shown());
                return 0;
            }
            Takes::Value(_) | Takes::Glued(_) => {
                let value = (!rest.is_empty()).then(|| word.with_text(rest.strip_prefix('=').unwrap_or(rest)));
                give(args, &found, value);
                return 0;
            }
        }
    }
    0
}

/// What follows a flag in its word may be further flags: such as run their value, or any that do something behind a number.
fn may_go_on(args: &Args, rest: &str) -> bool {
    let letters = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    // `-i.bak`, `-M:test`: no flag begins with a sign.
    if !letters.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return false;
    }
    let is_behind_number = letters.len() < rest.len();
    let role = |letter: char| match args.find(&format!("-{letter}")).map(|found| found.takes) {
        Some(Takes::Value(role) | Takes::Glued(role)) => role,
        Some(Takes::Nothing) | None => Role::Data,
    };
    letters.chars().any(|letter| role(letter).is_run())
        || (is_behind_number
            && letters.chars().any(|letter| !matches!(role(letter), Role::Data | Role::Text | Role::Name | Role::List)))
}

fn give(args: &mut Args, flag: &Flag, value: Option<Field>) {
    let role = match flag.takes {
        Takes::Value(role) | Takes::Glued(role) => role,
        Takes::Nothing => Role::Data,
    };
    if flag.changes.ends {
        args.ended = true;
    }
    let level = args.chain.len();
    // A flag with an optional value that is not given means what it says without any.
    let changes = match (&value, flag.takes) {
        (None, Takes::Glued(_)) => flag.changes.clone(),
        (_, _) => flag.changes.with_value(value.as_ref().and_then(Field::exact)),
    };
    args.given.push(Given { name: flag.name.to_string(), value, role, changes, level });
}
