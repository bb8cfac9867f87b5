//! Code that tools load by themselves, and the packages that such code is usually written with.

use doorward_code::{Language, Reading, Use, Value};

use super::act::Act;
use super::{Code, act_of, not_known, other_names, values};
use crate::observe::program::inner::inner_command;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;

/// Packages of which every member describes tests, builds or data.
// Test code and settings files import these all day, and importing them only registers things. Packages that exist to
// start programs (`invoke`, `fabric`, `sh`) are not among them.
const PYTHON: &[&str] = &[
    "pytest",
    "hypothesis",
    "numpy",
    "pandas",
    "nox",
    "setuptools",
    "attr",
    "attrs",
    "pydantic",
    "flask",
    "fastapi",
    "sqlalchemy",
    "freezegun",
    "faker",
    "factory",
    "responses",
    "django",
    "rest_framework",
    "starlette",
    "pytest_asyncio",
    "unittest",
    "logging",
    "asyncio",
];

// What configuration files of JavaScript projects import. They describe a build; the build tool that reads them is
// judged when it runs.
const JAVASCRIPT: &[&str] = &[
    "vite",
    "vitest",
    "vitest/config",
    "@vitejs/plugin-react",
    "@vitejs/plugin-vue",
    "eslint",
    "@eslint/js",
    "typescript-eslint",
    "globals",
    "eslint-plugin-react",
    "eslint-config-prettier",
    "jest",
    "@playwright/test",
    "tailwindcss",
    "autoprefixer",
    "rollup",
    "webpack",
    "next",
    "tsup",
    "@sveltejs/kit/vite",
    "astro/config",
    "module",
    "exports",
    "describe",
    "it",
    "test",
    "expect",
    "beforeEach",
    "afterEach",
    "beforeAll",
    "afterAll",
    "vi",
    "defineConfig",
];

/// Methods that start something, whatever they belong to.
// A package may re-export `os.system` under any path, so the last word decides, whoever owns it.
const STARTING: &[&str] = &[
    ".system",
    ".popen",
    ".spawn",
    ".exec",
    ".execfile",
    ".execSync",
    ".spawnSync",
    ".fork",
    ".eval",
    ".call",
    ".check_call",
    ".check_output",
    ".load_module",
    ".exec_module",
    ".import_module",
    ".runcode",
    ".constructor",
    ".apply",
    ".bind",
    ".binding",
    ".dlopen",
    ".loads",
    ".load",
    ".run_cell",
    ".sudo",
    ".rmtree",
    ".remove_dir",
    ".send",
    ".sendall",
    ".connect",
    ".urlopen",
    ".post",
    ".put",
    ".delete",
    ".request",
    ".unlink",
    ".rmdir",
    ".install",
    ".run",
    ".run_always",
    ".run_install",
    ".conda_install",
    ".execute",
    ".executescript",
    ".import_string",
    ".extractall",
    ".cmdclass",
    ".drop_all",
    ".exec_driver_sql",
    ".getoutput",
    ".getstatusoutput",
    ".Popen",
    ".kill",
    ".terminate",
    ".subprocess_shell",
    ".subprocess_exec",
    ".create_connection",
    ".write_text",
    ".write_bytes",
    ".tofile",
    ".to_pickle",
    ".syspath_prepend",
    ".setenv",
    ".chdir",
];

/// A member of a usual package, or a method that starts nothing.
pub(super) fn is_usual(used: &Use, language: Language) -> bool {
    if used.name.contains("__") {
        return false;
    }
    if used.name.starts_with('.') {
        return !STARTING.contains(&used.name.as_str()) || is_session(used);
    }
    let known = match language {
        Language::Python => PYTHON,
        Language::JavaScript => JAVASCRIPT,
    };
    let dangerous = [
        "importlib",
        "loads",
        "load",
        "subprocess",
        "os",
        "system",
        "builtins",
        "sys",
        "popen",
        "eval",
        "exec",
        "importorskip",
        "call_command",
        "management",
        "f2py",
        "distutils",
        "read_pickle",
        "exec_command",
        "create_subprocess_shell",
        "create_subprocess_exec",
        "open_connection",
        "sandbox",
        "config",
        "FileHandler",
        "handlers",
        "basicConfig",
        "ctypeslib",
        "lib",
        "core",
        "main",
        "console_main",
        "compat",
        "io",
    ];
    known.iter().any(|package| {
        used.name == *package || used.name.strip_prefix(package).is_some_and(|rest| rest.starts_with('.'))
    }) && !used.name.split('.').any(|part| dangerous.contains(&part))
}

