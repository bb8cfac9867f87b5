//! Time per judgement and its parts, printed as p50 and p99, and how it grows with the length of the command.
//!
//! `CALLS=file.jsonl cargo bench -p doorward-engine` measures the calls of a file in the form of `check --jsonl`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its result and may stop")]

#[path = "../../shell/benches/sample.rs"]
mod sample;

use std::hint::black_box;
use std::time::{Duration, Instant};

use doorward_engine::{DescribedWorld, Description, Policy, Tool, ToolCall, example, judge, observe, tool_from_json};
use doorward_shell::{Dialect, parse};
use sample::SAMPLES;
use serde_json::Value;

/// Each call is measured this often; the fastest counts, because others use the machine too.
const ROUNDS: usize = 9;

fn main() {
    let calls = match std::env::var("CALLS") {
        Ok(path) => std::fs::read_to_string(path).unwrap().lines().filter_map(call).collect::<Vec<_>>(),
        Err(_) => SAMPLES.iter().map(|text| (ToolCall::bash(*text, example::CWD), example::world())).collect(),
    };
    let policy = Policy::built_in();
    let (mut parses, mut observations, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for (call, world) in &calls {
        if let Tool::Bash { command, .. } = &call.tool {
            parses.push(fastest(|| parse(black_box(command), Dialect::Bash)));
        }
        observations.push(fastest(|| observe(black_box(call), world)));
        whole.push(fastest(|| judge(&observe(black_box(call), world), &policy)));
    }
    print("parse", parses);
    print("observe", observations);
    print("observe and judge", whole);
    if std::env::var_os("CALLS").is_none() {
        shapes(&policy);
    }
}

/// A line of a file of calls.
fn call(line: &str) -> Option<(ToolCall, DescribedWorld)> {
    let row: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    let cwd = text("cwd").unwrap_or_else(|| example::CWD.to_owned());
    let call = ToolCall::new(tool_from_json(&text("tool")?, row.get("input")?), cwd.clone());
    let described = row.get("world").and_then(|world| serde_json::from_value::<Description>(world.clone()).ok());
    let mut description = described.unwrap_or_default();
    description.project = description.project.or_else(|| text("root"));
    description.home = description.home.or_else(|| text("home"));
    Some((call, DescribedWorld::new(description, &cwd)))
}

fn fastest<T>(work: impl Fn() -> T) -> Duration {
    let time = || {
        let started = Instant::now();
        let result = black_box(work());
        let time = started.elapsed();
        drop(result);
        time
    };
    (0..ROUNDS).map(|_| time()).min().unwrap_or_default()
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
    println!("{what}: {} calls, p50 {:?}, p90 {:?}, p99 {:?}", times.len(), at(0.50), at(0.90), at(0.99));
}

/// The same command, longer and longer.
fn shapes(policy: &Policy) {
    let world = example::world();
    let shapes: [(&str, &str, &str); 7] = [
        ("a chain", "true", " && git status -s"),
        ("arguments", "ls -la", " file.txt"),
        ("a long word", "echo ", "a"),
        ("a pipeline", "cat x", " | grep -v foo"),
        ("options", "rm ./build", " -r -f"),
        ("quotes", "echo", " 'it'\\''s'"),
        ("a document", "cat > notes.md <<'EOF'\n", "- a line about rm -rf in a text\n"),
    ];
    for (name, head, unit) in shapes {
        let times = [100, 1_000, 10_000, 100_000, 1 << 20].map(|size| {
            let call = ToolCall::bash(head.to_owned() + &unit.repeat(size / unit.len()), example::CWD);
            fastest(|| judge(&observe(black_box(&call), &world), policy))
        });
        println!("{name}, 100 B to 1 MiB: {times:?}");
    }
}
