//! Language interpreters: inline code, modules, script files, standard input.

use doorward_code::Language;
use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation};

use super::super::Invocation;
use crate::knowledge::schema::{Does, Role};
use crate::observe::code::code;
use crate::observe::code::imports::{changed_package, hidden_modules, python_files, source_root};
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::file_roles::{reads, writes};
use crate::observe::program::file_trust::How;
use crate::observe::program::findings::on_resource;
use crate::observe::program::invoke::invoke;
use crate::observe::program::recipe::project_program;
use crate::observe::program::roles::{flag_values, role};
use crate::observe::program::scripts::script_file;
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::shell::code::runs_data;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::path;
use crate::world::Kind;

/// Modules of Python that only print.
const PRINTING: &[&str] =
    &["site", "sysconfig", "platform", "this", "calendar", "json.tool", "tokenize", "ast", "dis", "tabnanny", "pyclbr"];

pub(super) fn interpreter(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let args = &invocation.args;
    let has_code = args
        .given
        .iter()
        .any(|given| given.value.is_some() && matches!(given.role, Role::Code | Role::CodePython | Role::CodeJs));
    let module = args.value("-m").cloned().filter(|_| language(invocation) == Some(Language::Python));
    if has_code {
        invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
        return;
    }
    if let Some(module) = module {
        return self::module(runner, &module, invocation, state);
    }
    if args.has("--test") {
        return own_tests(invocation);
    }
    // Perl runs `BEGIN` and everything that is used while it only checks.
    let checks = |name: &str| name == "--check" || (name == "-c" && !invocation.by.name.starts_with("perl"));
    if args.given.iter().any(|given| checks(&given.name) && given.value.is_none()) {
        return invocation.roles.iter_mut().for_each(|role| *role = Role::Read);
    }
    match invocation.operand(0).cloned() {
        None => standard_input(runner, invocation, state),
        Some(file) if matches!(file.text.as_str(), "-" | "/dev/stdin") => standard_input(runner, invocation, state),
        Some(file) => {
            if let Some(Stream { text, .. }) = &file.process {
                let stream = Stream { text: text.clone(), ..Stream::unknown(file.origin) };
                code_stream(runner, &stream, invocation, state);
                invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
            }
            if let Some(file) = file.exact() {
                address_as_script(runner.out, file, invocation);
                package_tool(runner, file, invocation, state);
            }
        }
    }
}

/// `deno run https://…`: a script that is fetched.
fn address_as_script(out: &mut Observer<'_>, file: &str, invocation: &mut Invocation) {
    if file.contains("://") || file.starts_with("npm:") || file.starts_with("jsr:") {
        let by = invocation.by.clone();
        out.flow(FlowKind::DownloadToExecute, by.part, by.part);
        out.lower(Degree::Opaque, format!("`{}` runs code from `{file}`", by.name));
        out.unknown(Operation::Execute, &by, Marks::default().with(Mark::RemoteCode));
        invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
    }
}

/// `bun prisma …`: a word that is no file is a program of a package.
fn package_tool(runner: &mut Runner<'_, '_>, name: &str, invocation: &Invocation, state: &mut State<'_>) {
    let runs = invocation.args.chain.first().is_some_and(|entry| entry.key == "bun");
    if let Some(entry) = runner.out.knowledge.entry(name).filter(|_| runs) {
        let words = invocation.args.operands.get(1..).unwrap_or_default().to_vec();
        let by = By { name: name.to_owned(), part: invocation.by.part };
        invoke(runner, entry, &words, state, invocation.input.clone(), by);
    }
}

fn standard_input(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
    let input = invocation.input.clone();
    if input == Stream::empty() {
        let mut does = Does::usual(Operation::Execute);
        does.marks.add(Mark::Interactive);
        let name = invocation.by.name.clone();
        return runner.out.effect(on_resource(&does, name, invocation));
    }
    code_stream(runner, &input, invocation, state);
}

fn code_stream(runner: &mut Runner<'_, '_>, stream: &Stream, invocation: &mut Invocation, state: &mut State<'_>) {
    match &stream.text {
        Some(text) if !stream.origin.download => {
            let by = invocation.by.clone();
            let output = code(runner, text, language(invocation), state, &by);
            invocation.output.origin = invocation.output.origin.and(output.origin);
        }
        Some(_) | None => runs_data(runner.out, stream.origin, &invocation.by),
    }
}

