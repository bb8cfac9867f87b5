//! Replaces secrets by keyed hashes before anything leaves `observe`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::observer::Observer;
use crate::effect::{Part, Target};
use crate::secret;

/// Redacts the subject and everything on the sheet; yields the redacted subject.
pub fn all(subject: String, out: &mut Observer<'_>) -> String {
    let key = out.world.redaction_key();
    let redacted = secret::redact(&subject, &key).into_owned();
    if redacted != subject {
        // Places in the old text mean nothing in the new one.
        out.effects.iter_mut().for_each(|effect| effect.part = Part::default());
        out.flows.iter_mut().for_each(|flow| (flow.from, flow.to) = (Part::default(), Part::default()));
    }
    let mut redactor = Redactor { key, clean: BTreeSet::new() };
    for command in &mut out.commands {
        redactor.one(command);
    }
    for path in out.directories.iter_mut().filter_map(|directory| directory.path.as_mut()) {
        redactor.one(path);
    }
    for run in &mut out.lingering.runs {
        redactor.one(&mut run.file);
        redactor.one(&mut run.command);
    }
    for because in &mut out.coverage.because {
        redactor.one(because);
    }
    for effect in &mut out.effects {
        match &mut effect.target {
            Target::Path(text) | Target::Host(text) | Target::Program(text) | Target::Resource(text) => {
                redactor.one(text);
            }
            Target::Unknown => {}
        }
    }
    redacted
}

/// Long scripts name the same files again and again.
struct Redactor {
    key: [u8; 16],
    /// Texts without a secret.
    clean: BTreeSet<String>,
}

impl Redactor {
    fn one(&mut self, text: &mut String) {
        if self.clean.contains(text.as_str()) {
            return;
        }
        if let Cow::Owned(redacted) = secret::redact(text, &self.key) {
            *text = redacted;
        } else {
            self.clean.insert(text.clone());
        }
    }
}
