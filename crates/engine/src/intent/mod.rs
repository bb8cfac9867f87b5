//! What the user's own words say about a call: consent for exactly what they name, and boundaries that raise.
//!
//! Words are read by fixed lists and in one order, never by a model. What is not plainly an order is no consent; whatever
//! sounds like a limit is one.

mod address;
mod boundary;
mod consent;
mod deed;
mod lists;
mod order;
pub(crate) mod prose;
mod said;
#[cfg(test)]
mod tests;

use doorward_vocabulary::Mark;

use crate::call::{Tool, ToolCall};
use crate::effect::Effect;
use crate::facts::{Directory, Intent};
use crate::lexical::under;
use crate::secret::redact;
use crate::world::{History, World};

pub use address::typed as addresses;
pub use boundary::{released, stated as boundaries};
pub use said::SaidBefore;

/// The longest piece of the user's words that facts keep.
// The words are stored with the record. One sentence proves the consent; more would copy the chat.
const LONGEST: usize = 160;

/// So many calls one order covers, until the next message.
// Replies to review comments come in a row; a loop that pushes a hundred times was not meant.
const CALLS: u32 = 20;

/// Stands between two orders that a call takes together.
// No order holds it: a comma ends a clause.
const JOIN: &str = ", ";

/// A call as far as words can be about it.
pub(crate) struct Subject<'a> {
    pub effects: &'a [Effect],
    /// Every simple command as normalised words.
    pub commands: &'a [String],
    /// The branch that is checked out, and the one that everybody builds from.
    pub branch: Option<String>,
    pub default_branch: Option<String>,
    pub project: Option<&'a str>,
    /// A command of the call may run in a directory outside the project.
    pub leaves_project: bool,
    pub tool: &'a Tool,
    /// The command as the agent wrote it, with its assignments.
    pub text: Option<&'a str>,
    pub world: &'a dyn World,
}

/// What was observed of a call that words may be about.
pub(crate) struct Seen<'a> {
    pub call: &'a ToolCall,
    pub effects: &'a [Effect],
    pub commands: &'a [String],
    pub directories: &'a [Directory],
}

/// What the words of this turn and the limits of this session say about a call.
pub(crate) fn of(seen: &Seen<'_>, history: &History, world: &dyn World) -> Intent {
    let words = seen.call.user_message.as_deref();
    if words.is_none() && history.boundaries.is_empty() && history.addresses.is_empty() {
        return Intent::default();
    }
    let subject = subject(seen, world);
    let kept = |text: &str| short(&redact(text, &world.redaction_key())).to_owned();
    let crossed = crossed(words, history, &subject);
    let (consent, covers) = consent::given(words, history, &subject, &kept).unzip();
    Intent { consent, covers: covers.unwrap_or_default(), boundary: crossed.as_deref().map(kept) }
}

fn subject<'a>(seen: &Seen<'a>, world: &'a dyn World) -> Subject<'a> {
    // Asking git costs a read; only what acts on a branch needs to know which.
    let needs_branch = |effect: &Effect| effect.marks.has_any(&[Mark::Push, Mark::HistoryRewrite, Mark::Commit]);
    let git = seen.effects.iter().any(needs_branch).then(|| world.git(&seen.call.cwd)).flatten();
    let (branch, default_branch) = git.map_or((None, None), |git| (git.branch, git.default_branch));
    let text = if let Tool::Bash { command, .. } | Tool::PowerShell { command } = &seen.call.tool {
        Some(command.as_str())
    } else {
        None
    };
    Subject {
        effects: seen.effects,
        commands: seen.commands,
        branch,
        default_branch,
        project: world.project(),
        leaves_project: !is_in_project(Some(&seen.call.cwd), world.project())
            || seen.directories.iter().any(|directory| !is_in_project(directory.path.as_deref(), world.project())),
        tool: &seen.call.tool,
        text,
        world,
    }
}

fn is_in_project(path: Option<&str>, project: Option<&str>) -> bool {
    path.zip(project).is_some_and(|(path, project)| under(path, project))
}

/// The first limit that the call crosses, unless a later order of the user ended it for this.
fn crossed(words: Option<&str>, history: &History, subject: &Subject<'_>) -> Option<String> {
    let stated = words.map(boundaries).unwrap_or_default();
    let orders = words.map(order::orders).unwrap_or_default();
    let limits = history.boundaries.iter().chain(stated.iter().filter(|said| !history.boundaries.contains(said)));
    limits
        .into_iter()
        .find(|said| {
            // What the same message both orders and rules out is ruled out.
            let is_new = stated.contains(said);
            let earlier = history.released.iter().filter(|(limit, _)| limit == *said && !is_new);
            let later: Vec<order::Order> = earlier
                .map(|(_, order)| order::Order::kept(order))
                .chain(orders.iter().filter(|_| !is_new).cloned())
                .collect();
            is_crossed(said, &later, subject)
        })
        .cloned()
}

/// The call does something that the limit is about. A limit that cannot be read is about every change.
fn is_crossed(said: &str, orders: &[order::Order], subject: &Subject<'_>) -> bool {
    let mut limits = boundary::kept(said);
    if limits.is_empty() {
        limits.push(boundary::Limit { kind: Some(boundary::Kind::Change), things: Vec::new(), is_broad: true });
    }
    let is_bound = |limit: &boundary::Limit, effect: &Effect| {
        boundary::crosses(limit, effect, subject)
            && !orders.iter().any(|order| boundary::ends(order, limit, effect, subject))
    };
    limits.iter().any(|limit| subject.effects.iter().any(|effect| is_bound(limit, effect)))
}

/// The plain orders of a message, as text.
pub(crate) fn orders_in(message: &str) -> Vec<String> {
    order::orders(message).iter().map(order::Order::text).collect()
}

/// The orders that a consent names, as the session counts them.
pub fn orders_of(consent: &str) -> impl Iterator<Item = &str> {
    consent.split(JOIN)
}

/// At most so much of a text, cut between characters.
fn short(text: &str) -> &str {
    text.char_indices().nth(LONGEST).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
