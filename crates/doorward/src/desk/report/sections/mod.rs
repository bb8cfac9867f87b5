//! The eight sections, in the order and with the titles of the specification.

pub(super) mod audit;
mod failures;
mod layer1;
mod layer2;
mod matrix;
mod migration;
pub(super) mod opening;
mod overrides;
mod profile;

use super::document::{Block, Content, Document, Section, Text};
use super::gather::{DAYS, Gathered};
use crate::machine::clock;

/// The command behind most figures.
pub(super) const METRICS: &str = "doorward metrics";

/// The whole report.
pub(super) fn document(gathered: &Gathered) -> Document {
    Document {
        title: "doorward report",
        about: about(gathered),
        opening: opening::parts(gathered),
        sections: vec![
            Section::new(1, "Risk Profile", profile::parts(gathered)),
            Section::new(2, "Layer-1 Heuristic Rules", layer1::parts(gathered)),
            Section::new(3, "Layer-2 Model Scoring Rubric", layer2::parts(gathered)),
            Section::new(4, "Decision Matrix", matrix::parts()),
            Section::new(5, "Override Policy", overrides::parts(gathered)),
            Section::new(6, "Audit & Metrics Plan", audit::parts(gathered)),
            Section::new(7, "Failure Modes", failures::parts(gathered)),
            Section::new(8, "Migration Path", migration::parts(gathered)),
        ],
    }
}

fn about(gathered: &Gathered) -> Vec<Block> {
    let block = |content: Content, from: Option<&str>| Block { content: content.into(), from: from.map(str::to_owned) };
    let made = Text::filled(
        "What doorward {} with policy `{}` does on this machine, as of {} UTC. Figures cover the last {} days unless stated otherwise.",
        [
            Text::figure(env!("CARGO_PKG_VERSION")),
            Text::figure(&gathered.policy.version),
            Text::figure(clock::moment(gathered.now_ms)),
            Text::figure(DAYS),
        ],
    );
    let mut blocks = vec![block(Content::Paragraph(made), Some("doorward rules"))];
    let mut warn = |text: Text, from| blocks.push(block(Content::Warning(text), Some(from)));
    if gathered.record.is_none() {
        warn(
            "Nothing has been recorded yet, so there are no figures. Run `doorward setup` to start the record.".into(),
            "doorward status",
        );
    }
    for problem in &gathered.loaded.problems {
        warn(
            Text::sentence(problem).and("; until you fix it, doorward is strict and asks about every call"),
            "doorward config",
        );
    }
    for sentence in gathered.loaded.unaccepted_sentences() {
        warn(Text::sentence(&sentence), "doorward config");
    }
    blocks
}

/// A count as a figure.
fn count(number: impl TryInto<u64>) -> Text {
    Text::figure(number.try_into().unwrap_or(u64::MAX))
}

/// A name from the record, which may be empty.
fn name_text(name: &str) -> Text {
    if name.is_empty() { Text::plain("not known") } else { Text::code(name) }
}

/// What a limited list leaves out.
fn rest(all: usize, shown: usize) -> Option<Text> {
    let more = all.checked_sub(shown).filter(|more| *more > 0)?;
    Some(Text::filled("and {} more", [count(more as u64)]))
}
