//! Ways to write the same command differently. None of them may make a verdict laxer.

/// A way to write a command differently; `None` where it would change the meaning.
pub(crate) type Wrapping = (&'static str, fn(&str) -> Option<String>);

pub(crate) const ALL: &[Wrapping] = &[
    ("env", |command| external(command).map(|command| format!("env {command}"))),
    ("command", |command| named(command).map(|command| format!("command {command}"))),
    ("timeout", |command| named(command).map(|command| format!("timeout 60 {command}"))),
    ("nice", |command| named(command).map(|command| format!("nice -n 5 {command}"))),
    ("sh -c", |command| Some(format!("sh -c {}", quoted(command)))),
    ("bash -c", |command| Some(format!("bash -c {}", quoted(command)))),
    ("bash -lc", |command| Some(format!("bash -lc {}", quoted(command)))),
    ("sh -c twice", |command| Some(format!("sh -c {}", quoted(&format!("sh -c {}", quoted(command)))))),
    ("eval", |command| Some(format!("eval {}", quoted(command)))),
    ("true &&", |command| Some(format!("true && {command}"))),
    ("cd . ;", |command| Some(format!("cd . ; {command}"))),
    ("if", |command| Some(format!("if true; then\n{command}\nfi"))),
    ("{ }", |command| Some(format!("{{ {command}\n}}"))),
    ("( )", |command| Some(format!("( {command}\n)"))),
    ("$( )", |command| Some(format!("echo \"$( {command}\n)\""))),
    ("function", |command| Some(format!("wrapped_up() {{ {command}\n}}; wrapped_up"))),
    ("quoted first word", |command| first_word(command).map(|(word, rest)| format!("'{word}'{rest}"))),
    ("half quoted first word", |command| {
        let (word, rest) = first_word(command)?;
        let (head, tail) = word.split_at(1);
        Some(format!("{head}\"{tail}\"{rest}"))
    }),
    ("backslash before the first word", |command| first_word(command).map(|(word, rest)| format!("\\{word}{rest}"))),
    ("continued line", |command| first_word(command).map(|(word, rest)| format!("{word} \\\n{rest}"))),
    ("continued word", |command| {
        let (word, rest) = first_word(command)?;
        let (head, tail) = word.split_at(1);
        Some(format!("{head}\\\n{tail}{rest}"))
    }),
];

/// The text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Words that mean something to the shell itself, so that another program cannot run them.
const BUILTINS: &[&str] = &[
    "cd", "pushd", "popd", "export", "set", "unset", "source", ".", "eval", "exec", "trap", "alias", "type", "history",
    "hash", "enable", "command", "builtin", "read", "mapfile", "while", "for", "if", "case", "time", "coproc", "!",
    "[[", "{", "(", "[", ":", "local", "declare", "printf", "bomb()", "f()", "ls()", "test", "true", "kill",
];

/// One simple command, with nothing around it that would stay behind if a word were put before it.
fn simple(command: &str) -> Option<&str> {
    let plain = !command.contains([';', '|', '&', '\n', '(', ')', '{', '}', '`', '<', '>', '#']);
    plain.then_some(command).filter(|command| command.starts_with(|first: char| first.is_ascii_graphic()))
}

/// A simple command that is a program, perhaps with assignments before it.
fn external(command: &str) -> Option<&str> {
    simple(command).filter(|command| !BUILTINS.contains(&command.split_whitespace().next().unwrap_or_default()))
}

/// A simple command that begins with the name of a program.
fn named(command: &str) -> Option<&str> {
    external(command).filter(|_| first_word(command).is_some())
}

/// The first word, if it is written plainly and is not an assignment, and everything behind it.
fn first_word(command: &str) -> Option<(&str, &str)> {
    let command = simple(command)?;
    let end = command.find(' ').unwrap_or(command.len());
    let (word, rest) = command.split_at(end);
    let plain = word.chars().all(|character| character.is_ascii_alphanumeric() || "_-./".contains(character));
    let keyword = ["while", "for", "if", "case", "time", "coproc"].contains(&word);
    (plain && !keyword && word.len() > 1).then_some((word, rest))
}
