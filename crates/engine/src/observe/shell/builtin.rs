//! Builtins that change the shell itself: directory, variables, functions, what later words mean.

use std::rc::Rc;

use doorward_shell::Dialect;
use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::code::runs_data;
use super::directory::change_directory;
use super::evaluate::{evaluates, reads_as_number};
use super::exports::{assign, export};
use super::poison::hides_history;
use super::runner::Runner;
use super::state::State;
use super::trap::trap;
use super::variables::{has_letter, let_builtin, printf_variable, read, wait};
use super::zsh::note_numbers;
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::program::args::Args;
use crate::observe::program::environments::activated;
use crate::observe::program::extra_checks::lists_environment;
use crate::observe::program::scripts::script_file;
use crate::observe::program::{Invocation, Start, run};
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::stream::{Origin, Stream};

fn is_cluster_with_x(word: &str) -> bool {
    word.starts_with('-') && word.contains('x')
}

/// `declare -p`, `export`: no variable is set, so those that are there are printed.
fn lists_variables(words: &[Field]) -> bool {
    let (flags, names): (Vec<&Field>, Vec<&Field>) = words.iter().partition(|word| word.text.starts_with(['-', '+']));
    let prints = flags.iter().any(|flag| flag.text.contains('p'));
    let functions = flags.iter().any(|flag| flag.text.contains(['f', 'F']));
    let secret = |name: &&Field| name.dynamic || crate::observe::names::secret_variable(&name.text);
    !functions && (names.is_empty() || (prints && names.iter().any(secret)))
}

/// Options that make a pattern match nothing else, and a script stop or print earlier. `nocaseglob` and `dotglob` are none of them: `.E*`
/// and `*` then name `.env` (secrets-1310 and on).
const HARMLESS_OPTIONS: &[&str] = &[
    "globstar",
    "nullglob",
    "failglob",
    "nocasematch",
    "inherit_errexit",
    "checkwinsize",
    "histappend",
    "pipefail",
    "errexit",
    "nounset",
    "xtrace",
    "verbose",
];

