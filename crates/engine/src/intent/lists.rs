//! The closed lists by which a message is read: what makes it somebody else's words, what doubts it, what may precede an order.

use super::prose::Word;

/// Words that deny or take back. One of them anywhere, outside a readable limit, and nothing in the message is an order.
// Consent loosens, so one doubtful word is enough to drop it. Losing a real order only means one more question.
const RETRACTIONS: &str = "\
    not no nope nah never dont cant cannot wont shouldnt mustnt without stop wait hold cancel abort undo \
    revert nevermind avoid refrain instead except unless but although however rather scratch forget actually \
    neither nor hardly joking kidding jk decided advise forbidden disallowed prohibited ignore disregard sarcasm lol off";

/// Words that show that somebody else speaks: a report, a log, a pasted conversation.
// An imperative in such a message may be theirs, and nothing in the text says where their words end.
const VOICES: &str = "\
    says said say saying wrote writes written quote quoted quoting output outputs log logs told tells tell asked \
    asks ask claims claimed claiming printed prints reported reports according transcript injected injection \
    prompt pasted paste message email mail phrase sentence text word words string title titled called named \
    reply replied answer answered agent assistant claude codex gemini copilot bot model system tool warning \
    error hint note someone's";

/// Words that ask for talk, or play: what follows is a subject and no order.
// `explain how to push` and `imagine you push` name the operation without wanting it.
const TALK: &str = "\
    readme documentation docs tutorial stackoverflow translate summarize summarise explain describe discuss document \
    suppose supposing supposedly imagine pretend hypothetically hypothetical example examples e.g i.e eg \
    theoretically theory scenario roleplay game story simulate dry dry-run draft plan planning proposal propose \
    suggest suggests suggested suggestion recommend recommends recommended idea opinion thoughts";

/// Words that make a sentence something else than an order for now.
// Conditions, questions and later times: what is asked for then is not asked for now.
const DOUBTS: &str = "\
    if when whenever once after afterwards before until till while would could should might may maybe \
    perhaps possibly probably whether what why how who whom where which later tomorrow tonight monday \
    eventually someday sometime soon assuming provided case can will shall was were had have has been did \
    does do is are am think thinking thought wonder wondering guess hope wish wished want wants wanted need \
    needs needed like consider considering about someone somebody they he she we i i'd i'll i'm we'd we'll \
    you'd you'll everyone only than or either unclear sure? depending depends pending approval approved ci \
    passes pass succeeds green ready done never almost nearly wherever because since so as \
    failed fails failing tried tries trying managed started stopped attempted refused forgot broke broken finished";

/// Words that may stand before an order.
// Politeness and enumeration before an order. Every other word before the verb makes it a report or a question.
const LEADS: &str = "\
    please pls ok okay yes yep yeah sure great thanks thank you perfect good nice now also just next first \
    finally let's lets kindly alright right cool fine lastly go ahead second third looks lgtm hey hi hello";

/// Words that may stand between `can you` and the verb.
// With any other word between them the question is about something else: `can you explain how to push`.
const POLITE: &str = "please pls now also just kindly then quickly go ahead next";

/// Pairs that are an operation although their first word is on a list above.
// `ask for review` is an order to request one, `a draft PR` a kind of pull request, `as a dev dependency` a place.
const PAIRS: &[(&str, &[&str])] = &[("ask", &["for"]), ("draft", &["pr", "pull", "mr", "prs"]), ("as", &["well", "a"])];

/// Verbs that order something although they are on a list above: only as the head of an order.
const HEADS: &str = "reply answer comment note";

fn is_in(list: &str, text: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == text)
}

fn holds(list: &str, word: &Word) -> bool {
    !word.is_quoted && is_in(list, &word.text)
}

/// It denies or takes something back.
pub(super) fn takes_back(word: &Word) -> bool {
    holds(RETRACTIONS, word) || !word.is_quoted && word.text.ends_with("n't")
}

/// It shows that somebody else speaks.
pub(super) fn is_voice(word: &Word) -> bool {
    holds(VOICES, word)
}

/// The word at this place belongs to an operation, whatever lists it is on.
fn is_pair(segment: &[Word], at: usize) -> bool {
    let Some((word, next)) = segment.get(at).zip(segment.get(at + 1)) else { return false };
    PAIRS.iter().any(|(first, nexts)| word.text == *first && nexts.contains(&next.text.as_str()))
}

/// The word at this place means that the message is talk or a report.
pub(super) fn spoils(segment: &[Word], at: usize) -> bool {
    let Some(word) = segment.get(at) else { return false };
    let is_pair = is_pair(segment, at);
    let is_head = holds(HEADS, word) && segment.get(..at).is_some_and(|before| before.iter().all(is_lead));
    !is_pair && !is_head && (is_voice(word) || holds(TALK, word))
}

/// The word at this place makes the sentence something else than an order for now.
pub(super) fn doubts(segment: &[Word], at: usize) -> bool {
    segment.get(at).is_some_and(|word| holds(DOUBTS, word)) && !is_pair(segment, at)
}

fn is_lead(word: &Word) -> bool {
    holds(LEADS, word)
}

/// Where the order of a segment begins: behind the leads and a request form.
pub(super) fn head(segment: &[Word]) -> (usize, IsRequest) {
    let leads = segment.iter().take_while(|word| is_lead(word)).count();
    let rest = segment.get(leads..).unwrap_or_default();
    match rest {
        [modal, you, rest @ ..] if is_request(modal, you) => {
            let polite = rest.iter().take_while(|word| holds(POLITE, word)).count();
            (leads + 2 + polite, IsRequest::Yes)
        }
        _ => (leads, IsRequest::No),
    }
}

/// `can you`, `could we`: what follows directly is asked for.
fn is_request(modal: &Word, you: &Word) -> bool {
    holds("can could would will", modal) && holds("you we", you)
}

/// An order stands in the form of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsRequest {
    Yes,
    No,
}

/// The piece of a sentence only says where: `in src/a.js, fix the typo`.
pub(super) fn is_place(segment: &[Word]) -> bool {
    segment.first().is_some_and(|word| holds("in on for at under inside with", word))
}

/// Where a clause begins that gives a purpose or reason and orders nothing.
pub(super) fn purpose(segment: &[Word]) -> Option<usize> {
    let says = |at: usize, text: &str| segment.get(at).is_some_and(|word| !word.is_quoted && word.text == text);
    (0..segment.len()).find(|at| {
        says(*at, "because")
            || says(*at, "so") && (says(at + 1, "that") || says(at + 1, "it"))
            || says(*at, "in") && says(at + 1, "order") && says(at + 2, "to")
    })
}
