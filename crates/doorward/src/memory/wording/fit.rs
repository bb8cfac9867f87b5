//! All that an agent is told about one call, within what its prompt shows: what matters least is left out, nothing is cut off.

use super::sentence;
use super::shorten::shortened;

/// Characters of a question in an agent's prompt.
pub const PROMPT: usize = 200;

/// Characters of a refusal. Claude Code cuts it at 200 as well, but after words of its own: `PreToolUse:Bash hook error: `.
pub const REFUSAL: usize = 172;

/// Fewer characters say nothing.
const LEAST: usize = 60;

/// What a person is told about one call: first what always has its place, then what finds room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Speech {
    /// What to type, where a refusal begins with it.
    pub first: Option<String>,
    pub reason: String,
    /// Has its place behind the reason.
    pub needed: Option<String>,
    /// Has its place if there is room, the most important first.
    pub wanted: Vec<String>,
}

impl Speech {
    /// The whole of it in sentences, with at most so many characters.
    pub fn fitted(self, room: usize) -> String {
        let first = self.first.map(sentence);
        let longest = room.saturating_sub(LEAST + 1 + room_of(first.as_deref()));
        let needed = self.needed.map(|text| shortened(&sentence(text), longest));
        let taken = room_of(first.as_deref()) + room_of(needed.as_deref());
        let reason = shortened(&sentence(self.reason), room.saturating_sub(taken).max(LEAST));
        let mut said: Vec<String> = [first, Some(reason), needed].into_iter().flatten().collect();
        let mut left = room.saturating_sub(said.iter().map(|text| room_of(Some(text))).sum::<usize>());
        for text in self.wanted.into_iter().map(sentence) {
            // The space before it was counted with the text that came before.
            if text.chars().count() <= left {
                left = left.saturating_sub(room_of(Some(&text)));
                said.push(text);
            }
        }
        said.join(" ")
    }
}

/// Characters of a text and of the space that follows it.
fn room_of(text: Option<&str>) -> usize {
    text.map_or(0, |text| text.chars().count() + 1)
}
