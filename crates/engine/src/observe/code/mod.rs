//! Code of other languages: what its calls do, with literal arguments as targets.

mod act;
mod javascript;
mod python;
mod values;

use doorward_code::{Language, Reading, Use, Value};

use crate::coverage::Degree;
use crate::effect::Operation;
use crate::knowledge::schema::Role;
use crate::marks::{Mark, Marks};
use crate::observe::observer::By;
use crate::observe::program::Invocation;
use crate::observe::program::args::Args;
use crate::observe::shell::field::Field;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::{Origin, Stream};
use crate::path;
use crate::world::Kind;
use act::{Act, At};

pub fn name(language: Option<Language>) -> &'static str {
    match language {
        Some(Language::Python) => "Python",
        Some(Language::JavaScript) => "JavaScript",
        None => "inline",
    }
}

/// The language that a file is written in, by its name.
pub fn of_file(file: &str) -> Option<Language> {
    let (_, ending) = path::name(file).rsplit_once('.')?;
    match ending {
        "py" => Some(Language::Python),
        "js" | "mjs" | "cjs" => Some(Language::JavaScript),
        _ => None,
    }
}

/// The language that an interpreter runs, by its name.
pub fn of_program(name: &str) -> Option<Language> {
    let starts = |known: &[&str]| known.iter().any(|known| name.starts_with(known));
    if starts(&["python", "pypy", "ipython", "coverage"]) {
        Some(Language::Python)
    } else if starts(&["node", "deno", "bun", "tsx", "ts-node"]) {
        Some(Language::JavaScript)
    } else {
        None
    }
}

/// Code inside code is followed this deep.
const NESTING: u32 = 30;

/// Code while it is judged.
struct Code<'c> {
    language: Language,
    invocation: &'c mut Invocation,
    /// The directory in which imports are looked for first.
    beside: Option<String>,
}

impl Runner<'_, '_> {
    /// The one place where code of another language is judged; yields what it prints.
    pub fn code(&mut self, text: &str, language: Option<Language>, state: &mut State<'_>, by: &By) -> Stream {
        let beside = state.cwd.as_deref().map(str::to_owned);
        self.code_beside(beside, text, language, state, by)
    }

    /// Code of a file: what it imports is looked for beside the file.
    pub fn code_beside(
        &mut self,
        beside: Option<String>,
        text: &str,
        language: Option<Language>,
        state: &mut State<'_>,
        by: &By,
    ) -> Stream {
        let Some(language) = language else { return self.opaque_code("", None, by) };
        if self.depth > NESTING || !self.out.spend(8 + u32::try_from(text.len() / 32).unwrap_or(u32::MAX)) {
            return self.opaque_code(": it goes too deep", Some(language), by);
        }
        self.depth += 3;
        let output = self.read_code(beside, text, language, state, by);
        self.depth -= 3;
        output
    }

    fn read_code(
        &mut self,
        beside: Option<String>,
        text: &str,
        language: Language,
        state: &mut State<'_>,
        by: &By,
    ) -> Stream {
        let reading = doorward_code::read(text, language);
        if let Some(unclear) = reading.unclear.first() {
            return self.opaque_code(&format!(": {unclear}"), Some(language), by);
        }
        let mut invocation = Invocation {
            args: Args::default(),
            by: by.clone(),
            roles: Vec::new(),
            does: Vec::new(),
            input: Stream::unknown(Origin::default()),
            output: Stream::unknown(Origin::default()),
            cwd: state.cwd.as_deref().map(str::to_owned),
            passes_input: false,
            stored: Vec::new(),
            done: true,
        };
        let mut code = Code { language, invocation: &mut invocation, beside };
        self.imports(&reading, &mut code, state);
        // What comes in is known before what goes out, whatever the order of the text.
        let (first, then): (Vec<&Use>, Vec<&Use>) = reading.uses.iter().partition(|used| comes_in(language, used));
        for used in first.into_iter().chain(then) {
            self.used(used, &mut code, state);
        }
        self.note_downloads(&invocation, state);
        let origin = invocation.output.origin;
        self.network_flows(origin.secret && origin.download, by);
        Stream::unknown(origin)
    }

