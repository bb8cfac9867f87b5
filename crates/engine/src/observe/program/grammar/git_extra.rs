//! Programs that extend git: `git summary` runs `git-summary`, which calls git in its turn.

use doorward_vocabulary::Degree;

use super::super::Invocation;
use super::git::git_repository;
use crate::knowledge::schema::Entry;
use crate::observe::field::Field;
use crate::observe::program::findings::Findings;
use crate::observe::program::git_subcommand::Subcommand;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::world::World;

/// The program behind a subcommand that is neither git's own nor an alias, if that program has a file.
///
/// Flags of git itself before the name stay unknown: they would change what the program sees.
pub(crate) fn git_extra_named(out: &Observer<'_>, entry: &Entry, words: &[Field], state: &State<'_>) -> Option<String> {
    if entry.key != "git" {
        return None;
    }
    let name = words.first().and_then(Field::exact)?;
    if name.starts_with('-') || name.contains([' ', '/']) || entry.subs.has(name) {
        return None;
    }
    let program = format!("git-{name}");
    out.knowledge.entry(&program)?;
    let config = out.world.git(state.cwd.as_deref()?)?.config.ok()?;
    let alias = format!("alias.{}", name.to_ascii_lowercase());
    let is_alias = |key: &String| key.strip_prefix(&alias).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    (!config.keys().any(is_alias)).then_some(program)
}

/// What the repository makes git run counts for the programs that call it; words behind `--` go to git unread.
pub(super) fn git_extra(world: &dyn World, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let diff = Subcommand::named("diff", world, invocation);
    let mut found = git_repository(world, &diff, invocation, state);
    if invocation.args.operands.iter().any(|word| word.text.starts_with('-') || word.may_be_flag()) {
        let name = &invocation.by.name;
        found.doubt(Degree::Unknown, format!("what `{name}` passes to git"));
    }
    invocation.passes_input = false;
    found
}

#[cfg(test)]
mod tests {
    use super::super::check::check_in;

    const GIT: &str = "name = 'git'\nwhat = 'x'\ngrammar = 'git'\n[flags]\n'-c' = 'data'\n[sub.status]\n[sub.log]\n";
    const EXTRA: &str = r#"
name = "git-effort"
aliases = ["git-status"]
what = "tells about files"
grammar = "git-extra"
operands = ["data*"]
[flags]
"--above" = "data"
"#;

    const LISTS: &str = "name = 'git-lists'\nwhat = 'x'\ngrammar = 'git-extra'\n";
    const KEPT: &str = "name = 'git-kept'\nwhat = 'x'\ngrammar = 'git-extra'\n[sub.show]\n";

    fn world(config: &str) -> String {
        format!(r#"{{"git": {{"config": {config}}}}}"#)
    }

    #[test]
    fn a_program_that_extends_git_is_judged_as_that_program() {
        let unknown = "execute git +unknown-program";
        check_in(
            &world("{}"),
            &[GIT, EXTRA, LISTS, KEPT],
            &[
                ("git effort --above 5 src", "full", ""),
                ("git-effort src", "full", ""),
                ("git effort -- --output=x", "unknown", ""),
                ("git effort --frob", "unknown", "execute git-effort +unknown-program"),
                ("git frobnicate", "unknown", unknown),
                ("git lists more", "unknown", ""),
                ("git lists", "full", ""),
                ("git kept show", "full", ""),
                ("git kept drop", "unknown", "execute git-kept +unknown-program"),
                ("git status", "full", ""),
            ],
        );
    }

    #[test]
    fn an_alias_or_a_setting_that_runs_programs_comes_first() {
        for (config, command, coverage, effects) in [
            (r#"{"alias.effort": "!rm -r build"}"#, "git effort", "full", "delete build"),
            (r#"{"alias.effort": "!'x'"}"#, "git effort", "unknown", "execute x +unknown-program"),
            (r#"{"diff.external": "./x.sh"}"#, "git effort", "opaque", "execute something unknown +unsafe-git-config"),
        ] {
            check_in(&world(config), &[GIT, EXTRA], &[(command, coverage, effects)]);
        }
    }
}
