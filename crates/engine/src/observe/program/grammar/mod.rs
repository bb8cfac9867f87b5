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
mod echo;
mod find;
mod find_certain;
mod find_hits;
mod find_listed;
mod find_stats;
mod find_words;
mod fzf;
mod gh_api;
mod git;
mod git_config;
mod git_contents;
mod git_extra;
mod git_helpers;
mod git_hooks;
mod git_index;
mod git_output;
mod git_paths;
mod git_pathspec;
mod git_plain;
mod git_remote;
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
mod make;
mod package_script;
mod prepare;
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
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;

impl Runner<'_, '_> {
    /// Lets the grammar of the program, if it has one, read what the tables cannot.
    pub fn grammar(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let mut entries = invocation.args.chain.iter().rev();
        let own = entries.next().and_then(|entry| entry.grammar);
        // A subcommand has the language of its program only where that language is about subcommands.
        let inherited = entries.find_map(|entry| entry.grammar).filter(|grammar| {
            matches!(grammar, Grammar::Git | Grammar::GitExtra | Grammar::Kubectl | Grammar::CloudCli | Grammar::Tmux)
        });
        let Some(grammar) = own.or(inherited) else { return };
        match grammar {
            Grammar::Echo => self.echo(invocation, state),
            Grammar::Shell => self.shell_program(invocation, state),
            Grammar::Xargs => self.xargs(invocation, state),
            Grammar::Test => self.test(invocation, state),
            Grammar::Find => self.find(invocation, state),
            Grammar::Sed => self.sed(invocation, state),
            Grammar::Git => self.git(invocation, state),
            Grammar::Interpreter => self.interpreter(invocation, state),
            Grammar::Awk => self.awk(invocation, state),
            Grammar::Make => self.make(invocation),
            Grammar::PackageScript => self.package_script(invocation, state),
            Grammar::Curl => self.curl(invocation, state),
            Grammar::Chmod => self.chmod(invocation, state),
            Grammar::Kill => self.kill(invocation, state),
            Grammar::Dd => self.dd(invocation, state),
            Grammar::Tar => self.tar(invocation, state),
            Grammar::Jq => self.jq(invocation),
            Grammar::Ssh => self.ssh(invocation, state),
            Grammar::Sql => self.sql_client(invocation, state),
            Grammar::CloudCli => self.cloud_cli(invocation, state),
            Grammar::Kubectl => self.kubectl(invocation),
            Grammar::GhApi => self.gh_api(invocation, state),
            Grammar::Fzf => self.fzf(invocation),
            Grammar::Tmux => self.tmux(invocation),
            Grammar::GitExtra => self.git_extra(invocation, state),
            // The interpreter of the shell has dealt with these.
            Grammar::Cd | Grammar::Builtin => {}
            // Their words were put in order before they were read.
            Grammar::Ps | Grammar::Env | Grammar::Flock => {}
        }
    }

    /// Writes down an effect on something that is not a file.
    fn on_resource(&mut self, does: &Does, name: impl Into<String>, invocation: &Invocation) {
        let mut effect = Effect::new(does.operation, Target::Resource(name.into()));
        effect.scope = does.scope;
        effect.reversibility = does.reversibility;
        effect.reach = does.reach;
        effect.sensitivity = does.sensitivity;
        effect.marks = does.marks;
        effect.by.clone_from(&invocation.by.name);
        effect.part = invocation.by.part;
        self.out.effect(effect);
    }
}