/// `node --test`.
fn own_tests(invocation: &mut Invocation) {
    invocation.roles.iter_mut().for_each(|role| *role = Role::Read);
    invocation.does.push(executes(Mark::Test));
}

/// `python -m module arguments`.
fn module(runner: &mut Runner<'_, '_>, module: &Field, invocation: &mut Invocation, state: &mut State<'_>) {
    invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
    let Some(name) = module.exact().map(str::to_owned) else {
        return runner.out.lower(Degree::Opaque, "which module is run");
    };
    // The directory comes first, so a file there stands for a package of the same name.
    let package = name.split('.').next().unwrap_or(&name).to_owned();
    let hides = invocation.cwd.as_deref().is_some_and(|cwd| {
        let file = path::join(cwd, &format!("{package}.py"));
        state.written.contains_key(&file) || runner.out.world.look(&file).kind == Kind::File
    });
    let hidden = invocation.cwd.as_deref().map(|cwd| hidden_modules(runner.out.world, cwd, state)).unwrap_or_default();
    for file in hidden.iter().filter(|_| !hides) {
        let stem = path::name(file).trim_end_matches(".py").to_owned();
        own_module(runner, &stem, None, invocation, state);
    }
    let local = invocation.cwd.as_deref().is_some_and(|cwd| {
        let base = path::join(cwd, &name.replace('.', "/"));
        [base.clone(), format!("{base}.py"), format!("{base}/__main__.py")].iter().any(|file| {
            state.written.contains_key(file) || matches!(runner.out.world.look(file).kind, Kind::File | Kind::Directory)
        })
    });
    let installed = source_root(runner.out.world, &name, state)
        .filter(|_| changed_package(runner.out.world, &package, state).is_none());
    let entry = runner.out.knowledge.entry(&name).or_else(|| runner.out.knowledge.entry(&name.replace('_', "-")));
    // Modules of Python that have nothing to do with the programs of that name.
    let entry = entry.filter(|_| !matches!(name.as_str(), "code" | "test" | "time" | "stat" | "http"));
    match (name.as_str(), entry) {
        _ if hides => {
            invocation.does.push(executes(Mark::RunsProject));
            own_module(runner, &package, None, invocation, state);
        }
        _ if local => {
            invocation.does.push(executes(Mark::RunsProject));
            own_module(runner, &name, None, invocation, state);
        }
        ("json.tool", _) => json_tool(runner.out, invocation, state),
        ("py_compile" | "compileall", _) => byte_code(runner.out, invocation, state),
        ("tokenize" | "ast" | "dis", _) => invocation.roles.iter_mut().for_each(|role| *role = Role::Read),
        ("http.server", _) => http_server(runner.out, invocation, state),
        ("venv" | "virtualenv", _) => virtual_environment(runner, invocation, state),
        ("unittest" | "doctest", _) => {
            invocation.does.push(executes(Mark::Test));
            named_files(runner, invocation, state);
        }
        (name, _) if PRINTING.contains(&name) => {}
        (_, Some(entry)) => {
            let words = invocation.args.operands.clone();
            invocation.done = true;
            flag_values(runner, invocation, state);
            let by = By { name, part: invocation.by.part };
            invocation.output = invoke(runner, entry, &words, state, invocation.input.clone(), by);
        }
        (_, None) if installed.is_some() => {
            invocation.does.push(executes(Mark::RunsProject));
            own_module(runner, &name, installed.as_deref(), invocation, state);
        }
        (_, None) => {
            runner.out.lower(Degree::Unknown, format!("the module `{name}`"));
            let mut does = executes(Mark::UnknownProgram);
            does.reversibility = doorward_vocabulary::Reversibility::Irreversible;
            invocation.does.push(does);
        }
    }
}