    fn opaque_code(&mut self, because: &str, language: Option<Language>, by: &By) -> Stream {
        self.out.lower(Degree::Opaque, format!("{} code given to `{}`{because}", name(language), by.name));
        self.out.unknown(Operation::Execute, by, Marks::default().with(Mark::InlineCode));
        Stream::default()
    }

    /// Modules of the library are known by their members; modules of the project run as part of it.
    fn imports(&mut self, reading: &Reading, code: &mut Code<'_>, state: &mut State<'_>) {
        for module in &reading.imports {
            if module.split('.').any(|part| part == "__main__") {
                self.out.lower(Degree::Opaque, format!("the program `{module}`, run by importing it"));
                self.out.unknown(Operation::Execute, &code.invocation.by, Marks::default().with(Mark::InlineCode));
            }
            let by = code.invocation.by.clone();
            let Some(beside) = code.beside.clone() else {
                self.out.lower(Degree::Opaque, format!("where `{module}` is imported from"));
                continue;
            };
            if let Some(file) = self.local_module(module, code.language, &beside) {
                if file.ends_with(".json") {
                    let field = Field::literal(file, Default::default());
                    self.role(&field, Role::Read, code.invocation, state);
                } else {
                    self.project_module(&file, state, &by);
                }
            }
        }
    }

    /// The file that an import finds beside the code.
    fn local_module(&self, module: &str, language: Language, cwd: &str) -> Option<String> {
        let names: Vec<String> = match language {
            Language::Python => {
                let top = module.trim_start_matches('.').split('.').next().unwrap_or(module);
                let whole = module.trim_start_matches('.').replace('.', "/");
                let mut names = vec![format!("{whole}.py"), format!("{top}/__init__.py"), top.to_owned()];
                names.extend(["py", "pyc", "so", "abi3.so"].iter().map(|ending| format!("{top}.{ending}")));
                names
            }
            Language::JavaScript if module.starts_with(['.', '/']) => {
                ["", ".js", ".mjs", ".cjs", "/index.js"].iter().map(|ending| format!("{module}{ending}")).collect()
            }
            Language::JavaScript => return None,
        };
        let is_there = |file: &String| matches!(self.out.world.look(file).kind, Kind::File | Kind::Directory);
        let mut files = names.iter().map(|name| path::lexical(&path::join(cwd, name)));
        match language {
            Language::Python => files.find(is_there),
            // A path can be nothing else than a file here, listed or not.
            Language::JavaScript => files.clone().find(is_there).or_else(|| files.next()),
        }
    }

    fn project_module(&mut self, file: &str, state: &mut State<'_>, by: &By) {
        let inside = self.out.world.project().is_some_and(|project| path::under(file, project));
        if inside {
            return self.project_program(file, &[], state, &Stream::unknown(Origin::default()), by);
        }
        self.out.lower(Degree::Opaque, format!("the module `{}` outside the project", path::name(file)));
        self.out.unknown(Operation::Execute, by, Marks::default().with(Mark::OutsideProject));
    }

