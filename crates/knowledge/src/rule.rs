//! Reads a rule file: a conjunction over facts, with its examples.

use std::borrow::Cow;

use doorward_vocabulary::{
    Clearance, Degree, FlowKind, Marks, Operation, Reach, Reversibility, Scope, Sensitivity, Verdict, words,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::file::{Complaint, File};
use crate::notation;

words! {
    /// How far a rule has come.
    Stage {
        Shadow = "shadow" : "recorded, changes no verdict",
        Active = "active" : "counts",
        Retired = "retired" : "kept for replay, never fires; a built-in soft question goes with it",
    }
}

/// A set of words of one dimension; empty means any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mask(pub u16);

impl Mask {
    pub fn add(&mut self, index: u8) {
        self.0 |= 1 << index;
    }

    /// The dimension is not asked about, or this word is among those asked for.
    pub fn admits(self, index: u8) -> bool {
        self.0 == 0 || self.0 & (1 << index) != 0
    }
}

/// The conjunction. Everything that is left out is not asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When {
    pub operation: Mask,
    pub scope: Mask,
    pub reversibility: Mask,
    pub reach: Mask,
    pub sensitivity: Mask,
    pub coverage: Mask,
    /// The call has one of these flows.
    pub flow: Mask,
    /// The effect has all of these marks.
    pub all: Marks,
    /// The effect has at least one of these marks.
    pub any: Marks,
    /// The effect has none of these marks.
    pub none: Marks,
    /// One of these words is among the session's taint.
    pub taint: Vec<Cow<'static, str>>,
    /// One of these tools.
    pub tool: Vec<Cow<'static, str>>,
    /// Counts under the `strict` profile only.
    pub strict: bool,
}

/// One rule of layer 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub id: Cow<'static, str>,
    pub verdict: Verdict,
    pub version: u32,
    pub stage: Stage,
    pub clears: Option<Clearance>,
    pub since: Cow<'static, str>,
    pub audited: Cow<'static, str>,
    pub what: Cow<'static, str>,
    pub why: Cow<'static, str>,
    pub instead: Cow<'static, str>,
    pub when: When,
}

/// A rule with the examples that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    pub rule: Rule,
    pub fires: Vec<RuleExample>,
    pub silent: Vec<RuleExample>,
    /// Calls that do what `instead` says; none of them may be denied.
    pub ways: Vec<RuleExample>,
}

/// A tool call as JSON, in the form of `doorward check --jsonl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleExample {
    pub call: String,
    pub line: usize,
}

/// Reads a rule. The verdict comes from the folder that the file lies in.
pub fn read(file: File<'_>, id: &str, verdict: Verdict) -> Result<RuleFile, Complaint> {
    read_table(file, file.table()?, empty(id, verdict))
}

/// Reads a rule of a user, which says its verdict itself and can only tighten.
pub fn read_own(file: File<'_>, id: &str) -> Result<RuleFile, Complaint> {
    const WANTED: &str = "use `verdict = \"confirm\"` or `verdict = \"block\"`";
    let mut table = file.table()?;
    let Some(value) = table.remove("verdict") else { return Err(file.complaint(0, WANTED)) };
    let verdict = match file.string(&value)? {
        "confirm" => Verdict::Confirm,
        "block" => Verdict::Block,
        other => {
            return Err(file.at(&value, format!("`{other}` is not a verdict for your own rules; {WANTED}")));
        }
    };
    read_table(file, table, empty(id, verdict))
}

fn read_table<'a>(file: File<'a>, table: DeTable<'a>, mut rule: Rule) -> Result<RuleFile, Complaint> {
    let (mut fires, mut silent, mut ways, mut has_when) = (Vec::new(), Vec::new(), Vec::new(), false);
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "version" => rule.version = file.integer(value)?.try_into().unwrap_or(u32::MAX),
            "since" => rule.since = owned(file.string(value)?),
            "audited" => rule.audited = owned(file.string(value)?),
            "what" => rule.what = owned(file.string(value)?),
            "why" => rule.why = owned(file.string(value)?),
            "instead" => rule.instead = owned(file.string(value)?),
            "stage" => rule.stage = word(file, value, "stage", Stage::parse)?,
            "clears" => rule.clears = Some(word(file, value, "clearance", Clearance::parse)?),
            "when" => {
                has_when = true;
                rule.when = when(file, value)?;
            }
            "fires" => fires = examples(file, value)?,
            "silent" => silent = examples(file, value)?,
            "ways" => ways = examples(file, value)?,
            other => return Err(file.at(key, format!("`{other}` is not a key of a rule"))),
        }
    }
    complete(file, &rule, has_when, &fires, &silent)?;
    Ok(RuleFile { rule, fires, silent, ways })
}

fn empty(id: &str, verdict: Verdict) -> Rule {
    Rule {
        id: owned(id),
        verdict,
        version: 0,
        stage: Stage::Active,
        clears: None,
        since: Cow::Borrowed(""),
        audited: Cow::Borrowed(""),
        what: Cow::Borrowed(""),
        why: Cow::Borrowed(""),
        instead: Cow::Borrowed(""),
        when: When::default(),
    }
}

