//! Language interpreters: inline code, modules, script files, standard input.

use doorward_code::Language;
use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::super::Invocation;
use super::perl_edit::perl_edit;
use crate::knowledge::schema::{Does, Role};
use crate::observe::code::imports::{changed_package, hidden_modules, source_root};
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::builds::lies_outside;
use crate::observe::program::findings::Findings;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::path;
use crate::world::{Kind, World};

/// The interpreter of Python, by its usual name.
pub(crate) const PYTHON: &str = "python";

/// Modules of Python that only print.
// `python3 -m` on any other module of the library may start a server, run a script or install something.
const PRINTING: &[&str] =
    &["site", "sysconfig", "platform", "this", "calendar", "json.tool", "tokenize", "ast", "dis", "tabnanny", "pyclbr"];

pub(super) fn interpreter(out: &Observer<'_>, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let mut found = Findings::default();
    let args = &invocation.args;
    let has_code = args
        .given
        .iter()
        .any(|given| given.value.is_some() && matches!(given.role, Role::Code | Role::CodePython | Role::CodeJs));
    let module = args.value("-m").cloned().filter(|_| language(invocation) == Some(Language::Python));
    if has_code {
        if invocation.args.chain.first().is_some_and(|entry| entry.key == "perl")
            && let Some(edits) = perl_edit(invocation)
        {
            return edits;
        }
        all_data(invocation);
        return found;
    }
    if let Some(module) = module {
        return self::module(out.world, &module, invocation, state);
    }
    let is_own = invocation.operand(0).is_none_or(|file| !lies_outside(out.world, file, invocation));
    if args.has("--test") && is_own {
        own_tests(invocation);
        return found;
    }
    // Perl runs `BEGIN` and everything that is used while it only checks.
    let checks = |name: &str| name == "--check" || (name == "-c" && !invocation.by.name.starts_with("perl"));
    if args.given.iter().any(|given| checks(&given.name) && given.value.is_none()) {
        invocation.roles.iter_mut().for_each(|role| *role = Role::Read);
        return found;
    }
    match invocation.operand(0).cloned() {
        None => found.extend(standard_input(invocation)),
        Some(file) if matches!(file.text.as_str(), "-" | "/dev/stdin") => found.extend(standard_input(invocation)),
        Some(file) => {
            if let Some(Stream { text, .. }) = &file.process {
                found.run_own_code(Stream { text: text.clone(), ..Stream::unknown(file.origin) });
                all_data(invocation);
            }
            if let Some(file) = file.exact() {
                found.extend(address_as_script(file, invocation));
                found.extend(package_tool(out, file, invocation));
            }
        }
    }
    found
}

/// No operand is anything but data.
fn all_data(invocation: &mut Invocation) {
    invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
}

/// `deno run https://…`: a script that is fetched.
fn address_as_script(file: &str, invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    if file.contains("://") || file.starts_with("npm:") || file.starts_with("jsr:") {
        found.run_download();
        found.doubt(Degree::Opaque, format!("`{}` runs code from `{file}`", invocation.by.name));
        found.unknown(Operation::Execute, Marks::default().with(Mark::RemoteCode));
        all_data(invocation);
    }
    found
}

/// `bun prisma …`: a word that is no file is a program of a package.
fn package_tool(out: &Observer<'_>, name: &str, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let runs = invocation.args.chain.first().is_some_and(|entry| entry.key == "bun");
    if let Some(entry) = out.knowledge.entry(name).filter(|_| runs) {
        found.start_known(entry, name, invocation.args.operands.get(1..).unwrap_or_default().to_vec());
    }
    found
}

fn standard_input(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    all_data(invocation);
    if invocation.input == Stream::empty() {
        let mut does = Does::usual(Operation::Execute);
        does.marks.add(Mark::Interactive);
        found.resource(&does, invocation.by.name.clone(), invocation);
    } else {
        found.run_own_code(invocation.input.clone());
    }
    found
}

/// `node --test`.
fn own_tests(invocation: &mut Invocation) {
    invocation.roles.iter_mut().for_each(|role| *role = Role::Read);
    invocation.does.push(executes(Mark::Test));
}

/// `python -m module arguments`.
fn module(world: &dyn World, module: &Field, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    all_data(invocation);
    let Some(name) = module.exact().map(str::to_owned) else {
        return Findings::doubtful(Degree::Opaque, "which module is run");
    };
    // The directory comes first, so a file there stands for a package of the same name.
    let package = name.split('.').next().unwrap_or(&name).to_owned();
    let hides = invocation.cwd.as_deref().is_some_and(|cwd| {
        let file = path::join(cwd, &format!("{package}.py"));
        state.written.contains_key(&file) || world.look(&file).kind == Kind::File
    });
    let mut found = Findings::default();
    if hides {
        invocation.does.push(executes(Mark::RunsProject));
        found.run_module(package, None);
        return found;
    }
    let hidden = invocation.cwd.as_deref().map(|cwd| hidden_modules(world, cwd, state)).unwrap_or_default();
    for file in &hidden {
        found.run_module(path::name(file).trim_end_matches(".py"), None);
    }
    // What the hidden modules write may be the module.
    found.then(move |out, invocation, state| named_module(out, &name, invocation, state));
    found
}

