//! A rule is charged with what it keeps from passing, whoever asks along: what is proposed changes exactly what is shown.

use std::collections::BTreeMap;

use doorward_engine::{Policy, ToolCall, example, judge, observe, tool_from_json};
use doorward_ledger::{AnswerBody, Became, By, Log, OutcomeBody, Reply};
use serde_json::{Value, json};

use crate::support::Home;
use crate::support::terminal::is_there;
use crate::tune::accepting::answered;
use crate::tune::simulated::{Scene, decision};
use crate::tune::templates::{Habit, Template};
use crate::tune::{now_ms, pairs, review};

/// So many calls of a kind, and of a hundred of them so many yeses to what is asked, and so many regrets.
struct Kind {
    command: &'static str,
    count: u64,
    yes: u64,
    regrets: u64,
}

const KINDS: &[Kind] = &[
    // Overridden every time: layer 2 weighs the same mark.
    Kind { command: "curl -s https://blog.example.org/post", count: 449, yes: 100, regrets: 0 },
    // `plaintext` never speaks without `unlisted-host`.
    Kind { command: "curl -s http://blog.example.org/post", count: 80, yes: 100, regrets: 0 },
    // `skips-checks` never speaks without `push`, which people need.
    Kind { command: "git push --no-verify origin feature/x", count: 80, yes: 100, regrets: 0 },
    Kind { command: "git push origin feature/x", count: 120, yes: 40, regrets: 0 },
    // The cell of the matrix asks firmly about the same.
    Kind { command: "systemctl restart nginx", count: 80, yes: 100, regrets: 0 },
    // Overridden as often, and regretted.
    Kind { command: "gh pr create --title x --body y", count: 80, yes: 100, regrets: 30 },
    // Approved by `read-plain`, and regretted.
    Kind { command: "cat src/lib.rs", count: 300, yes: 0, regrets: 10 },
    // What nobody knows is no rule's fault.
    Kind { command: "frobnicate x", count: 80, yes: 100, regrets: 0 },
];

fn written(home: &Home) {
    let directory = home.path(".local/state/doorward/log");
    std::fs::create_dir_all(directory.parent().unwrap()).unwrap();
    let mut log = Log::on(crate::hasty::Hasty({
        drop(Log::create(&directory).unwrap());
        doorward_ledger::Disk::open(&directory).unwrap()
    }));
    let policy = Policy::built_in();
    let scene = Scene { user: "1000", agent: "claude", project: "/home/ada/api", session: "s" };
    let start_ms = now_ms() - 10 * 24 * 60 * 60 * 1000;
    for (at, kind) in KINDS.iter().enumerate() {
        let tool = tool_from_json("bash", &json!({ "command": kind.command }));
        let facts = observe(&ToolCall { tool, ..ToolCall::bash("", example::CWD) }, &example::world());
        let judgement = judge(&facts, &policy);
        let is_asked = judgement.verdict != doorward_engine::Verdict::AutoApprove;
        let template = Template { habit: Habit::Asked, facts, judgement };
        for number in 0..kind.count {
            let (id, time_ms) = (format!("{at}-{number}"), start_ms + at as u64 * 3_600_000 + number * 5_000);
            let _receipt = log.append(&decision(&id, &scene, &template), time_ms).unwrap();
            let is_yes = number % 100 < kind.yes;
            if is_asked {
                let reply = if is_yes { Reply::Approved } else { Reply::Declined };
                let answer = AnswerBody { decision: id.clone().into(), reply, by: By::Client, why: None };
                let _receipt = log.append(&answer, time_ms + 1_000).unwrap();
            }
            if number % 100 < kind.regrets {
                let _receipt =
                    log.append(&OutcomeBody::new(id.into(), Became::Flagged, None), time_ms + 2_000).unwrap();
            }
        }
    }
}

fn rules(proposal: &str, table: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(proposal).unwrap();
    let parsed: toml::Value = toml::from_str(&text).unwrap();
    let rows = parsed.get(table).and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let word = |row: &toml::Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.iter().map(|row| (word(row, "id"), word(row, "why"))).collect()
}

fn verdict(home: &Home, command: &str) -> Value {
    home.run(&["check", "--json", command], b"").json()["verdict"].clone()
}

#[test]
fn the_strict_the_lax_and_the_masked_rule_are_proposed_and_the_replay_is_what_was_shown() {
    let home = Home::new();
    written(&home);
    let (found, proposal) = review(&home, "quarterly");
    let strict = |rule| ("too-strict", rule);
    assert_eq!(
        found,
        pairs(&[
            strict("unlisted-host"),
            strict("plaintext"),
            strict("skips-checks"),
            strict("service"),
            ("too-lax", "read-plain")
        ])
    );
    let proposal = proposal.unwrap();
    let retired = rules(&proposal, "rule");
    assert_eq!(retired.keys().collect::<Vec<_>>(), ["plaintext", "read-plain", "unlisted-host"]);
    assert!(retired["unlisted-host"].contains("529 of these questions go away"), "{retired:#?}");
    assert!(retired["read-plain"].contains("layer 2 approves the same calls"), "{retired:#?}");
    let kept = rules(&proposal, "kept");
    assert!(kept["skips-checks"].contains("`push` also asks about 80 of them"), "{kept:#?}");
    assert!(kept["service"].contains("80 are in a cell of the decision matrix with a firm question"), "{kept:#?}");
    assert_eq!(kept.len(), 2, "{kept:#?}");
    let shown = home.run(&["tune", "quarterly"], b"").stdout;
    assert!(shown.contains("people overrode 100.0 % (99.3–100.0) of 529"), "{shown}");
    assert!(shown.contains("529 would get laxer and 0 stricter"), "{shown}");
    let effect = home.run(&["tune", "show", &proposal, "--json"], b"").json();
    assert_eq!((&effect["laxer"], &effect["stricter"]), (&json!(529), &json!(0)), "{effect:#}");

    if !is_there("nobody has accepted a proposal") {
        return;
    }
    let name = std::path::Path::new(&proposal).file_stem().unwrap().to_str().unwrap().to_owned();
    let (calm, asked) = ("curl -s http://blog.example.org/post", "git push origin feature/x");
    assert_eq!((verdict(&home, calm), verdict(&home, asked)), (json!("confirm"), json!("confirm")));
    let question = "Apply this? [y/N]";
    assert!(answered(&home, &format!("doorward tune accept {name}"), question, "y").contains("ended with 0"));
    assert_eq!((verdict(&home, calm), verdict(&home, asked)), (json!("approve"), json!("confirm")));
    assert!(answered(&home, &format!("doorward tune revert {name}"), question, "y").contains("ended with 0"));
    assert_eq!((verdict(&home, calm), verdict(&home, asked)), (json!("confirm"), json!("confirm")));
}
