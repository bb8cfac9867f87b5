//! Reads a program file into entries.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::{Complaint, File};
use super::notation;
use super::schema::{Changes, Entry, Flag, Grammar, Named, Role, Style, Takes, Text};

/// A program file: its names, its entries (the program first) and its examples.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramFile {
    pub names: Vec<String>,
    pub entries: Vec<Entry>,
    pub examples: Vec<Example>,
}

impl ProgramFile {
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

/// Reads a whole program file.
pub fn read(file: File<'_>) -> Result<ProgramFile, Complaint> {
    let table = file.table()?;
    let name = required(file, &table, "name")?.to_owned();
    let mut names = vec![name.clone()];
    if let Some(value) = table.get("aliases") {
        names.extend(file.strings(value)?);
    }
    required(file, &table, "what")?;
    let examples = match table.get("example") {
        Some(value) => file.array(value)?.iter().map(|item| example(file, item)).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    if examples.is_empty() {
        return Err(file.complaint(0, "a program file needs at least one [[example]]"));
    }
    let mut entries = Vec::new();
    command(file, &table, &name, &mut entries)?;
    Ok(ProgramFile { names, entries, examples })
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
            "name" | "aliases" | "example" if is_program => {}
            "sub" => subs = Some(file.inner(value)?),
            "flags" => flags(file, &mut listed, value)?,
            other => field(file, &mut entry, other, name, value)?,
        }
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
