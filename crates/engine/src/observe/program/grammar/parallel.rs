//! `parallel`: a template that a shell runs for every argument behind `:::`, or for every line that comes in.

use doorward_vocabulary::Degree;

use super::super::Invocation;
use crate::observe::field::Field;
use crate::observe::program::findings::Findings;
use crate::observe::stream::Stream;

/// More arguments are not tried one by one.
// A list that is written out by hand is shorter.
const ARGUMENTS: usize = 32;

/// What `parallel` runs; nothing where its words are a plain command for what comes in.
pub(super) fn parallel(invocation: &Invocation) -> Option<Findings> {
    let words = &invocation.args.operands;
    match words.iter().position(is_list) {
        Some(at) => {
            let (template, lists) = words.split_at_checked(at)?;
            Some(for_each(template, lists))
        }
        None => for_input(words, invocation),
    }
}

/// The template once for every argument of the lists.
fn for_each(template: &[Field], lists: &[Field]) -> Findings {
    let mut found = Findings::default();
    let (separators, arguments): (Vec<&Field>, Vec<&Field>) = lists.iter().partition(|word| is_list(word));
    let is_plain = separators.len() == 1
        && separators.iter().all(|word| word.text == ":::")
        && arguments.len() <= ARGUMENTS
        && (template.is_empty() || arguments.iter().all(|argument| is_plain_word(argument)))
        && template.iter().all(|word| word.text.replace("{}", "").find('{').is_none());
    if !is_plain {
        found.doubt(Degree::Opaque, "what `parallel` puts into its template");
    }
    for argument in arguments.into_iter().take(ARGUMENTS) {
        let is_placed = template.iter().any(|word| word.text.contains('{'));
        let mut words: Vec<Field> =
            template.iter().map(|word| word.with_text(fill(&word.text, &argument.text))).collect();
        if !is_placed {
            words.push(argument.clone());
        }
        // With `-q` the words are a command as they stand.
        if template.len() > 1 {
            found.run(words.clone());
        }
        found.run_joined(words);
    }
    found
}

/// The template for every line that comes in; without a template every line is a command.
fn for_input(template: &[Field], invocation: &Invocation) -> Option<Findings> {
    let mut found = Findings::default();
    match template {
        [] => {
            if invocation.input != Stream::empty() {
                found.run_stream(invocation.input.clone(), None);
            }
            Some(found)
        }
        // One word is a whole line of the shell.
        [line] if line.known().is_some_and(|text| text.trim().contains(' ')) => {
            found.doubt(Degree::Opaque, "what `parallel` puts into its template");
            found.run_text(line.clone());
            Some(found)
        }
        [..] => None,
    }
}

fn is_list(word: &Field) -> bool {
    matches!(word.text.as_str(), ":::" | ":::+" | "::::" | "::::+")
}

/// A word that a shell leaves as it is.
fn is_plain_word(word: &Field) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:,=+@%".contains(&byte);
    word.exact().is_some_and(|text| !text.is_empty() && text.bytes().all(plain))
}

/// The argument in place of `{}`, `{1}`, `{.}`.
fn fill(text: &str, argument: &str) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some((before, (inside, behind))) =
        rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        all.push_str(before);
        let is_placeholder =
            inside.len() <= 3 && inside.bytes().all(|byte| byte.is_ascii_digit() || b"./#%".contains(&byte));
        if is_placeholder {
            all.push_str(argument);
        } else {
            all.push('{');
            all.push_str(inside);
            all.push('}');
        }
        rest = behind;
    }
    all.push_str(rest);
    all
}
