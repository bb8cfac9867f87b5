//! Code that lives in files: project recipes, scripts, binaries, looked up and weighed by where they come from.

use doorward_code::Language;
use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::Invocation;
use super::handed::asks_to_destroy;
use super::written::{Written, read_as, says_itself};
use crate::effect::{Effect, Target};
use crate::knowledge::schema::Role;
use crate::observe::code;
use crate::observe::observer::By;
use crate::observe::shell::field::Field;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::path;
use crate::permissions::wildcard;
use crate::world::{Content, Kind, Tracking};

/// Words that ask a script to destroy something.
const DESTROYING: &[&str] = &[
    "flush", "drop", "drop-db", "drop_db", "purge", "destroy", "wipe", "truncate", "nuke", "reset-db", "db:drop",
    "db:reset", "teardown",
];

/// Longer scripts are not looked through.
const SCRIPT_LIMIT: usize = 256 * 1024;

impl Runner<'_, '_> {
    /// A command that runs a recipe of the project: delegated if the project is trusted and the recipe unchanged.
    pub fn recipe(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let runs_project = [Mark::Test, Mark::Build, Mark::Lint, Mark::RunsProject, Mark::InstallDeclared];
        if !invocation.does.iter().any(|does| does.operation == Operation::Execute && does.marks.has_any(&runs_project))
        {
            return;
        }
        self.note_task(invocation, state);
        let mut marks = Marks::default();
        let deciding = self.deciding(invocation, state);
        if let Some(changed) = self.follow(&deciding, invocation, state) {
            marks.add(Mark::ChangedRecipe);
            self.out.lower(
                Degree::Opaque,
                format!(
                    "`{changed}`, which decides what `{}` runs, changed since the project was trusted",
                    invocation.by.name
                ),
            );
        } else {
            self.follow_mentioned(invocation, state);
        }
        self.unread_sources(invocation, state);
        self.unread_arrivals(invocation, state);
        if let Some(place) = self.foreign_run(invocation, state) {
            marks.add(Mark::ChangedRecipe);
            self.out.lower(Degree::Opaque, self.foreign_code(&place, &invocation.by.name));
        }
        if let Some(place) = self.fetched_here(invocation.cwd.as_deref(), state) {
            marks.add(Mark::ChangedRecipe);
            self.out.lower(
                Degree::Opaque,
                format!("`{}` runs code in `{place}`, which this call fetched", invocation.by.name),
            );
        }
        let inside = match (&invocation.cwd, self.out.world.project()) {
            (Some(cwd), Some(project)) => path::under(cwd, project),
            (Some(_) | None, Some(_) | None) => false,
        };
        if !self.out.world.project_trusted() {
            marks.add(Mark::UntrustedProject);
            self.out.lower(
                Degree::Opaque,
                format!("`{}` runs code of a project that nobody has trusted", invocation.by.name),
            );
        } else if !inside {
            marks.add(Mark::OutsideProject);
            self.out.lower(Degree::Opaque, format!("`{}` runs code outside the project", invocation.by.name));
        }
        if marks.is_empty() {
            self.out.lower(Degree::Delegated, format!("`{}` runs a recipe of the project", invocation.by.name));
            self.look_through(invocation, state);
        } else if let (true, Some(task)) = (deciding.is_empty(), crate::observe::through::task_of(invocation)) {
            // It asks anyway; what it would do may be worse than that.
            self.follow_task(task, invocation, state);
        }
        for does in &mut invocation.does {
            does.marks.union(marks);
        }
    }

    /// The files that decide what runs and that changed since the project was trusted.
    fn deciding(&self, invocation: &Invocation, state: &State<'_>) -> Vec<String> {
        let patterns: Vec<&str> =
            invocation.args.chain.iter().flat_map(|entry| entry.delegates.iter().map(|pattern| &**pattern)).collect();
        let Some(project) = self.out.world.project() else { return Vec::new() };
        let changed = self.out.world.changed_files();
        let mut deciding: Vec<String> = changed
            .iter()
            .map(String::as_str)
            .chain(state.written.keys().map(String::as_str))
            .filter(|file| path::under(file, project))
            .filter(|file| patterns.iter().any(|pattern| decides(pattern, file)) || self.runs_on_load(file))
            .map(str::to_owned)
            .collect();
        deciding.sort();
        deciding.dedup();
        deciding
    }

