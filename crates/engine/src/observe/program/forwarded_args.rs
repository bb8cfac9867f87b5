//! Words that are handed on to code of the project: what they ask it to destroy, and which files they make it load.

use doorward_vocabulary::{Degree, Mark, Operation};

use super::Invocation;
use super::builds::lies_outside;
use super::file_trust::is_changed;
use super::findings::Findings;
use super::named_tasks::destroys_data;
use super::value_shapes::names_guarded;
use crate::knowledge::built_in;
use crate::knowledge::schema::{Facet, Grammar, Role};
use crate::observe::code;
use crate::observe::field::Field;
use crate::observe::shell::state::State;
use crate::world::World;

/// Words that take back what a database holds.
// Next to a word for databases these throw data away: `migrate reset`, `db:rollback`, `schema:fresh`
// (interpreters-038).
const UNDOING: &[&str] = &[
    "reset",
    "fresh",
    "refresh",
    "rollback",
    "revert",
    "undo",
    "downgrade",
    "down",
    "redo",
    "zero",
    "clean",
    "recreate",
    "restore",
    "replace",
];

/// Words that say that it is about a database.
// What task names of the common frameworks say; tools that migrate databases count too. Such a word alone is harmless.
const DATABASES: &[&str] = &[
    "db",
    "database",
    "databases",
    "migrate",
    "migrator",
    "migration",
    "migrations",
    "schema",
    "drizzle",
    "mikro",
    "orm",
    "phinx",
    "ecto",
    "doctrine",
    "postgres",
    "sqlite",
    "redis",
];

/// Words that destroy wherever they stand.
// No second word is needed for these; nobody calls a harmless task so.
const DESTROYING: &[&str] = &["teardown", "destroy", "droptables", "dropschema", "drop_db", "reset_db"];

/// Scripts whose words choose what is tested or built, and never act on data.
// Behind these names the words are test names or paths, and `test reset` tests something called reset.
const CHOOSING: &[&str] =
    &["test", "build", "lint", "check", "format", "typecheck", "spec", "e2e", "unit", "bench", "coverage", "docs"];

/// Flags of the tools behind scripts whose value is loaded as code.
// Written without dashes and case, as tools accept `--setup-files` and `--setupFiles` alike (program-flags-409,
// program-flags-424).
const LOADING: &[&str] = &[
    "config",
    "configfile",
    "setupfiles",
    "setupfilesafterenv",
    "globalsetup",
    "globalteardown",
    "reporter",
    "reporters",
    "require",
    "import",
    "loader",
    "experimentalloader",
    "plugin",
    "plugins",
    "rulesdir",
    "resolver",
    "transform",
    "testrunner",
    "runner",
    "environment",
    "testenvironment",
    "preset",
    "formatter",
    "format",
    "parser",
    "customsyntax",
    "customformatter",
    "initscript",
    "bootstrap",
    "loadplugins",
    "testreporter",
    "execargv",
    "nodeoptions",
    "exec",
    "c",
    "r",
    "p",
    "f",
    "i",
    "u",
    "ui",
    "b",
    "pool",
    "project",
    "projects",
    "roots",
    "diff",
    "snapshotenvironment",
    "coveragereporter",
    "coverageprovider",
    "modulepaths",
    "watchplugins",
];

/// Judges the words behind the name of a task.
pub(super) fn handed_on(world: &dyn World, invocation: &mut Invocation) -> Findings {
    let of_project = [Mark::RunsProject, Mark::Test, Mark::Build, Mark::Lint];
    let runs = |invocation: &Invocation, marks: &[Mark]| {
        invocation.does.iter().any(|does| does.operation == Operation::Execute && does.marks.has_any(marks))
    };
    if !runs(invocation, &of_project) {
        return Findings::default();
    }
    let operands = &invocation.args.operands;
    let task = operands.first().and_then(Field::exact).unwrap_or_default();
    let chooses = task.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| CHOOSING.contains(&word));
    if runs(invocation, &[Mark::RunsProject]) && !chooses {
        let values = invocation.args.given.iter().filter(|given| given.role.is_plain());
        let words = values.filter_map(|given| given.value.as_ref()).chain(operands).map(|word| word.text.as_str());
        if asks_to_destroy("", words) {
            let executes = invocation.does.iter_mut().filter(|does| does.operation == Operation::Execute);
            executes.for_each(|does| does.marks.add(Mark::Destroys));
        }
    }
    let mut found = loaded_by_flags(world, invocation);
    let named = invocation.args.entry().is_some_and(|entry| entry.grammar == Some(Grammar::PackageScript));
    let tests = runs(invocation, &[Mark::Test]);
    let is_handed = |role: &Role| role.is_plain() || (tests && matches!(role, Role::Read | Role::Print));
    let words = invocation.args.operands.iter().zip(&invocation.roles).skip(usize::from(named));
    let handed = words.filter(|(_, role)| is_handed(role)).map(|(word, _)| word);
    found.extend(handed_files(world, handed, invocation));
    found
}