/// `session.run('pytest')` in a file of nox.
fn is_session(used: &Use) -> bool {
    matches!(used.name.as_str(), ".run" | ".install" | ".run_always")
        && used.arguments.as_ref().is_some_and(|given| !given.is_empty())
}

/// A usual member is the package's own; what a session of nox runs is a command.
pub(super) fn usual(runner: &mut Runner<'_, '_>, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
    if !is_session(used) || !used.name.starts_with('.') {
        return;
    }
    let literal: Option<Vec<String>> =
        used.arguments.as_deref().unwrap_or_default().iter().map(|value| value.text().map(str::to_owned)).collect();
    let allowed = ["external", "silent", "success_codes"];
    let plain = !used.spread && used.named.iter().all(|(name, _)| allowed.contains(&name.as_str()));
    match literal.filter(|_| plain) {
        Some(words) if used.name == ".install" => {
            if !words.iter().all(|word| crate::observe::recipes::usual_package(word)) && words.join(" ") != "-e ." {
                not_known(runner.out, used, code);
            }
        }
        Some(_) => {
            let words = Value::List(used.arguments.clone().unwrap_or_default());
            match values::words(&words, None) {
                Some(words) => inner_command(runner, words, code.invocation, state),
                None => not_known(runner.out, used, code),
            }
        }
        None => not_known(runner.out, used, code),
    }
}

/// A source that runs text as code, or starts what it decodes.
pub(crate) fn hides(reading: &Reading, language: Language) -> bool {
    // Each of these turns data into running code, so a source that uses one cannot be understood by reading it
    // (interpreters-015).
    const RUNNING: &[&str] = &[
        "eval",
        "exec",
        "compile",
        "__import__",
        "Function",
        "vm.runInThisContext",
        "vm.runInNewContext",
        "marshal.loads",
        "ctypes.CDLL",
        "pty.spawn",
        "os.execv",
        "os.execve",
        "os.execvp",
        "os.spawnl",
        "os.posix_spawn",
        "os.fork",
        "runpy.run_path",
        "code.interact",
        "process.binding",
        "types.FunctionType",
        "types.CodeType",
        "builtins.exec",
        "builtins.eval",
        "builtins.__import__",
        "process.dlopen",
        "socket.socket",
    ];
    // Honest code decodes data and starts programs too; only both together are how a payload is hidden
    // (interpreters-017).
    const DECODING: &[&str] =
        &["base64", "codecs", "binascii", "zlib", "atob", "bytes.fromhex", "lzma", "bz2", "String.fromCharCode", "chr"];
    let named = |names: &[&str], name: &str| {
        names.iter().any(|known| name == *known || name.strip_prefix(known).is_some_and(|rest| rest.starts_with('.')))
    };
    let starts = reading.uses.iter().any(|used| {
        let act = act_of(language, used);
        matches!(act, Some(Act::Shell | Act::Run | Act::Spawn))
            && !matches!(used.argument(0), Some(Value::Text(text)) if !text.contains(doorward_code::UNKNOWN))
            && !matches!(used.argument(0), Some(Value::List(_)))
    });
    let decodes = reading
        .uses
        .iter()
        .any(|used| named(DECODING, &used.name) || used.name == ".fromhex" || used.name == "Buffer.from");
    let loads = reading.uses.iter().any(|used| named(RUNNING, &used.name));
    let computed = reading.unclear.iter().any(|because| because.contains("works out"))
        && (decodes
            || reading.uses.iter().any(|used| {
                matches!(used.name.as_str(), "globals" | "locals" | "vars" | "importlib.import_module" | "__builtins__")
            }));
    let imports = reading
        .uses
        .iter()
        .any(|used| used.name == "importlib.import_module" && used.argument(0).and_then(Value::text).is_none());
    loads || (starts && decodes) || computed || (imports && decodes) || other_names::reaches(reading, language)
}
