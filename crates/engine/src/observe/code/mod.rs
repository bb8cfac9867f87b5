//! Code of other languages: what its calls do, with literal arguments as targets.

mod act;
pub(super) mod imports;
mod javascript;
mod known_packages;
mod other_names;
mod python;
mod python_data;
mod start;
mod stdlib;
mod values;
pub(super) use known_packages::hides;

use doorward_code::{Language, Use, Value};
use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use crate::knowledge::built_in;
use crate::knowledge::schema::{Facet, Role};
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::args::Args;
use crate::observe::program::carrying::note_carried_fields;
use crate::observe::program::destination::is_disposable;
use crate::observe::program::file_roles::{network_flows, plain};
use crate::observe::program::grammar::literal_edit::{Substitution, see_edits};
use crate::observe::program::sinks::displaces_sink;
use crate::observe::program::stated::note_downloads;
use crate::observe::program::{Invocation, roles};
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::shell::runner::{Manner, Runner};
use crate::observe::shell::state::State;
use crate::observe::stream::{Origin, Stream};
use crate::path;
use crate::world::World;
use act::{Act, At};
use imports::imports;
use start::started;

pub(super) fn name(language: Option<Language>) -> &'static str {
    match language {
        Some(Language::Python) => "Python",
        Some(Language::JavaScript) => "JavaScript",
        None => "inline",
    }
}

/// The language that a file is written in, by its name.
pub(super) fn of_file(file: &str) -> Option<Language> {
    let (_, ending) = path::name(file).rsplit_once('.')?;
    match ending {
        "py" => Some(Language::Python),
        "js" | "mjs" | "cjs" => Some(Language::JavaScript),
        _ => None,
    }
}

/// The language that an interpreter runs, by its name.
pub(super) fn of_program(name: &str) -> Option<Language> {
    // `python3.15 -m pip`: the subcommand and the version are no part of the name.
    let program = name.split(' ').next().unwrap_or(name);
    let stem = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let runs = |facet: Facet| [program, stem].iter().any(|name| built_in().facets(name).has(facet));
    if runs(Facet::RunsPython) {
        Some(Language::Python)
    } else if runs(Facet::RunsJavaScript) {
        Some(Language::JavaScript)
    } else {
        None
    }
}

/// Code inside code is followed this deep.
// Python in a shell in Python is normal twice or three times. Every level counts threefold, so this is ten levels.
const NESTING: u32 = 30;

/// Code while it is judged.
struct Code<'c> {
    language: Language,
    invocation: &'c mut Invocation,
    /// The directory in which imports are looked for first.
    beside: Option<String>,
    /// Imported modules of the project, judged when they were imported.
    modules: Vec<String>,
    /// Files that get their own text back, with literal replacements.
    edits: Vec<doorward_code::Edit>,
}

/// A text in another language, and who is given it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub text: &'a str,
    /// `None` if it is one that nobody reads here.
    pub language: Option<Language>,
    pub by: &'a By,
}

/// The one place where code of another language is judged; yields what it prints.
pub(super) fn code(runner: &mut Runner<'_, '_>, source: &Source<'_>, state: &mut State<'_>) -> Stream {
    let beside = state.cwd.as_deref().map(str::to_owned);
    code_beside(runner, source, beside, state)
}

/// Code of a file: what it imports is looked for beside the file.
pub(super) fn code_beside(
    runner: &mut Runner<'_, '_>,
    source: &Source<'_>,
    beside: Option<String>,
    state: &mut State<'_>,
) -> Stream {
    let Source { text, language, by } = *source;
    let Some(language) = language else { return opaque_code(runner.out, "", None, by) };
    if runner.depth > NESTING || !runner.out.spend(8 + u32::try_from(text.len() / 32).unwrap_or(u32::MAX)) {
        return opaque_code(runner.out, ": it is nested too deeply", Some(language), by);
    }
    let unknown = Stream::unknown(Origin::default());
    let mut invocation = Invocation::new(by.clone(), Args::default(), unknown, state.cwd.as_deref());
    invocation.done = true;
    let mut code = Code { language, invocation: &mut invocation, beside, modules: Vec::new(), edits: Vec::new() };
    runner.depth += 3;
    let output = read_code(runner, text, &mut code, state);
    runner.depth -= 3;
    output
}

