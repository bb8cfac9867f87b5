//! Expands words: braces, tildes, variables, substitutions, splitting.

use doorward_shell::{Dialect, Parameter, ParameterOperation, Part, Quoting, Word};
use doorward_vocabulary::Degree;

use super::aftermath::{keep_files, keep_uncertain};
use super::building::{Building, EXPANDED, Expansion, append, split, unknown, usual_splitting};
use super::code::seen_secret;
use super::evaluate::{evaluates, reads_as_number};
use super::exports::assign;
use super::runner::Runner;
use super::state::State;
use crate::observe::field::{Field, UNKNOWN};
use crate::observe::sheet::observer::Observer;
use crate::observe::stream::{Origin, Shape, Stream};
use crate::world::World;

/// As many bytes of expanded text are one unit of work.
// Long texts cost more than short ones, and a loop that builds one must run out of budget.
const UNIT: usize = 64;

/// More alternatives than this are not written out.
// `{1..100000}` is one word. More alternatives than this count as unknown.
const ALTERNATIVES: usize = 256;

impl Runner<'_, '_> {
    /// The arguments that a word becomes.
    pub(crate) fn expand<'a>(&mut self, word: &'a Word, state: &mut State<'a>) -> Vec<Field> {
        if let [Part::Text { text, quoting: Quoting::Bare }] = word.parts.as_slice() {
            return vec![Field::literal(text.clone(), word.span)];
        }
        let mut done = Vec::new();
        for parts in braces(self.out, word) {
            self.fields(&parts, word, state, &mut done);
        }
        done
    }

    /// The text of a word that is neither split nor matched against file names.
    pub(crate) fn text<'a>(&mut self, word: &'a Word, state: &mut State<'a>) -> Field {
        let mut building = Building { field: Field { span: word.span, ..Field::default() }, ..Building::default() };
        for part in &word.parts {
            match part {
                Part::Text { text, .. } | Part::Glob(text) | Part::Range(text) => building.field.text.push_str(text),
                Part::Tilde(user) => building.field.text.push_str(&tilde(self.out.world, user, state)),
                Part::Alternatives(_) => unknown(&mut building, Stream::default()),
                Part::Parameter(_) | Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic { .. } => {
                    let value = self.dynamic(part, state);
                    append(&mut building, value);
                }
            }
        }
        settled(self.out.world, building, state)
    }

    /// The text of a word that is read as arithmetic, and whether what is not known of it may be more than a number.
    pub(crate) fn number_text<'a>(&mut self, word: &'a Word, state: &mut State<'a>) -> (Field, bool) {
        let mut building = Building { field: Field { span: word.span, ..Field::default() }, ..Building::default() };
        let mut is_free = false;
        for part in &word.parts {
            match part {
                Part::Text { text, .. } | Part::Glob(text) | Part::Range(text) | Part::Tilde(text) => {
                    building.field.text.push_str(text);
                }
                Part::Alternatives(_) => unknown(&mut building, Stream::default()),
                Part::Parameter(_) | Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic { .. } => {
                    let value = self.dynamic(part, state);
                    is_free |= value.value.text.is_none() && !value.value.shape.is_one_word();
                    append(&mut building, value);
                }
            }
        }
        (building.field, is_free)
    }
}