impl Runner<'_, '_> {
    /// Handles a builtin that only the shell itself can; `None` for everything else.
    pub(crate) fn builtin<'a>(
        &mut self,
        name: &str,
        words: &[Field],
        state: &mut State<'a>,
        input: &Stream,
        by: &By,
    ) -> Option<Stream> {
        match name {
            // `jobs -x` runs the words behind it.
            "jobs" if words.iter().any(|word| word.may_be_flag() || is_cluster_with_x(&word.text)) => {
                let rest = words.iter().skip_while(|word| word.text.starts_with('-')).cloned().collect();
                Some(self.without_functions(rest, state, input, by))
            }
            ":" | "true" | "false" | "exit" | "return" | "break" | "continue" | "shift" | "wait" | "jobs" | "bg"
            | "fg" | "disown" | "times" | "umask" | "ulimit" | "type" | "help" | "dirs" | "caller" | "compopt"
            | "logout" | "suspend" => self.quiet(name, words, state),
            "compgen" | "complete" => {
                if words.iter().any(Field::may_be_flag) || has_letter(words, &['C', 'F', 'W']) {
                    self.out.lower(Degree::Opaque, format!("`{name}` may run its arguments as a command"));
                    self.out.unknown(Operation::Execute, by, Marks::default().with(Mark::ShellCode));
                }
                Some(Stream::default())
            }
            "cd" | "pushd" | "popd" => change_directory(self, name, words, state),
            "pwd" => Some(state.cwd.as_deref().map_or_else(Stream::default, |cwd| Stream::known(format!("{cwd}\n")))),
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let output = self.declare(name, words, state);
                if lists_variables(words) { Some(lists_environment(self.out, by)) } else { output }
            }
            "unset" | "unalias" | "hash" | "enable" => self.unset_names(name, words, state),
            "set" if words.is_empty() => Some(lists_environment(self.out, by)),
            "set" => set_options(self.out, words, state),
            "shopt" => shell_options(self.out, words, state),
            "eval" => self.eval(words, state, input, by),
            "exec" => self.exec(words, state, input, by),
            "source" | "." => self.source(words, state, input, by),
            "command" | "builtin" => self.command_builtin(words, state, input, by),
            "alias" => self.alias(words, state, by),
            "trap" => trap(self, words, state, by),
            "read" | "mapfile" | "readarray" | "getopts" => read(self, name, words, state, input, by),
            "printf" if words.first().is_some_and(|word| word.text.contains(['d', 'i', 'o', 'u', 'x', 'X', '*'])) => {
                note_numbers(self, words, state);
                None
            }
            "let" => let_builtin(self, words, state),
            // To dash these are programs that nobody has.
            "[[" | "function" | "select" if state.dialect == Dialect::Sh => Some(Stream::empty()),
            "printf" if words.first().is_some_and(|word| word.text.starts_with("-v")) => {
                printf_variable(self, words, state)
            }
            _ => None,
        }
    }

    fn quiet(&mut self, name: &str, words: &[Field], state: &mut State<'_>) -> Option<Stream> {
        match name {
            "shift" => {
                state.positional = None;
                note_numbers(self, words, state);
            }
            "exit" | "return" | "break" | "continue" => {
                note_numbers(self, words, state);
                self.leaves(name, words, state);
            }
            "wait" => wait(self, words, state),
            _ => {}
        }
        Some(if matches!(name, "type" | "help" | "jobs" | "dirs" | "times" | "ulimit" | "umask" | "compgen") {
            Stream::default()
        } else {
            Stream::empty()
        })
    }

    fn declare(&mut self, name: &str, words: &[Field], state: &mut State<'_>) -> Option<Stream> {
        let flags: String = words.iter().map(|word| word.text.as_str()).filter(|text| text.starts_with('-')).collect();
        if flags.contains('n') && name != "export" {
            self.out.lower(Degree::Opaque, "a variable that refers to another one");
        }
        let exports = name == "export" || flags.contains('x');
        for word in words.iter().filter(|word| !word.text.starts_with(['-', '+'])) {
            if word.may_be_flag() {
                self.out.lower(Degree::Opaque, format!("which variable `{name}` sets"));
                continue;
            }
            let (variable, value) = match word.text.split_once('=') {
                Some((variable, value)) => (variable.trim_end_matches('+'), Some(value)),
                None => (word.text.as_str(), None),
            };
            if variable.contains(crate::observe::field::UNKNOWN) || variable.contains("$(") || variable.contains('`') {
                self.evaluated_subscript(variable, state);
                self.out.lower(Degree::Opaque, format!("which variable `{name}` sets"));
                continue;
            }
            // An element of an array is what the plain name means as well.
            let (variable, element) = variable.split_once('[').map_or((variable, false), |(name, _)| (name, true));
            let keeps = matches!(name, "local" | "declare" | "typeset") && !flags.contains('g');
            if keeps && !self.calling.is_empty() {
                let before = state.variables.get(variable).cloned();
                Rc::make_mut(&mut state.locals).push((variable.to_owned(), before));
                if value.is_none() {
                    state.forget(variable);
                }
            }
            if flags.contains('A') {
                Rc::make_mut(&mut state.keyed).insert(variable.to_owned());
            }
            if flags.contains('i') {
                Rc::make_mut(&mut state.numbers).insert(variable.to_owned());
                evaluates(self.out, value.unwrap_or_default(), state);
                if value.is_some_and(|value| value.contains(crate::observe::field::UNKNOWN))
                    && !word.shape.is_one_word()
                {
                    reads_as_number(self.out);
                }
            }
            if flags.contains(['i', 'l', 'u', 'c']) {
                Rc::make_mut(&mut state.stubborn).insert(variable.to_owned());
            }
            if let Some(value) = value {
                let is_known = !value.contains(crate::observe::field::UNKNOWN) && !word.many && !element;
                let text = is_known.then(|| value.to_owned());
                let stream = Stream { text, ..Stream::unknown(word.origin) };
                if exports && !crate::observe::names::is_poison(variable) {
                    exported_quietly(self.out, variable, stream.text.as_deref());
                }
                assign(self.out, variable, stream, state);
            }
            if exports {
                if value.is_none() && state.variables.contains_key(variable) {
                    let text = state.variables.get(variable).and_then(|variable| variable.value.text.clone());
                    exported_quietly(self.out, variable, text.as_deref());
                }
                export(self.out, variable, state);
            }
            if name == "readonly" || flags.contains('r') {
                Rc::make_mut(&mut state.stubborn).insert(variable.to_owned());
            }
        }
        Some(Stream::default())
    }
}

