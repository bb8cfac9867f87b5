//! Small languages that a flag table cannot say: one file each, all adjusting an invocation before its effects are written.

mod awk;
mod awk_program;
#[cfg(test)]
pub(crate) mod check;
mod chmod;
mod cloud_cli;
mod cloud_words;
mod curl;
mod dd;
pub(crate) mod echo;
mod find;
mod find_certain;
mod fzf;
mod gh_api;
mod git;
mod git_config;
pub(crate) mod git_contents;
pub(crate) mod git_extra;
mod git_helpers;
mod git_hooks;
mod git_index;
mod git_output;
mod git_paths;
mod git_pathspec;
mod git_plain;
pub(crate) mod git_remote;
mod git_removals;
mod git_rewrites;
mod git_shown;
mod git_sources;
#[cfg(test)]
mod git_tests;
mod git_writes;
mod interpreter;
mod jq;
mod kill;
mod kubectl;
pub(crate) mod literal_edit;
mod make;
mod package_script;
mod parallel;
mod perl_edit;
pub(crate) mod powershell;
pub(crate) mod prepare;
mod sed;
mod sed_script;
mod shebang;
mod shell;
mod sql;
mod sql_text;
mod sql_words;
mod ssh;
mod tar;
mod tmux;
mod wrapper;

pub(crate) use git::is_by_git;
pub(crate) use interpreter::PYTHON;
pub(crate) use jq::reads_environment;
pub(crate) use shebang::says_itself;
pub(crate) use sql_text::reads_only as sql_reads_only;

use super::Invocation;
use crate::knowledge::schema::Grammar;
use crate::observe::program::findings::Findings;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use awk::awk;
use chmod::chmod;
use cloud_cli::cloud_cli;
use curl::curl;
use dd::dd;
use echo::{echo, test};
use find::find;
use fzf::fzf;
use gh_api::gh_api;
use git::git;
use git_extra::git_extra;
use interpreter::interpreter;
use jq::jq;
use kill::kill;
use kubectl::kubectl;
use make::make;
use package_script::package_script;
use sed::sed;
use shell::{shell_program, xargs};
use sql::sql_client;
use ssh::ssh;
use tar::tar;
use tmux::tmux;

/// What the grammar of the program, if it has one, reads that the tables cannot.
pub(crate) fn grammar(out: &Observer<'_>, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let mut entries = invocation.args.chain.iter().rev();
    let own = entries.next().and_then(|entry| entry.grammar);
    // A subcommand has the language of its program only where that language is about subcommands.
    let inherited = entries.find_map(|entry| entry.grammar).filter(|grammar| {
        matches!(grammar, Grammar::Git | Grammar::GitExtra | Grammar::Kubectl | Grammar::CloudCli | Grammar::Tmux)
    });
    let Some(grammar) = own.or(inherited) else { return Findings::default() };
    let world = out.world;
    match grammar {
        Grammar::Sed => sed(invocation),
        Grammar::Awk => awk(world, invocation),
        Grammar::Make => make(invocation),
        Grammar::Curl => curl(invocation),
        Grammar::Chmod => chmod(invocation),
        Grammar::Kill => kill(invocation),
        Grammar::Dd => dd(invocation),
        Grammar::Tar => tar(state.cwd.as_deref(), invocation),
        Grammar::Jq => jq(world, invocation),
        Grammar::Sql => sql_client(invocation),
        Grammar::CloudCli => cloud_cli(invocation),
        Grammar::Kubectl => kubectl(invocation),
        Grammar::GhApi => gh_api(invocation),
        Grammar::Tmux => tmux(invocation),
        Grammar::Ssh => ssh(world, invocation),
        Grammar::Shell => shell_program(invocation),
        Grammar::Xargs => xargs(invocation),
        Grammar::Test => test(invocation),
        Grammar::Find => find(world, invocation),
        Grammar::Git => git(world, invocation, state),
        Grammar::GitExtra => git_extra(world, invocation, state),
        Grammar::Interpreter => interpreter(out, invocation, state),
        Grammar::PackageScript => package_script(out, invocation, state),
        // What these print says everything.
        Grammar::Echo => echo(world, invocation, state),
        Grammar::Fzf => fzf(invocation),
        // The interpreter of the shell has dealt with these.
        Grammar::Cd | Grammar::Builtin => Findings::default(),
        // Their words were put in order before they were read.
        Grammar::Ps | Grammar::Env | Grammar::Flock => Findings::default(),
    }
}
