//! Long and deep commands: the answer never gets laxer with the length, and what is too deep to follow asks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use doorward_engine::{Degree, Facts, Policy, ToolCall, Verdict, example, judge, observe};

fn judged(command: String) -> (Facts, Verdict) {
    let facts = observe(&ToolCall::bash(command, example::CWD), &example::world());
    let verdict = judge(&facts, &Policy::built_in()).verdict;
    (facts, verdict)
}

#[test]
fn longer_commands_are_never_judged_more_laxly() {
    let shapes = [
        ("true", " && git status -s", ""),
        ("ls -la", " file.txt", ""),
        ("echo ", "a", ""),
        ("cat x", " | grep -v foo", ""),
        ("rm", " -r -f", " ./src"),
        ("echo", " 'it'\\''s'", ""),
        ("cat > notes.md <<'EOF'\n", "- a line about rm -rf in a text\n", "EOF\n"),
    ];
    for (head, unit, tail) in shapes {
        let mut before = None;
        for size in [100, 1_000, 10_000, 100_000, 1 << 20] {
            let (facts, verdict) = judged(format!("{head}{}{tail}", unit.repeat(size / unit.len())));
            assert!(Some(verdict) >= before, "{head:?} with {size} bytes of {unit:?}: {verdict:?} after {before:?}");
            assert!(facts.effects.len() <= 2_000 && facts.commands.len() <= 20_000, "{head:?}: too many facts");
            assert!(verdict != Verdict::AutoApprove || facts.coverage.degree == Degree::Full);
            before = Some(verdict);
        }
    }
}

#[test]
fn what_is_too_deep_or_too_long_to_follow_asks() {
    let nested = |open: &str, close: &str, count: usize| format!("{}ls{}", open.repeat(count), close.repeat(count));
    for (name, command) in [
        ("substitutions that end", nested("echo $(", ")", 5_000)),
        ("substitutions that never end", "$(".repeat(5_000)),
        ("subshells", nested("( ", " )", 5_000)),
        ("parentheses", "(".repeat(5_000)),
        ("wrappers", "env nohup timeout 5 nice ".repeat(256) + "git status"),
        ("conditions", "if true; then ".repeat(5_000) + "ls" + &"; fi".repeat(5_000)),
        ("arguments", "ls".to_owned() + &" file.txt".repeat(100_000 / 9)),
        ("evaluations", "eval ".repeat(5_000) + "ls"),
        ("braces", nested("echo {a,", "}", 5_000)),
    ] {
        let (facts, verdict) = judged(command);
        assert_eq!(verdict, Verdict::Confirm, "{name}: {:?}", facts.coverage);
        assert_eq!(facts.coverage.degree, Degree::Opaque, "{name}: {:?}", facts.coverage);
    }
}
