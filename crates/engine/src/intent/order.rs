//! The plain orders of a message: what begins with its verb, in the user's own prose and meant for now.

use super::boundary;
use super::lists::{self, IsRequest};
use super::prose::{self, Sentence, Word};

/// Of a message longer than this only the first and the last paragraph may order something.
// A long message is a task description with pasted text in the middle, where an imperative may be somebody else's.
const LONG: usize = 600;

/// Longer messages order nothing.
// Nobody types so much at once; reading stays cheap.
const LONGEST: usize = 16_000;

/// So many orders of one message are read.
// Each is compared with every effect of every call of the turn.
const MOST: usize = 32;

/// What the user asks for: the words from the verb on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub words: Vec<Word>,
    /// The object of the next verb, where this one has none: `merge and close PR 12`.
    pub shared: Vec<Word>,
}

impl Order {
    pub(super) fn text(&self) -> String {
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// An order that was kept as text.
    pub(super) fn kept(text: &str) -> Order {
        let word = |text: &str| Word { text: text.to_owned(), is_quoted: false };
        Order { words: text.split_ascii_whitespace().map(word).collect(), shared: Vec::new() }
    }
}

/// The orders of a message; none if anything about the message is odd.
pub(super) fn orders(message: &str) -> Vec<Order> {
    read(message).unwrap_or_default()
}

/// The message may be read for what it asks: it is plain, denies nothing in general, and nobody else speaks in it.
pub(super) fn is_own(message: &str) -> bool {
    let clean = |sentence: &Sentence| {
        boundary::is_limit(sentence) || sentence.words().all(|word| !lists::takes_back(word) && !lists::is_voice(word))
    };
    message.len() <= LONGEST
        && !is_odd(message)
        && !prose::own_lines(message).iter().any(|line| prose::is_log(line))
        && prose::own_lines(message)
            .iter()
            .all(|line| prose::sentences(line).is_some_and(|sentences| sentences.iter().all(clean)))
}

fn read(message: &str) -> Option<Vec<Order>> {
    if message.len() > LONGEST || is_odd(message) {
        return None;
    }
    let paragraphs = prose::paragraphs(message);
    let (mut orders, mut is_shown) = (Vec::new(), false);
    for (at, paragraph) in paragraphs.iter().enumerate() {
        let is_read = message.len() <= LONG || at == 0 || at + 1 == paragraphs.len();
        for line in &paragraph.lines {
            let (said, rest) = before_colon(line);
            let mut found = Vec::new();
            for sentence in prose::sentences(said)? {
                found.extend(of_sentence(&sentence)?);
            }
            // What precedes a colon is a heading of a mail, a log or a conversation, unless it is an order itself.
            if rest.is_some_and(|rest| !begins_with_order(&found) || spoils_anywhere(rest)) {
                return None;
            }
            if is_read && !is_shown && !paragraph.is_log {
                orders.extend(found);
            }
            is_shown |= rest.is_some();
        }
    }
    orders.truncate(MOST);
    Some(orders)
}

fn begins_with_order(found: &[Order]) -> bool {
    let verb = found.first().and_then(|order| order.words.first());
    verb.is_some_and(|verb| boundary::is_verb(&verb.text))
}

/// The line up to a colon, and what is shown behind it.
fn before_colon(line: &str) -> (&str, Option<&str>) {
    match line.split_once(": ") {
        Some((said, rest)) => (said, Some(rest)),
        None => line.trim_end().strip_suffix(':').map_or((line, None), |said| (said, Some(""))),
    }
}

fn spoils_anywhere(text: &str) -> bool {
    let sentences = prose::sentences(text).unwrap_or_default();
    let is_odd = |segment: &Vec<Word>| {
        (0..segment.len()).any(|at| lists::spoils(segment, at) || segment.get(at).is_some_and(lists::takes_back))
    };
    sentences.iter().flat_map(|sentence| &sentence.segments).any(is_odd)
}

/// The orders of one sentence; `None` if it makes the whole message doubtful.
// A clause of purpose (`so that it says why`) is neither talk nor a report, and ends what is ordered.
fn of_sentence(sentence: &Sentence) -> Option<Vec<Order>> {
    let limits = boundary::limited(sentence);
    let (mut heads, mut is_over, mut is_doubted, mut is_request) = (Vec::new(), false, false, false);
    for (segment, limit) in sentence.segments.iter().zip(limits) {
        // Where a limit begins, what follows may belong to it.
        if limit.is_some() {
            is_over = true;
            continue;
        }
        if segment.iter().any(lists::takes_back) {
            return None;
        }
        let end = lists::purpose(segment).unwrap_or(segment.len());
        let said = segment.get(..end).unwrap_or_default();
        let checked = if end > 0 { said } else { segment.as_slice() };
        if (0..checked.len()).any(|at| lists::spoils(checked, at)) {
            return None;
        }
        let (start, request) = lists::head(said);
        is_request |= request == IsRequest::Yes;
        let order = said.get(start..).unwrap_or_default();
        // A condition counts wherever in the sentence it stands.
        is_doubted |= (0..order.len()).any(|at| lists::doubts(order, at));
        if is_over {
            continue;
        }
        // A name behind *and* continues an order; anything else there makes it a report.
        let is_verb = order.first().is_some_and(|verb| !verb.is_quoted && boundary::is_verb(&verb.text));
        let continues = order.len() == 1 && !heads.is_empty();
        if is_verb || continues {
            heads.push(order.to_vec());
        } else {
            is_over = !order.is_empty() && !lists::is_place(order);
        }
        is_over |= end < segment.len();
    }
    let is_order = !is_doubted && (!sentence.is_question || is_request);
    Some(if is_order { joined(&heads) } else { Vec::new() })
}

/// Verbs joined by *and* share an object, and a name that follows *and* continues the object before.
fn joined(heads: &[Vec<Word>]) -> Vec<Order> {
    let mut orders: Vec<Order> = Vec::new();
    for (at, words) in heads.iter().enumerate() {
        let next = heads.get(at + 1).and_then(|next| next.get(1..)).unwrap_or_default();
        let shared = if words.len() == 1 { next.to_vec() } else { Vec::new() };
        orders.push(Order { words: words.clone(), shared });
    }
    // `install lodash and axios`: the two are named for one command.
    for pair in heads.windows(2) {
        if let [first, second] = pair
            && second.len() == 1
        {
            let words = first.iter().chain(second).cloned().collect();
            orders.push(Order { words, shared: Vec::new() });
        }
    }
    orders
}

/// Letters that no person types, tags, braces: something made this message or was pasted into it.
fn is_odd(message: &str) -> bool {
    message.chars().any(|letter| {
        (letter.is_control() && !matches!(letter, '\n' | '\r' | '\t'))
            || matches!(letter, '<' | '{' | '}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{e0000}'..='\u{e007f}')
    })
}