    /// A changed file that decides what a script of the project runs: what its program file names, or what tools load.
    fn changed_beside(&mut self, file: &str, state: &mut State<'_>) -> Option<String> {
        let project = self.out.world.project()?;
        let entry = self.out.knowledge.entry(path::name(file));
        let patterns = entry.map(|entry| entry.delegates).unwrap_or_default();
        let decides_it = |changed: &&String| {
            patterns.iter().any(|pattern| decides(pattern, changed))
                || self.runs_on_load(changed)
                || changed.contains("/wrapper/")
        };
        let changed = self.out.world.changed_files();
        let unread = changed
            .iter()
            .filter(|changed| path::under(changed, project))
            .filter(decides_it)
            .find(|changed| !patterns.is_empty() || self.may_run(file, changed, state))
            .map(|changed| path::name(changed).to_owned());
        if unread.is_none() {
            self.changed_imports(file, state);
            self.changed_mentions(file, state);
        }
        unread
    }

    /// Tools load such a file by themselves, whatever they are told to run.
    fn runs_on_load(&self, file: &str) -> bool {
        crate::place::classify(file, self.out.world).marks.has(Mark::RunsOnLoad)
    }

    /// A program that lies in the project.
    pub fn project_program(
        &mut self,
        file: &str,
        words: &[Field],
        state: &mut State<'_>,
        input: &Stream,
        by: &By,
        how: How,
    ) {
        if self.is_changed(file, state) {
            return self.run_file(file, state, input, by, Mark::SessionFile, how);
        }
        if self.foreign_place(file, state).is_some() {
            return self.run_file(file, state, input, by, Mark::OutsideProject, how);
        }
        if let Some(place) = self.fetched_here(Some(file), state) {
            self.out
                .lower(Degree::Opaque, format!("`{}` lies in `{place}`, which this call fetched", path::name(file)));
            return self.executes_file(file, by, Marks::default().with(Mark::ChangedRecipe));
        }
        if let Some(changed) = self.changed_beside(file, state) {
            self.out.lower(
                Degree::Opaque,
                format!(
                    "`{changed}`, which decides what `{}` runs, changed since the project was trusted",
                    path::name(file)
                ),
            );
            return self.executes_file(file, by, Marks::default().with(Mark::ChangedRecipe));
        }
        let tracking = self.out.world.tracking(file);
        let mut marks = Marks::default().with(Mark::ProjectBinary).with(Mark::RunsProject);
        let name = path::name(file).to_ascii_lowercase();
        if ["deploy", "publish", "release", "rollout"].iter().any(|word| name.contains(word)) {
            marks.add(Mark::Deploy);
        }
        let handed = words.iter().map(|word| word.text.as_str());
        if words.iter().any(|word| word.exact().is_some_and(|text| DESTROYING.contains(&text)))
            || asks_to_destroy(path::name(file), handed)
        {
            marks.add(Mark::Destroys);
        }
        let itself = words.first().filter(|word| path::name(&word.text) == path::name(file));
        let rest = words.get(usize::from(itself.is_some())..).unwrap_or_default();
        if path::name(file) == "manage.py" {
            let changed = self.changed_code(state);
            self.sources(Language::Python, &changed, by, state);
        }
        if self.console(path::name(file), rest, state, by) {
            marks.add(Mark::Destroys);
        }
        self.wrapped_tool(file, rest, state, input, by);
        self.names_stores(by, state);
        match tracking {
            Tracking::Clean | Tracking::Rebuildable if self.out.world.project_trusted() => {
                self.out.lower(Degree::Delegated, format!("`{}` of the project", path::name(file)));
                self.look_through_file(file, state, by, how);
            }
            Tracking::Clean | Tracking::Rebuildable => {
                marks.add(Mark::UntrustedProject);
                self.out.lower(Degree::Opaque, format!("`{}` of a project that nobody has trusted", path::name(file)));
            }
            Tracking::Modified | Tracking::Untracked | Tracking::Ignored | Tracking::Outside | Tracking::Unknown => {
                return self.run_file(file, state, input, by, Mark::ProjectBinary, how);
            }
        }
        self.executes_file(file, by, marks);
    }

