//! What the names of tasks say, whoever runs them: a task called `deploy` leaves this machine, `db:drop` destroys data.

use doorward_vocabulary::{Mark, Operation, Reach, Reversibility, Scope};

use super::Invocation;
use crate::knowledge::schema::Facet;
use crate::observe::field::Field;

/// A task that leaves this machine, or destroys data, by its name.
pub(super) fn note_named_tasks(invocation: &mut Invocation) {
    let names = names(invocation);
    let mark = names.iter().find_map(|name| deployment(name));
    let destroys = names.iter().any(|name| destroys_data(name, false));
    for does in invocation.does.iter_mut().filter(|does| does.operation == Operation::Execute) {
        if let Some(mark) = mark {
            does.marks.add(mark);
        }
        if destroys {
            does.marks.add(Mark::Destroys);
        }
        if mark.is_some() {
            does.scope = Scope::External;
            does.reach = Reach::Beyond;
            does.reversibility = Reversibility::Irreversible;
        }
    }
}

/// The names of the tasks that the command runs, with their packages as words in front of them.
fn names(invocation: &Invocation) -> Vec<String> {
    let args = &invocation.args;
    let has = |facet| args.chain.iter().any(|entry| entry.facets.has(facet));
    let before = if args.ended { args.ended_at } else { args.operands.len() };
    let operands = || args.operands.iter().take(before).filter_map(Field::exact);
    let mut found: Vec<&str> = Vec::new();
    if has(Facet::RunsTasks) {
        found.extend(operands());
        found.extend(args.unknown_sub.as_deref());
    }
    if has(Facet::RunsTask) {
        found.extend(args.operands.first().and_then(Field::exact));
        // `mise run a ::: b`
        found.extend(operands().skip_while(|word| *word != ":::").filter(|word| *word != ":::"));
    }
    let given = args.given.iter().filter(|given| given.changes.task);
    found.extend(given.filter_map(|given| given.value.as_ref().and_then(Field::exact)));
    let plain = found.into_iter().flat_map(|text| text.split(',')).filter(|text| !text.contains('='));
    plain.map(|text| text.replace(['/', '.', '#'], ":")).collect()
}

/// What the name of a target or script says about the world outside.
pub(crate) fn deployment(name: &str) -> Option<Mark> {
    // `build:prod` and `start:production` make or run something here.
    const LOCAL: &[&str] =
        &["build", "compile", "bundle", "start", "serve", "preview", "lint", "test", "watch", "analyze"];
    let words = || name.split(|letter: char| !letter.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    let is_local = words().any(|word| LOCAL.contains(&word.as_str()));
    words().find_map(|word| match word.as_str() {
        "deploy" | "rollout" | "provision" | "destroy" => Some(Mark::Deploy),
        "publish" | "release" | "push" | "upload" => Some(Mark::Publish),
        "prod" | "production" if !is_local => Some(Mark::Deploy),
        _ => None,
    })
}

/// The name of a task says that it destroys the data of an application.
pub(crate) fn destroys_data(task: &str, camel: bool) -> bool {
    if task.starts_with('-') || task.contains(['/', '.', '=', ' ']) {
        return false;
    }
    let mut spaced = String::new();
    for letter in task.chars() {
        if !letter.is_ascii_alphanumeric() || (camel && letter.is_ascii_uppercase()) {
            spaced.push(' ');
        }
        if letter.is_ascii_alphanumeric() {
            spaced.push(letter.to_ascii_lowercase());
        }
    }
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let lower = task.to_ascii_lowercase();
    has(&["drop", "wipe", "flush", "purge", "truncate", "nuke", "dropdb", "resetdb", "flushdb", "flushall"])
        || lower.contains("dropall")
        || (has(&["fresh", "reset", "refresh", "clean", "replant", "empty"])
            && has(&["db", "database", "databases", "migrate", "migration", "migrations", "schema", "flyway"]))
        || (has(&["db", "migrate", "migration", "schema", "structure", "ecto", "doctrine"])
            && has(&["load", "setup", "rollback", "down", "redo", "revert", "undo", "downgrade"]))
        || (lower.contains("flyway") && lower.contains("clean"))
}

/// The name of a script or target says that it destroys a database.
pub(crate) fn destroys_database(name: &str) -> bool {
    let mut words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    destroys_data(name, false)
        && words.any(|word| matches!(word.to_ascii_lowercase().as_str(), "db" | "database" | "schema" | "migrate"))
}

#[cfg(test)]
mod tests {
    use super::destroys_data;

    #[test]
    fn names_of_tasks() {
        for task in ["db:drop", "migrate:fresh", "doctrine:database:drop", "reset_db", "flush", "db:drop[x]"] {
            assert!(destroys_data(task, false), "{task}");
        }
        for task in ["flyway:clean", "liquibase:dropAll", "flywayClean", ":app:flywayClean"] {
            assert!(destroys_data(task, true), "{task}");
        }
        for task in ["test", "clean", "db:migrate", "cache:clear", "tests/drop.py", "dropdown", "build", "reset"] {
            assert!(!destroys_data(task, true), "{task}");
        }
    }
}