/// Writes out brace alternatives: each combination as a list of parts.
fn braces<'a>(out: &mut Observer<'_>, word: &'a Word) -> Vec<Vec<&'a Part>> {
    let mut lists: Vec<Vec<&'a Part>> = vec![Vec::with_capacity(word.parts.len())];
    for part in &word.parts {
        let Part::Alternatives(words) = part else {
            lists.iter_mut().for_each(|list| list.push(part));
            continue;
        };
        let mut next = Vec::new();
        for alternative in words.iter().flat_map(|word| braces(out, word)) {
            if next.len() > ALTERNATIVES {
                break;
            }
            for list in &lists {
                let mut longer = list.clone();
                longer.extend_from_slice(&alternative);
                next.push(longer);
            }
        }
        if next.len() > ALTERNATIVES {
            out.lower(Degree::Opaque, "braces with too many alternatives");
            next.truncate(ALTERNATIVES);
        }
        lists = next;
    }
    lists
}
impl Runner<'_, '_> {
    fn fields<'a>(&mut self, parts: &[&'a Part], word: &Word, state: &mut State<'a>, done: &mut Vec<Field>) {
        let mut building = Building { field: Field { span: word.span, ..Field::default() }, ..Building::default() };
        for part in parts {
            match part {
                Part::Text { text, .. } => {
                    building.field.text.push_str(text);
                    building.present = true;
                }
                Part::Glob(text) => {
                    building.field.text.push_str(text);
                    building.field.glob = true;
                    building.present = true;
                }
                Part::Tilde(user) => {
                    let home = tilde(self.out.world, user, state);
                    building.field.text.push_str(&home);
                    building.field.dynamic |= home.contains(UNKNOWN);
                    building.present = true;
                }
                Part::Range(_) => unknown(&mut building, Stream::shaped(Shape::Token)),
                Part::Alternatives(_) => unknown(&mut building, Stream::default()),
                Part::Parameter(_) | Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic { .. } => {
                    let value = self.dynamic(part, state);
                    if quoting(part) == Quoting::Quoted {
                        building.present = true;
                        append(&mut building, value);
                    } else if self.keeps_whole(part, &value, state) {
                        building.present |= value.value.text.as_deref() != Some("");
                        append(&mut building, value);
                    } else if let Some(full) = split(&mut building, usual_splitting(value, state)) {
                        done.extend(full.into_iter().map(|full| settled(self.out.world, full, state)));
                    }
                }
            }
        }
        if building.present || !building.field.text.is_empty() {
            done.push(settled(self.out.world, building, state));
        }
    }
}

/// The field with the shape that its unknown parts have together with the text around them.
fn settled(world: &dyn World, building: Building, state: &State<'_>) -> Field {
    let mut field = building.field;
    if field.dynamic {
        field.shape = super::shape::of(&field, building.loose, state.cwd.as_deref(), world);
    }
    field
}
impl Runner<'_, '_> {
    /// zsh takes the known value of a variable as one word, whatever it holds.
    fn keeps_whole(&mut self, part: &Part, expansion: &Expansion, state: &State<'_>) -> bool {
        let is_variable = matches!(part, Part::Parameter(parameter) if !matches!(parameter.name.as_str(), "@" | "*"));
        let Some(text) = expansion.value.text.as_deref() else { return false };
        if state.dialect != Dialect::Zsh || !is_variable {
            return false;
        }
        self.kept_whole |= text.contains(|letter: char| letter.is_whitespace() || matches!(letter, '*' | '?' | '['));
        !self.splits
    }

    /// What an expansion yields. Longer text than anybody needs is not followed: doubled often enough, it fills the memory.
    fn dynamic<'a>(&mut self, part: &'a Part, state: &mut State<'a>) -> Expansion {
        let mut expansion = self.expanded(part, state);
        if let Some(text) = &expansion.value.text {
            let is_paid = self.out.spend(u32::try_from(text.len() / UNIT).unwrap_or(u32::MAX));
            if !is_paid || text.len() > EXPANDED {
                expansion.value = Stream::unknown(expansion.value.origin);
            }
        }
        expansion
    }

    fn expanded<'a>(&mut self, part: &'a Part, state: &mut State<'a>) -> Expansion {
        match part {
            Part::Parameter(parameter) => Expansion::of(self.parameter(parameter, state)),
            Part::Substitution { script, .. } => {
                let mut inner = state.clone();
                let mut value = self.apart(|runner| runner.script(script, &mut inner, Stream::empty()));
                keep_files(state, &inner);
                if let Some(text) = &mut value.text {
                    text.truncate(text.trim_end_matches('\n').len());
                }
                Expansion::of(value)
            }
            Part::Process { script, writes, .. } => {
                let mut inner = state.clone();
                let input = if *writes {
                    Stream::unknown(Origin { secret: seen_secret(self.out), download: false, ..Origin::default() })
                } else {
                    Stream::empty()
                };
                // The shell does not wait for it.
                self.out.lingering.enter_beside();
                let output = self.apart(|runner| runner.script(script, &mut inner, input));
                self.out.lingering.leave();
                keep_uncertain(state, &inner);
                let origin = output.origin;
                Expansion {
                    value: Stream { text: Some("/dev/fd/63".into()), ..Stream::unknown(origin) },
                    process: Some(if *writes { Stream::unknown(origin) } else { output }),
                }
            }
            Part::Arithmetic { arithmetic, .. } => {
                self.arithmetic(arithmetic, state);
                Expansion::of(Stream::shaped(Shape::Token))
            }
            Part::Text { text, .. } | Part::Glob(text) | Part::Tilde(text) | Part::Range(text) => {
                Expansion::of(Stream::known(text.clone()))
            }
            Part::Alternatives(_) => Expansion::of(Stream::default()),
        }
    }
}

