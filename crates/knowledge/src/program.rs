//! Reads a program file into entries.

use doorward_vocabulary::{Mark, Operation, Reach, Reversibility};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::family::{Family, Kind, Settings};
use crate::file::{Complaint, File};
use crate::notation;
use crate::packed::Packed;
use crate::schema::{
    Changes, Check, Console, Does, Entry, Facet, Facets, Flag, Grammar, Named, Operand, Role, Sections, Sense, Style,
    Takes, TaskFile, Text, WordSet,
};

/// A program file: its names, its entries (the program first) and its examples.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramFile {
    pub names: Vec<String>,
    pub entries: Vec<Entry>,
    pub examples: Vec<Example>,
    /// What it was compared with: `man 1 sort, coreutils 9.4`.
    pub checked: Option<String>,
    pub family: Option<Family>,
}

impl ProgramFile {
    /// Aliases that no example uses. GNU tools with a `g` before their name are exempt: they are the same binary.
    pub fn unproven_aliases(&self) -> impl Iterator<Item = &str> {
        let is_twin =
            |alias: &str| alias.strip_prefix('g').is_some_and(|rest| self.names.iter().any(|name| name == rest));
        let is_used = |alias: &str| {
            self.examples
                .iter()
                .any(|example| example.call.split([' ', ';', '|', '&', '/', '(']).any(|word| word == alias))
        };
        self.names.iter().skip(1).map(String::as_str).filter(move |alias| !is_twin(alias) && !is_used(alias))
    }

    /// Every entry under every name of the program.
    pub fn keyed(&self) -> impl Iterator<Item = (String, &Entry)> {
        self.names.iter().flat_map(|name| {
            self.entries.iter().map(move |entry| match entry.key.split_once(' ') {
                Some((_, rest)) => (format!("{name} {rest}"), entry),
                None => (name.clone(), entry),
            })
        })
    }
}

/// A command line with the effects that it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub call: String,
    /// `read src/lib.rs`, `write out.txt +truncates`.
    pub effects: Vec<String>,
    /// `full` unless said otherwise.
    pub coverage: String,
    pub line: usize,
}

/// Programs that a file may refer to with `like`.
pub trait Kin {
    /// The program's entries, itself first, with their flags listed.
    fn entries(&self, name: &str) -> Option<Vec<Entry>>;
}

impl Kin for Vec<(String, ProgramFile)> {
    fn entries(&self, name: &str) -> Option<Vec<Entry>> {
        self.iter().find(|(_, file)| file.names.iter().any(|known| known == name)).map(|(_, file)| file.entries.clone())
    }
}

impl Kin for Packed {
    fn entries(&self, name: &str) -> Option<Vec<Entry>> {
        let mut all = vec![self.entry(name)?];
        let mut next = 0;
        while let Some(entry) = all.get(next).cloned() {
            all.extend(entry.subs.all().iter().filter_map(|sub| self.entry(&format!("{} {sub}", entry.key))));
            next += 1;
        }
        for entry in &mut all {
            entry.flags = Named::Listed(entry.flags.all());
            entry.subs = Named::Listed(entry.subs.all());
            entry.senses = Named::Listed(entry.senses.all());
        }
        Some(all)
    }
}

/// The program that a file says it is like.
pub fn like(file: File<'_>) -> Result<Option<String>, Complaint> {
    file.table()?.get("like").map(|value| file.string(value).map(str::to_owned)).transpose()
}

