//! Scripts that a manifest names: `npm run x`, `yarn x`, `just x`.

use doorward_vocabulary::{Degree, Mark, Operation, Reach, Reversibility, Scope};

use super::super::Invocation;
use crate::knowledge::schema::{Does, Entry, Grammar, Role};
use crate::observe::field::Field;
use crate::observe::program::findings::Findings;
use crate::observe::program::named_tasks::{deployment, destroys_database};
use crate::observe::recipes::is_written_down;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::observe::stream::Shape;
use crate::path;
use crate::world::{Kind, World};

pub(super) fn package_script(out: &Observer<'_>, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let Some(first) = invocation.operand(0).cloned() else { return Findings::default() };
    if invocation.roles.first() == Some(&Role::Command) {
        return package_program(out, &first, invocation, state);
    }
    invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
    let Some(script) = first.exact().map(str::to_owned) else {
        return Findings::doubtful(Degree::Opaque, format!("which script `{}` runs", invocation.by.name));
    };
    if invocation.args.chain.len() == 1 {
        // `yarn build`: the word was taken for a subcommand that does not exist.
        invocation.args.unknown_sub = None;
    }
    if invocation.does.is_empty() {
        let mut does = Does::usual(Operation::Execute);
        does.marks.add(Mark::RunsProject);
        invocation.does.push(does);
    }
    if script == "env" && !is_written_down(out.world, invocation, state) {
        let mut does = Does::usual(Operation::Read);
        does.marks.add(Mark::EnvironmentDump);
        invocation.does.push(does);
    }
    if let Some(mark) = deployment(&script) {
        for does in invocation.does.iter_mut().filter(|does| does.operation == Operation::Execute) {
            does.marks.add(mark);
            does.scope = Scope::External;
            does.reach = Reach::Beyond;
            does.reversibility = Reversibility::Irreversible;
        }
    }
    if destroys_database(&script) {
        let executes = invocation.does.iter_mut().filter(|does| does.operation == Operation::Execute);
        executes.for_each(|does| does.marks.add(Mark::Destroys));
    }
    let mut found = system_program(out, &script, invocation, state);
    let rest = invocation.args.operands.get(1..).unwrap_or_default();
    if rest.iter().any(|field| field.dynamic && field.shape == Shape::Any) {
        found.doubt(Degree::Unknown, format!("what is passed to the script `{script}`"));
    }
    found
}

/// `pnpm curl …`: what is no script is looked for among the programs of the machine.
fn system_program(out: &Observer<'_>, script: &str, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let mut found = Findings::default();
    // `test` and `watch` are programs too, but behind a package manager everyone means the script.
    const SCRIPTS: &[&str] = &["test", "build", "check", "lint", "format", "watch", "start", "dev", "clean", "docs"];
    let looks =
        invocation.args.chain.first().is_some_and(|entry| matches!(&*entry.key, "npm" | "pnpm" | "yarn" | "bun"));
    if !looks || SCRIPTS.contains(&script) || is_written_down(out.world, invocation, state) {
        return found;
    }
    let of_packages = |entry: &Entry| entry.delegates.iter().any(|file| file == "package.json");
    let knowledge = out.knowledge;
    let Some(entry) = knowledge.entry(script) else { return found };
    let subs = entry.subs.all();
    let is_npm = invocation.args.chain.first().is_some_and(|entry| entry.key == "npm");
    // npm runs nothing but scripts, and one with the name of a tool is that tool if a word of the tool follows.
    if is_npm && !invocation.operand(1).and_then(Field::exact).is_some_and(|word| entry.subs.has(word)) {
        return found;
    }
    let mut parts = subs.iter().filter_map(|sub| knowledge.entry(&format!("{} {sub}", entry.key)));
    if of_packages(&entry) || parts.any(|part| of_packages(&part)) {
        let words = invocation.args.operands.get(1..).unwrap_or_default().to_vec();
        found.start_known(entry, script, words);
    } else if !is_npm {
        found.run(invocation.args.operands.clone());
    }
    found
}

/// `npx eslint .`: a tool that is known to work on projects counts as the project's own; anything else is fetched and run.
fn package_program(out: &Observer<'_>, first: &Field, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let mut found = Findings::default();
    invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
    let chosen = invocation.args.has_any(&["-p", "--package", "-c", "--call"]);
    let entry = first.exact().filter(|_| !chosen).and_then(|name| out.knowledge.entry(name));
    let knowledge = out.knowledge;
    let known = entry.filter(|entry| {
        let mut subs = entry.subs.all().into_iter().filter_map(|sub| knowledge.entry(&format!("{} {sub}", entry.key)));
        works_on_packages(entry) || subs.any(|sub| works_on_packages(&sub))
    });
    let known = known.filter(|_| is_installed(out.world, &first.text, invocation));
    match known {
        Some(entry) => {
            invocation.done = true;
            found.flag_values();
            let words = invocation.args.operands.get(1..).unwrap_or_default().to_vec();
            found.become_known(entry, first.text.clone(), words);
        }
        // `pdm run check`: a script that the manifest names.
        None if is_written_down(out.world, invocation, state) => {}
        None => found.doubt(Degree::Unknown, format!("the program `{}` of a package", first.shown())),
    }
    found
}