fn tilde<'a>(world: &dyn World, user: &str, state: &State<'a>) -> String {
    match user {
        "" => match state.variables.get("HOME") {
            Some(variable) => variable.value.text.clone().unwrap_or_else(|| UNKNOWN.to_string()),
            None => world.home().map_or_else(|| UNKNOWN.to_string(), str::to_owned),
        },
        "+" => state.cwd.as_deref().map_or_else(|| UNKNOWN.to_string(), str::to_owned),
        "-" => state.previous_cwd.as_deref().map_or_else(|| UNKNOWN.to_string(), str::to_owned),
        "root" => "/root".to_owned(),
        name => match world.home().and_then(|home| home.rsplit_once('/')) {
            Some((homes, own)) if own == name => format!("{homes}/{own}"),
            Some((homes, _)) => format!("{homes}/{name}"),
            None => UNKNOWN.to_string(),
        },
    }
}
impl Runner<'_, '_> {
    fn parameter<'a>(&mut self, parameter: &'a Parameter, state: &mut State<'a>) -> Stream {
        if let Some(subscript) = &parameter.subscript {
            self.element(&parameter.name, subscript, state);
        }
        let operand = parameter.operation.as_ref().map(|operation| self.parameter_operands(operation, state));
        let value = variable(self.out.world, &parameter.name, state);
        if parameter.indirect && parameter.subscript.is_none() {
            let named = value.as_ref().and_then(|value| value.text.clone());
            if value.as_ref().is_some_and(|value| value.text.is_none() && !value.shape.is_one_word()) {
                self.out.lower(Degree::Opaque, format!("which variable `${{!{}}}` names", parameter.name));
            }
            if let Some(name) = named {
                self.evaluated_subscript(&name, state);
                let origin =
                    variable(self.out.world, &name, state).unwrap_or_else(|| self::unset(self.out.world, &name)).origin;
                return Stream::unknown(origin);
            }
        }
        if parameter.indirect || parameter.subscript.is_some() {
            let is_secret = parameter.indirect || crate::observe::names::secret_variable(&parameter.name);
            let unset = Origin { secret: is_secret, ..Origin::default() };
            return Stream::unknown(value.map_or(unset, |value| value.origin));
        }
        if parameter.length {
            return Stream::shaped(Shape::Token);
        }
        match &parameter.operation {
            None => value.unwrap_or_else(|| self::unset(self.out.world, &parameter.name)),
            Some(operation) => operated(self.out, operation, operand.unwrap_or_default(), value, parameter, state),
        }
    }

    /// A word that is read as arithmetic.
    pub(crate) fn subscript<'a>(&mut self, word: &'a Word, state: &mut State<'a>) -> Field {
        let (field, is_free) = self.number_text(word, state);
        if is_free {
            reads_as_number(self.out);
        }
        evaluates(self.out, &field.text, state);
        field
    }

    /// The subscript of an array; one whose elements have names takes any text.
    pub(crate) fn element<'a>(&mut self, array: &str, subscript: &'a Word, state: &mut State<'a>) {
        if state.keyed.contains(array) {
            self.text(subscript, state);
        } else {
            self.subscript(subscript, state);
        }
    }

    /// Expands every operand for its effects; yields the first one's text.
    fn parameter_operands<'a>(&mut self, operation: &'a ParameterOperation, state: &mut State<'a>) -> Field {
        match operation {
            ParameterOperation::Default(word)
            | ParameterOperation::AssignDefault(word)
            | ParameterOperation::Require(word)
            | ParameterOperation::Alternative(word)
            | ParameterOperation::Trim(word)
            | ParameterOperation::Case(word) => self.text(word, state),
            ParameterOperation::Replace { pattern, replacement } => {
                self.text(pattern, state);
                self.text(replacement, state)
            }
            ParameterOperation::Slice { offset, length } => {
                if let Some(length) = length {
                    self.subscript(length, state);
                }
                self.subscript(offset, state)
            }
            ParameterOperation::Transform(_) | ParameterOperation::Names => Field::default(),
        }
    }
}

