//! The one pass over a text: at the start of each word and at each separator, the shapes that may begin there.

use doorward_vocabulary::Sensitivity;

use super::Finding;
use super::flags::{after_flag, kind};
use super::keys::{self, Key};
use super::shapes::{Letters, Shape, beginning_with};
use super::value::{Manner, Value, is_secret, read};
use super::{blocks, personal, placeholder, random, value};

/// A shorter word after a name and a space is a word.
// `password reset` and `token expired` are prose. Shorter secrets need a `=` or a `:` before them.
const NAMED_BEFORE: usize = 12;

/// Finds everything, in order.
pub(super) fn scan(text: &str) -> Vec<Finding> {
    let mut scanner = Scanner { text, bytes: text.as_bytes(), at: 0, run: 0, findings: Vec::new() };
    while let Some(byte) = scanner.bytes.get(scanner.at) {
        scanner.step(*byte);
    }
    scanner.findings
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Everything before is done.
    at: usize,
    /// Where the run of token letters ends that was last measured, so that none is measured twice.
    run: usize,
    findings: Vec<Finding>,
}

impl Scanner<'_> {
    fn step(&mut self, byte: u8) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => self.word(byte),
            b'=' | b':' => self.separator(byte),
            b'-' => self.dash(),
            b'>' => self.element(),
            b'\'' | b'"' => self.quote(),
            _ => self.at += 1,
        }
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn report(&mut self, start: usize, end: usize, kind: &'static str, sensitivity: Sensitivity) {
        self.findings.push(Finding { start, end, kind, sensitivity });
        self.at = end.max(self.at + 1);
    }

    fn report_here(&mut self, length: usize, kind: &'static str, sensitivity: Sensitivity) {
        self.report(self.at, self.at + length, kind, sensitivity);
    }

    fn report_value(&mut self, value: Value, kind: &'static str) {
        let value = value.whole(self.bytes);
        self.report(value.start, value.end, kind, Sensitivity::SecretShaped);
    }

    /// A word begins here: look for shapes, then go past it.
    fn word(&mut self, first: u8) {
        let shaped = beginning_with(first).iter().find_map(|shape| Some((self.shape_length(shape)?, shape.4)));
        if let Some((length, kind)) = shaped {
            let sensitivity = if kind == "age-key" { Sensitivity::Key } else { Sensitivity::SecretShaped };
            return match self.is_made_up_here(length) {
                true => self.at += length,
                false => self.report_here(length, kind, sensitivity),
            };
        }
        if self.rest().starts_with(b"eyJ")
            && let Some(length) = self.signed_token()
        {
            return self.report_here(length, "signed-token", Sensitivity::SecretShaped);
        }
        if let Some((length, kind, sensitivity)) = self.built(first) {
            return self.report_here(length, kind, sensitivity);
        }
        let length = self.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if length >= NAMED_BEFORE
            && let Some(value) = self.after_name()
        {
            return self.report_value(value, "secret");
        }
        match random::is_token(self.bytes, self.at, length) && !self.is_made_up_here(length) {
            true => self.report_here(length, "token", Sensitivity::None),
            false => self.at += length,
        }
    }

    /// `aws configure set aws_secret_access_key …`: a telling name, a space, and something that looks random.
    fn after_name(&self) -> Option<Value> {
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
        let (name, is_tight) = self.name_before(self.at).filter(|_| before == Some(&b' '))?;
        let tells = matches!(keys::key(name), Some(Key::Password | Key::Token));
        let value = read(self.bytes, self.at, Manner::Loose);
        (tells && !is_tight && is_secret(self.text, value, Key::Token)).then_some(value)
    }

    fn is_made_up_here(&self, length: usize) -> bool {
        self.text.get(self.at..self.at + length).is_some_and(is_made_up)
    }

    fn shape_length(&self, shape: &Shape) -> Option<usize> {
        let (prefix, letters, least, most, _) = shape;
        let rest = self.rest();
        // The first letter fits already, and the second mostly tells.
        let differs = prefix.as_bytes().get(1).is_some_and(|second| rest.get(1) != Some(second));
        if differs || !rest.starts_with(prefix.as_bytes()) {
            return None;
        }
        let body = rest.get(prefix.len()..)?;
        let length = body.iter().take(most.saturating_add(1)).take_while(|byte| letters.has(**byte)).count();
        let fits = length >= *least && length <= *most && !body.get(length).is_some_and(u8::is_ascii_alphanumeric);
        fits.then_some(prefix.len() + length)
    }

    fn signed_token(&mut self) -> Option<usize> {
        if self.run <= self.at {
            self.run = self.at + self.rest().iter().take_while(|byte| Letters::Name.has(**byte)).count();
        }
        blocks::signed_token(self.rest(), self.run - self.at)
    }

    /// Shapes that are told by their build instead of their first letters.
    fn built(&self, first: u8) -> Option<(usize, &'static str, Sensitivity)> {
        let rest = self.rest();
        match first {
            b'B' | b'b' => self.bearer(rest).map(|length| (length, "authorization", Sensitivity::SecretShaped)),
            b'0'..=b'9' => {
                let chat = blocks::chat_token(rest).map(|(length, kind)| (length, kind, Sensitivity::SecretShaped));
                chat.or_else(|| self.person().map(|(length, kind)| (length, kind, Sensitivity::Personal)))
            }
            b'P' if rest.starts_with(b"Private-Lines") => {
                blocks::putty_key(self.text.get(self.at..)?).map(|length| (length, "private-key", Sensitivity::Key))
            }
            b'A'..=b'Z' => {
                let chat = blocks::chat_token(rest).map(|(length, kind)| (length, kind, Sensitivity::SecretShaped));
                chat.or_else(|| personal::account(rest).map(|length| (length, "bank-account", Sensitivity::Personal)))
            }
            _ => None,
        }
    }

    /// `Bearer …` or `Basic …` with a token long enough to be real.
    fn bearer(&self, rest: &[u8]) -> Option<usize> {
        let word = [b"bearer ".as_slice(), b"basic "]
            .into_iter()
            .find(|word| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))?;
        let token = rest.get(word.len()..)?;
        let length = token.iter().take_while(|byte| !value::is_delimiter(**byte)).count();
        let text = self.text.get(self.at + word.len()..self.at + word.len() + length)?;
        let shape = value::Shape::of(text.as_bytes().get(..256).unwrap_or(text.as_bytes()));
        let is_token = length >= 12 && shape.is_mixed() && !shape.is_wordy() && !placeholder::is_placeholder(text);
        is_token.then_some(word.len() + length)
    }

    fn person(&self) -> Option<(usize, &'static str)> {
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
        let stands_alone = !matches!(before, Some(b'-' | b'_' | b'.' | b'/' | b'+' | b'#' | b'@'));
        personal::number(self.rest()).filter(|_| stands_alone)
    }

    /// `=` or `:` after a telling name, or the `://` of a URL.
    fn separator(&mut self, byte: u8) {
        let next = self.bytes.get(self.at + 1).copied().unwrap_or_default();
        if byte == b':' && next == b'/' && self.bytes.get(self.at + 2) == Some(&b'/') {
            let start = self.at + 3;
            return match self.text.get(start..).and_then(blocks::user_part) {
                Some((from, to)) => self.report(start + from, start + to, "password", Sensitivity::SecretShaped),
                None => self.at = start,
            };
        }
        // `==` compares, `::` names a path, `:=` is seen at its `=`.
        let is_other = byte == b'=' && next == b'=' || byte == b':' && matches!(next, b':' | b'=');
        let secret = if is_other { None } else { self.assigned(byte) };
        match secret {
            Some((value, kind)) => self.report_value(value, kind),
            None => self.at += if is_other { 2 } else { 1 },
        }
    }

    fn assigned(&self, separator: u8) -> Option<(Value, &'static str)> {
        let (name, is_tight) = self.name_before(self.at)?;
        let key = keys::key(name).or_else(|| self.key_of_pair(name))?;
        let mut start = self.at + 1;
        if self.bytes.get(start) == Some(&b'>') {
            start += 1;
        }
        let spaces = self.bytes.get(start..)?.iter().take(16).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let is_loud = name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase);
        let manner =
            if separator == b'=' && is_tight && spaces == 0 { Manner::Tight { loud: is_loud } } else { Manner::Loose };
        let mut value = read(self.bytes, start + spaces, manner);
        if let Some(after) = self.after_scheme(value) {
            value = read(self.bytes, after, Manner::Flag);
            let length = value.end - value.start;
            return is_secret(self.text, value, if length < 12 { Key::Password } else { Key::Authorization })
                .then_some((value, "authorization"));
        }
        let is_new = !self.is_redacted(name, value);
        (is_new && is_secret(self.text, value, key)).then_some((value, kind(key)))
    }

    /// `name: DB_PASSWORD`, then `value: …`: lists of pairs, as manifests have them.
    fn key_of_pair(&self, name: &[u8]) -> Option<Key> {
        // A pair stands on one or two lines.
        const BEFORE: usize = 128;
        if !name.eq_ignore_ascii_case(b"value") {
            return None;
        }
        let before = self.bytes.get(self.at.saturating_sub(BEFORE)..self.at)?;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let mut words = before.rsplit(|byte| !is_word(byte)).filter(|word| !matches!(word, [] | [b'-']));
        let (_, named, label) = (words.next()?, words.next()?, words.next()?);
        let is_label = label.eq_ignore_ascii_case(b"name") || label.eq_ignore_ascii_case(b"key");
        is_label.then(|| keys::key(named)).flatten()
    }

    /// Name and value are what an earlier pass has left: `[password:1a2b3c4d]`.
    fn is_redacted(&self, name: &[u8], value: Value) -> bool {
        let opening = self.at.checked_sub(name.len() + 1).and_then(|at| self.bytes.get(at));
        let hash = self.bytes.get(value.start..value.end).unwrap_or_default();
        opening == Some(&b'[')
            && self.bytes.get(value.end) == Some(&b']')
            && hash.len() == 8
            && hash.iter().all(u8::is_ascii_hexdigit)
    }

    /// Where the token begins if the value is only the name of a scheme: `Bearer …`.
    fn after_scheme(&self, value: Value) -> Option<usize> {
        let whole = self.text.get(value.start..value.end)?;
        let scheme = whole.split(' ').next()?;
        let is_scheme = ["bearer", "basic", "token", "digest", "apikey", "bot"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme));
        let after = value.start + scheme.len();
        (is_scheme && self.bytes.get(after) == Some(&b' ')).then_some(after + 1)
    }

    /// The name that ends before `at`, quotes and spaces apart, and whether nothing stands between.
    fn name_before(&self, at: usize) -> Option<(&[u8], bool)> {
        let before = self.bytes.get(at.saturating_sub(keys::LONGEST + 8)..at)?;
        let gap = before
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'\\' | b':' | b']' | b'`'))
            .count();
        let name = before.get(..before.len() - gap)?;
        let length = name
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
            .count();
        Some((name.get(name.len() - length..)?, gap == 0))
    }

    /// A key block, or a flag that takes a secret.
    fn dash(&mut self) {
        if self.rest().starts_with(b"-----BEGIN ") {
            let length = self.text.get(self.at..).and_then(blocks::private_key);
            return match length {
                Some(length) => self.report_here(length, "private-key", Sensitivity::Key),
                None => self.at += 11,
            };
        }
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
        let begins = matches!(before, None | Some(b' ' | b'\t' | b'\n' | b'"' | b'\''));
        match begins.then(|| after_flag(self.text, self.at)).flatten() {
            Some((value, kind)) => self.report_value(value, kind),
            None => self.at += self.rest().iter().take_while(|byte| **byte == b'-').count().min(2),
        }
    }

    /// `<password>…</password>`.
    fn element(&mut self) {
        let name = self.name_before(self.at).filter(|(name, is_tight)| {
            *is_tight && self.at.checked_sub(name.len() + 1).and_then(|at| self.bytes.get(at)) == Some(&b'<')
        });
        let secret = name.and_then(|(name, _)| keys::key(name)).and_then(|key| {
            let value = read(self.bytes, self.at + 1, Manner::Tight { loud: true });
            (self.bytes.get(value.end) == Some(&b'<') && is_secret(self.text, value, key)).then_some((value, kind(key)))
        });
        match secret {
            Some((value, kind)) => self.report_value(value, kind),
            None => self.at += 1,
        }
    }

    /// `PASSWORD '…'` and `IDENTIFIED BY '…'`.
    fn quote(&mut self) {
        let head = self.bytes.get(self.at.saturating_sub(14)..self.at).unwrap_or_default();
        let names = [b"password ".as_slice(), b"identified by "].iter().any(|words| {
            head.get(head.len().saturating_sub(words.len())..).is_some_and(|end| end.eq_ignore_ascii_case(words))
        });
        let value = names.then(|| read(self.bytes, self.at, Manner::Quoted));
        match value.filter(|value| is_secret(self.text, *value, Key::Password)) {
            Some(value) => self.report_value(value, "password"),
            None => self.at += 1,
        }
    }
}

/// Long tokens are made up only if they say so, repeat themselves or hold no digit.
fn is_made_up(secret: &str) -> bool {
    let bytes = secret.as_bytes();
    let tail = bytes.get(bytes.len().saturating_sub(16)..).unwrap_or(bytes);
    let says = [
        "xxxx",
        "XXXX",
        "example",
        "EXAMPLE",
        "....",
        "****",
        "your",
        "YOUR",
        "placeholder",
        "000000000",
        "123456789012",
    ];
    let window = secret.get(..secret.len().min(96)).unwrap_or(secret);
    let is_plain = bytes.len() < 48 && !bytes.iter().any(u8::is_ascii_digit);
    is_plain || says.iter().any(|word| window.contains(word)) || tail.iter().all(|byte| Some(byte) == tail.first())
}