/// Reads a whole program file.
pub fn read(file: File<'_>, kin: &dyn Kin) -> Result<ProgramFile, Complaint> {
    let table = file.table()?;
    let name = required(file, &table, "name")?.to_owned();
    let mut names = vec![name.clone()];
    if let Some(value) = table.get("aliases") {
        names.extend(file.strings(value)?);
    }
    required(file, &table, "what")?;
    let checked = table.get("checked").map(|value| file.string(value).map(str::to_owned)).transpose()?;
    let examples = match table.get("example") {
        Some(value) => file.array(value)?.iter().map(|item| example(file, item)).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    if examples.is_empty() {
        return Err(file.complaint(0, "a program file needs at least one [[example]]"));
    }
    let mut entries = Vec::new();
    command(file, &table, &name, &mut entries)?;
    if let Some(value) = table.get("like") {
        let base = file.string(value)?;
        let base =
            kin.entries(base).ok_or_else(|| file.at(value, format!("there is no program `{base}` to be like")))?;
        inherit(file, &table, &mut entries, &base)?;
    } else if taken_off(file, &table)? != Facets::default() {
        return Err(file.complaint(0, "only a file that says `like` takes a facet off"));
    }
    let family = Family::read(file, &table, &entries)?;
    if family.as_ref().is_some_and(|family| family.settings == Some(Settings::Operand)) {
        entries.iter_mut().for_each(|entry| entry.facets.add(Facet::SettingsBesideOperand));
    }
    // Compilers and linkers take `@FILE` by convention, and such a file may hold any flag.
    if family.as_ref().is_some_and(|family| family.kind == Kind::Compiler) {
        entries.iter_mut().for_each(|entry| entry.facets.add(Facet::ArgumentFiles));
    }
    if let Some(program) = entries.first_mut().filter(|program| runs_words(program)) {
        program.facets.add(Facet::DoesAnything);
    }
    // What stands in their environment is for the tests, the tasks and the scripts that they run.
    let kind = family.as_ref().map(|family| family.kind);
    let has_tasks = entries.first().is_some_and(|program| program.tasks.is_some());
    let is_shell = entries.first().is_some_and(|program| program.grammar == Some(Grammar::Shell));
    if matches!(kind, Some(Kind::TestRunner | Kind::BuildTool | Kind::Interpreter)) && !is_shell || has_tasks {
        entries.iter_mut().for_each(|entry| entry.facets.add(Facet::HandsEnvironment));
    }
    // Among such siblings a subcommand that nobody knows may be one more of them.
    let is_outside = |does: &Does| {
        let changes = !matches!(does.operation, Operation::Read | Operation::Execute)
            && does.reversibility != Reversibility::NothingChanges;
        changes && does.reach >= Reach::Machine
            || does.marks.has_any(&[Mark::ExternalWrite, Mark::Push, Mark::Deploy, Mark::Cloud])
    };
    if entries.iter().any(|entry| entry.does.iter().any(is_outside)) {
        entries.iter_mut().for_each(|entry| entry.facets.add(Facet::ReachesOut));
    }
    // Whichever client of a database it is, an address among its words is contacted.
    if family.as_ref().is_some_and(|family| family.kind == Kind::DatabaseClient) {
        entries.iter_mut().for_each(|entry| entry.facets.add(Facet::DatabaseHosts));
    }
    Ok(ProgramFile { names, entries, examples, checked, family })
}

/// The operands of the program, or its first ones, are a command or code.
fn runs_words(program: &Entry) -> bool {
    let is_code = |operand: &Operand| {
        operand.role.is_run() && !matches!(operand.role, Role::Script | Role::ScriptSh | Role::Config)
    };
    let grammar = [Grammar::Interpreter, Grammar::Shell, Grammar::Xargs, Grammar::Ssh, Grammar::Env, Grammar::Flock];
    program.operands.iter().any(is_code) || program.grammar.is_some_and(|known| grammar.contains(&known))
}

/// Fills in what a file that says `like` leaves to its kin: flags, style and subcommands, never operands and effects.
fn inherit(file: File<'_>, table: &DeTable<'_>, entries: &mut Vec<Entry>, base: &[Entry]) -> Result<(), Complaint> {
    let (Some(own), Some((first, below))) = (entries.first_mut(), base.split_first()) else { return Ok(()) };
    for key in ["operands", "does"] {
        if below.is_empty() && !table.contains_key(key) {
            return Err(file.complaint(0, format!("a file that says `like` says its own `{key}`, if only `[]`")));
        }
    }
    let mut flags = own.flags.all();
    flags.extend(first.flags.all().into_iter().filter(|flag| own.flags.find(&flag.name).is_none()));
    flags.sort_by(|a, b| a.name.cmp(&b.name));
    own.flags = Named::Listed(flags);
    own.style = own.style.or(first.style);
    own.grammar = own.grammar.or(first.grammar);
    own.stops |= first.stops;
    own.numbers |= first.numbers;
    own.helps |= first.helps;
    for (name, extra) in &first.extras {
        if !own.extras.iter().any(|(known, _)| known == name) {
            own.extras.push((name.clone(), extra.clone()));
        }
    }
    if own.env.is_empty() {
        own.env.clone_from(&first.env);
    }
    if own.delegates.is_empty() {
        own.delegates.clone_from(&first.delegates);
    }
    own.facets.0 |= first.facets.0 & !taken_off(file, table)?.0;
    own.tasks = own.tasks.or(first.tasks);
    own.console = own.console.or(first.console);
    own.check = own.check.or(first.check);
    if own.sections.is_empty() {
        own.sections.clone_from(&first.sections);
    }
    let mut senses = own.senses.all();
    senses.extend(
        first.senses.all().into_iter().filter(|set| !senses.iter().any(|own| own.name == set.name)).collect::<Vec<_>>(),
    );
    senses.sort_by(|a, b| a.name.cmp(&b.name));
    own.senses = Named::Listed(senses);
    let key = own.key.clone();
    if own.subs.is_empty() && !below.is_empty() {
        own.subs = first.subs.clone();
        entries.extend(below.iter().map(|entry| {
            let rest = entry.key.split_once(' ').map_or("", |(_, rest)| rest);
            Entry { key: format!("{key} {rest}").into(), ..entry.clone() }
        }));
    }
    Ok(())
}

/// Facets of its kin that a file does not have: `facets = ["-argument-files"]`.
fn taken_off(file: File<'_>, table: &DeTable<'_>) -> Result<Facets, Complaint> {
    let mut facets = Facets::default();
    let Some(value) = table.get("facets") else { return Ok(facets) };
    for word in file.strings(value)? {
        if let Some(name) = word.strip_prefix('-') {
            facets.add(Facet::parse(name).ok_or_else(|| file.at(value, format!("`{name}` is not a facet")))?);
        }
    }
    Ok(facets)
}

fn required<'v>(file: File<'v>, table: &'v DeTable<'v>, key: &str) -> Result<&'v str, Complaint> {
    match table.get(key) {
        Some(value) => file.string(value),
        None => Err(file.complaint(0, format!("`{key}` is missing"))),
    }
}