    /// `./gradlew`, `node_modules/.bin/prisma`: a tool that lies in the project is read by its own table as well.
    fn wrapped_tool(&mut self, file: &str, words: &[Field], state: &mut State<'_>, input: &Stream, by: &By) {
        let name = path::name(file);
        const PLACES: &[&str] = &["/node_modules/.bin/", "/vendor/bin/", "/.venv/bin/", "/venv/bin/"];
        let wraps = matches!(name, "gradlew" | "mvnw") || PLACES.iter().any(|place| file.contains(place));
        // A file of the project may have the name of any program, but hardly that of one that works on projects.
        let is_own = path::name(path::parent(file)) == "bin";
        let task = words.first().map(|word| format!("{name} {}", word.text)).unwrap_or_default();
        let works_on_projects = [name, &task]
            .iter()
            .filter_map(|key| self.out.knowledge.entry(key))
            .any(|entry| !entry.delegates.is_empty());
        let entry = self.out.knowledge.entry(name);
        if let Some(entry) = entry.filter(|_| wraps || (is_own && works_on_projects)) {
            let by = By { name: name.to_owned(), part: by.part };
            self.invoke(entry, words, state, input.clone(), by);
        }
    }

    /// A file of uncertain origin is run: looked through if it is a shell script, otherwise not understood.
    pub fn run_file(&mut self, file: &str, state: &mut State<'_>, input: &Stream, by: &By, mark: Mark, how: How) {
        let marks = Marks::default().with(mark);
        if let Some(written) = state.written.get(file).cloned() {
            if written.origin.download {
                self.out.flow(FlowKind::DownloadToExecute, by.part, by.part);
            }
            match written.content.filter(|_| !written.origin.download) {
                Some(text) => self.file_text(file, &text, state, input, by, how),
                None => self.out.lower(Degree::Opaque, format!("what `{}` holds now", path::name(file))),
            }
            return self.executes_file(file, by, marks.with(Mark::SessionFile));
        }
        match self.out.world.content(file, SCRIPT_LIMIT) {
            Content::Text(text) => {
                self.file_text(file, &text, state, input, by, how);
                self.executes_file(file, by, marks);
            }
            Content::TooLong | Content::NotText | Content::Missing | Content::Unreadable | Content::Unlisted => {
                let is_built = self.out.world.tracking(file) == Tracking::Rebuildable;
                let instead = if is_built {
                    ", which was built anew: its build tool can run it"
                } else if mark == Mark::ChangedBinary {
                    ", which is not on your list of programs as it is now: `doorward trust tools` lists it"
                } else {
                    ""
                };
                self.out.lower(Degree::Opaque, format!("what `{}` does{instead}", path::name(file)));
                self.executes_file(file, by, marks);
            }
        }
    }

    /// The content of a file, in the language in which it is run.
    pub fn file_text(&mut self, file: &str, text: &str, state: &mut State<'_>, input: &Stream, by: &By, how: How) {
        let written = match how {
            How::Itself => says_itself(text),
            How::Read => read_as(file, &by.name, state.shell()),
        };
        match written {
            Some(Written::Shell(shell)) => {
                self.text_of(shell, text, state, input.clone(), by.part);
            }
            Some(Written::In(language)) => {
                let beside = path::parent(file).to_owned();
                let manner = self.manner;
                if manner == code::Manner::Strict {
                    self.manner = code::Manner::Script;
                }
                self.code_beside(Some(beside), text, Some(language), state, by);
                self.manner = manner;
            }
            None => self.out.lower(Degree::Opaque, format!("what `{}` does", path::name(file))),
        }
    }