/// An exported variable that no table knows changes later programs in ways nobody can say, but rarely does.
fn exported_quietly(out: &mut Observer<'_>, variable: &str, value: Option<&str>) {
    if crate::observe::names::leads_elsewhere(variable, value) {
        out.lower(Degree::Unknown, format!("the variable `{variable}` in the environment"));
    }
}
impl Runner<'_, '_> {
    fn unset_names(&mut self, name: &str, words: &[Field], state: &mut State<'_>) -> Option<Stream> {
        match name {
            "unset" => {
                for word in words.iter().filter(|word| !word.text.starts_with('-')) {
                    match word.exact() {
                        Some("PATH" | "HOME" | "IFS") | None => {
                            self.out.lower(Degree::Opaque, "a shell variable is removed")
                        }
                        Some(variable) => {
                            if crate::observe::names::is_history(variable) {
                                hides_history(self.out, variable);
                            }
                            self.evaluated_subscript(variable, state);
                            if let Some((whole, _)) = variable.split_once('[') {
                                state.forget(whole);
                            }
                            if state.functions.contains_key(variable) {
                                Rc::make_mut(&mut state.functions).remove(variable);
                            }
                            state.forget(variable);
                        }
                    }
                }
            }
            "hash" if has_letter(words, &['p', 'd', 'f']) || words.iter().any(|word| word.text.contains('=')) => {
                self.out.lower(Degree::Opaque, "`hash` makes a command name run another program");
                Rc::make_mut(&mut state.shadowed).extend(words.iter().map(|word| word.text.clone()));
            }
            "enable" if has_letter(words, &['f']) => {
                self.out.lower(Degree::Opaque, "`enable -f` loads a builtin from a file");
                self.out.unknown(Operation::Execute, &By::default(), Marks::default());
            }
            _ => {}
        }
        Some(Stream::empty())
    }
}

fn set_options(out: &mut Observer<'_>, words: &[Field], state: &mut State<'_>) -> Option<Stream> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.exact() {
            Some("--" | "-") => break,
            Some(sign @ ("-o" | "+o")) => {
                let option = words.next().and_then(Field::exact);
                if sign == "+o" && option == Some("history") {
                    hides_history(out, "set +o history");
                }
                if option == Some("keyword") {
                    takes_keywords(out, state);
                }
                if option == Some("allexport") {
                    state.exports_all = sign == "-o";
                }
            }
            Some(flag) if flag.starts_with('-') && flag.contains('k') => takes_keywords(out, state),
            Some(flag) if flag.starts_with('-') && flag.contains('r') => {
                out.lower(Degree::Opaque, "`set -r` disables what later commands rely on");
            }
            Some(flag) if flag.starts_with(['-', '+']) => {
                if flag.contains('a') {
                    state.exports_all = flag.starts_with('-');
                }
            }
            Some(_) | None => {
                state.positional = None;
                return Some(Stream::default());
            }
        }
    }
    let rest: Vec<&Field> = words.collect();
    if !rest.is_empty() {
        state.positional =
            rest.iter().map(|word| word.exact().map(str::to_owned)).collect::<Option<Vec<_>>>().map(Rc::new);
    }
    // Plain `set` prints every variable.
    Some(if rest.is_empty() { Stream::default() } else { Stream::empty() })
}

/// From here on any word with `=` goes into the environment of the command.
fn takes_keywords(out: &mut Observer<'_>, state: &mut State<'_>) {
    out.lower(Degree::Opaque, "`set -k` changes arguments into variables");
    state.odd_shell = true;
}

fn shell_options(out: &mut Observer<'_>, words: &[Field], state: &mut State<'_>) -> Option<Stream> {
    let is_flag = |word: &Field| matches!(word.exact(), Some("-s" | "-u" | "-q" | "-p" | "-o"));
    let mut options = words.iter().filter(|word| !is_flag(word));
    if let Some(because) = options.find_map(odd_option) {
        out.lower(Degree::Opaque, because);
        state.odd_shell = true;
    }
    Some(Stream::empty())
}

