//! Power under another name: what starts programs or runs text is stored, handed on, or picked by a name that is worked out.
//!
//! Every way to such a function begins at its own name, at its module, at the inside of the language, or at an import by a
//! worked-out name. So these four are looked for, and not the calls at the end of the way.

use doorward_code::{Language, Reading, UNKNOWN, Use, Value};

use super::act::Act;
use super::act_of;

/// Modules that hold such functions.
// From each of these one attribute leads to a function that runs text or a program; `nt` and `posix` are what `os` is
// made of.
const PYTHON: &[&str] = &[
    "os",
    "posix",
    "nt",
    "subprocess",
    "builtins",
    "importlib",
    "pty",
    "runpy",
    "ctypes",
    "code",
    "multiprocessing",
    "commands",
];
// The roots from which every other object of Node can be reached. `Reflect` calls a function without naming it.
const JAVASCRIPT: &[&str] =
    &["child_process", "vm", "module", "process", "globalThis", "global", "require", "worker_threads", "Reflect"];

/// Functions that look at what they are given, or put something else in its place; by their last word.
// Tests hand functions to mocks and inspectors all the time; those look at the function, or replace it, and never
// call it with the test's data.
const LOOKING: &[&str] = &[
    // Python
    "setattr",
    "delattr",
    "hasattr",
    "isinstance",
    "issubclass",
    "object",
    "patch",
    "dict",
    "multiple",
    "spy",
    "reload",
    "create_autospec",
    "Mock",
    "MagicMock",
    "AsyncMock",
    "NonCallableMock",
    "getsource",
    "getfile",
    "ismodule",
    "signature",
    "print",
    "repr",
    "id",
    "str",
    "raises",
    // JavaScript
    "expect",
    "spyOn",
    "mocked",
    "stub",
    "replace",
    "restore",
    "isMockFunction",
    "mock",
    "unmock",
    "doMock",
    "log",
    "toBe",
    "toEqual",
    "toBeDefined",
    "String",
    "keys",
    "fake",
    "on",
    "emit",
    "removeListener",
    "off",
    "once",
];

/// Methods that start a program, on whatever they are called.
// Whatever object it is called on, a method with such a name starts a program; a class may hide the module it came
// from.
const STARTING: &[&str] = &[
    ".system",
    ".popen",
    ".Popen",
    ".check_output",
    ".check_call",
    ".getoutput",
    ".getstatusoutput",
    ".execv",
    ".execve",
    ".execvp",
    ".spawnl",
    ".spawnv",
    ".posix_spawn",
    ".execSync",
    ".spawnSync",
    ".execFileSync",
    ".execFile",
];

/// Ways into the inside of the language.
// The classic ways out of a Python sandbox, and their Node counterparts: from any object to its globals, and from
// there to every module (interpreters-052, interpreters-053).
const INNER: &[&str] = &[
    ".__globals__",
    ".__builtins__",
    ".__subclasses__",
    ".__getattribute__",
    ".__loader__",
    ".f_globals",
    ".f_builtins",
    "__builtins__",
    "__builtins__[]",
    "operator.attrgetter",
    "operator.methodcaller",
    "module.require",
    "process.mainModule",
    "require.main",
    "module.constructor",
    "process.getBuiltinModule",
    "Module._load",
    "module._load",
];

/// The text reaches something powerful other than by calling it by its name.
pub(super) fn reaches(reading: &Reading, language: Language) -> bool {
    let modules = match language {
        Language::Python => PYTHON,
        Language::JavaScript => JAVASCRIPT,
    };
    let unclear = |text: &str| reading.unclear.iter().any(|because| because.contains(text));
    let picks = modules.iter().any(|module| unclear(&format!("picks a member of `{module}")));
    let inside = |used: &Use| used.name.ends_with(".constructor") && (used.arguments.is_some() || unclear("works out"));
    picks
        || (language == Language::JavaScript && unclear("it imports a module that it works out"))
        || reading.uses.iter().any(|used| {
            inside(used)
                || is_handed_on(used, language, modules, reading)
                || is_inner(used, modules)
                || is_detour(used, modules)
                || loads_by_name(used, modules)
                || starts_through_value(used)
        })
}