fn read_code(runner: &mut Runner<'_, '_>, text: &str, code: &mut Code<'_>, state: &mut State<'_>) -> Stream {
    let language = code.language;
    let reading = doorward_code::read(text, language);
    if let Some(unclear) = reading.unclear.first().filter(|_| runner.manner != Manner::Source) {
        return opaque_code(runner.out, &format!(": {unclear}"), Some(language), &code.invocation.by);
    }
    code.edits.clone_from(&reading.edits);
    imports(runner, &reading, code, state);
    // What comes in is known before what goes out, whatever the order of the text.
    let acts = reading.uses.iter().map(|used| (used, act_of(language, used)));
    let (first, then): (Vec<_>, Vec<_>) = acts.partition(|(used, act)| comes_in(*act, used));
    for (used, act) in first.into_iter().chain(then) {
        self::used(runner, act, used, code, state);
    }
    note_downloads(runner.out, code.invocation, state);
    let origin = code.invocation.output.origin;
    network_flows(runner.out, origin.secret && origin.download, &code.invocation.by);
    Stream::unknown(origin)
}

fn opaque_code(out: &mut Observer<'_>, because: &str, language: Option<Language>, by: &By) -> Stream {
    out.lower(Degree::Opaque, format!("{} code given to `{}`{because}", name(language), by.name));
    out.unknown(Operation::Execute, by, Marks::default().with(Mark::InlineCode));
    Stream::default()
}

fn used(runner: &mut Runner<'_, '_>, act: Option<Act>, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
    if !runner.out.spend(1) {
        return;
    }
    let handed_on = used.arguments.is_none();
    let is_member = used.name.starts_with('.');
    match act {
        Some(Act::Nothing) => {}
        Some(Act::Environment) => environment_used(runner.out, code),
        Some(Act::Variable) => looks_up(runner.out, used, code),
        // A member that is looked at, not called: only what could do something when it is called matters.
        None if handed_on && is_member && !used.may_be_called && !is_inner(&used.name) => {}
        None if code.is_of_project(used) => {}
        None if runner.manner == Manner::Recipe && known_packages::is_usual(used, code.language) => {
            known_packages::usual(runner, used, code, state);
        }
        None => not_known(runner.out, used, code),
        Some(Act::Roles(_) | Act::Open(..) | Act::Run | Act::Shell | Act::Spawn | Act::Request)
            if handed_on || used.spread =>
        {
            not_known(runner.out, used, code);
        }
        Some(Act::Roles(roles)) => {
            let is_lost = throws_away(runner.out.world, used, roles, code);
            if let [(_, Role::Move), (at, _)] = roles {
                displaces(runner.out, used, *at, code);
            }
            // Copying a tree copies what its links lead to.
            let outer = std::mem::replace(&mut runner.out.follows, true);
            for (at, role) in roles {
                let role = if is_lost && *role == Role::Move { Role::DeleteTree } else { *role };
                on(runner, used, *at, role, code, state);
            }
            runner.out.follows = outer;
            note_carried_by(runner.out, used, roles, code);
        }
        Some(Act::Open(path, mode)) => {
            let role = opened_for(value_at(used, mode).or_else(|| used.named("mode")), used);
            on(runner, used, path, role, code, state);
        }
        Some(act @ (Act::Shell | Act::Run | Act::Spawn)) => started(runner, act, used, code, state),
        Some(Act::Request) => {
            let role = if only_asks(used, code.language) { Role::Url } else { Role::UrlUpload };
            on(runner, used, act::FIRST, role, code, state);
        }
    }
}

