//! Packs rules and program files into one blob; a mistake in a file stops the build with its file and line.

#![allow(unreachable_pub, reason = "what the build includes is public in the library")]

#[path = "src/knowledge"]
#[allow(dead_code, reason = "the build needs the readers only")]
mod knowledge {
    pub mod file;
    pub mod notation;
    pub mod pack;
    pub mod program;
    pub mod rule;
    pub mod schema;
    pub mod tool;
}

#[path = "src/layer2"]
#[allow(dead_code, reason = "the build needs the names and the reader only")]
mod layer2 {
    pub mod feature;
    pub mod table;
}

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use doorward_vocabulary::{Operation, Verdict};
use knowledge::file::{Complaint, File};
use knowledge::{pack, program, rule, tool};

fn main() -> Result<(), Box<dyn Error>> {
    for folder in ["programs", "rules", "tools", "model/scorer.tsv", "thresholds.toml"] {
        println!("cargo:rerun-if-changed={folder}");
    }
    let mut complaints = Vec::new();
    let programs = programs(&mut complaints)?;
    let rules = rules(&mut complaints)?;
    let tools = tools(&mut complaints)?;
    if !complaints.is_empty() {
        let all: Vec<String> = complaints.iter().map(ToString::to_string).collect();
        return Err(all.join("\n").into());
    }
    let mut entries: Vec<_> = programs.iter().flat_map(program::ProgramFile::keyed).collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    if let Some(pair) = entries.windows(2).find(|pair| matches!(pair, [a, b] if a.0 == b.0)) {
        return Err(format!("two program files know `{}`", pair.first().map_or("", |(key, _)| key)).into());
    }
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let packed = pack::pack(&entries, &rules, &tools);
    let (scorer, thresholds) = (scorer()?, thresholds()?);
    let name = fingerprint([packed.as_slice(), scorer.as_bytes(), thresholds.as_bytes()]);
    let thresholds = format!(
        "{thresholds}/// One name for rules, programs, tools, scorer and thresholds.\npub(super) const KNOWLEDGE: &str = \"{name:016x}\";\n"
    );
    std::fs::write(out.join("knowledge.bin"), packed)?;
    std::fs::write(out.join("scorer.rs"), scorer)?;
    std::fs::write(out.join("thresholds.rs"), thresholds)?;
    Ok(())
}

/// FNV-1a: tells one build from another, and nothing more.
fn fingerprint<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> u64 {
    let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    parts.into_iter().flatten().fold(0xcbf2_9ce4_8422_2325, add)
}

/// The model as tables that are there when the program starts.
fn scorer() -> Result<String, Box<dyn Error>> {
    let names = layer2::feature::names();
    let table = layer2::table::Table::parse(&std::fs::read_to_string("model/scorer.tsv")?, &names)
        .map_err(|problem| format!("model/scorer.tsv: {problem}"))?;
    let mut text = String::new();
    for (name, heads) in [("BASE", table.base), ("SLOPE", table.slope), ("OFFSET", table.offset)] {
        writeln!(text, "pub(super) const {name}: super::Heads = {heads:?};")?;
    }
    writeln!(text, "pub(super) static WEIGHTS: [super::Heads; {}] = {:?};", names.len(), table.weights)?;
    Ok(text)
}

/// What `thresholds.toml` says. A number is a decision of a person; risk control only ever raises it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Thresholds {
    confidence: f64,
    irreversible: f64,
    reads_per_minute: u32,
    read_burst: u32,
    denials_in_a_row: u32,
    denials: u32,
    bulk_files: u32,
    bulk_bytes: u64,
    read_bytes: u64,
    by_operation: std::collections::BTreeMap<String, f64>,
}

fn thresholds() -> Result<String, Box<dyn Error>> {
    let read: Thresholds = toml::from_str(&std::fs::read_to_string("thresholds.toml")?)?;
    let mut raised = Vec::new();
    for operation in Operation::ALL {
        let value = read.by_operation.get(operation.as_str());
        let value = value.ok_or_else(|| format!("thresholds.toml says nothing of `{operation}`"))?;
        if !(read.confidence..=1.0).contains(value) {
            return Err(format!("thresholds.toml: `{operation}` lies below {} or above 1", read.confidence).into());
        }
        raised.push(*value);
    }
    Ok(format!(
        "pub(super) const THRESHOLDS: super::Thresholds = super::Thresholds {{ confidence: {:?}, irreversible: {:?}, \
         by_operation: {raised:?}, reads_per_minute: {}, read_burst: {}, denials_in_a_row: {}, denials: {}, \
         bulk_files: {}, bulk_bytes: {}, read_bytes: {} }};\n",
        read.confidence,
        read.irreversible,
        read.reads_per_minute,
        read.read_burst,
        read.denials_in_a_row,
        read.denials,
        read.bulk_files,
        read.bulk_bytes,
        read.read_bytes
    ))
}

fn toml_files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn programs(complaints: &mut Vec<Complaint>) -> Result<Vec<program::ProgramFile>, Box<dyn Error>> {
    let mut programs = Vec::new();
    for path in toml_files(Path::new("programs"))? {
        let text = std::fs::read_to_string(&path)?;
        match program::read(File { name: &path.to_string_lossy(), text: &text }) {
            Ok(file) => programs.push(file),
            Err(complaint) => complaints.push(complaint),
        }
    }
    Ok(programs)
}

fn tools(complaints: &mut Vec<Complaint>) -> Result<Vec<tool::ToolEntry>, Box<dyn Error>> {
    let mut tools = Vec::new();
    for path in toml_files(Path::new("tools"))? {
        let text = std::fs::read_to_string(&path)?;
        match tool::read(File { name: &path.to_string_lossy(), text: &text }) {
            Ok(entries) => tools.extend(entries),
            Err(complaint) => complaints.push(complaint),
        }
    }
    Ok(tools)
}

fn rules(complaints: &mut Vec<Complaint>) -> Result<Vec<rule::Rule>, Box<dyn Error>> {
    let mut rules = Vec::new();
    for (folder, verdict) in [("allow", Verdict::AutoApprove), ("confirm", Verdict::Confirm), ("block", Verdict::Block)]
    {
        for path in toml_files(&Path::new("rules").join(folder))? {
            let text = std::fs::read_to_string(&path)?;
            let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match rule::read(File { name: &path.to_string_lossy(), text: &text }, &id, verdict) {
                Ok(file) => rules.push(file.rule),
                Err(complaint) => complaints.push(complaint),
            }
        }
    }
    Ok(rules)
}
