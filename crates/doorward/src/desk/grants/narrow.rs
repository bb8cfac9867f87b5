//! The narrowest allow rule that would stop the question about a pending call.

use doorward_engine::{Clearance, Pattern};

use crate::memory::grants::pending::Pending;

/// The rule for exactly this call; `None` if no rule may clear it, or if no pattern matches only this call.
pub(crate) fn rule(pending: &Pending) -> Option<String> {
    // Allow rules clear only soft questions. A star in the call would match anything, and a pattern covers a single line.
    let is_plain =
        pending.needs() == Clearance::Soft && !pending.call.contains(['*', '\n']) && !pending.call.is_empty();
    let text = format!("{}({})", pending.tool, pending.call);
    let pattern = Pattern::parse(&text).ok().filter(|_| is_plain)?;
    (pattern.never_matches().is_none() && pattern.too_broad().is_none()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_soft_question_about_one_plain_call_has_a_rule() {
        let of = |needs: Clearance, tool: &str, call: &str| {
            rule(&Pending { needs: Some(needs), tool: tool.into(), call: call.into(), ..Pending::default() })
        };
        assert_eq!(of(Clearance::Soft, "bash", "git push origin x"), Some("bash(git push origin x)".into()));
        for (needs, tool, call) in [
            (Clearance::Firm, "bash", "git push"),
            (Clearance::Dual, "bash", "rm -rf ~"),
            (Clearance::Soft, "bash", "rm *.log"),
            (Clearance::Soft, "bash", "a\nb"),
            (Clearance::Soft, "bash", "git  push"),
            (Clearance::Soft, "unheard-of", "x"),
            (Clearance::Soft, "bash", ""),
        ] {
            assert_eq!(of(needs, tool, call), None, "{needs} {tool} {call}");
        }
    }
}
