//! Which effects of a call the user's latest words order: plain orders that name operation and target, nothing else.

use super::prose::{self, Sentence, Word};
use super::{Subject, deed};

/// Longer messages hold more than an order.
// A long message is a task description or pasted text, where an imperative may be somebody else's.
const LONGEST: usize = 2_000;

/// Words after which nothing in the message is an order: it denies or takes back, reports what somebody says, or plays.
// Consent loosens, so one doubtful word anywhere is enough to drop it. Losing a real order only means one more
// question.
const SPOILERS: &str = "\
    not no nope nah never dont cant cannot wont shouldnt mustnt without stop wait hold cancel abort undo \
    revert nevermind avoid refrain instead except unless but although however rather scratch forget actually \
    neither nor hardly joking kidding jk against forbidden disallowed prohibited ignore disregard sarcasm \
    lol off says said say saying wrote writes written quote quoted quoting output outputs log logs told \
    tells tell asked asks ask claims claimed claiming printed prints reported reports according transcript \
    injected injection prompt pasted paste message email mail readme documentation docs tutorial \
    stackoverflow translate summarize summarise explain describe discuss document phrase sentence text word \
    words string title titled called named reply replied answer answered agent assistant claude codex gemini \
    copilot bot model system tool warning error hint note suppose supposing supposedly imagine pretend \
    hypothetically hypothetical example examples e.g i.e eg theoretically theory scenario roleplay game \
    story simulate dry dry-run draft plan planning proposal propose suggest suggests suggested suggestion \
    recommend recommends recommended idea opinion thoughts";

/// Words that make a sentence something else than an order for now.
// Conditions, questions and later times: what is asked for then is not asked for now.
const DOUBTS: &str = "\
    if when whenever once after afterwards before until till while would could should might may maybe \
    perhaps possibly probably whether what why how who whom where which later tomorrow tonight monday \
    eventually someday sometime soon assuming provided case can will shall was were had have has been did \
    does do is are am think thinking thought wonder wondering guess hope wish wished want wants wanted need \
    needs needed like consider considering about someone somebody they he she we i i'd i'll i'm we'd we'll \
    you'd you'll everyone only than or either unclear sure? depending depends pending approval approved ci \
    passes pass succeeds green ready done never almost nearly wherever because since so as";

/// Words that may stand before an order.
// Politeness and enumeration before an order. Every other word before the verb makes it a report or a question.
const LEADS: &str = "\
    please pls ok okay yes yep yeah sure great thanks thank you perfect good nice now also just next first \
    finally let's lets kindly alright right cool fine lastly go ahead second third";

/// The words that order something, and the effects that they cover.
pub(super) fn given(message: &str, subject: &Subject<'_>) -> Option<(String, Vec<u32>)> {
    let orders = orders(message)?;
    let mut said: Vec<String> = Vec::new();
    let mut covers = Vec::new();
    for (index, effect) in (0u32..).zip(subject.effects) {
        let Some(order) = orders.iter().find(|order| deed::is_ordered(order, effect, subject)) else { continue };
        covers.push(index);
        let text = order.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        if !said.contains(&text) {
            said.push(text);
        }
    }
    (!covers.is_empty()).then(|| (said.join(", "), covers))
}

/// The plain orders of a message, each beginning with its verb; none if anything about the message is odd.
fn orders(message: &str) -> Option<Vec<Vec<Word>>> {
    if message.len() > LONGEST || is_odd(message) {
        return None;
    }
    let mut sentences = Vec::new();
    for line in prose::own_lines(message) {
        // What follows a colon is shown, not said; what precedes one is a heading of a mail, a log or a conversation.
        if line.contains(": ") || line.trim_end().ends_with(':') {
            return None;
        }
        sentences.extend(prose::sentences(line)?);
    }
    if sentences.iter().flat_map(Sentence::words).any(spoils) {
        return None;
    }
    let orders = sentences.iter().filter(|sentence| is_order(sentence)).flat_map(|sentence| &sentence.segments);
    Some(orders.filter_map(|segment| without_leads(segment)).collect())
}

/// Letters that no person types, tags, braces: something made this message or was pasted into it.
fn is_odd(message: &str) -> bool {
    message.chars().any(|letter| {
        (letter.is_control() && !matches!(letter, '\n' | '\r' | '\t'))
            || matches!(letter, '<' | '{' | '}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{e0000}'..='\u{e007f}')
    })
}

fn is_in(list: &str, word: &Word) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word.text)
}

fn spoils(word: &Word) -> bool {
    !word.is_quoted && (is_in(SPOILERS, word) || word.text.ends_with("n't"))
}

fn is_order(sentence: &Sentence) -> bool {
    !sentence.is_question && !sentence.words().any(|word| !word.is_quoted && is_in(DOUBTS, word))
}

fn without_leads(segment: &[Word]) -> Option<Vec<Word>> {
    let is_lead = |word: &&Word| !word.is_quoted && is_in(LEADS, word);
    let start = segment.iter().take_while(is_lead).count();
    segment.get(start..).filter(|order| order.first().is_some_and(|verb| !verb.is_quoted)).map(<[Word]>::to_vec)
}