    fn used(&mut self, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
        if !self.out.spend(1) {
            return;
        }
        let handed_on = used.arguments.is_none();
        let is_member = used.name.starts_with('.');
        match act_of(code.language, used) {
            Some(Act::Nothing) => {}
            Some(Act::Environment) => self.environment_used(code),
            Some(Act::Variable) => self.looks_up(used, code),
            // A member that is looked at, not called: only what could do something when it is called matters.
            None if handed_on && is_member && !used.may_be_called && !is_inner(&used.name) => {}
            None if self.is_of_project(used, code) => {}
            None => self.not_known(used, code),
            Some(Act::Roles(_) | Act::Open(..) | Act::Run | Act::Shell | Act::Spawn | Act::Request)
                if handed_on || used.spread =>
            {
                self.not_known(used, code);
            }
            Some(Act::Roles(roles)) => {
                for (at, role) in roles {
                    self.on(used, *at, *role, code, state);
                }
            }
            Some(Act::Open(path, mode)) => {
                let role = opened_for(value_at(used, mode).or_else(|| used.named("mode")), used);
                self.on(used, path, role, code, state);
            }
            Some(Act::Shell | Act::Run | Act::Spawn) => self.started(used, code, state),
            Some(Act::Request) => {
                let role = if only_asks(used, code.language) { Role::Url } else { Role::UrlUpload };
                self.on(used, act::FIRST, role, code, state);
            }
        }
    }

    /// A member of a module of the project, which was judged when it was imported.
    fn is_of_project(&self, used: &Use, code: &Code<'_>) -> bool {
        let Some(beside) = code.beside.as_deref() else { return false };
        let module = match code.language {
            Language::Python => used.name.split('.').next().unwrap_or_default(),
            Language::JavaScript if used.name.starts_with("./") || used.name.starts_with("../") => {
                used.name.rsplit_once('.').map_or(used.name.as_str(), |(module, _)| module)
            }
            Language::JavaScript => return false,
        };
        !module.is_empty() && self.local_module(module, code.language, beside).is_some()
    }

    fn not_known(&mut self, used: &Use, code: &Code<'_>) {
        let by = &code.invocation.by;
        let what = format!("what `{}` does in {} code", used.name, name(Some(code.language)));
        self.out.lower(Degree::Opaque, what);
        self.out.unknown(Operation::Execute, by, Marks::default().with(Mark::InlineCode));
    }

    /// One role for whatever the value at a place may be.
    fn on(&mut self, used: &Use, at: At, role: Role, code: &mut Code<'_>, state: &mut State<'_>) {
        let unknown = Value::Unknown;
        let value = value_at(used, at).or_else(|| path_by_name(used, at)).unwrap_or(&unknown);
        // A file that was opened before is no path.
        if matches!(value, Value::Plain(_)) && matches!(role, Role::Read | Role::Write) {
            return;
        }
        for field in values::fields(value, self.out.world.home()) {
            self.role(&field, role, code.invocation, state);
        }
    }

