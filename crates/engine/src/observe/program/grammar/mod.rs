//! Small languages that a flag table cannot say: one file each, all adjusting an invocation before its effects are written.

mod awk;
mod awk_program;
#[cfg(test)]
pub mod check;
mod chmod;
mod cloud_cli;
mod cloud_words;
mod curl;
mod dd;
pub mod echo;
mod find;
mod find_certain;
mod find_hits;
pub mod find_listed;
mod find_stats;
mod find_words;
mod fzf;
mod gh_api;
mod git;
mod git_config;
mod git_contents;
pub mod git_extra;
mod git_helpers;
mod git_hooks;
mod git_index;
mod git_output;
mod git_paths;
mod git_pathspec;
mod git_plain;
pub mod git_remote;
mod git_removals;
mod git_rewrites;
mod git_sources;
#[cfg(test)]
mod git_tests;
mod git_writes;
mod interpreter;
mod jq;
mod kill;
mod kubectl;
mod make;
mod package_script;
pub mod prepare;
mod sed;
mod sed_script;
mod shell;
mod sql;
mod sql_text;
mod sql_words;
mod ssh;
mod tar;
mod tmux;
mod wrapper;

pub use jq::reads_environment;
pub use package_script::deployment;
pub use sql_text::reads_only as sql_reads_only;

use super::Invocation;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::{Does, Grammar};
use crate::observe::observer::Observer;
use crate::observe::program::grammar::awk::awk;
use crate::observe::program::grammar::chmod::chmod;
use crate::observe::program::grammar::cloud_cli::cloud_cli;
use crate::observe::program::grammar::curl::curl;
use crate::observe::program::grammar::dd::dd;
use crate::observe::program::grammar::echo::{echo, test};
use crate::observe::program::grammar::find::find;
use crate::observe::program::grammar::fzf::fzf;
use crate::observe::program::grammar::gh_api::gh_api;
use crate::observe::program::grammar::git::git;
use crate::observe::program::grammar::git_extra::git_extra;
use crate::observe::program::grammar::interpreter::interpreter;
use crate::observe::program::grammar::jq::jq;
use crate::observe::program::grammar::kill::kill;
use crate::observe::program::grammar::kubectl::kubectl;
use crate::observe::program::grammar::make::make;
use crate::observe::program::grammar::package_script::package_script;
use crate::observe::program::grammar::sed::sed;
use crate::observe::program::grammar::shell::{shell_program, xargs};
use crate::observe::program::grammar::sql::sql_client;
use crate::observe::program::grammar::ssh::ssh;
use crate::observe::program::grammar::tar::tar;
use crate::observe::program::grammar::tmux::tmux;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;

/// Lets the grammar of the program, if it has one, read what the tables cannot.
pub fn grammar(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let mut entries = invocation.args.chain.iter().rev();
    let own = entries.next().and_then(|entry| entry.grammar);
    // A subcommand has the language of its program only where that language is about subcommands.
    let inherited = entries.find_map(|entry| entry.grammar).filter(|grammar| {
        matches!(grammar, Grammar::Git | Grammar::GitExtra | Grammar::Kubectl | Grammar::CloudCli | Grammar::Tmux)
    });
    let Some(grammar) = own.or(inherited) else { return };
    match grammar {
        Grammar::Echo => echo(runner.out.world, invocation, state),
        Grammar::Shell => shell_program(runner, invocation, state),
        Grammar::Xargs => xargs(runner, invocation, state),
        Grammar::Test => test(runner, invocation, state),
        Grammar::Find => find(runner, invocation, state),
        Grammar::Sed => sed(runner, invocation, state),
        Grammar::Git => git(runner, invocation, state),
        Grammar::Interpreter => interpreter(runner, invocation, state),
        Grammar::Awk => awk(runner, invocation, state),
        Grammar::Make => make(runner.out, invocation),
        Grammar::PackageScript => package_script(runner, invocation, state),
        Grammar::Curl => curl(runner, invocation, state),
        Grammar::Chmod => chmod(runner, invocation, state),
        Grammar::Kill => kill(runner, invocation, state),
        Grammar::Dd => dd(runner.out, invocation, state),
        Grammar::Tar => tar(runner, invocation, state),
        Grammar::Jq => jq(runner.out, invocation),
        Grammar::Ssh => ssh(runner, invocation, state),
        Grammar::Sql => sql_client(runner.out, invocation, state),
        Grammar::CloudCli => cloud_cli(runner, invocation, state),
        Grammar::Kubectl => kubectl(runner.out, invocation),
        Grammar::GhApi => gh_api(runner, invocation, state),
        Grammar::Fzf => fzf(invocation),
        Grammar::Tmux => tmux(runner.out, invocation),
        Grammar::GitExtra => git_extra(runner, invocation, state),
        // The interpreter of the shell has dealt with these.
        Grammar::Cd | Grammar::Builtin => {}
        // Their words were put in order before they were read.
        Grammar::Ps | Grammar::Env | Grammar::Flock => {}
    }
}

/// Writes down an effect on something that is not a file.
fn on_resource(out: &mut Observer<'_>, does: &Does, name: impl Into<String>, invocation: &Invocation) {
    let mut effect = Effect::new(does.operation, Target::Resource(name.into()));
    effect.scope = does.scope;
    effect.reversibility = does.reversibility;
    effect.reach = does.reach;
    effect.sensitivity = does.sensitivity;
    effect.marks = does.marks;
    effect.by.clone_from(&invocation.by.name);
    effect.part = invocation.by.part;
    out.effect(effect);
}
