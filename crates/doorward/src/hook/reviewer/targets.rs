//! What a model says an unknown program would touch is checked by the rules again: it can only tighten.

use doorward_engine::{Policy, Tool, ToolCall, Verdict, World};

use super::reply::{NamedTarget, TouchKind};
use crate::memory::evaluation;

/// The first target that the rules alone would not approve, and why.
pub(super) fn objection(named: &[NamedTarget], call: &ToolCall, world: &dyn World, policy: &Policy) -> Option<String> {
    named.iter().find_map(|named| {
        let judgement = evaluation::evaluate(&as_call(named, call), world, policy).judgement;
        let reason = judgement.reasons_to_read().next().map(|opinion| opinion.because.clone()).unwrap_or_default();
        (judgement.verdict > Verdict::AutoApprove)
            .then(|| format!("it says the program would touch `{}`: {reason}", named.target))
    })
}

/// The plain call that does to the target what the model says.
fn as_call(named: &NamedTarget, call: &ToolCall) -> ToolCall {
    let target = named.target.clone();
    let tool = match named.operation {
        TouchKind::Read => Tool::Read { path: target },
        TouchKind::Write => Tool::Write { path: target, content: String::new() },
        TouchKind::Network => Tool::Fetch { url: target, method: None },
        TouchKind::Delete => {
            Tool::Bash { command: format!("rm -rf -- {}", quoted(&target)), background: false, unsandboxed: false }
        }
    };
    ToolCall { tool, user_message: None, ..call.clone() }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorward_engine::{DescribedWorld, Description};

    #[test]
    fn a_target_that_the_rules_would_not_approve_withdraws_the_answer() {
        let described: Description = serde_json::from_value(serde_json::json!({
            "home": "/home/jo", "project": "/srv/app", "git": { "root": "/srv/app", "clean": true, "tracked": "all" },
        }))
        .unwrap();
        let world = DescribedWorld::new(described, "/srv/app");
        let call = ToolCall::bash("frob --all", "/srv/app");
        let objects = |operation, target: &str| {
            objection(&[NamedTarget { operation, target: target.into() }], &call, &world, &Policy::built_in())
        };
        for (operation, target) in [
            (TouchKind::Read, "/home/jo/.ssh/id_ed25519"),
            (TouchKind::Write, "/etc/hosts"),
            (TouchKind::Write, "/home/jo/.bashrc"),
            (TouchKind::Delete, "/"),
            (TouchKind::Delete, "x' ; rm -rf ~ ; '"),
            (TouchKind::Network, "http://169.254.169.254/latest"),
            (TouchKind::Network, "not an address"),
        ] {
            assert!(objects(operation, target).is_some(), "{operation:?} {target}");
        }
        assert_eq!(objects(TouchKind::Read, "/srv/app/src/main.rs"), None);
        assert_eq!(objection(&[], &call, &world, &Policy::built_in()), None);
    }
}