    pub fn executes_file(&mut self, file: &str, by: &By, marks: Marks) {
        self.out.note_run(file);
        let place = crate::place::classify(file, self.out.world);
        let mut effect = Effect::new(Operation::Execute, Target::Program(file.to_owned()));
        effect.scope = place.scope.max(Scope::Project);
        // Running a shared file changes nothing for the others.
        effect.reach = if place.reach == Reach::Shared { Reach::Project } else { place.reach.max(Reach::Project) };
        effect.reversibility = Reversibility::Tracked;
        effect.marks = place.marks;
        effect.marks.union(marks);
        effect.by.clone_from(&by.name);
        effect.part = by.part;
        self.out.effect(effect);
    }

    /// A value that names a program to run.
    pub fn executes(&mut self, field: &Field, invocation: &mut Invocation, state: &mut State<'_>) {
        self.inner_command(vec![field.clone()], invocation, state);
    }

    /// A value that names a file with code in it.
    pub fn script_file(&mut self, field: &Field, role: Role, invocation: &mut Invocation, state: &mut State<'_>) {
        let by = invocation.by.clone();
        let sources = matches!(by.name.as_str(), "source" | ".");
        let words = invocation.args.operands.get(1..).unwrap_or_default();
        let outer = state.positional.clone();
        if !sources || !words.is_empty() {
            state.positional = positional(words);
        }
        self.run_script(field, role, invocation, state, &by);
        state.positional = outer;
    }