fn operated<'a>(
    out: &mut Observer<'_>,
    operation: &ParameterOperation,
    operand: Field,
    value: Option<Stream>,
    parameter: &Parameter,
    state: &mut State<'a>,
) -> Stream {
    let word = || Stream { text: operand.known().map(str::to_owned), ..Stream::unknown(operand.origin) };
    match operation {
        ParameterOperation::Default(_) | ParameterOperation::AssignDefault(_) => match value {
            Some(Stream { text: Some(text), .. }) if text.is_empty() => word(),
            Some(value) if value.text.is_some() => value,
            Some(value) => Stream::unknown(value.origin.and(operand.origin)),
            None => {
                if matches!(operation, ParameterOperation::AssignDefault(_)) {
                    assign(out, &parameter.name, word(), state);
                }
                // The variable may come from the environment, of which only the world's part is known.
                if out.world.environment(&parameter.name).is_some() {
                    Stream::unknown(unset(out.world, &parameter.name).origin.and(operand.origin))
                } else {
                    word()
                }
            }
        },
        ParameterOperation::Require(_) => {
            value.unwrap_or_else(|| Stream::unknown(unset(out.world, &parameter.name).origin))
        }
        ParameterOperation::Alternative(_) => match value {
            Some(Stream { text: Some(_), .. }) => word(),
            Some(_) | None => Stream::unknown(operand.origin),
        },
        ParameterOperation::Transform('P') => {
            let origin = value.as_ref().map_or_else(|| unset(out.world, &parameter.name).origin, |value| value.origin);
            prompt_expansion(out, value, state);
            Stream::unknown(origin)
        }
        ParameterOperation::Transform(_)
        | ParameterOperation::Trim(_)
        | ParameterOperation::Replace { .. }
        | ParameterOperation::Slice { .. }
        | ParameterOperation::Case(_) => {
            let value = value.unwrap_or_else(|| unset(out.world, &parameter.name));
            Stream::unknown(value.origin.and(operand.origin))
        }
        ParameterOperation::Names => Stream::unknown(operand.origin),
    }
}

/// `${x@P}` runs substitutions that stand in the value as text.
fn prompt_expansion<'a>(out: &mut Observer<'_>, value: Option<Stream>, _state: &mut State<'a>) {
    match value.and_then(|value| value.text) {
        Some(text) if !text.contains(['$', '`']) => {}
        Some(_) | None => out.lower(Degree::Opaque, "a prompt expansion (`@P`) that may run commands"),
    }
}

/// The value of a variable as far as the script or the world says.
fn variable<'a>(world: &dyn World, name: &str, state: &State<'a>) -> Option<Stream> {
    if let Some(variable) = state.variables.get(name) {
        return Some(variable.value.clone());
    }
    match name {
        "PWD" => Some(state.cwd.as_deref().map_or_else(Stream::default, Stream::known)),
        "_" => Some(Stream::default()),
        "OLDPWD" => Some(state.previous_cwd.as_deref().map_or_else(Stream::default, Stream::known)),
        "HOME" => Some(world.home().map_or_else(Stream::default, Stream::known)),
        "IFS" => Some(Stream::known(" \t\n")),
        "!" => Some(Stream::shaped(Shape::OwnJob)),
        "?" | "$" | "#" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" | "BASHPID" => {
            Some(Stream::shaped(Shape::Token))
        }
        "@" | "*" => Some(match state.positional.as_deref() {
            Some(words) if words.is_empty() => Stream::empty(),
            Some(words) if words.len() == 1 => Stream::known(words.concat()),
            Some(_) | None => Stream::default(),
        }),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            let index: usize = digits.parse().ok()?;
            Some(match (&state.positional, index.checked_sub(1)) {
                (_, None) => Stream::shaped(Shape::Token),
                (Some(words), Some(at)) => words.get(at).map_or_else(Stream::empty, Stream::known),
                (None, Some(_)) => Stream::default(),
            })
        }
        _ => None,
    }
}

/// A variable that the script did not set: it comes from the environment or is empty.
fn unset(world: &dyn World, name: &str) -> Stream {
    let secret = crate::observe::names::secret_variable(name);
    match world.environment(name) {
        Some(value) if !secret => Stream::known(value.into_owned()),
        // Whatever a shell's start-up file made of it is the user's own, and is kept in its place.
        None if name == "PYTHONPATH" => Stream::empty(),
        Some(_) | None => Stream::unknown(Origin { secret, ..Origin::default() }),
    }
}

fn quoting(part: &Part) -> Quoting {
    match part {
        Part::Parameter(parameter) => parameter.quoting,
        Part::Substitution { quoting, .. } | Part::Arithmetic { quoting, .. } | Part::Text { quoting, .. } => *quoting,
        Part::Process { .. } => Quoting::Quoted,
        Part::Glob(_) | Part::Tilde(_) | Part::Alternatives(_) | Part::Range(_) => Quoting::Bare,
    }
}
