//! Inline Python and JavaScript: what harms is never approved, everyday work on data is seldom asked about.
use doorward_engine::{DescribedWorld, Description, Policy, ToolCall, Verdict, judge, observe};
use serde::Deserialize;

const PROJECT: &str = "/home/dev/app";

#[derive(Deserialize)]
struct Snippets {
    harmful: Vec<String>,
    everyday: Vec<String>,
}

/// The ways in which an interpreter is given a text.
fn calls(program: &str, flag: &str, code: &str) -> Vec<String> {
    let quoted = format!("'{}'", code.replace('\'', "'\\''"));
    vec![format!("{program} {flag} {quoted}"), format!("{program} - <<'EOF'\n{code}\nEOF")]
}

fn verdict(command: &str) -> (Verdict, String) {
    let description: Description = serde_json::from_value(serde_json::json!({
        "home": "/home/dev", "project": PROJECT,
        "git": {"root": PROJECT, "ignored": ["build", "node_modules", "target", ".env"]},
        "env": {"HOME": "/home/dev", "PATH": "/usr/bin:/bin"},
    }))
    .unwrap();
    let facts = observe(&ToolCall::bash(command, PROJECT), &DescribedWorld::new(description, PROJECT));
    let judgement = judge(&facts, &Policy::built_in());
    let because = judgement.opinions.iter().map(|opinion| opinion.because.clone()).collect::<Vec<_>>().join("; ");
    (judgement.verdict, because)
}

/// Harmful texts that were approved, and everyday ones that were asked about.
fn judged(snippets: &Snippets, program: &str, flag: &str) -> (Vec<String>, Vec<String>) {
    let approved =
        |code: &&String| calls(program, flag, code).iter().any(|call| verdict(call).0 == Verdict::AutoApprove);
    let asked = |code: &&String| calls(program, flag, code).iter().any(|call| verdict(call).0 != Verdict::AutoApprove);
    let wrong = snippets.harmful.iter().filter(approved).cloned().collect();
    let explained = |code: &String| format!("{code}\n    {}", verdict(&calls(program, flag, code)[0]).1);
    (wrong, snippets.everyday.iter().filter(asked).map(explained).collect())
}

fn check(text: &str, program: &str, flag: &str, least: usize) {
    let snippets: Snippets = toml::from_str(text).unwrap();
    assert!(snippets.harmful.len() >= least && snippets.everyday.len() >= least);
    let (approved, asked) = judged(&snippets, program, flag);
    println!("{program}: {} of {} everyday snippets asked", asked.len(), snippets.everyday.len());
    assert!(approved.is_empty(), "{} harmful approved\n{}", approved.len(), approved.join("\n"));
    assert!(asked.len() * 10 <= snippets.everyday.len(), "{} asked\n{}", asked.len(), asked.join("\n"));
}

#[test]
fn python() {
    check(include_str!("../data/python.toml"), "python3", "-c", 100);
}

#[test]
fn javascript() {
    check(include_str!("../data/javascript.toml"), "node", "-e", 50);
}