fn example<'a>(file: File<'a>, value: &Spanned<DeValue<'a>>) -> Result<Example, Complaint> {
    let table = file.inner(value)?;
    let mut example =
        Example { call: String::new(), effects: Vec::new(), coverage: "full".into(), line: file.at(value, "").line };
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "call" => example.call = file.string(value)?.to_owned(),
            "effects" => {
                example.effects = file
                    .array(value)?
                    .iter()
                    .map(|item| file.string(item).map(str::to_owned))
                    .collect::<Result<_, _>>()?;
            }
            "coverage" => example.coverage = file.string(value)?.to_owned(),
            other => return Err(file.at(key, format!("`{other}` is not a key of an example"))),
        }
    }
    if example.call.is_empty() {
        return Err(file.at(value, "an example needs `call`"));
    }
    Ok(example)
}

/// Reads one command and, through `sub`, the commands below it.
fn command<'a>(file: File<'a>, table: &DeTable<'a>, key: &str, entries: &mut Vec<Entry>) -> Result<(), Complaint> {
    let is_program = entries.is_empty();
    let mut entry = Entry { key: key.to_owned().into(), inherits: true, ..Entry::default() };
    let mut listed = Vec::new();
    let mut subs = None;
    for (name, value) in table.iter() {
        match name.get_ref().as_ref() {
            "name" | "aliases" | "example" | "like" | "checked" | "family" | "answers" if is_program => {}
            "use" => {}
            "sub" => subs = Some(file.inner(value)?),
            "flags" => flags(file, &mut listed, value)?,
            other => field(file, &mut entry, other, name, value)?,
        }
    }
    if let Some(value) = table.get("use") {
        flag_sets(file, &mut listed, value)?;
    }
    check_extras(file, &entry, &listed)?;
    entry.flags = Named::Listed(listed);
    let at = entries.len();
    entries.push(entry);
    let Some(subs) = subs else { return Ok(()) };
    let mut names = Vec::new();
    for (name, value) in subs.iter() {
        for spelling in name.get_ref().split_whitespace() {
            names.push(spelling.to_owned().into());
            command(file, file.inner(value)?, &format!("{key} {spelling}"), entries)?;
        }
    }
    names.sort_unstable();
    if let Some(entry) = entries.get_mut(at) {
        entry.subs = Named::Listed(names);
    }
    Ok(())
}