    fn run_script(&mut self, field: &Field, role: Role, invocation: &mut Invocation, state: &mut State<'_>, by: &By) {
        let by = by.clone();
        if let Some(Stream { text, .. }) = &field.process {
            let stream = Stream { text: text.clone(), ..Stream::unknown(field.origin) };
            self.run_stream(&stream, state, &by);
            return;
        }
        if matches!(field.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") {
            let input = invocation.input.clone();
            self.run_stream(&input, state, &by);
            return;
        }
        // `tests/test_a.py::test_b` names a test inside a file.
        let file = field.exact().map(|text| text.split("::").next().unwrap_or(text));
        let absolute = match (file, invocation.cwd.as_deref()) {
            (Some(text), _) if text.starts_with('/') => Some(text.to_owned()),
            (Some(text), Some(cwd)) => Some(path::join(cwd, text)),
            (Some(_) | None, Some(_) | None) => None,
        };
        if field.text.contains("://") || (field.text.contains('@') && !field.text.starts_with(['/', '.'])) {
            self.out.lower(Degree::Opaque, format!("`{}`, fetched and run by `{}`", field.shown(), by.name));
            self.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::RemoteCode));
            return;
        }
        let Some(absolute) = absolute else {
            self.out.lower(Degree::Opaque, format!("which file `{}` runs", by.name));
            self.out.unknown(Operation::Execute, &by, Marks::default());
            return;
        };
        self.out.note_carried_run(&absolute);
        let absolute =
            self.out.carried_file(&absolute).filter(|_| !state.written.contains_key(&absolute)).unwrap_or(absolute);
        if role == Role::Script && self.builds_directory(&absolute, invocation, state) {
            return;
        }
        let resolved = path::resolve(&absolute, self.out.world, path::Follow::Last);
        if resolved.lost {
            self.out.lower(Degree::Opaque, format!("it is not known where the links of `{absolute}` end"));
        }
        // A file may be called like this, but where none is known to be it is more likely code that was taken for a name.
        let is_there =
            self.out.world.look(&resolved.real).kind == Kind::File || state.written.contains_key(&resolved.real);
        if !is_there && file.is_some_and(|text| text.contains(|sign: char| " (){};\"'$`|<>!\n".contains(sign))) {
            self.out.lower(Degree::Opaque, format!("whether `{}` is a file or code", field.shown()));
            self.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::InlineCode));
            return;
        }
        let real = self.loaded_as(resolved.real, role, state);
        if crate::place::classify(&real, self.out.world).sensitivity > doorward_vocabulary::Sensitivity::None {
            self.out.touch_path(crate::observe::touch::Touch::Read, &real, &by, Marks::default());
        }
        let inside = self.out.world.project().is_some_and(|project| path::under(&real, project));
        let runs_project = invocation.does.iter().any(|does| does.operation == Operation::Execute);
        if inside && role == Role::Config && runs_project && self.is_own_setting(&real, state) {
            // It is a part of the recipe that the tool follows anyway.
            self.changed_imports(&real, state);
            return self.out.lower(Degree::Delegated, format!("`{}` of the project", path::name(&real)));
        }
        let input = Stream::unknown(Default::default());
        if inside {
            let words = invocation.args.operands.clone();
            self.console_input(path::name(&real), words.get(1..).unwrap_or_default(), &invocation.input, &by);
            self.project_script(&real, &words, role, state, &by);
        } else if role == Role::Config && self.out.world.tracking(&real) == Tracking::Outside {
            self.out.lower(Degree::Opaque, format!("the configuration `{}` given to `{}`", path::name(&real), by.name));
            self.executes_file(&real, &by, Marks::default().with(Mark::OutsideProject));
        } else {
            self.run_file(&real, state, &input, &by, Mark::OutsideProject, How::Read);
        }
    }

    /// `-r ./setup` loads `setup.js` or `setup.rb`: the file that was written or changed, if there is one.
    fn loaded_as(&self, file: String, role: Role, state: &State<'_>) -> String {
        const ENDINGS: &[&str] =
            &[".js", ".mjs", ".cjs", ".ts", ".mts", ".json", ".rb", ".py", "/index.js", "/index.ts", "/__init__.py"];
        if role != Role::Script || code::of_file(&file).is_some() || state.written.contains_key(&file) {
            return file;
        }
        let mut candidates = ENDINGS.iter().map(|ending| format!("{file}{ending}"));
        candidates.find(|candidate| self.is_changed(candidate, state)).unwrap_or(file)
    }

    /// The file was written or changed: since the project was trusted, in this session, or by this call.
    pub fn is_changed(&self, file: &str, state: &State<'_>) -> bool {
        let look = self.out.world.look(file);
        look.changed_since_trust || look.created_this_session || state.written.contains_key(file)
    }

    /// A file of a trusted project, as it was when it was trusted.
    fn is_own_setting(&self, file: &str, state: &State<'_>) -> bool {
        let world = self.out.world;
        !self.is_changed(file, state)
            && self.foreign_place(file, state).is_none()
            && world.project_trusted()
            && world.tracking(file) == Tracking::Clean
    }

    /// Why a file of the project does not count as what was trusted.
    fn not_as_trusted(&self, file: &str, state: &State<'_>) -> &'static str {
        let look = self.out.world.look(file);
        if look.created_this_session || state.written.contains_key(file) {
            "which was written in this session"
        } else if look.changed_since_trust {
            "which changed since the project was trusted"
        } else {
            "which git does not track"
        }
    }

    fn project_script(&mut self, real: &str, words: &[Field], role: Role, state: &mut State<'_>, by: &By) {
        let input = &Stream::unknown(Default::default());
        let tracked =
            matches!(self.out.world.tracking(real), Tracking::Clean | Tracking::Modified | Tracking::Rebuildable);
        if self.is_changed(real, state) || !tracked {
            if role == Role::ScriptSh || real.ends_with(".sh") || code::of_file(real).is_some() {
                return self.run_file(real, state, input, by, Mark::SessionFile, How::Read);
            }
            self.out.lower(Degree::Opaque, format!("`{}`, {}", path::name(real), self.not_as_trusted(real, state)));
            return self.executes_file(real, by, Marks::default().with(Mark::SessionFile));
        }
        self.project_program(real, words, state, input, by, How::Read);
    }
}

/// What `$1` and its kin are for a script that gets these words; not known if any of them is not.
pub fn positional(words: &[Field]) -> Option<std::rc::Rc<Vec<String>>> {
    let known: Option<Vec<String>> = words.iter().map(|word| word.exact().map(str::to_owned)).collect();
    known.map(std::rc::Rc::new)
}

/// A pattern of a delegate names this file: by its last component, or by the end of its path.
pub fn decides(pattern: &str, file: &str) -> bool {
    if pattern.contains('/') {
        return file.ends_with(&format!("/{pattern}")) || wildcard(&format!("*/{pattern}"), file);
    }
    wildcard(pattern, path::name(file))
}

/// How a file is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As a program: its own first line says by whom.
    Itself,
    /// Another program reads it.
    Read,
}