fn not_known(out: &mut Observer<'_>, used: &Use, code: &Code<'_>) {
    let by = &code.invocation.by;
    let what = format!("what `{}` does in {} code", used.name, name(Some(code.language)));
    out.lower(Degree::Opaque, what);
    out.unknown(Operation::Execute, by, Marks::default().with(Mark::InlineCode));
    // `os.symlink`, `os.mkfifo`, `fs.linkSync`: whatever it is in detail, the second name is a new file.
    if ["link", "mkfifo", "mknod", "exchange"].iter().any(|part| used.name.contains(part)) {
        [act::FIRST, act::SECOND].iter().for_each(|at| displaces(out, used, *at, code));
    }
}

/// Another file takes the name of the device that the value may be.
fn displaces(out: &mut Observer<'_>, used: &Use, at: At, code: &Code<'_>) {
    let Some(value) = value_at(used, at).or_else(|| path_by_name(used, at)) else { return };
    for field in values::fields(value, out.world.home()) {
        if displaces_sink(out.world, &field, code.invocation) {
            plain(out, Touch::Delete, &field, code.invocation);
        }
    }
}

/// One role for whatever the value at a place may be.
fn on(runner: &mut Runner<'_, '_>, used: &Use, at: At, role: Role, code: &mut Code<'_>, state: &mut State<'_>) {
    let unknown = Value::Unknown;
    let value = value_at(used, at).or_else(|| path_by_name(used, at)).unwrap_or(&unknown);
    // A file that was opened before is no path.
    if matches!(value, Value::Plain(_)) && matches!(role, Role::Read | Role::Write) {
        return;
    }
    let edit =
        value.text().filter(|_| role == Role::Write).and_then(|path| code.edits.iter().find(|edit| edit.path == path));
    let edits = edit.map(substitutions);
    for field in values::fields(value, runner.out.world.home()) {
        let Some(edits) = &edits else {
            roles::role(runner, &field, role, code.invocation, state);
            continue;
        };
        let ((), mut caused) = runner.collect(|runner| roles::role(runner, &field, role, code.invocation, state));
        see_edits(&mut caused, edits, runner.out.world);
        runner.out.write(caused);
    }
}

/// What such an edit takes out and puts in: each text that may be put in for each that may be taken out.
fn substitutions(edit: &doorward_code::Edit) -> Vec<Substitution> {
    // A loop over more pairs counts as a pattern, which is judged by what it puts in alone.
    const PAIRS: usize = 64;
    let of = |replaced: &doorward_code::Replacement| {
        let olds = replaced.old.iter().flatten().map(|old| Some(old.clone()));
        let olds: Vec<Option<String>> = olds.take(PAIRS / replaced.new.len().max(1)).collect();
        let is_whole = replaced.old.as_ref().is_some_and(|all| all.len() == olds.len() && !all.is_empty());
        let olds = if is_whole { olds } else { vec![None] };
        let pair = move |new: &String| {
            olds.iter().map(|old| Substitution::literal(old.clone(), new.clone())).collect::<Vec<_>>()
        };
        replaced.new.iter().flat_map(pair).collect::<Vec<_>>()
    };
    edit.replaced.iter().flat_map(of).collect()
}

/// `os.rename`, `shutil.copytree`: what lay at the first path lies at the second.
fn note_carried_by(out: &mut Observer<'_>, used: &Use, roles: &[(At, Role)], code: &Code<'_>) {
    let [(from, role @ (Role::Move | Role::ReadTree)), (to, _)] = roles else { return };
    let fields = |at: At| {
        let value = value_at(used, at).or_else(|| path_by_name(used, at));
        value.map(|value| values::fields(value, out.world.home())).unwrap_or_default()
    };
    let pairs: Vec<(Field, Field)> = fields(*from).into_iter().zip(fields(*to)).collect();
    for (from, to) in pairs {
        if let Some(cwd) = code.invocation.cwd.as_deref() {
            note_carried_fields(out, (&from, &to), cwd, *role == Role::Move);
        }
    }
}

/// Something is moved to where it is as good as deleted.
fn throws_away(world: &dyn World, used: &Use, roles: &[(At, Role)], code: &Code<'_>) -> bool {
    let [(_, Role::Move), (at, _)] = roles else { return false };
    let destination = value_at(used, *at).or_else(|| path_by_name(used, *at));
    destination.is_some_and(|value| {
        let fields = values::fields(value, world.home());
        fields.iter().any(|field| is_disposable(world, field, code.invocation))
    })
}

