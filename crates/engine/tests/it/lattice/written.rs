//! Rules as their files say them, read without the engine's reader: plain words turned into sets of bits.

use std::path::{Path, PathBuf};

use doorward_engine::{
    Clearance, Degree, FlowKind, Mark, Operation, Reach, Reversibility, Scope, Sensitivity, Verdict,
};
use toml::Table;

/// Marks as bits, by their place in the vocabulary.
pub(super) type Bits = [u64; 3];

/// One rule file. An absent condition is `u32::MAX`: everything meets it.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) verdict: Verdict,
    pub(super) clears: Option<Clearance>,
    pub(super) is_strict_only: bool,
    pub(super) operations: u32,
    pub(super) scopes: u32,
    pub(super) losses: u32,
    pub(super) reaches: u32,
    pub(super) sensitivities: u32,
    pub(super) degrees: u32,
    pub(super) flows: Option<u32>,
    pub(super) all: Bits,
    pub(super) any: Option<Bits>,
    pub(super) none: Bits,
    pub(super) taints: Vec<String>,
    pub(super) tools: Vec<String>,
}

/// Every rule below the folder of rules; the folder of a rule is its verdict.
pub(super) fn all() -> Vec<Written> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../knowledge/rules");
    let verdicts = [("allow", Verdict::AutoApprove), ("confirm", Verdict::Confirm), ("block", Verdict::Block)];
    let files = verdicts.iter().flat_map(|(name, verdict)| files(&folder.join(name)).map(|path| (path, *verdict)));
    files.filter_map(|(path, verdict)| read(&std::fs::read_to_string(path).unwrap(), verdict)).collect()
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())
}

/// `None` for a rule that does not count yet, or no longer.
fn read(text: &str, verdict: Verdict) -> Option<Written> {
    let table: Table = text.parse().unwrap();
    if table.get("stage").is_some_and(|stage| stage.as_str() != Some("active")) {
        return None;
    }
    let when = table["when"].as_table().unwrap();
    let known = [
        "operation",
        "scope",
        "reversibility",
        "reach",
        "sensitivity",
        "coverage",
        "flow",
        "all",
        "any",
        "none",
        "taint",
        "tool",
        "strict",
    ];
    assert!(
        when.keys().all(|key| known.contains(&key.as_str())),
        "a condition that this reader does not know: {when:?}"
    );
    let strings = |key: &str| words(when, key).unwrap_or_default();
    Some(Written {
        verdict,
        clears: table.get("clears").map(|clears| Clearance::parse(clears.as_str().unwrap()).unwrap()),
        is_strict_only: when.get("strict").is_some_and(|strict| strict.as_bool().unwrap()),
        operations: mask(when, "operation", |word| Operation::parse(word).unwrap() as u32),
        scopes: mask(when, "scope", |word| Scope::parse(word).unwrap() as u32),
        losses: mask(when, "reversibility", |word| Reversibility::parse(word).unwrap() as u32),
        reaches: mask(when, "reach", |word| Reach::parse(word).unwrap() as u32),
        sensitivities: mask(when, "sensitivity", |word| Sensitivity::parse(word).unwrap() as u32),
        degrees: mask(when, "coverage", |word| Degree::parse(word).unwrap() as u32),
        flows: when.contains_key("flow").then(|| mask(when, "flow", |word| FlowKind::parse(word).unwrap() as u32)),
        all: marks(when, "all").unwrap_or_default(),
        any: marks(when, "any"),
        none: marks(when, "none").unwrap_or_default(),
        taints: strings("taint"),
        tools: strings("tool"),
    })
}

/// A list of texts, or one text with spaces between its words.
fn words(when: &Table, key: &str) -> Option<Vec<String>> {
    let value = when.get(key)?;
    let texts: Vec<&str> = match value.as_array() {
        Some(items) => items.iter().map(|item| item.as_str().unwrap()).collect(),
        None => vec![value.as_str().unwrap()],
    };
    Some(texts.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect())
}

fn mask(when: &Table, key: &str, place: impl Fn(&str) -> u32) -> u32 {
    words(when, key).map_or(u32::MAX, |words| words.iter().fold(0, |all, word| all | 1 << place(word)))
}

fn marks(when: &Table, key: &str) -> Option<Bits> {
    let places = words(when, key)?.into_iter().map(|word| Mark::parse(&word).unwrap() as usize);
    Some(places.fold(Bits::default(), |mut all, place| {
        all[place / 64] |= 1 << (place % 64);
        all
    }))
}
