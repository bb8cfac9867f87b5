//! Small languages that a flag table cannot say: one file each, all adjusting an invocation before its effects are written.

mod echo;
mod shell;
mod sql;

pub use sql::reads_only as sql_reads_only;

use super::Invocation;
use crate::knowledge::schema::Grammar;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;

impl Runner<'_, '_> {
    /// Lets the grammar of the program, if it has one, read what the tables cannot.
    pub fn grammar(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let Some(grammar) = invocation.args.chain.iter().rev().find_map(|entry| entry.grammar) else { return };
        match grammar {
            Grammar::Echo => self.echo(invocation),
            Grammar::Shell => self.shell_program(invocation, state),
            Grammar::Xargs => self.xargs(invocation, state),
            Grammar::Test => self.test(invocation),
            Grammar::Find
            | Grammar::Sed
            | Grammar::Awk
            | Grammar::Dd
            | Grammar::Tar
            | Grammar::Ssh
            | Grammar::Git
            | Grammar::Curl
            | Grammar::Cd
            | Grammar::Interpreter
            | Grammar::Chmod
            | Grammar::Kill
            | Grammar::Make
            | Grammar::PackageScript
            | Grammar::Sql
            | Grammar::CloudCli
            | Grammar::Kubectl
            | Grammar::Builtin => self.not_yet(grammar, invocation),
        }
    }

    /// A grammar that is not there: nothing can be said about the words.
    fn not_yet(&mut self, grammar: Grammar, invocation: &Invocation) {
        self.out.lower(crate::coverage::Degree::Opaque, format!("the language of `{}` ({grammar})", invocation.by.name));
    }
}
