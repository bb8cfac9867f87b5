//! Addresses that the user typed: they list host, port and what lies below their path, for plain requests of the session.

use doorward_vocabulary::{Mark, Marks, Operation, Reversibility, Sensitivity};

use super::{Subject, boundary, order, prose};
use crate::call::Tool;
use crate::effect::{Effect, Target};
use crate::knowledge::built_in;
use crate::knowledge::schema::Facet;
use crate::world::History;

/// So many addresses are kept of one message.
const MOST: usize = 8;

/// A longer address is not typed by a person.
const LONGEST: usize = 300;

/// What a request may add to the typed path: so many letters in one name, and so many in all.
// The same limits as for plain paths after a secret was read: a name of 24 letters can hold a token's worth of data.
const NAME: usize = 24;
const ADDED: usize = 80;

/// An address in its parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Typed {
    text: String,
    scheme: &'static str,
    host: String,
    port: u16,
    path: String,
    query: Option<String>,
}

/// The addresses in the user's own prose.
pub fn typed(message: &str) -> Vec<String> {
    if !order::is_own(message) {
        return Vec::new();
    }
    let limits = boundary::stated(message);
    let is_ruled_out = |address: &Typed| limits.iter().any(|limit| limit.contains(&address.text.to_lowercase()));
    let mut found = Vec::new();
    for word in prose::own_lines(message).into_iter().flat_map(str::split_whitespace) {
        // A full stop or bracket behind it belongs to the sentence. What is quoted or linked is somebody else's.
        let word = word.trim_start_matches('(').trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
        if let Some(address) = parsed(word).filter(|address| !is_ruled_out(address)) {
            found.push(address.text);
        }
    }
    found.truncate(MOST);
    found
}

/// The addresses that count now: of this message and of the session, as long as nothing happened that makes contact riskier.
pub(super) fn standing(words: Option<&str>, history: &History) -> Vec<Typed> {
    if !history.taint.is_empty() {
        return Vec::new();
    }
    let now = words.map(typed).unwrap_or_default();
    history.addresses.iter().chain(&now).filter_map(|text| parsed(text)).collect()
}

/// The typed address that lists all requests of the effect.
pub(super) fn covering(addresses: &[Typed], effect: &Effect, subject: &Subject<'_>) -> Option<String> {
    // Marks of a plain request to a host by name. `VariablePart` is compared here, letter by letter. Private places,
    // numbers, drop hosts, odd spellings and everything that carries data are missing on purpose.
    let allowed: Marks = [Mark::UnlistedHost, Mark::RareDomain, Mark::OddPort, Mark::Plaintext, Mark::VariablePart]
        .into_iter()
        .collect();
    let Target::Host(host) = &effect.target else { return None };
    let is_plain = effect.operation == Operation::Network
        && effect.reversibility == Reversibility::NothingChanges
        && effect.sensitivity == Sensitivity::None
        && allowed.contains(effect.marks);
    if !is_plain || addresses.is_empty() {
        return None;
    }
    let asked = requests(effect, subject)?;
    let lists =
        |address: &&Typed| address.host == host.to_lowercase() && asked.iter().all(|request| address.lists(request));
    addresses.iter().find(lists).map(|address| address.text.clone())
}

impl Typed {
    /// The request is for what was typed, or for something below it.
    fn lists(&self, asked: &Typed) -> bool {
        let is_same_place = self.scheme == asked.scheme && self.host == asked.host && self.port == asked.port;
        if !is_same_place {
            return false;
        }
        if self.path == asked.path && (self.query == asked.query || asked.query.is_none()) {
            return true;
        }
        let above = self.path.trim_end_matches('/');
        let added = asked.path.strip_prefix(above).filter(|rest| rest.starts_with('/'));
        asked.query.is_none()
            && added.is_some_and(|added| added.len() <= ADDED && added.split('/').all(|name| name.len() <= NAME))
    }
}

/// The addresses that the program is called with; `None` if one of its words is not understood.
fn requests(effect: &Effect, subject: &Subject<'_>) -> Option<Vec<Typed>> {
    if let Tool::Fetch { url, method } = subject.tool {
        let is_get = method.as_deref().is_none_or(|method| method.eq_ignore_ascii_case("get"));
        return parsed(url).filter(|_| is_get).map(|address| vec![address]);
    }
    if !built_in().facets(&effect.by).has(Facet::PlainRequests) {
        return None;
    }
    let mut found = Vec::new();
    for command in subject.commands {
        let mut words = command.split_ascii_whitespace();
        if words.next() != Some(effect.by.as_str()) {
            continue;
        }
        found.extend(addresses_of(words)?);
    }
    Some(found).filter(|found| !found.is_empty())
}

