//! The user's own prose in a message: without code, quotations and pasted text, as sentences of plain words.

/// One word of a message, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub text: String,
    /// It stood in quotation marks or as code: it may name something, it never orders anything.
    pub is_quoted: bool,
}

/// One sentence, cut where a new order may begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub segments: Vec<Vec<Word>>,
    pub is_question: bool,
}

impl Sentence {
    pub(crate) fn words(&self) -> impl Iterator<Item = &Word> {
        self.segments.iter().flatten()
    }

    fn is_empty(&self) -> bool {
        self.segments.iter().all(Vec::is_empty)
    }
}

/// Stands for something quoted that is not a single name. No list of words holds it.
// The object replacement character: nobody types it, so a quotation can never match a word of the lists.
const QUOTATION: &str = "\u{fffc}";

/// Lines without an empty one between them.
#[derive(Debug, Default)]
pub(super) struct Paragraph<'a> {
    pub lines: Vec<&'a str>,
    /// A line of it was written by a program, so that the others may be too.
    pub is_log: bool,
}

/// What the user wrote, without code blocks and quoted lines.
pub(super) fn paragraphs(message: &str) -> Vec<Paragraph<'_>> {
    let mut fence: Option<&str> = None;
    let mut paragraphs = Vec::new();
    let mut paragraph = Paragraph::default();
    for line in message.lines() {
        let start = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| start.starts_with(marker));
        match (fence, marker) {
            (None, Some(marker)) => fence = Some(marker),
            (Some(open), Some(marker)) if open == marker => fence = None,
            (Some(_), _) => {}
            (None, None) if start.is_empty() => paragraphs.push(std::mem::take(&mut paragraph)),
            (None, None) => {
                paragraph.is_log |= is_log(line);
                if !is_pasted(line) {
                    paragraph.lines.push(line);
                }
            }
        }
    }
    paragraphs.push(paragraph);
    paragraphs.retain(|paragraph| !paragraph.lines.is_empty());
    paragraphs
}

/// The lines that the user wrote, without code blocks and quoted lines.
pub(crate) fn own_lines(message: &str) -> Vec<&str> {
    paragraphs(message).into_iter().flat_map(|paragraph| paragraph.lines).collect()
}

/// Quoted as in a mail, indented as code, or typed at a prompt of a shell.
fn is_pasted(line: &str) -> bool {
    line.starts_with("    ")
        || line.starts_with('\t')
        || ['>', '|', '$', '%'].iter().any(|sign| line.trim_start().starts_with(*sign))
}

/// Written by a program: a prompt with its output below, a level, a time, a rank in brackets.
pub(super) fn is_log(line: &str) -> bool {
    // The words that loggers of all languages put in front.
    const LEVELS: &[&str] = &["INFO", "WARN", "WARNING", "ERROR", "DEBUG", "TRACE", "FATAL", "NOTICE", "FAIL", "PASS"];
    let line = line.trim_start();
    let first = line.split_whitespace().next().unwrap_or_default();
    let level = first.trim_end_matches(':');
    let is_time = first.len() >= 5
        && first.starts_with(|letter: char| letter.is_ascii_digit())
        && first.bytes().filter(|byte| matches!(byte, b'-' | b':' | b'/' | b'T')).count() >= 1
        && first.bytes().all(|byte| byte.is_ascii_digit() || b"-:/.,TZ+".contains(&byte));
    line.starts_with(['[', '$', '%', '#']) || LEVELS.contains(&level) || is_time
}

/// The sentences of one line; `None` if a quotation does not end.
pub(crate) fn sentences(line: &str) -> Option<Vec<Sentence>> {
    let line: String = line.chars().map(plain_quote).collect();
    let mut reader = Splitter::default();
    let mut rest = line.as_str();
    while let Some(letter) = rest.chars().next() {
        let quote = matches!(letter, '`' | '"') || (letter == '\'' && reader.word.is_empty());
        if quote {
            let inner = rest.get(letter.len_utf8()..)?;
            let end = inner.find(letter)?;
            reader.quotation(inner.get(..end)?);
            rest = inner.get(end + letter.len_utf8()..)?;
            continue;
        }
        let after = rest.get(letter.len_utf8()..)?;
        reader.letter(letter, after.chars().next());
        rest = after;
    }
    reader.end_sentence(false);
    Some(reader.sentences)
}

fn plain_quote(letter: char) -> char {
    match letter {
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}' => '"',
        other => other,
    }
}

#[derive(Default)]
struct Splitter {
    word: String,
    sentence: Sentence,
    segment: Vec<Word>,
    sentences: Vec<Sentence>,
}

impl Splitter {
    fn letter(&mut self, letter: char, next: Option<char>) {
        let ends =
            next.is_none_or(|next| next.is_whitespace() || matches!(next, ')' | ']' | '"' | '\'' | '!' | '?' | '.'));
        match letter {
            '?' if ends => self.end_sentence(true),
            '!' | ';' => self.end_sentence(false),
            // `../x` begins with two dots.
            '.' if ends && !(self.word.is_empty() && next == Some('.')) => self.end_sentence(false),
            ',' | '(' | ')' | '[' | ']' | '\u{2014}' | '\u{2013}' => self.end_segment(),
            ':' if ends => self.end_segment(),
            letter if letter.is_whitespace() => self.end_word(),
            letter => self.word.extend(letter.to_lowercase()),
        }
    }

    fn quotation(&mut self, inner: &str) {
        self.end_word();
        let is_name = !inner.is_empty() && inner.len() <= 200 && !inner.chars().any(char::is_whitespace);
        let text = if is_name { inner.to_lowercase() } else { QUOTATION.to_owned() };
        self.segment.push(Word { text, is_quoted: true });
    }

    fn end_word(&mut self) {
        let text = std::mem::take(&mut self.word);
        let text = text.trim_end_matches(['\'', '*']).trim_start_matches('*');
        match text {
            "" | "-" => {}
            "and" | "then" | "&" | "plus" => self.end_segment(),
            text => self.segment.push(Word { text: text.to_owned(), is_quoted: false }),
        }
    }

    fn end_segment(&mut self) {
        if !self.word.is_empty() {
            self.end_word();
        }
        let segment = std::mem::take(&mut self.segment);
        if !segment.is_empty() {
            self.sentence.segments.push(segment);
        }
    }

    fn end_sentence(&mut self, is_question: bool) {
        self.end_segment();
        let mut sentence = std::mem::take(&mut self.sentence);
        if sentence.is_empty() {
            // `push it?!` and `push it ?` end a sentence that is there already.
            if is_question && let Some(last) = self.sentences.last_mut() {
                last.is_question = true;
            }
            return;
        }
        sentence.is_question = is_question;
        self.sentences.push(sentence);
    }
}
