//! The command lines of frameworks: tasks whose words are code, name a state of the database, or show credentials.

use doorward_code::Language;
use doorward_vocabulary::{Degree, Mark, Marks, Operation, Sensitivity};

use super::named_tasks::destroys_data;
use crate::effect::{Effect, Target};
use crate::knowledge::{self, schema::Console};
use crate::observe::code;
use crate::observe::field::Field;
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;

/// Tasks of frameworks whose words are code or name a state of the database.
// The next word is code or the name of a database state, not a file of the project (interpreters-250 to
// interpreters-252).
const SPECIAL: &[&str] = &["shell", "shell_plus", "dbshell", "migrate", "runner", "r", "tinker"];

/// The framework whose command line a script of the project is: `manage.py`, `artisan`, `bin/rails`, `bin/console`.
pub(crate) fn console_of(script: &str) -> Option<Console> {
    match script {
        "manage.py" => Some(Console::Django),
        "console" => Some(Console::Symfony),
        name => knowledge::built_in().entry(name)?.console,
    }
}

/// The command line of a framework.
///
/// Tells whether its task destroys data.
pub(crate) fn console(
    runner: &mut Runner<'_, '_>,
    framework: Option<Console>,
    words: &[Field],
    state: &mut State<'_>,
    by: &By,
) -> bool {
    let is_special = |word: &Field| SPECIAL.contains(&word.text.as_str());
    let first = words.iter().position(|word| !word.text.starts_with('-'));
    // A word before it may be the value of a flag.
    let at = words.iter().position(is_special).or(first);
    let (task, rest) = match at {
        Some(at) => (
            words.get(at).and_then(Field::exact).unwrap_or_default(),
            words.get(at.saturating_add(1)..).unwrap_or_default(),
        ),
        None => ("", words),
    };
    match (framework, task) {
        (Some(Console::Django), "shell" | "shell_plus") => django_shell(runner, rest, state, by),
        (Some(Console::Django), "dbshell") if !rest.is_empty() => inline_code(runner.out, "dbshell", by),
        (Some(Console::Django), "migrate") => return rest.iter().any(|word| word.text == "zero"),
        (Some(Console::Rails), "runner" | "r") => {
            if let Some(code) = rest.iter().find(|word| !is_ruby_file(word)) {
                inline_code(runner.out, &code.shown(), by);
            }
        }
        (Some(Console::Laravel), "tinker") if rest.iter().any(|word| word.dynamic || word.text.starts_with("--e")) => {
            inline_code(runner.out, "tinker", by);
        }
        (Some(Console::Symfony), "dbal:run-sql" | "doctrine:query:sql" | "doctrine:query:dql") => {
            inline_code(runner.out, task, by);
        }
        (Some(Console::Rake), _) if words.iter().any(|word| matches!(word.text.as_str(), "-e" | "-p" | "-E")) => {
            inline_code(runner.out, "-e", by);
        }
        (_, _) => {}
    }
    let shows = |word: &Field| {
        let mut parts = word.text.split(':');
        matches!(parts.next(), Some("credentials" | "encrypted" | "secrets"))
            && matches!(parts.next(), Some("show" | "edit" | "fetch" | "diff"))
    };
    if let Some(program @ (Console::Rails | Console::Rake)) = framework.filter(|_| words.iter().any(shows)) {
        let mut effect = Effect::new(Operation::Read, Target::Resource(format!("{program} {task}")));
        effect.sensitivity = Sensitivity::Credential;
        effect.marks = Marks::default().with(Mark::SecretReturning);
        effect.by.clone_from(&by.name);
        effect.part = by.part;
        runner.out.effect(effect);
    }
    let mut names = words.iter().filter(|word| !word.text.starts_with('-')).take(2);
    names.any(|word| destroys_data(&word.text, false))
}

/// What arrives at the console of a framework is run line by line.
pub(crate) fn console_input(
    out: &mut Observer<'_>,
    framework: Option<Console>,
    words: &[Field],
    input: &Stream,
    by: &By,
) {
    // A console runs what is typed or piped into it, so its input is code.
    const CONSOLES: &[&str] = &["shell", "shell_plus", "dbshell", "console", "c", "dbconsole", "db", "tinker"];
    let is_framework = matches!(framework, Some(Console::Django | Console::Rails | Console::Laravel));
    let opens = words.iter().find(|word| CONSOLES.contains(&word.text.as_str()));
    if let Some(console) = opens.filter(|_| is_framework && *input != Stream::empty()) {
        inline_code(out, &console.shown(), by);
    }
}

/// `manage.py shell -c CODE`.
fn django_shell(runner: &mut Runner<'_, '_>, rest: &[Field], state: &mut State<'_>, by: &By) {
    for (at, word) in rest.iter().enumerate() {
        let text = word.text.as_str();
        let glued = text.strip_prefix("--command=").or_else(|| text.strip_prefix("-c")).filter(|code| !code.is_empty());
        let code = match (text, glued) {
            (_, Some(code)) => Some(word.with_text(code)),
            ("-c" | "--command", None) => rest.get(at.saturating_add(1)).cloned(),
            (_, None) if text.starts_with("--c") || word.may_be_flag() => None,
            (_, None) => continue,
        };
        match code.as_ref().and_then(Field::known).filter(|_| !word.origin.download) {
            Some(code) => {
                let source = code::Source { text: code, language: Some(Language::Python), by };
                code::code(runner, &source, state);
            }
            None => inline_code(runner.out, "-c", by),
        }
    }
}

fn inline_code(out: &mut Observer<'_>, what: &str, by: &By) {
    out.lower(Degree::Opaque, code_given(what, &by.name));
    out.unknown(Operation::Execute, by, Marks::default().with(Mark::InlineCode));
}

/// Why nobody can say what such code does.
pub(super) fn code_given(what: &str, program: &str) -> String {
    format!("the code `{what}` given to `{program}`")
}

fn is_ruby_file(word: &Field) -> bool {
    word.exact().is_some_and(|text| {
        (text.ends_with(".rb") && !text.contains([' ', '(', ';'])) || (text.starts_with('-') && text != "-")
    })
}