/// `x = os.system`, `map(os.system, …)`, `getattr(os, …)`, `const r = require`.
fn is_handed_on(used: &Use, language: Language, modules: &[&str], reading: &Reading) -> bool {
    let given_to = used.given_to.as_deref().map(last_word).unwrap_or_default();
    if used.arguments.is_some() || used.is_type || LOOKING.contains(&given_to) {
        // `execSync(...words)`: which program is started stands nowhere.
        return used.spread && used.arguments.as_ref().is_some_and(Vec::is_empty) && is_starter(&used.name, language);
    }
    if given_to == "getattr" && reading.imports.contains(&used.name) && !modules.contains(&used.name.as_str()) {
        return reading.unclear.iter().any(|because| because.contains("works out")) && picks_unknown(reading);
    }
    if modules.contains(&used.name.as_str()) {
        return match given_to {
            "getattr" => picks_powerful(&used.name, language, reading),
            _ => !is_looked_at_only(&used.name, language),
        };
    }
    is_starter(&used.name, language)
}

/// Names that every file of JavaScript has, and that are tested for or assigned to.
fn is_looked_at_only(name: &str, language: Language) -> bool {
    language == Language::JavaScript && matches!(name, "module" | "process" | "globalThis" | "global")
}

/// Some name that `getattr` looks up is not written in the text.
fn picks_unknown(reading: &Reading) -> bool {
    let names = reading.uses.iter().filter(|used| used.name == "getattr").filter_map(|used| used.argument(1));
    names.into_iter().any(|name| name.text().is_none_or(|name| name.contains(UNKNOWN)))
}

/// `getattr(os, "name")`: the name stands there, and is that of something harmless.
fn picks_powerful(module: &str, language: Language, reading: &Reading) -> bool {
    let picks = reading.uses.iter().filter(|used| used.name == "getattr");
    picks.filter_map(|used| used.argument(1)).any(|name| match name.text().filter(|name| !name.contains(UNKNOWN)) {
        Some(name) => is_starter(&format!("{module}.{name}"), language) || name.starts_with("__"),
        None => true,
    })
}

fn is_starter(name: &str, language: Language) -> bool {
    // Starters that the tables of functions do not know, because calling them is never understood. Passed on as a
    // value they must still be recognised.
    const MORE: &[&str] = &[
        "os.execv",
        "os.execve",
        "os.execvp",
        "os.spawnl",
        "os.spawnv",
        "os.spawnvp",
        "os.posix_spawn",
        "os.fork",
        "pty.spawn",
        "asyncio.create_subprocess_shell",
        "asyncio.create_subprocess_exec",
        "importlib.import_module",
        "child_process.fork",
        "vm.runInThisContext",
        "vm.runInNewContext",
        "vm.Script",
    ];
    let used = Use { name: name.to_owned(), ..Use::default() };
    MORE.contains(&name) || matches!(act_of(language, &used), Some(Act::Shell | Act::Run | Act::Spawn))
}

/// `f.__globals__`, `os.__dict__`, `globals()["x"]`.
fn is_inner(used: &Use, modules: &[&str]) -> bool {
    let begins =
        |known: &str| used.name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let of_module =
        modules.iter().any(|module| used.name.strip_prefix(module).is_some_and(|rest| rest.starts_with(".__")));
    let listed = matches!(used.name.as_str(), "vars" | "sys.modules[]" | "sys.modules.get" | "sys.modules.__getitem__")
        && used.argument(0).is_some_and(|value| value.text().is_some_and(|name| modules.contains(&name)));
    INNER.iter().any(|known| begins(known)) || of_module || listed
}

/// `shutil.os.system`: a module inside another one.
fn is_detour(used: &Use, modules: &[&str]) -> bool {
    // `json.codecs.builtins.exec` is `exec`: many modules of the library import these and so expose them as members
    // (interpreters-053).
    const DETOURS: &[&str] = &["os", "_os", "subprocess", "builtins", "child_process"];
    let is_own_subprocess = used.name.starts_with("asyncio.subprocess");
    let first_is_relative = used.name.starts_with('.');
    let mut inner = used.name.split('.').skip(1);
    !first_is_relative
        && !is_own_subprocess
        && modules.contains(&"os")
        && inner.any(|part| DETOURS.contains(&part))
        && !used.name.starts_with("os.")
}