fn looks_up(out: &mut Observer<'_>, used: &Use, code: &mut Code<'_>) {
    let name = match used.name.strip_prefix("process.env.") {
        Some(name) => Some(name),
        None => used.argument(0).and_then(Value::text),
    };
    let secret = name.is_none_or(crate::observe::names::secret_variable);
    code.invocation.output.origin.secret |= secret;
    if secret {
        out.prints_secret();
    }
}

fn environment_used(out: &mut Observer<'_>, code: &mut Code<'_>) {
    code.invocation.output.origin.secret = true;
    out.prints_secret();
}

fn act_of(language: Language, used: &Use) -> Option<Act> {
    match language {
        Language::Python => python::act(used),
        Language::JavaScript => javascript::act(used),
    }
}

fn comes_in(act: Option<Act>, used: &Use) -> bool {
    match act {
        Some(Act::Request | Act::Variable | Act::Environment) => true,
        Some(Act::Roles(roles)) => {
            roles.iter().all(|(_, role)| matches!(role, Role::Read | Role::List | Role::ReadTree | Role::Url))
        }
        Some(Act::Open(_, mode)) => opened_for(value_at(used, mode).or_else(|| used.named("mode")), used) == Role::Read,
        Some(Act::Nothing | Act::Run | Act::Shell | Act::Spawn) | None => false,
    }
}

fn value_at(used: &Use, at: At) -> Option<&Value> {
    match at {
        At::Receiver => Some(&used.receiver),
        At::Argument(place, _) => used.argument(place),
    }
}

/// `open(file='a')` and the like.
fn path_by_name(used: &Use, at: At) -> Option<&Value> {
    if at == act::SECOND {
        return ["dst", "target"].iter().find_map(|name| used.named(name));
    }
    ["file", "path", "name", "filename", "url", "src"].iter().find_map(|name| used.named(name))
}

/// What a mode of `open` allows; no mode is reading.
fn opened_for(mode: Option<&Value>, used: &Use) -> Role {
    if used.named("opener").is_some() {
        return Role::Execute;
    }
    match mode {
        None => Role::Read,
        Some(Value::Text(mode))
            if mode.chars().all(|letter| matches!(letter, 'r' | 'b' | 't' | ':' | 'g' | 'z' | '*')) =>
        {
            Role::Read
        }
        Some(Value::Text(mode)) if mode.chars().all(|letter| matches!(letter, 'a' | 'b' | 't')) => Role::Append,
        Some(_) => Role::Write,
    }
}

/// A request that sends nothing but its address.
fn only_asks(used: &Use, language: Language) -> bool {
    // Keyword arguments that only say how to fetch. Any other (`data`, `json`, `files`, `auth`) sends something, and
    // the request is a write.
    const ASKING: &[&str] =
        &["timeout", "headers", "params", "verify", "stream", "allow_redirects", "follow_redirects"];
    match language {
        Language::Python => {
            let named = used.named.iter().all(|(name, _)| ASKING.contains(&name.as_str()));
            named
                && used.arguments.as_ref().is_some_and(|all| all.len() == 1)
                && used.named("verify") != Some(&Value::Plain("False".into()))
        }
        Language::JavaScript => match used.argument(1) {
            None => true,
            Some(Value::Record(members)) => members.iter().all(|(name, value)| match name.as_str() {
                "method" => matches!(value, Value::Text(method) if method == "GET" || method == "HEAD"),
                "headers" | "redirect" | "signal" => true,
                _ => false,
            }),
            Some(_) => false,
        },
    }
}

/// Names that lead to the inside of the language.
fn is_inner(name: &str) -> bool {
    name.starts_with(".__")
        || matches!(name, ".constructor" | ".prototype" | ".f_globals" | ".f_builtins" | ".f_locals" | ".f_back")
        || matches!(name, ".gi_frame" | ".cr_frame" | ".ag_frame" | ".tb_frame" | ".tb_next")
}