/// Options by which a shell expands or runs other words than it is read to; with `shopt`, or `-o` and `-O` of a shell.
///
/// Yields why it cannot be followed.
pub(crate) fn odd_option(option: &Field) -> Option<String> {
    let is_odd = !option.exact().is_some_and(|text| HARMLESS_OPTIONS.contains(&text));
    is_odd.then(|| format!("the shell option `{}` changes how words are read", option.shown()))
}
impl Runner<'_, '_> {
    fn eval<'a>(&mut self, words: &[Field], state: &mut State<'a>, input: &Stream, by: &By) -> Option<Stream> {
        let texts: Option<Vec<&str>> = words.iter().map(Field::known).collect();
        Some(match texts {
            Some(texts) if words.iter().all(|word| !word.origin.download) => {
                self.eval_text(&texts.join(" "), state, input.clone(), by.part)
            }
            Some(_) | None => {
                let origin = words.iter().fold(Origin::default(), |all, word| all.and(word.origin));
                runs_data(self.out, origin, by);
                state.path_changed = true;
                Stream::unknown(origin)
            }
        })
    }

    fn exec<'a>(&mut self, words: &[Field], state: &mut State<'a>, input: &Stream, by: &By) -> Option<Stream> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            match word.text.as_str() {
                "-c" | "-l" | "-cl" | "-lc" | "--" => at += 1,
                "-a" => at += 2,
                _ => break,
            }
        }
        let rest = words.get(at..).unwrap_or_default();
        if rest.is_empty() {
            return Some(Stream::empty());
        }
        Some(self.without_functions(rest.to_vec(), state, input, by))
    }

    fn command_builtin<'a>(
        &mut self,
        words: &[Field],
        state: &mut State<'a>,
        input: &Stream,
        by: &By,
    ) -> Option<Stream> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            match word.text.as_str() {
                "-v" | "-V" | "-pv" | "-pV" => return Some(Stream::default()),
                "-p" | "--" => at += 1,
                _ => break,
            }
        }
        Some(self.without_functions(words.get(at..).unwrap_or_default().to_vec(), state, input, by))
    }

    fn without_functions<'a>(&mut self, words: Vec<Field>, state: &mut State<'a>, input: &Stream, by: &By) -> Stream {
        let functions = std::mem::take(&mut state.functions);
        self.depth += 1;
        let output = if self.depth > 60 {
            self.out.lower(Degree::Opaque, "builtins inside builtins, nested too deeply to follow");
            Stream::default()
        } else {
            run(self, Start { words: &words, input: input.clone(), part: by.part }, state)
        };
        self.depth -= 1;
        state.functions = functions;
        output
    }

    fn source<'a>(&mut self, words: &[Field], state: &mut State<'a>, input: &Stream, by: &By) -> Option<Stream> {
        let moves = self.moves;
        if words.first().is_some_and(|word| word.may_be_flag() || word.text.starts_with("-p")) {
            self.out.lower(Degree::Opaque, format!("which file `{}` runs", by.name));
        }
        let args = Args { operands: words.to_vec(), ..Args::default() };
        let mut invocation = Invocation::new(by.clone(), args, input.clone(), state.cwd.as_deref());
        match words.first() {
            Some(file) => script_file(self, file, Role::ScriptSh, &mut invocation, state),
            None => self.out.lower(Degree::Unknown, "`source` without a file"),
        }
        if self.moves != moves {
            state.cwd = None;
        }
        // What the file sets is not known here.
        let names: Vec<String> = state.variables.keys().cloned().collect();
        names.iter().for_each(|name| state.forget(name));
        if let Some(venv) = words.first().and_then(|file| activated(self.out.world, file, state)) {
            state.venv = Some(venv);
        }
        Some(Stream::default())
    }

    fn alias<'a>(&mut self, words: &[Field], state: &mut State<'a>, by: &By) -> Option<Stream> {
        // zsh replaces words anywhere (`-g`), and files by their ending (`-s`).
        if has_letter(words, &['g', 's']) {
            self.out.lower(Degree::Opaque, "an alias for words that are not commands");
        }
        for word in words.iter().filter(|word| word.text != "-p") {
            let Some((name, text)) = word.text.split_once('=') else { continue };
            Rc::make_mut(&mut state.shadowed).push(name.to_owned());
            match word.known() {
                Some(_) => {
                    let inner: State<'_> = state.clone();
                    self.text_of(state.shell(), text, &inner, Stream::empty(), by.part);
                }
                None => self.out.lower(Degree::Opaque, format!("what the alias `{name}` stands for")),
            }
        }
        Some(Stream::default())
    }
}
