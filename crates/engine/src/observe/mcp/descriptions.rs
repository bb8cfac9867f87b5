//! What a server says of its tool: the model reads it as if the user had written it, so orders in it are shown to a person.

use doorward_shell::{Hidden, HiddenKind};
use doorward_vocabulary::Degree;
use serde_json::Value;

use super::super::sheet::observer::Observer;
use super::ServerCall;
use super::orders;

/// The longest description that is read.
// The longest of well-known servers has 6 KB. What is not read is asked about.
const LONGEST: usize = 64 * 1024;

/// Notes the first thing in a description that no description needs.
pub(super) fn note(out: &mut Observer<'_>, call: &ServerCall<'_>) {
    for name in [call.server, call.name] {
        if name.chars().any(|letter| !letter.is_ascii_graphic() && letter != ' ') {
            out.lower(Degree::Opaque, "a tool whose name has characters that look like others, or like nothing");
        }
    }
    let mut texts = vec![call.description];
    texts.extend(call.annotations.get("title").and_then(Value::as_str));
    shown(call.schema, 0, &mut texts);
    if texts.iter().map(|text| text.len()).sum::<usize>() > LONGEST {
        return out.lower(Degree::Opaque, format!("a description of `{}` that is too long to read", call.name));
    }
    for text in texts {
        if let Some(what) = hides(text) {
            out.lower(Degree::Opaque, format!("a description of `{}` with {what}", call.name));
        }
        if let Some(told) = orders::first(out.world, text, call) {
            out.lower(
                Degree::Opaque,
                format!(
                    "what the server tells the model about `{}`, which {}: “{}”",
                    call.name, told.what, told.sentence
                ),
            );
        }
    }
}

/// Every text of a schema that the model reads.
fn shown<'s>(schema: &'s Value, depth: usize, found: &mut Vec<&'s str>) {
    // A schema that nests deeper than any known one is cut off here; its arguments are looked at in any case.
    if depth > 12 {
        return;
    }
    match schema {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| shown(item, depth + 1, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                if key.contains(' ') {
                    found.push(key);
                }
                shown(value, depth + 1, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text has characters that the model reads and a person does not see.
pub fn hides_text(text: &str) -> bool {
    unseen(text).is_some()
}

/// Characters that the model reads and a person does not see, or takes for others.
fn hides(text: &str) -> Option<&'static str> {
    unseen(text).or_else(|| mixes_scripts(text).then_some("letters of two alphabets in one word"))
}

fn unseen(text: &str) -> Option<&'static str> {
    let mut rest = text;
    while let Some(Hidden { kind, span }) = doorward_shell::hidden(rest) {
        match kind {
            HiddenKind::Nul | HiddenKind::Control => return Some("control characters"),
            HiddenKind::Bidi => return Some("characters that change the order in which text is shown"),
            HiddenKind::Invisible => return Some("invisible characters"),
            HiddenKind::Tag => return Some("invisible tag characters"),
            // Line ends of other systems, and spaces and emoji as word processors write them.
            HiddenKind::CarriageReturn | HiddenKind::Space | HiddenKind::Variation => {}
        }
        let at = usize::try_from(span.start).ok()?;
        let after = rest.get(at..).and_then(|rest| rest.chars().next().map(|letter| at + letter.len_utf8()));
        rest = rest.get(after?..)?;
    }
    None
}

/// A Latin word with Greek or Cyrillic letters in it reads as the Latin one.
fn mixes_scripts(text: &str) -> bool {
    text.split(|letter: char| !letter.is_alphabetic()).any(|word| {
        let is_other = |letter: char| matches!(letter, '\u{370}'..='\u{52f}' | '\u{1f00}'..='\u{1fff}');
        // `µs` and `Δx` are one sign with Latin letters; a disguised word is mostly Latin.
        let latin = word.chars().filter(char::is_ascii_alphabetic).count();
        latin >= 2 && word.chars().skip(1).any(is_other)
    })
}
