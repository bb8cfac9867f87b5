//! Packs rules and program files into one blob; a mistake in a file stops the build with its file and line.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use doorward_knowledge::program::ProgramFile;
use doorward_knowledge::scorer_table::Table;
use doorward_knowledge::{features, pack, sources};
use doorward_vocabulary::Operation;

fn main() -> Result<(), Box<dyn Error>> {
    for folder in ["programs", "rules", "tools", "servers"] {
        println!("cargo:rerun-if-changed={}", Path::new(sources::FOLDER).join(folder).display());
    }
    for file in ["model/scorer.tsv", "thresholds.toml"] {
        println!("cargo:rerun-if-changed={file}");
    }
    let known = sources::read()?;
    let mut entries: Vec<_> = known.programs.iter().map(|(_, file)| file).flat_map(ProgramFile::keyed).collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    if let Some(pair) = entries.windows(2).find(|pair| matches!(pair, [a, b] if a.0 == b.0)) {
        return Err(format!("two program files know `{}`", pair.first().map_or("", |(key, _)| key)).into());
    }
    let rules: Vec<_> = known.rules.into_iter().map(|file| file.rule).collect();
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let packed = pack::pack(&entries, &rules, &known.tools, &known.servers);
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
    let names = features::names();
    let table = Table::parse(&std::fs::read_to_string("model/scorer.tsv")?, &names)
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
