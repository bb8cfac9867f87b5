//! The whole message to an agent about one call, fitted to what its prompt shows: the least important parts are left out,
//! nothing is cut off.

use super::sentence;
use super::shorten::shortened;

/// Maximum characters of a question in an agent's prompt.
// Claude Code cuts the reason in its prompt there, in the middle of a word and without a sign.
pub(crate) const PROMPT: usize = 200;

/// Maximum characters of a refusal. Claude Code cuts it at 200 too, but after its own prefix: `PreToolUse:Bash hook error: `.
pub(crate) const REFUSAL: usize = 172;

/// Fewer characters would say nothing.
// What is left of a long command must still show which command it is.
const LEAST: usize = 60;

/// The parts of a message about one call: first what is always included, then what fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageParts {
    /// What to type, if a refusal starts with that.
    pub first: Option<String>,
    pub reason: String,
    /// Always included, after the reason.
    pub needed: Option<String>,
    /// Included if there is room, most important first.
    pub wanted: Vec<String>,
}

impl MessageParts {
    /// The whole message in sentences, with at most `room` characters.
    pub(crate) fn fitted(self, room: usize) -> String {
        let first = self.first.map(sentence);
        let longest = room.saturating_sub(LEAST + 1 + room_of(first.as_deref()));
        let needed = self.needed.map(|text| shortened(&sentence(text), longest));
        let taken = room_of(first.as_deref()) + room_of(needed.as_deref());
        let reason = shortened(&sentence(self.reason), room.saturating_sub(taken).max(LEAST));
        let mut said: Vec<String> = [first, Some(reason), needed].into_iter().flatten().collect();
        let mut left = room.saturating_sub(said.iter().map(|text| room_of(Some(text))).sum::<usize>());
        for text in self.wanted.into_iter().map(sentence) {
            // The space before it is counted with the preceding text.
            if text.chars().count() <= left {
                left = left.saturating_sub(room_of(Some(&text)));
                said.push(text);
            }
        }
        said.join(" ")
    }
}

/// Characters of a text plus the space after it.
fn room_of(text: Option<&str>) -> usize {
    text.map_or(0, |text| text.chars().count() + 1)
}