    /// A program started from inside other code always asks; what it would do still counts.
    fn started(&mut self, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
        let by = code.invocation.by.clone();
        self.out.lower(Degree::Unknown, format!("a program that {} code starts", name(Some(code.language))));
        self.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::InlineCode));
        match act_of(code.language, used) {
            Some(Act::Shell) => self.shell_text(used, code, state),
            Some(Act::Run) => self.starts(used, code, state),
            Some(Act::Spawn) => self.spawns(used, code, state),
            Some(Act::Nothing | Act::Roles(_) | Act::Open(..) | Act::Request | Act::Variable | Act::Environment)
            | None => self.not_known(used, code),
        }
    }

    fn shell_text(&mut self, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
        match used.argument(0) {
            Some(Value::Text(_)) if plain_options(used) => {
                for field in used.argument(0).map(|value| values::fields(value, None)).unwrap_or_default() {
                    self.role(&field, Role::CodeSh, code.invocation, state);
                }
            }
            Some(_) | None => self.not_known(used, code),
        }
    }

    /// `subprocess.run`: a list is a command, a text is one only for a shell.
    fn starts(&mut self, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
        let command = used.argument(0).or_else(|| used.named("args"));
        let shell = used.named("shell").is_some_and(|value| *value != Value::Plain("False".into()));
        if !plain_options(used) {
            return self.not_known(used, code);
        }
        let home = self.out.world.home().map(str::to_owned);
        match (command, shell) {
            (Some(Value::Text(_)), true) => {
                for field in command.map(|value| values::fields(value, None)).unwrap_or_default() {
                    self.role(&field, Role::CodeSh, code.invocation, state);
                }
            }
            (Some(value), false) => match values::words(value, home.as_deref()) {
                Some(words) => self.starts_words(words, used, code, state),
                None => self.not_known(used, code),
            },
            (Some(_) | None, _) => self.not_known(used, code),
        }
    }

    fn starts_words(&mut self, words: Vec<Field>, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
        let outer = code.invocation.cwd.clone();
        if let Some(directory) = used.named("cwd") {
            code.invocation.cwd = match (directory, &outer) {
                (Value::Text(text), _) if text.starts_with('/') => Some(text.clone()),
                (Value::Text(text), Some(cwd)) if !text.contains([doorward_code::UNKNOWN, doorward_code::HOME]) => {
                    Some(path::lexical(&path::join(cwd, text)))
                }
                _ => None,
            };
        }
        let before = code.invocation.output.origin;
        self.inner_command(words, code.invocation, state);
        code.invocation.output = Stream::unknown(before.and(code.invocation.output.origin));
        code.invocation.cwd = outer;
    }

    /// `spawnSync('git', ['status'], options)`.
    fn spawns(&mut self, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
        let home = self.out.world.home().map(str::to_owned);
        let program = used.argument(0).map(|value| values::fields(value, home.as_deref())).unwrap_or_default();
        let rest = match used.argument(1) {
            None => Some(Vec::new()),
            Some(value) => values::words(value, home.as_deref()),
        };
        let options = used.arguments.as_deref().unwrap_or_default().get(2..).unwrap_or_default();
        match (program.as_slice(), rest, options.iter().all(plain_record)) {
            ([program], Some(rest), true) => {
                let words = std::iter::once(program.clone()).chain(rest).collect();
                self.starts_words(words, used, code, state);
            }
            _ => self.not_known(used, code),
        }
    }

    fn looks_up(&mut self, used: &Use, code: &mut Code<'_>) {
        let name = match used.name.strip_prefix("process.env.") {
            Some(name) => Some(name),
            None => used.argument(0).and_then(Value::text),
        };
        let secret = name.is_none_or(crate::observe::names::secret_variable);
        code.invocation.output.origin.secret |= secret;
        if secret {
            self.out.prints_secret();
        }
    }

    fn environment_used(&mut self, code: &mut Code<'_>) {
        code.invocation.output.origin.secret = true;
        self.out.prints_secret();
    }
}

fn act_of(language: Language, used: &Use) -> Option<Act> {
    match language {
        Language::Python => python::act(used),
        Language::JavaScript => javascript::act(used),
    }
}

fn comes_in(language: Language, used: &Use) -> bool {
    match act_of(language, used) {
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

/// Nothing among the named arguments changes which program is run or what surrounds it.
fn plain_options(used: &Use) -> bool {
    const PLAIN: &[&str] = &[
        "args",
        "shell",
        "cwd",
        "capture_output",
        "text",
        "check",
        "timeout",
        "stdout",
        "stderr",
        "stdin",
        "input",
        "encoding",
        "universal_newlines",
        "errors",
    ];
    let named = used.named.iter().all(|(name, _)| PLAIN.contains(&name.as_str()));
    let rest = used.arguments.as_deref().unwrap_or_default().get(1..).unwrap_or_default();
    named && !used.spread && rest.iter().all(plain_record)
}

/// Options of Node that change neither the program nor its surroundings.
fn plain_record(value: &Value) -> bool {
    const PLAIN: &[&str] = &["encoding", "stdio", "timeout", "maxBuffer", "windowsHide"];
    match value {
        Value::Record(members) => members.iter().all(|(name, _)| PLAIN.contains(&name.as_str())),
        Value::Text(_) | Value::Plain(_) => true,
        Value::Unknown | Value::List(_) | Value::OneOf(_) | Value::Matches(_) | Value::Below(_) | Value::Name => false,
    }
}

/// A request that sends nothing but its address.
fn only_asks(used: &Use, language: Language) -> bool {
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