/// The package lies in the project, as far as the world says; otherwise it would be fetched.
fn is_installed(world: &dyn World, name: &str, invocation: &Invocation) -> bool {
    let (Some(cwd), Some(project)) = (invocation.cwd.as_deref(), world.project()) else { return false };
    let mut directory = Some(cwd);
    while let Some(here) = directory.filter(|here| path::under(here, project)) {
        let program = path::join(here, &format!("node_modules/.bin/{name}"));
        if world.look(&program).kind != Kind::Missing {
            return true;
        }
        directory = here.rsplit_once('/').map(|(above, _)| above);
    }
    false
}

/// A tool that projects declare in their `package.json`: the same name elsewhere is another program.
fn works_on_packages(entry: &Entry) -> bool {
    let of_projects = [Mark::Test, Mark::Build, Mark::Lint, Mark::RunsProject];
    let runs_scripts = entry.grammar == Some(Grammar::Interpreter);
    (runs_scripts || entry.does.iter().any(|does| does.marks.has_any(&of_projects)))
        && entry.delegates.iter().any(|file| file == "package.json")
}

#[cfg(test)]
mod tests {
    use super::super::check::{check, check_in};

    const NPM: &str = "name = 'npm'\nwhat = 'x'\ntasks = 'package'\n[sub.run]\ngrammar = 'package-script'\noperands = ['data*']\ndoes = ['execute +runs-project']\ndelegates = ['package.json']";
    const YARN: &str = "name = 'yarn'\nwhat = 'x'\ntasks = 'package'\ngrammar = 'package-script'\noperands = ['data*']\ndoes = ['execute +runs-project']\ndelegates = ['package.json']\n[sub.install]\nwhat = 'x'";

    #[test]
    fn scripts_of_a_trusted_project_are_delegated() {
        check(
            &[NPM, YARN],
            &[
                ("npm run build", "delegated", "execute npm run +runs-project"),
                ("npm run test -- --watch=false", "delegated", "execute npm run"),
                ("yarn lint", "delegated", "execute yarn"),
                ("npm run deploy:prod", "delegated", "execute npm run +deploy =irreversible"),
                ("npm run release", "delegated", "execute npm run +publish"),
                ("npm run $X", "opaque", "execute npm run"),
                ("npm run build -- $X", "unknown", "execute npm run"),
            ],
        );
    }

    #[test]
    fn programs_of_packages() {
        const NPX: &str = "name = 'npx'\nwhat = 'x'\ngrammar = 'package-script'\nstops = true\noperands = ['command']\ndoes = ['network +registry', 'execute +remote-code']\n[flags]\n'-p' = 'package'";
        const ESLINT: &str =
            "name = 'eslint'\nwhat = 'x'\noperands = ['read*']\ndoes = ['execute +lint']\ndelegates = ['package.json']";
        const MAKE: &str =
            "name = 'make'\nwhat = 'x'\noperands = ['data*']\ndoes = ['execute +build']\ndelegates = ['Makefile']";
        const BIOME: &str = "name = 'biome'\nwhat = 'x'\n[sub.check]\noperands = ['read*']\ndoes = ['execute +lint']\ndelegates = ['package.json']";
        let missing = r#"{"files": {"node_modules/.bin/eslint": {"exists": false}}}"#;
        check_in(missing, &[NPX, ESLINT], &[("npx eslint src", "unknown", "network npx; execute npx +remote-code")]);
        check(
            &[NPX, ESLINT, MAKE, BIOME],
            &[
                ("npx make all", "unknown", "network npx; execute npx +remote-code"),
                ("npx biome check src", "delegated", "read src; execute biome check +lint"),
                ("npx eslint src", "delegated", "read src; execute eslint +lint"),
                (
                    "npx -pevil@1 eslint",
                    "unknown",
                    "network npx; execute npx +remote-code; execute npx +install-chosen",
                ),
                ("npx eslint@1.2 src", "unknown", "network npx; execute npx"),
                ("npx cat x", "unknown", "network npx; execute npx +remote-code"),
            ],
        );
    }

    #[test]
    fn changed_scripts_are_looked_through() {
        let world = r#"{"files": {"package.json": {"changed_since_trust": true, "content": "{\"scripts\": {\"prebuild\": \"rm -r build\", \"build\": \"cat x\"}}"}}}"#;
        check_in(
            world,
            &[NPM],
            &[("npm run build", "delegated", "delete build; read x; execute npm run +runs-project")],
        );
        let world = world.replace("\"changed_since_trust\": true, ", "").replacen('{', "{\"trusted\": false, ", 1);
        check_in(
            &world,
            &[NPM],
            &[("npm run build", "opaque", "delete build; read x; execute npm run +untrusted-project")],
        );
    }
}