fn named_module(out: &Observer<'_>, name: &str, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let mut found = Findings::default();
    let world = out.world;
    let local = invocation.cwd.as_deref().is_some_and(|cwd| {
        let base = path::join(cwd, &name.replace('.', "/"));
        [base.clone(), format!("{base}.py"), format!("{base}/__main__.py")].iter().any(|file| {
            state.written.contains_key(file) || matches!(world.look(file).kind, Kind::File | Kind::Directory)
        })
    });
    let package = name.split('.').next().unwrap_or(name);
    let installed = source_root(world, name, state).filter(|_| changed_package(world, package, state).is_none());
    let entry = out.knowledge.entry(name).or_else(|| out.knowledge.entry(&name.replace('_', "-")));
    // Modules of Python that have nothing to do with the programs of that name.
    let entry = entry.filter(|_| !matches!(name, "code" | "test" | "time" | "stat" | "http"));
    match (name, entry) {
        _ if local => {
            invocation.does.push(executes(Mark::RunsProject));
            found.run_module(name, None);
        }
        ("json.tool", _) => found = json_tool(invocation),
        ("py_compile" | "compileall", _) => found = byte_code(invocation),
        ("tokenize" | "ast" | "dis", _) => invocation.roles.iter_mut().for_each(|role| *role = Role::Read),
        ("http.server", _) => found = http_server(invocation),
        ("venv" | "virtualenv", _) => found = virtual_environment(invocation),
        ("unittest" | "doctest", _) => {
            invocation.does.push(executes(Mark::Test));
            found = named_files(invocation);
        }
        (name, _) if PRINTING.contains(&name) => {}
        (_, Some(entry)) => {
            invocation.done = true;
            found.flag_values();
            found.become_known(entry, name, invocation.args.operands.clone());
        }
        (_, None) if installed.is_some() => {
            invocation.does.push(executes(Mark::RunsProject));
            found.run_module(name, installed);
        }
        (_, None) => {
            found.doubt(Degree::Unknown, format!("the module `{name}`"));
            let mut does = executes(Mark::UnknownProgram);
            does.reversibility = doorward_vocabulary::Reversibility::Irreversible;
            invocation.does.push(does);
        }
    }
    found
}

/// `python -m http.server --bind 127.0.0.1` hands out the files of a directory to this machine alone.
fn http_server(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let words: Option<Vec<&str>> = invocation.args.operands.iter().map(Field::exact).collect();
    match words.as_deref().and_then(served_here) {
        Some(directory) => found.read(Touch::ReadTree, Field::literal(directory, Default::default())),
        None => {
            let mut does = Does::usual(Operation::Network);
            does.marks.add(Mark::Listens);
            invocation.does.push(does);
        }
    }
    found
}

/// Files among the operands are run, wherever they lie.
fn named_files(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let is_file = |field: &&Field| field.dynamic || field.text.contains('/') || field.text.ends_with(".py");
    for field in invocation.args.operands.iter().filter(is_file) {
        found.run_script(field.clone(), Role::Script);
    }
    found
}

/// Byte code is written beside what it is made from.
fn byte_code(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    all_data(invocation);
    let words = &invocation.args.operands;
    let is_flag = |field: &&Field| field.text.starts_with('-');
    // Without a file it compiles whatever Python can import; a list of files is in another file.
    let lists = words.iter().any(|field| field.text.starts_with("-i") || field.text == "-");
    if lists || words.iter().all(|field| is_flag(&field)) {
        found.doubt(Degree::Unknown, "which files are compiled");
    }
    for field in words.iter().filter(|field| !is_flag(field)) {
        found.read(Touch::ReadTree, field.clone());
        let beside = if field.text.ends_with(".py") { "../__pycache__" } else { "__pycache__" };
        found.write(Touch::Create, field.with_text(path::join(&field.text, beside)));
    }
    found
}

fn json_tool(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let mut files = invocation.args.operands.iter().filter(|field| !field.text.starts_with('-'));
    if let Some(file) = files.next() {
        found.read(Touch::Read, file.clone());
    }
    if let Some(file) = files.next() {
        found.write(Touch::Write, file.clone());
    }
    found
}

fn virtual_environment(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let clears = invocation.args.operands.iter().any(|field| field.text == "--clear");
    for field in invocation.args.operands.iter().filter(|field| !field.text.starts_with('-')) {
        if clears {
            found.role(field.clone(), Role::DeleteTree);
        }
        let mut made = Findings::default();
        made.write(Touch::Create, field.clone());
        found.sealed(made, |caused, _| caused.add(Mark::CountUnknown));
    }
    found
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
