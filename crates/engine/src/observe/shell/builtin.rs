//! Builtins that change the shell itself: directory, variables, functions, what later words mean.

use std::rc::Rc;

use doorward_shell::Dialect;
use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::code::runs_data;
use super::directory::change_directory;
use super::evaluate::{evaluates, reads_as_number};
use super::exports::{assign, export};
use super::grammar::Builtin;
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
        if matches!(name, "[[" | "function" | "select") && state.dialect == Dialect::Sh {
            // To dash these are programs that nobody has.
            return Some(Stream::empty());
        }
        let builtin = Builtin::named(name)?;
        match builtin {
            // `jobs -x` runs the words behind it.
            Builtin::Jobs if words.iter().any(|word| word.may_be_flag() || is_cluster_with_x(&word.text)) => {
                let rest = words.iter().skip_while(|word| word.text.starts_with('-')).cloned().collect();
                Some(self.without_functions(rest, state, input, by))
            }
            Builtin::Colon
            | Builtin::True
            | Builtin::False
            | Builtin::Exit
            | Builtin::Return
            | Builtin::Break
            | Builtin::Continue
            | Builtin::Shift
            | Builtin::Wait
            | Builtin::Jobs
            | Builtin::Background
            | Builtin::Foreground
            | Builtin::Disown
            | Builtin::Times
            | Builtin::Umask
            | Builtin::Ulimit
            | Builtin::Type
            | Builtin::Help
            | Builtin::Dirs
            | Builtin::Caller
            | Builtin::Compopt
            | Builtin::Logout
            | Builtin::Suspend => self.quiet(builtin, words, state),
            Builtin::Compgen | Builtin::Complete => {
                if words.iter().any(Field::may_be_flag) || has_letter(words, &['C', 'F', 'W']) {
                    self.out.lower(Degree::Opaque, format!("`{name}` may run its arguments as a command"));
                    self.out.unknown(Operation::Execute, by, Marks::default().with(Mark::ShellCode));
                }
                Some(Stream::default())
            }
            Builtin::Cd | Builtin::Pushd | Builtin::Popd => change_directory(self, builtin, words, state),
            Builtin::Pwd => {
                Some(state.cwd.as_deref().map_or_else(Stream::default, |cwd| Stream::known(format!("{cwd}\n"))))
            }
            Builtin::Export | Builtin::Declare | Builtin::Typeset | Builtin::Local | Builtin::Readonly => {
                let output = self.declare(builtin, words, state);
                if lists_variables(words) { Some(lists_environment(self.out, by)) } else { output }
            }
            Builtin::Unset | Builtin::Unalias | Builtin::Hash | Builtin::Enable => {
                self.unset_names(builtin, words, state)
            }
            Builtin::Set if words.is_empty() => Some(lists_environment(self.out, by)),
            Builtin::Set => set_options(self.out, words, state),
            Builtin::Shopt => shell_options(self.out, words, state),
            Builtin::Eval => self.eval(words, state, input, by),
            Builtin::Exec => self.exec(words, state, input, by),
            Builtin::Source | Builtin::Dot => self.source(words, state, input, by),
            Builtin::Command | Builtin::WithoutFunctions => self.command_builtin(words, state, input, by),
            Builtin::Alias => self.alias(words, state, by),
            Builtin::Trap => trap(self, words, state, by),
            Builtin::Read | Builtin::Mapfile | Builtin::Readarray | Builtin::Getopts => {
                read(self, builtin, words, state, input, by)
            }
            Builtin::Printf
                if words.first().is_some_and(|word| word.text.contains(['d', 'i', 'o', 'u', 'x', 'X', '*'])) =>
            {
                note_numbers(self, words, state);
                None
            }
            Builtin::Let => let_builtin(self, words, state),
            Builtin::Printf if words.first().is_some_and(|word| word.text.starts_with("-v")) => {
                printf_variable(self, words, state)
            }
            Builtin::Printf => None,
        }
    }

    fn quiet(&mut self, builtin: Builtin, words: &[Field], state: &mut State<'_>) -> Option<Stream> {
        if builtin == Builtin::Shift {
            state.positional = None;
            note_numbers(self, words, state);
        }
        if builtin.leaves() {
            note_numbers(self, words, state);
            self.leaves(builtin, words, state);
        }
        if builtin == Builtin::Wait {
            wait(self, words, state);
        }
        Some(if builtin.prints() { Stream::default() } else { Stream::empty() })
    }

    fn declare(&mut self, builtin: Builtin, words: &[Field], state: &mut State<'_>) -> Option<Stream> {
        let flags: String = words.iter().map(|word| word.text.as_str()).filter(|text| text.starts_with('-')).collect();
        if flags.contains('n') && builtin != Builtin::Export {
            self.out.lower(Degree::Opaque, "a variable that refers to another one");
        }
        let name = builtin.name();
        let exports = builtin == Builtin::Export || flags.contains('x');
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
            let keeps = matches!(builtin, Builtin::Local | Builtin::Declare | Builtin::Typeset) && !flags.contains('g');
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
            if builtin == Builtin::Readonly || flags.contains('r') {
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
    fn unset_names(&mut self, builtin: Builtin, words: &[Field], state: &mut State<'_>) -> Option<Stream> {
        let gives_paths = || has_letter(words, &['p', 'd', 'f']) || words.iter().any(|word| word.text.contains('='));
        if builtin == Builtin::Unset {
            words.iter().filter(|word| !word.text.starts_with('-')).for_each(|word| self.unset(word, state));
        }
        if builtin == Builtin::Hash && gives_paths() {
            self.out.lower(Degree::Opaque, "`hash` makes a command name run another program");
            Rc::make_mut(&mut state.shadowed).extend(words.iter().map(|word| word.text.clone()));
        }
        if builtin == Builtin::Enable && has_letter(words, &['f']) {
            self.out.lower(Degree::Opaque, "`enable -f` loads a builtin from a file");
            self.out.unknown(Operation::Execute, &By::default(), Marks::default());
        }
        Some(Stream::empty())
    }

    /// Removes one variable or function.
    fn unset(&mut self, word: &Field, state: &mut State<'_>) {
        let Some(variable) = word.exact().filter(|name| !matches!(*name, "PATH" | "HOME" | "IFS")) else {
            self.out.lower(Degree::Opaque, "a shell variable is removed");
            return;
        };
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
