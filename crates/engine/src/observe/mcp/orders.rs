//! Orders to the model in the text of a tool: to keep something from the user, to set rules aside, to fetch or pass on
//! what the tool has no need of, to act through other tools.
//!
//! Read by fixed lists, sentence by sentence, like the prose of a task. What a tool does is told in the third person or
//! as an imperative of its own; an order needs a reader who has files, secrets, other tools, or a user to hide from.

use doorward_vocabulary::Sensitivity;

use super::ServerCall;
use super::order_words::{
    AUDIENCE, CONTEXT, MARKUP, NEGATIONS, ORDERING, OTHERS, PASSING, QUIETLY, READING, RULES, SECRETLY, SECRETS,
    SENDING, SETTING_ASIDE, STILL, TAKING, TELLING, WHOSE,
};
use super::verbs::name_words;
use crate::world::World;
use crate::{path, place, secret};

/// Something that a person should read before the model acts on it.
pub(super) struct Told {
    pub what: &'static str,
    pub sentence: String,
}

/// A sentence is shown up to here.
const SHOWN: usize = 180;

/// The first sentence that gives the model such an order.
pub(super) fn first(world: &dyn World, text: &str, call: &ServerCall<'_>) -> Option<Told> {
    let plain: String = text.chars().map(plain_letter).collect();
    let reader = Reader { world, call };
    if let Some(markup) = markup(&plain) {
        return Some(told("poses as an instruction of somebody else", &markup));
    }
    if let Some(blob) = blob(&plain) {
        return Some(told("holds text that nobody can read", blob));
    }
    let mut before: Option<Sentence> = None;
    for sentence in sentences(&plain) {
        if let Some(what) = reader.order(&sentence, before.as_ref()) {
            return Some(told(what, sentence.text));
        }
        before = Some(sentence);
    }
    None
}

fn told(what: &'static str, sentence: &str) -> Told {
    let cut: String = sentence.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN).collect();
    Told { what, sentence: cut }
}

/// Full-width letters and typographic apostrophes as the plain ones.
fn plain_letter(letter: char) -> char {
    match letter {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{60}' | '\u{b4}' => '\'',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        '\u{a0}' | '\u{3000}' => ' ',
        other => other,
    }
}

/// One sentence: as it stands, and its words in lower case.
struct Sentence<'t> {
    text: &'t str,
    words: Vec<String>,
    /// The words with single spaces, and one on each side.
    line: String,
}

fn sentences(text: &str) -> impl Iterator<Item = Sentence<'_>> {
    let mut rest = text;
    let pieces = std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find(|(at, letter)| match letter {
            '\n' => {
                // A line that goes on in lower case belongs to the sentence before it.
                let next = rest.get(at + 1..).unwrap_or_default().trim_start_matches([' ', '\t', '\r']);
                !next.starts_with(|letter: char| letter.is_lowercase())
            }
            '.' | '!' | '?' | ';' => {
                rest.get(at + 1..).is_none_or(|next| next.is_empty() || next.starts_with(char::is_whitespace))
            }
            _ => false,
        });
        let end = end.map_or(rest.len(), |(at, _)| at + 1);
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(piece)
    });
    pieces.filter(|piece| piece.contains(char::is_alphabetic)).map(|piece| {
        let words: Vec<String> = piece
            .split(|letter: char| letter.is_whitespace() || "\"(),:;<>[]{}*?!=|“”".contains(letter))
            .map(|word| word.trim_matches(['\'', '.', '-', '_']).to_lowercase())
            .filter(|word| !word.is_empty())
            .collect();
        let line = format!(" {} ", words.join(" "));
        Sentence { text: piece, words, line }
    })
}

impl Sentence<'_> {
    fn has(&self, list: &str) -> bool {
        self.words.iter().any(|word| holds(list, word))
    }

    fn says(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.line.contains(&format!(" {phrase} ")))
    }

    /// A word of the second list comes within so many words behind one of the first.
    fn follows(&self, first: &str, second: &str, within: usize) -> bool {
        self.words.iter().enumerate().any(|(at, word)| {
            holds(first, word) && self.words.iter().skip(at + 1).take(within).any(|word| holds(second, word))
        })
    }

    /// It says what should not be done; "never forget to" does not.
    fn forbids(&self) -> bool {
        self.has(NEGATIONS) && !self.follows(NEGATIONS, STILL, 3)
    }

    /// It speaks to a reader who is to do something.
    fn is_order(&self) -> bool {
        let verbs =
            [PASSING, READING, SENDING, "make be do then first before when after always now also call invoke use"];
        self.has(ORDERING)
            || self.words.first().is_some_and(|word| verbs.iter().any(|list| holds(list, word)))
            || self.follows("then and also first to", "send pass include read forward upload append bcc post", 1)
    }
}

struct Reader<'a> {
    world: &'a dyn World,
    call: &'a ServerCall<'a>,
}

