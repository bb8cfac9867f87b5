//! What the user's own words say about a call: consent for exactly what they name, and boundaries that raise.
//!
//! Words are read by fixed lists and in one order, never by a model. What is not plainly an order is no consent; whatever
//! sounds like a limit is one.

mod boundary;
mod consent;
mod deed;
pub(crate) mod prose;
#[cfg(test)]
mod tests;

use doorward_vocabulary::Mark;

use crate::effect::Effect;
use crate::facts::Intent;
use crate::secret::redact;
use crate::world::World;

pub use boundary::stated as boundaries;

/// The longest piece of the user's words that facts keep.
// The words are stored with the record. One sentence proves the consent; more would copy the chat.
const LONGEST: usize = 160;

/// A call as far as words can be about it.
pub(crate) struct Subject<'a> {
    pub effects: &'a [Effect],
    /// Every simple command as normalised words.
    pub commands: &'a [String],
    /// The branch that is checked out.
    pub branch: Option<String>,
    pub project: Option<&'a str>,
}

/// What the words of this turn and the limits of this session say about a call.
pub(crate) fn of(
    words: Option<&str>,
    limits: &[String],
    effects: &[Effect],
    commands: &[String],
    cwd: &str,
    world: &dyn World,
) -> Intent {
    if words.is_none() && limits.is_empty() {
        return Intent::default();
    }
    let pushes = effects.iter().any(|effect| effect.marks.has(Mark::Push));
    let branch = pushes.then(|| world.git(cwd)).flatten().and_then(|git| git.branch);
    let subject = Subject { effects, commands, branch, project: world.project() };
    let stated = words.map(boundaries).unwrap_or_default();
    let crossed = limits.iter().chain(&stated).find(|limit| boundary::is_crossed(limit, &subject));
    let (consent, covers) = words.and_then(|words| consent::given(words, &subject)).unzip();
    let kept = |text: &str| short(&redact(text, &world.redaction_key())).to_owned();
    Intent {
        consent: consent.as_deref().map(kept),
        covers: covers.unwrap_or_default(),
        boundary: crossed.map(|said| kept(said)),
    }
}

/// At most so much of a text, cut between characters.
fn short(text: &str) -> &str {
    text.char_indices().nth(LONGEST).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
