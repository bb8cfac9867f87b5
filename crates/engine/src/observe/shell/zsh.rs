//! What zsh does on its own: parameters that are tied to others, tables of commands, functions that it calls by itself.

use doorward_shell::Dialect;
use doorward_vocabulary::Degree;

use super::poison::poison;
use super::runner::Runner;
use super::state::State;
use crate::observe::field::Field;
use crate::observe::sheet::observer::Observer;

/// Arrays that are the same as a variable in capitals, where programs or functions are looked for.
// zsh ties them to `PATH` and its kin: `path=(/tmp)` changes where programs are found.
const SEARCHED: &[&str] = &["path", "fpath", "module_path", "cdpath", "manpath"];

/// Tables in which zsh keeps what a word means.
// `functions[ls]=…` defines a function without saying so (shell-tricks-728, shell-tricks-729).
const TABLES: &[&str] = &[
    "aliases",
    "galiases",
    "saliases",
    "functions",
    "commands",
    "builtins",
    "options",
    "nameddirs",
    "dis_functions",
    "dis_aliases",
    "reswords",
    "modules",
];

/// Functions that zsh calls without being told to.
// A function with such a name runs at the next prompt, directory change or exit.
const CALLED: &[&str] = &[
    "chpwd",
    "precmd",
    "preexec",
    "periodic",
    "zshaddhistory",
    "zshexit",
    "command_not_found_handler",
    "zsh_directory_name",
];

/// `path=…` is `PATH=…`, and `argv=…` the arguments.
pub(crate) fn note_tied(out: &mut Observer<'_>, name: &str, state: &mut State<'_>) {
    if state.dialect != Dialect::Zsh {
        return;
    }
    if SEARCHED.contains(&name) {
        poison(out, "PATH", state);
    }
    if name == "argv" {
        state.positional = None;
    }
    if matches!(name, "NULLCMD" | "READNULLCMD" | "TMPPREFIX" | "FPATH" | "MODULE_PATH") || TABLES.contains(&name) {
        out.lower(Degree::Opaque, format!("`{name}` changes what zsh runs"));
    }
}

/// `aliases[ls]=…`, `functions[ls]=…`, `options[shwordsplit]=on`
pub(crate) fn note_table(out: &mut Observer<'_>, name: &str, state: &mut State<'_>) {
    if state.dialect == Dialect::Zsh && TABLES.contains(&name) {
        out.lower(Degree::Opaque, format!("`{name}` changes what zsh runs"));
        state.odd_shell = true;
        state.path_changed = true;
    }
}

/// A function that runs whenever zsh thinks it should.
pub(crate) fn note_hook(out: &mut Observer<'_>, name: &str, state: &State<'_>) {
    let is_called = CALLED.contains(&name) || (name.starts_with("TRAP") && name.len() > 4);
    if state.dialect == Dialect::Zsh && is_called {
        out.lower(Degree::Opaque, format!("zsh calls `{name}` on its own"));
    }
}

/// zsh calculates what stands for a number: `printf %d`, `exit`, `shift`.
pub(crate) fn note_numbers(runner: &mut Runner<'_, '_>, words: &[Field], state: &mut State<'_>) {
    if state.dialect != Dialect::Zsh {
        return;
    }
    for word in words.iter().filter(|word| word.text.contains('[')) {
        runner.evaluated_subscript(&word.text, state);
    }
}