fn complete(
    file: File<'_>,
    rule: &Rule,
    has_when: bool,
    fires: &[RuleExample],
    silent: &[RuleExample],
) -> Result<(), Complaint> {
    let missing = [
        ("version", rule.version == 0),
        ("since", rule.since.is_empty()),
        ("audited", rule.audited.is_empty()),
        ("what", rule.what.is_empty()),
        ("why", rule.why.is_empty()),
        ("when", !has_when),
        ("fires", fires.is_empty()),
        ("silent", silent.is_empty()),
        ("clears", rule.verdict != Verdict::AutoApprove && rule.clears.is_none()),
        ("instead", rule.verdict != Verdict::AutoApprove && rule.instead.is_empty()),
    ];
    match missing.iter().find(|(_, is_missing)| *is_missing) {
        Some((key, _)) => Err(file.complaint(0, format!("`{key}` is missing"))),
        None => Ok(()),
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}

fn word<T>(
    file: File<'_>,
    value: &Spanned<DeValue<'_>>,
    kind: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, Complaint> {
    let text = value.get_ref().as_str().unwrap_or_default();
    parse(text).ok_or_else(|| file.at(value, format!("`{text}` is not a {kind}")))
}

fn when<'a>(file: File<'a>, value: &Spanned<DeValue<'a>>) -> Result<When, Complaint> {
    let mut when = When::default();
    for (key, value) in file.inner(value)?.iter() {
        match key.get_ref().as_ref() {
            "operation" => when.operation = mask(file, value, "operation", |t| Operation::parse(t).map(|w| w as u8))?,
            "scope" => when.scope = mask(file, value, "scope", |t| Scope::parse(t).map(|w| w as u8))?,
            "reversibility" => {
                when.reversibility = mask(file, value, "reversibility", |t| Reversibility::parse(t).map(|w| w as u8))?;
            }
            "reach" => when.reach = mask(file, value, "reach", |t| Reach::parse(t).map(|w| w as u8))?,
            "sensitivity" => {
                when.sensitivity = mask(file, value, "sensitivity", |t| Sensitivity::parse(t).map(|w| w as u8))?;
            }
            "coverage" => when.coverage = mask(file, value, "coverage", |t| Degree::parse(t).map(|w| w as u8))?,
            "flow" => when.flow = mask(file, value, "flow", |t| FlowKind::parse(t).map(|w| w as u8))?,
            "all" => when.all = marks(file, value)?,
            "any" => when.any = marks(file, value)?,
            "none" => when.none = marks(file, value)?,
            "taint" => when.taint = file.strings(value)?.into_iter().map(Cow::Owned).collect(),
            "tool" => when.tool = file.strings(value)?.into_iter().map(Cow::Owned).collect(),
            "strict" => when.strict = file.boolean(value)?,
            other => return Err(file.at(key, format!("`{other}` is not a fact"))),
        }
    }
    Ok(when)
}

fn mask<'a>(
    file: File<'a>,
    value: &Spanned<DeValue<'a>>,
    kind: &str,
    index: impl Fn(&str) -> Option<u8>,
) -> Result<Mask, Complaint> {
    let mut mask = Mask::default();
    for text in file.strings(value)? {
        mask.add(index(&text).ok_or_else(|| file.at(value, format!("`{text}` is not a {kind}")))?);
    }
    Ok(mask)
}

fn marks<'a>(file: File<'a>, value: &Spanned<DeValue<'a>>) -> Result<Marks, Complaint> {
    let names = file.strings(value)?;
    notation::marks(names.iter().map(String::as_str)).map_err(|message| file.at(value, message))
}

fn examples<'a>(file: File<'a>, value: &Spanned<DeValue<'a>>) -> Result<Vec<RuleExample>, Complaint> {
    file.array(value)?
        .iter()
        .map(|item| {
            let line = file.at(item, "").line;
            let call = match item.get_ref().as_str() {
                Some(command) => json_call("bash", &[("command", quoted(command))]),
                None => table_example(file, item)?,
            };
            Ok(RuleExample { call, line })
        })
        .collect()
}

/// `{ write = "~/.bashrc", content = "x" }` and the like; the first key names the tool and its main field.
fn table_example<'a>(file: File<'a>, item: &Spanned<DeValue<'a>>) -> Result<String, Complaint> {
    // The argument that an example means when it is one string, so that examples in rule files stay one line.
    const MAIN: &[(&str, &str)] = &[
        ("bash", "command"),
        ("write", "path"),
        ("edit", "path"),
        ("read", "path"),
        ("search", "path"),
        ("fetch", "url"),
        ("websearch", "query"),
        ("mcp", "name"),
        ("task", "description"),
        ("python", "code"),
        ("other", "name"),
        ("powershell", "command"),
    ];
    let table = file.inner(item)?;
    let (tool, main) = MAIN
        .iter()
        .find(|(tool, _)| table.get(*tool).is_some())
        .ok_or_else(|| file.at(item, "an example must name a tool: bash, write, edit, read, fetch, mcp, …"))?;
    let mut fields = Vec::new();
    let mut outer = String::new();
    for (key, value) in table.iter() {
        let name = key.get_ref().as_ref();
        match name {
            _ if name == *tool => fields.push((*main, json(value.get_ref()))),
            "world" | "user_message" | "mode" | "cwd" | "strict" => {
                outer.push_str(&format!(",{}:{}", quoted(name), json(value.get_ref())));
            }
            _ => fields.push((name, json(value.get_ref()))),
        }
    }
    let mut call = json_call(tool, &fields);
    call.insert_str(call.len() - 1, &outer);
    Ok(call)
}

fn json_call(tool: &str, fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
    format!("{{\"tool\":{},\"input\":{{{}}}}}", quoted(tool), fields.join(","))
}

fn json(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(time) => quoted(&time.to_string()),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| json(item.get_ref())).collect();
            format!("[{}]", items.join(","))
        }
        DeValue::Table(table) => {
            let fields: Vec<String> = table
                .iter()
                .map(|(key, value)| format!("{}:{}", quoted(key.get_ref()), json(value.get_ref())))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            control if (control as u32) < 0x20 => quoted.push_str(&format!("\\u{:04x}", control as u32)),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