fn field<'a>(
    file: File<'a>,
    entry: &mut Entry,
    key: &str,
    name: &Spanned<std::borrow::Cow<'a, str>>,
    value: &Spanned<DeValue<'a>>,
) -> Result<(), Complaint> {
    let complain = |message: String| file.at(value, message);
    match key {
        "what" => entry.what = file.string(value)?.to_owned().into(),
        "style" => {
            let text = file.string(value)?;
            entry.style = Some(Style::parse(text).ok_or_else(|| complain(format!("`{text}` is not a style")))?);
        }
        "grammar" => {
            let text = file.string(value)?;
            entry.grammar = Some(Grammar::parse(text).ok_or_else(|| complain(format!("`{text}` is not a grammar")))?);
        }
        "stops" => entry.stops = file.boolean(value)?,
        "numbers" => entry.numbers = file.boolean(value)?,
        "inherits" => entry.inherits = file.boolean(value)?,
        "help" => match file.string(value)? {
            "anywhere" => entry.helps = true,
            text => return Err(complain(format!("`{text}` is not a place for help"))),
        },
        "facets" => {
            for word in file.strings(value)? {
                // What kin has and this program has not is taken away in `inherit`.
                let name = word.strip_prefix('-').filter(|_| !entry.key.contains(' ')).unwrap_or(&word);
                let facet = Facet::parse(name).ok_or_else(|| complain(format!("`{word}` is not a facet")))?;
                if name == word {
                    entry.facets.add(facet);
                }
            }
        }
        "tasks" => entry.tasks = Some(word(file, value, "a file of tasks", TaskFile::parse)?),
        "console" => entry.console = Some(word(file, value, "a framework", Console::parse)?),
        "check" => entry.check = Some(word(file, value, "a check", Check::parse)?),
        "sections" => {
            for (name, value) in file.inner(value)?.iter() {
                let parts = texts(file.strings(value)?);
                entry.sections.push(Sections { file: name.get_ref().to_string().into(), parts });
            }
        }
        "senses" => entry.senses = Named::Listed(senses(file, value)?),
        "delegates" => entry.delegates = texts(file.strings(value)?),
        "env" => entry.env = texts(file.strings(value)?),
        "operands" => {
            for item in file.array(value)? {
                entry.operands.push(notation::operand(file.string(item)?).map_err(|message| file.at(item, message))?);
            }
        }
        "default" => {
            entry.default = Some(notation::operand(file.string(value)?).map_err(complain)?);
        }
        "does" => {
            for item in file.array(value)? {
                entry.does.push(notation::does(file.string(item)?).map_err(|message| file.at(item, message))?);
            }
        }
        "extra" => {
            for (name, value) in file.inner(value)?.iter() {
                let does = notation::does(file.string(value)?).map_err(|message| file.at(value, message))?;
                entry.extras.push((name.get_ref().to_string().into(), does));
            }
        }
        other => return Err(file.at(name, format!("`{other}` is not a key of a program"))),
    }
    Ok(())
}