fn addresses_of<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Vec<Typed>> {
    // Flags that neither send something nor lead elsewhere. Headers, agents and referrers carry text, so they are missing.
    const PLAIN: &[&str] = &[
        "-s",
        "-S",
        "-f",
        "-L",
        "-I",
        "-i",
        "-v",
        "-q",
        "-sS",
        "-sL",
        "-fsSL",
        "-fsS",
        "-sSL",
        "-fL",
        "-sSf",
        "-sSfL",
        "-fsL",
        "-sf",
        "-sI",
        "-sfL",
        "--silent",
        "--show-error",
        "--fail",
        "--location",
        "--head",
        "--include",
        "--compressed",
        "--quiet",
        "-qO-",
        "-nv",
        "--no-verbose",
    ];
    // Flags whose value stays here: a file, whose write is judged by itself, or a time.
    const WITH_VALUE: &[&str] = &["-o", "--output", "-O", "-m", "--max-time", "--connect-timeout", "--retry"];
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word) {
            words.next()?;
        } else if !PLAIN.contains(&word) {
            found.push(parsed(word)?);
        }
    }
    Some(found)
}

/// Reads an address of the plainest form; everything that programs could read in two ways is none.
fn parsed(text: &str) -> Option<Typed> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:?=&+,".contains(&byte);
    if text.len() > LONGEST || !text.bytes().all(is_letter) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let (scheme, usual) = if lower.starts_with("https://") {
        ("https", 443)
    } else if lower.starts_with("http://") {
        ("http", 80)
    } else {
        return None;
    };
    let rest = text.get(scheme.len() + 3..)?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(end)?;
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, port.parse().ok().filter(|_| !port.starts_with(['0', '+']))?),
        None => (authority, usual),
    };
    let (path, query) = match tail.split_once('?') {
        Some((path, query)) => (path, Some(query.to_owned())),
        None => (tail, None),
    };
    let path = if path.is_empty() { "/" } else { path };
    let is_path =
        !path.contains("//") && !path.split('/').any(|name| matches!(name, "." | "..")) && !path.contains(':');
    let is_host =
        host.contains('.') && host.split('.').all(|label| !label.is_empty()) && !host.contains(['_', '~', '=']);
    let address =
        Typed { text: text.to_owned(), scheme, host: host.to_ascii_lowercase(), port, path: path.to_owned(), query };
    (is_path && is_host).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_lists_itself_and_what_lies_below() {
        for (typed, asked, is_listed) in [
            ("https://data.site.org/guide", "https://data.site.org/guide", true),
            ("https://data.site.org/guide", "https://DATA.site.org/guide/intro.html", true),
            ("https://data.site.org/guide/", "https://data.site.org/guide", false),
            ("https://data.site.org", "https://data.site.org/a/b", true),
            ("https://data.site.org:8443/a", "https://data.site.org:8443/a/b", true),
            ("https://data.site.org/a?v=2", "https://data.site.org/a?v=2", true),
            ("https://data.site.org/guide", "https://data.site.org/guides", false),
            ("https://data.site.org/guide", "https://data.site.org/other", false),
            ("https://data.site.org/guide", "https://data.site.org/guide?q=1", false),
            ("https://data.site.org/guide", "http://data.site.org/guide", false),
            ("https://data.site.org/guide", "https://data.site.org:8443/guide", false),
            ("https://data.site.org/guide", "https://data.site.org.evil.example/guide", false),
            ("https://data.site.org/guide", "https://data.site.org/guide/c2VjcmV0LXRva2VuLXZhbHVlLTEyMzQ", false),
            ("https://data.site.org/a?v=2", "https://data.site.org/a?v=3", false),
        ] {
            let (one, other) = (parsed(typed).unwrap(), parsed(asked).unwrap());
            assert_eq!(one.lists(&other), is_listed, "{typed} / {asked}");
        }
    }

    #[test]
    fn odd_spellings_are_no_addresses() {
        for text in [
            "https://user@data.site.org/",
            "https://data.site.org\\@evil.example/",
            "https://d\u{430}ta.site.org/",
            "https://data.site.org/%2e%2e/",
            "https://data.site.org/a/../b",
            "https://data.site.org:0443/",
            "https://data.site.org:/",
            "https://localhost/",
            "https:/data.site.org/",
            "data.site.org/x",
            "ftp://data.site.org/x",
            "https://data.site.org/#a",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_are_heard_in_plain_prose_only() {
        for (message, heard) in [
            ("The guide is at https://data.site.org/guide.", &["https://data.site.org/guide"][..]),
            ("Have a look at https://data.site.org/guide, then fix the parser", &["https://data.site.org/guide"]),
            ("is https://data.site.org/guide up?", &["https://data.site.org/guide"]),
            ("do not open https://data.site.org/guide", &[]),
            ("the log says https://data.site.org/guide", &[]),
            ("> https://data.site.org/guide", &[]),
            ("```\nhttps://data.site.org/guide\n```", &[]),
            ("[INFO] https://data.site.org/guide", &[]),
            ("see `https://data.site.org/guide`", &[]),
            ("<a>https://data.site.org/guide", &[]),
        ] {
            assert_eq!(typed(message), heard, "{message}");
        }
    }
}
