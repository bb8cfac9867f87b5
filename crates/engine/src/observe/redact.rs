//! Replaces secrets by keyed hashes before anything leaves `observe`.

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
    for command in &mut out.commands {
        one(command, &key);
    }
    for path in out.directories.iter_mut().filter_map(|directory| directory.path.as_mut()) {
        one(path, &key);
    }
    for because in &mut out.coverage.because {
        one(because, &key);
    }
    for effect in &mut out.effects {
        match &mut effect.target {
            Target::Path(text) | Target::Host(text) | Target::Program(text) | Target::Resource(text) => one(text, &key),
            Target::Unknown => {}
        }
    }
    redacted
}

fn one(text: &mut String, key: &[u8; 16]) {
    if let std::borrow::Cow::Owned(redacted) = secret::redact(text, key) {
        *text = redacted;
    }
}