impl Reader<'_> {
    fn order(&self, sentence: &Sentence<'_>, before: Option<&Sentence<'_>>) -> Option<&'static str> {
        if conceals(sentence) {
            return Some("keeps something from the user");
        }
        if sets_aside(sentence) {
            return Some("sets aside what the user or the client said");
        }
        if self.takes_secret(sentence, before) {
            return Some("asks for secrets");
        }
        if (sentence.has(PASSING) || sentence.has(TAKING)) && sentence.says(CONTEXT) && !sentence.forbids() {
            return Some("asks for the conversation");
        }
        if sends_away(sentence) {
            return Some("sends something to an address");
        }
        if fetches_first(sentence) {
            return Some("makes the model do something else first");
        }
        if self.steers_others(sentence) {
            return Some("steers other tools");
        }
        fixes_values(sentence).then_some("decides what the model passes")
    }

    /// It names a secret and wants it read or passed on.
    fn takes_secret(&self, sentence: &Sentence<'_>, before: Option<&Sentence<'_>>) -> bool {
        if sentence.forbids() {
            return false;
        }
        let names_place = sentence.words.iter().any(|word| self.is_secret_place(word));
        let moves = sentence.has(PASSING) || sentence.has(READING) || sentence.has(TAKING);
        // "The key is in ~/.ssh/id_rsa. Read it first."
        let refers = |before: &Sentence<'_>| before.words.iter().any(|word| self.is_secret_place(word));
        let is_about = before.is_some_and(refers) && sentence.has("it them its contents file") && sentence.has(PASSING);
        (names_place && moves)
            || is_about
            || sentence.says(SECRETS) && (sentence.has(TAKING) || sentence.has(PASSING) && sentence.is_order())
    }

    fn is_secret_place(&self, word: &str) -> bool {
        let word = word.trim_matches(['`', '"', '\'', ',', '(', ')']);
        if word.contains("://") || !word.contains(['/', '.', '~', '\\']) || !word.contains(char::is_alphanumeric) {
            return false;
        }
        let home = self.world.home().unwrap_or("/home/user");
        let inner = word
            .strip_prefix('~')
            .or_else(|| word.strip_prefix("$home"))
            .or_else(|| word.strip_prefix("%userprofile%"));
        let whole = match inner {
            Some(rest) => path::join(home, rest.trim_start_matches(['/', '\\'])),
            None => path::join(home, word),
        };
        let place = place::classify(&path::lexical(&whole.replace('\\', "/")), self.world);
        place.sensitivity > Sensitivity::None
            || ["/etc/passwd", "/etc/shadow", "mcp.json", "/.ssh", ".bash_history", "/proc/self/environ"]
                .iter()
                .any(|end| whole.ends_with(end))
    }

    /// It says what to do with tools of others.
    fn steers_others(&self, sentence: &Sentence<'_>) -> bool {
        if sentence.says(OTHERS) && sentence.is_order() {
            return true;
        }
        let is_timed = sentence.has("before after prior first instead whenever when every until unless once");
        let is_call =
            sentence.has("call calling use using invoke invoking run running execute executing called used sending");
        (is_timed && is_call && sentence.is_order() || sentence.has("always never must instead"))
            && sentence.words.iter().any(|word| self.is_foreign(word))
    }

    /// Looks like a tool of another server: its name shares no word with this tool or its server.
    fn is_foreign(&self, word: &str) -> bool {
        const COMMON: &str =
            "get set list read write create update delete search find add remove tool file data id name";
        let word = word.trim_matches(['`', '"', '\'']);
        let is_name = word.len() > 4
            && word.contains('_')
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
        if !is_name {
            return false;
        }
        let verb = word.split(['_', '-']).next().unwrap_or_default();
        let is_called = holds(
            "get list read write create update delete search find add remove send post run execute fetch call open edit make \
             query upload download transfer pay move copy browser git slack github",
            verb,
        );
        let own: Vec<String> = name_words(self.call.name).into_iter().chain(name_words(self.call.server)).collect();
        let stem = |part: &String| part.trim_end_matches('s').to_owned();
        let own: Vec<String> = own.iter().map(stem).collect();
        let parts: Vec<String> = name_words(word).iter().map(stem).collect();
        let shared = || parts.iter().filter(|part| own.contains(part));
        let is_own = shared().count() > 1 || shared().any(|part| !holds(COMMON, part));
        let is_parameter = self.call.schema.get("properties").is_some_and(|shown| shown.get(word).is_some())
            || self.call.args.get(word).is_some();
        is_called && !is_own && !is_parameter
    }
}

