//! Replaces secrets by keyed hashes before anything leaves `observe`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::sheet::found::Found;
use crate::effect::{Part, Target};
use crate::secret;

/// Redacts the subject and everything that was found; yields the redacted subject.
pub(super) fn all(subject: String, found: &mut Found, key: [u8; 16]) -> String {
    let redacted = secret::redact(&subject, &key).into_owned();
    if redacted != subject {
        // Places in the old text mean nothing in the new one.
        found.effects.iter_mut().for_each(|effect| effect.part = Part::default());
        found.flows.iter_mut().for_each(|flow| (flow.from, flow.to) = (Part::default(), Part::default()));
    }
    let mut redactor = Redactor { key, clean: BTreeSet::new() };
    for command in &mut found.commands {
        redactor.one(command);
    }
    for path in found.directories.iter_mut().filter_map(|directory| directory.path.as_mut()) {
        redactor.one(path);
    }
    for run in &mut found.left {
        redactor.one(&mut run.file);
        redactor.one(&mut run.command);
    }
    for because in &mut found.coverage.because {
        redactor.one(because);
    }
    for effect in &mut found.effects {
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
