//! What the names of tasks say, whoever runs them: a task called `deploy` leaves this machine, `db:drop` destroys data.

use doorward_vocabulary::{Mark, Operation, Reach, Reversibility, Scope};

use super::Invocation;
use crate::knowledge;
use crate::knowledge::schema::Facet;
use crate::observe::field::Field;

/// A task that leaves this machine, or destroys data, by its name.
pub(super) fn note_named_tasks(invocation: &mut Invocation) {
    let names = names(invocation);
    let mark = names.iter().find_map(|name| deployment(name));
    let destroys = names.iter().any(|name| destroys_data(name, true));
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
    // `sbt 'testOnly a'`: the words behind a task are its own.
    let tasks = plain.filter_map(|text| text.split(' ').next());
    tasks.map(|text| text.replace(['/', '.', '#'], ":")).collect()
}

/// What the name of a target or script says about the world outside.
pub(crate) fn deployment(name: &str) -> Option<Mark> {
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
        .find_map(|word| {
            let humps = humps(word);
            match humps.as_slice() {
                [] | [_] => said(&word.to_ascii_lowercase(), is_local(name)),
                _ => said_by(&humps),
            }
        })
        .or_else(|| applies(name))
}

/// `build:prod` and `start:production` make or run something here.
// What scripts of package managers put in front of the name of an environment.
const LOCAL: &[&str] = &["build", "compile", "bundle", "start", "serve", "preview", "lint", "test", "watch", "analyze"];

/// In a name of several words, one of these says that the task stays on this machine.
// As Gradle and its plugins name their tasks: a variant called *release* is built, tested and packed a hundred times.
const STAYS: &[&str] = &[
    "assemble",
    "build",
    "bundle",
    "check",
    "clean",
    "compile",
    "configure",
    "create",
    "dry",
    "explode",
    "export",
    "extract",
    "generate",
    "install",
    "jar",
    "javadoc",
    "link",
    "lint",
    "local",
    "merge",
    "minify",
    "notes",
    "optimize",
    "package",
    "pre",
    "prepare",
    "preview",
    "process",
    "serve",
    "sources",
    "start",
    "strip",
    "test",
    "transform",
    "uninstall",
    "unit",
    "verify",
    "version",
    "watch",
];

/// `assembleRelease` builds and `publishToMavenLocal` stays here; `deployProd` and `buildAndPublish` leave.
fn said_by(humps: &[String]) -> Option<Mark> {
    let has = |known: &[&str]| humps.iter().any(|hump| known.contains(&hump.as_str()));
    let stays = has(STAYS) && !has(&["and", "then"]);
    let leaves = |hump: &String| said(hump, stays).filter(|mark| *mark == Mark::Deploy || !stays);
    humps.iter().find_map(leaves)
}

fn is_local(name: &str) -> bool {
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|word| LOCAL.contains(&word.to_ascii_lowercase().as_str()))
}

/// What one word of a name says.
fn said(word: &str, is_local: bool) -> Option<Mark> {
    match word {
        "deploy" | "undeploy" | "rollout" | "rollback" | "provision" | "deprovision" | "destroy" | "promote"
        | "terminate" => Some(Mark::Deploy),
        "publish" | "unpublish" | "release" | "push" | "upload" | "ship" => Some(Mark::Publish),
        "prod" | "production" if !is_local => Some(Mark::Deploy),
        _ => None,
    }
}

/// `tf-apply`, `kubectl:apply`: a tool that changes running systems, and that it does.
fn applies(name: &str) -> Option<Mark> {
    // What such tools work on, and short names of theirs; the verbs are theirs too.
    const SYSTEMS: &[&str] = &["tf", "k8s", "kube", "infra", "stack", "cluster"];
    const DOES: &[&str] = &["apply", "up", "upgrade", "delete", "sync", "scale", "install", "uninstall"];
    let words: Vec<String> = name.split(|letter: char| !letter.is_ascii_alphanumeric()).flat_map(humps).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let is_tool = |word: &String| knowledge::built_in().facets(word).has(Facet::ChangesSystems);
    (has(DOES) && (has(SYSTEMS) || words.iter().any(is_tool))).then_some(Mark::Deploy)
}

/// `deployProd` as `deploy` and `prod`, in lower case.
fn humps(word: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut was_lower = false;
    for letter in word.chars() {
        if all.is_empty() || (letter.is_ascii_uppercase() && was_lower) {
            all.push(String::new());
        }
        if let Some(last) = all.last_mut() {
            last.push(letter.to_ascii_lowercase());
        }
        was_lower = !letter.is_ascii_uppercase();
    }
    all
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
    let is_all = has(&["delete", "remove", "erase"]) && has(&["all", "everything", "data", "db", "database", "prod"]);
    is_all
        || has(&[
            "drop", "wipe", "flush", "purge", "truncate", "nuke", "dropdb", "resetdb", "flushdb", "flushall",
            "teardown",
        ])
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
    use super::{deployment, destroys_data};

    #[test]
    fn names_that_leave_this_machine() {
        for task in [
            "deploy",
            "deployProd",
            "publish:npm",
            "dockerPush",
            "tf-apply",
            "helm:upgrade",
            "seed-prod",
            "buildAndPublish",
            "buildDeploy",
        ] {
            assert!(deployment(task).is_some(), "{task}");
        }
        for task in [
            "assembleRelease",
            "publishToMavenLocal",
            "testReleaseUnitTest",
            "build:prod",
            "up",
            "apply-format",
            "install",
            "preReleaseBuild",
            "livereload",
            "stack-trace",
        ] {
            assert!(deployment(task).is_none(), "{task}");
        }
    }

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
