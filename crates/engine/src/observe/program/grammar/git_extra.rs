//! Programs that extend git: `git summary` runs `git-summary`, which calls git in its turn.

use super::super::Invocation;
use crate::coverage::Degree;
use crate::knowledge::schema::Entry;
use crate::observe::shell::field::Field;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;

impl Runner<'_, '_> {
    /// The program behind a subcommand that is neither git's own nor an alias, if that program has a file.
    ///
    /// Flags of git itself before the name stay unknown: they would change what the program sees.
    pub fn git_extra_named(&self, entry: &Entry, words: &[Field], state: &State<'_>) -> Option<String> {
        if entry.key != "git" {
            return None;
        }
        let name = words.first().and_then(Field::exact)?;
        if name.starts_with('-') || name.contains([' ', '/']) || entry.subs.iter().any(|sub| sub == name) {
            return None;
        }
        let program = format!("git-{name}");
        self.out.knowledge.entry(&program)?;
        let config = self.out.world.git(state.cwd.as_deref()?)?.config.ok()?;
        let alias = format!("alias.{}", name.to_ascii_lowercase());
        let is_alias = |key: &String| key.strip_prefix(&alias).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        (!config.keys().any(is_alias)).then_some(program)
    }

    /// What the repository makes git run counts for the programs that call it; words behind `--` go to git unread.
    pub fn git_extra(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let git = invocation.cwd.as_deref().and_then(|cwd| self.out.world.git(cwd));
        self.git_repository("diff", git.as_ref(), invocation, state);
        if invocation.args.operands.iter().any(|word| word.text.starts_with('-') || word.may_be_flag()) {
            let name = &invocation.by.name;
            self.out.lower(Degree::Unknown, format!("what `{name}` hands on to git"));
        }
        invocation.passes_input = false;
    }
}
