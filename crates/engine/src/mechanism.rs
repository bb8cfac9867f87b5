//! Which understanding keeps a call silent: its facts as they would be without it, judged again.

use doorward_vocabulary::{Degree, Mark, Operation, Reversibility, Scope, Verdict, words};

use crate::effect::{Effect, Target};
use crate::facts::{Facts, Intent};
use crate::intent;
use crate::judge::judge;
use crate::policy::Policy;

words! {
    /// Something doorward understands that spares questions.
    Mechanism {
        Orders = "orders" : "you ordered it yourself",
        Recipes = "recipes" : "runs code of a trusted project",
        Builds = "builds" : "runs what it built from the project",
        Scratch = "scratch" : "works in temporary places of its own",
        Edits = "edits" : "edits tracked files in place",
        Deletions = "deletions" : "deletes what git brings back",
    }
}

/// The mechanisms without which an approved call would be asked about.
pub fn spared(facts: &Facts, policy: &Policy) -> Vec<Mechanism> {
    if judge(facts, policy).verdict != Verdict::AutoApprove {
        return Vec::new();
    }
    let needs = |mechanism: &Mechanism| {
        without(facts, *mechanism).is_some_and(|facts| judge(&facts, policy).verdict != Verdict::AutoApprove)
    };
    Mechanism::ALL.iter().copied().filter(needs).collect()
}

/// A message of the user orders something, so that calls after it are judged differently.
pub fn orders_something(message: &str) -> bool {
    !intent::orders_in(message).is_empty()
}

/// The facts without the mechanism; `None` if it has no part in them.
fn without(facts: &Facts, mechanism: Mechanism) -> Option<Facts> {
    let mut changed = facts.clone();
    match mechanism {
        Mechanism::Orders => changed.intent = Intent { boundary: facts.intent.boundary.clone(), ..Intent::default() },
        Mechanism::Recipes => {
            if facts.coverage.degree == Degree::Delegated && !runs_built(facts) {
                changed.coverage.lower(Degree::Opaque, "what the recipe runs");
            }
        }
        Mechanism::Builds => {
            if runs_built(facts) {
                changed.coverage.lower(Degree::Opaque, "what the program does");
            }
        }
        Mechanism::Scratch => change(&mut changed, |effect| {
            let is_change = matches!(effect.operation, Operation::Write | Operation::Delete);
            if is_change && effect.scope == Scope::Scratch {
                effect.scope = Scope::OtherRepo;
                effect.reversibility = Reversibility::Irreversible;
                effect.marks.add(Mark::OutsideProject);
            }
        }),
        Mechanism::Edits => change(&mut changed, |effect| {
            let is_edit = effect.operation == Operation::Write && effect.reversibility == Reversibility::Tracked;
            if is_edit && !effect.by.is_empty() && !effect.marks.has(Mark::Creates) {
                effect.marks.add(Mark::Unseen);
            }
        }),
        Mechanism::Deletions => change(&mut changed, |effect| {
            if effect.operation == Operation::Delete && effect.reversibility == Reversibility::Tracked {
                effect.reversibility = Reversibility::Irreversible;
            }
        }),
    }
    (changed != *facts).then_some(changed)
}

fn change(facts: &mut Facts, change: impl Fn(&mut Effect)) {
    facts.effects.iter_mut().for_each(change);
}

/// A program is run that the same call, or an earlier one of the session, built.
fn runs_built(facts: &Facts) -> bool {
    let files = || facts.built.iter().flat_map(|built| &built.files);
    facts.effects.iter().any(|effect| match &effect.target {
        Target::Program(program) => effect.operation == Operation::Execute && files().any(|file| file == program),
        Target::Path(_) | Target::Host(_) | Target::Resource(_) | Target::Unknown => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DescribedWorld, Description, ToolCall, observe};

    fn spares(command: &str, said: Option<&str>) -> Vec<&'static str> {
        let description: Description = serde_json::from_str(
            r#"{"home": "/home/dev", "project": "/home/dev/p", "temp": ["/tmp"], "files": {"/tmp/x": {"exists": false}, "src/b.rs": {"tracked": true, "content": "x"}},
                "git": {"root": "/home/dev/p", "branch": "topic", "default_branch": "main",
                "remotes": {"origin": "https://github.com/acme/p.git"}}}"#,
        )
        .unwrap();
        let mut call = ToolCall::bash(command, "/home/dev/p");
        call.user_message = said.map(str::to_owned);
        let facts = observe(&call, &DescribedWorld::new(description, "/home/dev/p"));
        spared(&facts, &Policy::built_in()).iter().map(|mechanism| mechanism.as_str()).collect()
    }

    #[test]
    fn each_mechanism_is_counted_where_it_spares_a_question() {
        for (command, said, spared) in [
            ("git status", None, &[][..]),
            ("make test", None, &["recipes"]),
            ("git push", Some("push this branch"), &["orders"]),
            ("git push", None, &[]),
            ("gcc -o /tmp/x src/a.c && /tmp/x", None, &["builds", "scratch"]),
            ("sed -i s/a/b/ src/a.rs", None, &["edits"]),
            ("rm src/b.rs", None, &["deletions"]),
            ("echo x > /tmp/x", None, &["scratch"]),
            ("rm -rf ~", None, &[]),
        ] {
            assert_eq!(spares(command, said), spared, "{command}");
        }
    }
}