/// `python -m http.server --bind 127.0.0.1` hands out the files of a directory to this machine alone.
fn http_server(out: &mut Observer<'_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let words: Option<Vec<&str>> = invocation.args.operands.iter().map(Field::exact).collect();
    let Some(directory) = words.as_deref().and_then(served_here) else {
        let mut does = Does::usual(Operation::Network);
        does.marks.add(Mark::Listens);
        return invocation.does.push(does);
    };
    let directory = Field::literal(directory, Default::default());
    reads(out, Touch::ReadTree, &directory, invocation, state);
}

/// A module of the project, below a directory other than the current one if that is said: the files that are run for it,
/// each as it is now.
fn own_module(
    runner: &mut Runner<'_, '_>,
    name: &str,
    root: Option<&str>,
    invocation: &Invocation,
    state: &mut State<'_>,
) {
    let Some(cwd) = root.or(invocation.cwd.as_deref()) else { return };
    let base = path::join(cwd, &name.replace('.', "/"));
    let mut files = python_files(runner.out.world, name, cwd, state);
    files.push(path::lexical(&format!("{base}/__main__.py")));
    for file in files {
        let is_there = state.written.contains_key(&file) || runner.out.world.look(&file).kind == Kind::File;
        if is_there {
            let (input, words) = (Stream::unknown(Default::default()), invocation.args.operands.clone());
            project_program(runner, &file, &words, state, &input, &invocation.by, How::Read);
        }
    }
}

/// Files among the operands are run, wherever they lie.
fn named_files(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let is_file = |field: &Field| field.dynamic || field.text.contains('/') || field.text.ends_with(".py");
    for field in invocation.args.operands.clone().iter().filter(|field| is_file(field)) {
        script_file(runner, field, Role::Script, invocation, state);
    }
}

/// Byte code is written beside what it is made from.
fn byte_code(out: &mut Observer<'_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let words = invocation.args.operands.clone();
    let is_flag = |field: &&Field| field.text.starts_with('-');
    invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
    // Without a file it compiles whatever Python can import; a list of files is in another file.
    let lists = words.iter().any(|field| field.text.starts_with("-i") || field.text == "-");
    if lists || words.iter().all(|field| is_flag(&field)) {
        out.lower(Degree::Unknown, "which files are compiled");
    }
    for field in words.iter().filter(|field| !is_flag(field)) {
        reads(out, Touch::ReadTree, field, invocation, state);
        let is_file = field.text.ends_with(".py");
        let beside = if is_file {
            crate::path::join(&field.text, "../__pycache__")
        } else {
            crate::path::join(&field.text, "__pycache__")
        };
        writes(out, Touch::Create, &field.with_text(beside), invocation, state);
    }
}

fn json_tool(out: &mut Observer<'_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let files: Vec<Field> =
        invocation.args.operands.iter().filter(|field| !field.text.starts_with('-')).cloned().collect();
    if let Some(file) = files.first() {
        reads(out, Touch::Read, file, invocation, state);
    }
    if let Some(file) = files.get(1) {
        writes(out, Touch::Write, file, invocation, state);
    }
}

fn virtual_environment(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let clears = invocation.args.operands.iter().any(|field| field.text == "--clear");
    for field in invocation.args.operands.clone().iter().filter(|field| !field.text.starts_with('-')) {
        if clears {
            role(runner, field, Role::DeleteTree, invocation, state);
        }
        let ((), mut caused) = runner.collect(|runner| writes(runner.out, Touch::Create, field, invocation, state));
        caused.add(Mark::CountUnknown);
        runner.out.write(caused);
    }
}

fn executes(mark: Mark) -> Does {
    let mut does = Does::usual(Operation::Execute);
    does.marks.add(mark);
    does
}

fn language(invocation: &Invocation) -> Option<Language> {
    crate::observe::code::of_program(&invocation.by.name)
}

/// The directory that `http.server` hands out, if these words bind it to this machine for certain.
fn served_here(words: &[&str]) -> Option<String> {
    let (mut directory, mut is_bound) = (".".to_owned(), false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            // The last one counts.
            "-b" | "--bind" => is_bound = matches!(words.next(), Some(&("127.0.0.1" | "localhost" | "::1"))),
            "-d" | "--directory" => directory = (*words.next()?).to_owned(),
            port if port.bytes().all(|byte| byte.is_ascii_digit()) => {}
            _ => return None,
        }
    }
    is_bound.then_some(directory)
}