/// `importlib.import_module(name)`, `jest.requireActual("child_process")`.
fn loads_by_name(used: &Use, modules: &[&str]) -> bool {
    let is_import = matches!(used.name.as_str(), "importlib.import_module" | "__import__" | "pytest.importorskip")
        || matches!(last_word(&used.name), "requireActual" | "importActual");
    if !is_import || used.arguments.is_none() {
        return false;
    }
    match used.argument(0).and_then(Value::text) {
        Some(name) if !name.contains(UNKNOWN) => {
            let name = name.strip_prefix("node:").unwrap_or(name);
            // What a mock keeps of a module is called by its name elsewhere.
            modules.contains(&name) && last_word(&used.name) == "import_module"
        }
        // A module of the project whose package stands there.
        Some(name) => name.starts_with(UNKNOWN),
        None => true,
    }
}

/// `m.system("…")` where nothing says what `m` is.
fn starts_through_value(used: &Use) -> bool {
    if used.name == "getattr" {
        // `getattr(x, "os")` picks a module out of an object; from these three it is one more step to a running
        // program.
        const MODULES: &[&str] = &["os", "subprocess", "builtins"];
        let is_starting = |name: &str| MODULES.contains(&name) || STARTING.contains(&format!(".{name}").as_str());
        return used.argument(1).and_then(Value::text).is_some_and(is_starting);
    }
    let gives = used.arguments.as_ref().is_some_and(|given| !given.is_empty()) || used.spread;
    gives && STARTING.contains(&used.name.as_str())
}

fn last_word(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::code::hides;

    fn check(language: Language, texts: &[&str], hidden: bool) {
        for text in texts {
            assert_eq!(hides(&doorward_code::read(text, language), language), hidden, "{text}");
        }
    }

    #[test]
    fn power_under_another_name() {
        let python = &[
            r#"import os
os.__dict__['system']('id')"#,
            r#"import sys
sys.modules['os'].system('id')"#,
            r#"import os as o
y = o
y.system('id')"#,
            r#"import subprocess
run = subprocess.run
run(['id'])"#,
            r#"from subprocess import run
import pytest
runners = {'a': run}
runners['a'](['id'])"#,
            r#"import os
def f(m):
    m.system('id')
f(os)"#,
            r#"import os
for f in (os.system,):
    f('id')"#,
            r#"import importlib
importlib.import_module('os').system('id')"#,
            r#"import os
import contextlib
with contextlib.ExitStack() as s:
    s.callback(os.system, 'id')"#,
            r#"import asyncio
f = asyncio.create_subprocess_shell"#,
            r#"(lambda: 0).__globals__['os'].system('id')"#,
            r#"import os
os = os
os.system('id')"#,
        ];
        check(Language::Python, python, true);
        let javascript = &[
            r#"globalThis['ev'+'al']('1')"#,
            r#"const cp = require('child_process'); [cp.execSync][0]('id')"#,
            r#"const cp = require('child_process'); const o = {run: cp.exec}; o.run('id')"#,
            r#"jest.requireActual('child_process').execSync('id')"#,
            r#"const {promisify} = require('util'); const {exec} = require('child_process'); const run = promisify(exec); run('id')"#,
            r#"['id'].forEach(require('child_process').execSync)"#,
            r#"const cp = require('child_process'); const c = cp; c.execSync('id')"#,
            r#"process.getBuiltinModule('child_process').execSync('id')"#,
        ];
        check(Language::JavaScript, javascript, true);
    }

    #[test]
    fn what_is_only_looked_at_or_replaced() {
        let python = &[
            "import os\ndef test(monkeypatch):\n    monkeypatch.setattr(os, 'getcwd', lambda: 'x')",
            "import subprocess\ndef f(p: list[subprocess.Popen]) -> subprocess.Popen: ...",
            "import os\nassert isinstance(os.environ, dict) and getattr(os, 'O_BINARY', 0) == 0",
            "import asyncio\nx = asyncio.subprocess.PIPE",
            "import platform\nassert platform.system() == 'Linux'",
        ];
        check(Language::Python, python, false);
        let javascript = &[
            "const cp = require('child_process'); expect(cp.execSync).toHaveBeenCalled()",
            "const m = await import(`./${name}.js`)",
            "expect(new Fake().constructor.name).toBe('Fake')",
            "if (typeof module !== 'undefined') module.exports = 1",
        ];
        check(Language::JavaScript, javascript, false);
    }
}