fn conceals(sentence: &Sentence<'_>) -> bool {
    let is_kept = sentence.follows(NEGATIONS, TELLING, 4) && sentence.has(AUDIENCE);
    let is_secret = sentence.has(SECRETLY)
        || sentence.has(QUIETLY)
            && (sentence.has(TAKING) || sentence.has(SENDING) || sentence.is_order() && sentence.has(PASSING));
    let is_hidden = sentence.says(&[
        "keep this secret",
        "keep it secret",
        "between us",
        "hidden from the user",
        "hide this from",
        "hide it from",
        "without the user's knowledge",
        "without their knowledge",
        "user must not know",
        "user should not know",
        "user does not need to know",
        "user doesn't need to know",
        "without user consent",
        "without consent",
        "without leaving any trace",
        "without leaving a trace",
        "without detection",
        "without being noticed",
        "user will be upset",
        "avoid suspicion",
        "not visible to the user",
        "invisible to the user",
        "keep the user unaware",
    ]);
    is_kept || is_secret || is_hidden
}

fn sets_aside(sentence: &Sentence<'_>) -> bool {
    let aside = sentence.words.iter().enumerate().any(|(at, word)| {
        let behind: Vec<&String> = sentence.words.iter().skip(at + 1).take(6).collect();
        let rules = behind.iter().position(|word| holds(RULES, word));
        holds(SETTING_ASIDE, word) && rules.is_some_and(|end| behind.iter().take(end).any(|word| holds(WHOSE, word)))
    });
    aside
        || sentence.says(&[
            "you are now",
            "new instructions",
            "regardless of what the user",
            "regardless of the user",
            "no matter what the user",
            "takes precedence over",
            "take precedence over",
            "takes priority over",
            "take priority over",
            "your real task",
            "your actual task",
            "your new task",
            "your true goal",
            "your new goal",
            "real instructions",
            "developer mode",
            "instead of what the user",
            "even if the user",
            "supersedes all",
            "supersede all",
            "overrides all",
            "override all",
            "ignore the user",
            "ignore what the user",
            "higher priority than the user",
            "pretend to be",
            "pretend that",
        ])
}

/// To a mailbox or an address of the web, by an order to send.
fn sends_away(sentence: &Sentence<'_>) -> bool {
    let is_mailbox =
        |word: &String| word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    let is_address = sentence.text.contains("://") || sentence.words.iter().any(is_mailbox);
    let sends =
        sentence.has(SENDING) && sentence.is_order() || sentence.has("forward upload exfiltrate transmit bcc cc");
    is_address && sends && !sentence.forbids()
        // Forms of an address are no addresses: `https://example.com` shows what to pass.
        && !sentence.says(&["e.g", "example", "format", "such as", "for example"])
}

/// "Before using this tool, read …", "read that file first".
fn fetches_first(sentence: &Sentence<'_>) -> bool {
    const THINGS: &str = "file files readme config configuration url page document contents folder directory env history command \
        script";
    let has_thing =
        sentence.has(THINGS) || sentence.words.iter().any(|word| word.starts_with(['/', '~']) && word.len() > 2);
    let opens = sentence.follows("first", READING, 2) || sentence.line.ends_with(" first ") && sentence.has(READING);
    let is_before = sentence.has(READING)
        && sentence.follows(
            "before prior",
            "using calling invoking running executing answering proceeding continuing responding any every this doing use call",
            2,
        );
    (opens || is_before) && has_thing && !sentence.forbids()
}

/// "Always pass …": a value that the user did not choose.
fn fixes_values(sentence: &Sentence<'_>) -> bool {
    let always = sentence.follows("always must", "pass set include append add bcc cc prepend insert attach", 3);
    let broad = sentence.has(
        "entire full whole everything all verbatim complete contents true force recipient account address bcc cc iban hidden",
    );
    always && (broad || sentence.has("matter") || sentence.words.iter().any(|word| word.contains('@')))
}

/// Tags that models take for the start of somebody else's words.
fn markup(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let at = MARKUP.iter().filter_map(|tag| lower.find(tag)).min();
    let at = at.or_else(|| {
        let mut starts = lower.lines().scan(0, |at, line| {
            let start = *at;
            *at += line.len() + 1;
            Some((start, line.trim_start()))
        });
        starts
            .find(|(_, line)| ["system:", "assistant:", "user:", "developer:"].iter().any(|who| line.starts_with(who)))
            .map(|(at, _)| at)
    })?;
    Some(text.get(at..).unwrap_or_default().to_owned())
}

/// A long run of letters without meaning: encoded text that the model decodes and a person does not.
fn blob(text: &str) -> Option<&str> {
    text.split(|letter: char| letter.is_whitespace() || "\"'()<>,".contains(letter)).find(|word| {
        let is_code = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte));
        let mixes =
            word.bytes().any(|byte| byte.is_ascii_digit()) && word.bytes().any(|byte| byte.is_ascii_uppercase());
        is_code && word.len() >= 60 && (mixes || word.bytes().all(|byte| byte.is_ascii_hexdigit()))
            || secret::holds_packed(word)
    })
}

fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}