/// Values of flags that are a name that the tool knows, or a file that it loads.
fn loaded_by_flags(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    for given in &invocation.args.given {
        let Some(value) = &given.value else { continue };
        if value.text.trim_start().starts_with(['{', '[']) && value.text.contains('/') {
            let what = format!("the settings that `{}` gives to `{}`", given.name, invocation.by.name);
            found.doubt(Degree::Opaque, what);
        } else if given.role.is_plain() || matches!(given.role, Role::Read | Role::Print) {
            found.extend(loaded(world, &given.name, value, invocation));
        }
    }
    found
}

/// Files that the tool behind a script is told to load.
fn handed_files<'w>(world: &dyn World, words: impl Iterator<Item = &'w Field>, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let mut before = "";
    for word in words {
        let (flag, value) = match word.text.split_once('=').filter(|(flag, _)| flag.starts_with('-')) {
            Some((flag, value)) => (flag, value),
            None => (std::mem::replace(&mut before, &word.text), word.text.as_str()),
        };
        if flag.starts_with('-') && names_guarded(world, invocation.cwd.as_deref(), value) {
            let what = format!("what `{}` does with `{}`, which is loaded by itself", invocation.by.name, word.shown());
            found.doubt(Degree::Unknown, what);
        }
        found.extend(loaded(world, flag, &word.with_text(value), invocation));
    }
    found
}

/// A file of others that is loaded, or one that was written before, is judged as the code it is.
fn loaded(world: &dyn World, flag: &str, value: &Field, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let text = value.text.as_str();
    let is_file = (text.contains('/') || text.contains('.')) && !text.contains("://");
    if text.starts_with('-') || !is_file || text.contains(char::is_whitespace) {
        return found;
    }
    let loads = flag.starts_with('-') && LOADING.contains(&plain(flag).as_str());
    let is_foreign = (loads || code::of_file(text).is_some()) && lies_outside(world, value, invocation);
    if is_foreign {
        found.run_script(value.clone(), Role::Script);
    } else if loads {
        let value = value.clone();
        // What was loaded before it may have written it.
        found.then(move |out, invocation, state| {
            let mut found = Findings::default();
            if is_of_session(out.world, &value, invocation, state) {
                found.run_script(value, Role::Script);
            }
            found
        });
    }
    found
}

/// The file was written or changed since the project was trusted.
fn is_of_session(world: &dyn World, field: &Field, invocation: &Invocation, state: &State<'_>) -> bool {
    let (Some(text), Some(cwd)) = (field.exact(), invocation.cwd.as_deref()) else { return true };
    let path = crate::path::lexical(&crate::path::join(cwd, text));
    is_changed(world, &path, state)
}

/// The words together ask a script of this name to destroy the data of an application.
pub(super) fn asks_to_destroy<'w>(script: &str, words: impl Iterator<Item = &'w str>) -> bool {
    // A file that is named is what the script works on, not what it does.
    let words: Vec<&str> = words.filter(|word| !word.contains('/')).collect();
    let split = |word: &str| -> Vec<String> {
        word.split(|letter: char| !letter.is_ascii_alphanumeric()).map(str::to_ascii_lowercase).collect()
    };
    let pieces: Vec<String> = words.iter().flat_map(|word| split(word)).collect();
    let has = |known: &[&str]| pieces.iter().any(|piece| known.contains(&piece.as_str()));
    let is_database =
        |piece: &String| DATABASES.contains(&piece.as_str()) || built_in().facets(piece).has(Facet::MigratesDatabases);
    let is_about_data = pieces.iter().any(is_database) || split(script).iter().any(is_database);
    let loses = has(&["loss"]) && has(&["data"]);
    let forced = has(&["push"]) && has(&["force"]);
    // To an earlier version the way leads back.
    let goes_back = words.iter().any(|word| word.starts_with("VERSION="));
    words.iter().any(|word| destroys_data(word.trim_start_matches('-'), true))
        || has(DESTROYING)
        || (is_about_data && (has(UNDOING) || loses || forced || goes_back))
        || (has(&["load", "setup"]) && has(&["schema", "structure"]))
}

/// The letters of a flag.
fn plain(flag: &str) -> String {
    flag.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::asks_to_destroy;

    #[test]
    fn scripts_are_told_apart_from_the_files_they_work_on() {
        assert!(asks_to_destroy("db.py", ["reset"].into_iter()));
        assert!(!asks_to_destroy("db_reset_spec.rb", ["spec/db_reset_spec.rb", "--format"].into_iter()));
        assert!(!asks_to_destroy("report.py", ["reset"].into_iter()));
    }

    #[test]
    fn words_that_ask_to_destroy() {
        let asks = |line: &str| asks_to_destroy("", line.split(' '));
        for line in [
            "prisma migrate reset",
            "prisma db push --accept-data-loss",
            "db drop",
            "typeorm schema:drop",
            "knex migrate:rollback",
            "drizzle push --force",
            "db:schema:load",
            "migration fresh",
            "serve --drop-tables",
        ] {
            assert!(asks(line), "{line}");
        }
        for line in
            ["dev --port 3000", "reset", "db:migrate", "serve --force", "generate schema", "dropdown", "push --force"]
        {
            assert!(!asks(line), "{line}");
        }
    }
}
