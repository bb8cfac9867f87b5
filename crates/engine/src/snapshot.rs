//! What a call would be if everything that it loses were copied first.

use doorward_vocabulary::{Mark, Operation, Reversibility, Scope, Sensitivity};

use crate::effect::{Effect, Target};
use crate::facts::Facts;
use crate::knowledge::{self, schema::Facet};
use crate::path;

/// Commands that put files there which nobody can see beforehand, and give up the only other copy.
// Which files a stash will replace is not known beforehand, so there is no list of files to copy first (git-929).
const BRINGS_UNSEEN: &[&str] = &["git stash pop", "git stash apply", "git stash branch"];

/// What a copy made beforehand takes away from an effect.
// With a copy at hand these no longer say that something is lost. All other marks stay, since a copy cures no leak.
const CURED: &[Mark] = &[Mark::Bulk, Mark::DiscardsWork, Mark::Truncates];

/// The path whose content the effect loses for good, so that a copy would help. Of secrets no copy is made.
pub fn lost(effect: &Effect) -> Option<&str> {
    let changes_files = match effect.operation {
        Operation::Write | Operation::Delete => true,
        Operation::Read | Operation::Execute | Operation::Network | Operation::Mutate => false,
    };
    let loses = changes_files && effect.reversibility == Reversibility::Irreversible;
    path_of(effect).filter(|_| loses && may_be_copied(effect))
}

/// The path that a program changes in place: git calls it restorable, but only as it was committed.
pub fn edited(effect: &Effect) -> Option<&str> {
    let edits = effect.operation == Operation::Write
        && effect.reversibility == Reversibility::Tracked
        && may_be_copied(effect)
        && effect.marks.has(Mark::Unseen)
        && !effect.marks.has(Mark::Creates);
    path_of(effect).filter(|_| edits)
}

/// The facts as they are once every path that the call loses is copied; `None` if no copy would help.
pub fn covered(facts: &Facts) -> Option<Facts> {
    let unseen = facts.effects.iter().any(|effect| BRINGS_UNSEEN.contains(&effect.by.as_str()));
    let project = facts.project.as_deref();
    let helps = |effect: &Effect| {
        // Git's own commands say nothing about whose work tree it is.
        let inside = |lost: &str| project.is_some_and(|project| path::under(lost, project));
        lost(effect).is_some_and(|lost| !effect.marks.has(Mark::DiscardsWork) || inside(lost))
    };
    if unseen || !facts.effects.iter().any(helps) {
        return None;
    }
    let mut covered = facts.clone();
    for effect in covered.effects.iter_mut().filter(|effect| helps(effect)) {
        effect.reversibility = Reversibility::Snapshotted;
        // Git throws away changes to files of the project, never the project itself.
        if effect.marks.has(Mark::DiscardsWork) && effect.scope == Scope::Project {
            effect.scope = Scope::Directory;
        }
        CURED.iter().for_each(|mark| effect.marks.remove(*mark));
    }
    Some(covered)
}

fn may_be_copied(effect: &Effect) -> bool {
    // Copying first would defeat the purpose, and the user may have a reason for it (program-flags-048).
    let erases = knowledge::built_in().facets(&effect.by).has(Facet::Erases);
    effect.scope != Scope::Scratch && effect.sensitivity == Sensitivity::None && !erases
}

fn path_of(effect: &Effect) -> Option<&str> {
    match &effect.target {
        Target::Path(path) => Some(path),
        Target::Host(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DescribedWorld, Description, Policy, ToolCall, Verdict, judge, observe};

    fn verdicts(command: &str) -> (Verdict, Option<Verdict>) {
        let description: Description = serde_json::from_str(
            r#"{"home": "/home/dev", "project": "/home/dev/project", "git": {"root": "/home/dev/project",
                "tracked": ["src/lib.rs"]}, "files": {"src/lib.rs": {"tracked": true}, "notes/a.txt": {"tracked": false},
                "u.txt": {"tracked": false, "size": 40000000}}}"#,
        )
        .unwrap();
        let facts = observe(
            &ToolCall::bash(command, "/home/dev/project"),
            &DescribedWorld::new(description, "/home/dev/project"),
        );
        let policy = Policy::built_in();
        let again = covered(&facts).map(|covered| judge(&covered, &policy).verdict);
        (judge(&facts, &policy).verdict, again)
    }

    #[test]
    fn a_copy_helps_where_only_the_loss_speaks_against_a_call() {
        use Verdict::{AutoApprove, Block, Confirm};
        for (command, before, after) in [
            ("rm u.txt", Block, Some(AutoApprove)),
            ("rm -rf u.txt", Block, Some(AutoApprove)),
            ("echo x > notes/a.txt", Confirm, Some(AutoApprove)),
            ("rm notes/*.txt", Confirm, Some(AutoApprove)),
            ("git clean -fd", Confirm, Some(AutoApprove)),
            ("git reset --hard", Confirm, Some(AutoApprove)),
            ("git checkout -- notes/a.txt", Confirm, Some(AutoApprove)),
            ("rm -rf .", Confirm, None),
            ("rm -rf ~/other", Block, Some(Confirm)),
            ("rm u.txt && git push", Block, Some(Confirm)),
            ("rm u.txt; rm $X", Block, Some(Confirm)),
            ("git stash pop && rm -rf notes", Confirm, None),
            ("git stash drop", Confirm, None),
            ("git -C /home/dev/other clean -fd", Confirm, None),
            ("git --work-tree=/home/dev/other reset --hard", Confirm, None),
            ("rm -rf ~", Block, Some(Block)),
            ("rm -rf ~/.ssh", Block, None),
            ("shred u.txt", Block, None),
            ("rm .env", Confirm, None),
            ("git status", AutoApprove, None),
        ] {
            assert_eq!(verdicts(command), (before, after), "{command}");
        }
    }
}