/// A word of a list.
fn word<'a, T>(
    file: File<'a>,
    value: &Spanned<DeValue<'a>>,
    what: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, Complaint> {
    let text = file.string(value)?;
    parse(text).ok_or_else(|| file.at(value, format!("`{text}` is not {what}")))
}

/// `follow-links = "-L --dereference"`.
fn senses<'a>(file: File<'a>, value: &Spanned<DeValue<'a>>) -> Result<Vec<WordSet>, Complaint> {
    let mut sets = Vec::new();
    for (name, value) in file.inner(value)?.iter() {
        let text = name.get_ref().as_ref();
        let sense = Sense::parse(text).ok_or_else(|| file.at(name, format!("`{text}` is not a sense")))?;
        let words = file.string(value)?.split_whitespace().map(|word| word.to_owned().into()).collect();
        sets.push(WordSet { name: sense.as_str().into(), words });
    }
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(sets)
}

fn texts(list: Vec<String>) -> Vec<Text> {
    list.into_iter().map(Text::Owned).collect()
}

fn flags<'a>(file: File<'a>, listed: &mut Vec<Flag>, value: &Spanned<DeValue<'a>>) -> Result<(), Complaint> {
    for (key, value) in file.inner(value)?.iter() {
        let text = file.string(value)?;
        if key.get_ref().as_ref() == "plain" {
            for name in text.split_whitespace() {
                flag(listed, name, Takes::Nothing, Vec::new(), Changes::default())
                    .map_err(|message| file.at(value, message))?;
            }
            continue;
        }
        let (takes, more, changes) = notation::flag(text).map_err(|message| file.at(value, message))?;
        for name in key.get_ref().split_whitespace() {
            flag(listed, name, takes, more.clone(), changes.clone()).map_err(|message| file.at(key, message))?;
        }
    }
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(())
}

/// Adds the flags of the sets that a command uses. What the command says itself counts.
fn flag_sets<'a>(file: File<'a>, listed: &mut Vec<Flag>, value: &Spanned<DeValue<'a>>) -> Result<(), Complaint> {
    let sets = File { name: "flagsets.toml", text: include_str!("../flagsets.toml") };
    let table = sets.table()?;
    for item in file.array(value)? {
        let name = file.string(item)?;
        let set = table.get(name).ok_or_else(|| file.at(item, format!("`{name}` is not a set of flags")))?;
        let mut added = Vec::new();
        flags(sets, &mut added, set)?;
        listed.extend(
            added.into_iter().filter(|flag| !listed.iter().any(|own| own.name == flag.name)).collect::<Vec<_>>(),
        );
    }
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(())
}

fn flag(listed: &mut Vec<Flag>, name: &str, takes: Takes, more: Vec<Role>, changes: Changes) -> Result<(), String> {
    if !name.starts_with(['-', '+']) {
        return Err(format!("`{name}` does not look like a flag"));
    }
    if listed.iter().any(|flag| flag.name == name) {
        return Err(format!("`{name}` is listed twice"));
    }
    listed.push(Flag { name: name.to_owned().into(), takes, more, changes });
    Ok(())
}

fn check_extras(file: File<'_>, entry: &Entry, flags: &[Flag]) -> Result<(), Complaint> {
    for flag in flags {
        if let Some(extra) = &flag.changes.extra
            && !entry.extras.iter().any(|(name, _)| name == extra)
        {
            return Err(file.complaint(
                0,
                format!("`{}` of `{}` names the extra `{extra}`, which doesn't exist", flag.name, entry.key),
            ));
        }
    }
    Ok(())
}
