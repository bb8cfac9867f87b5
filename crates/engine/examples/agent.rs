//! An agent of one's own on top of the engine: it proposes commands, and each goes through the engine before it may run.
//!
//! ```text
//! printf 'ls -la\ngit push\nrm -rf ~\n' | cargo run -p doorward-engine --example agent
//! ```
//!
//! The commands come from standard input in place of a model, and nothing is run. The machine is described here; an agent
//! that works on a real one implements `World`, or asks `doorward hook generic` or the socket of `doorward serve`, which
//! also keep the record.

use std::io::{BufRead, Error, Write};

use doorward_engine::{DescribedWorld, Description, Judgement, Policy, ToolCall, Verdict, judge, observe};

const PROJECT: &str = "/home/me/project";

fn main() -> Result<(), Error> {
    let (input, mut out) = (std::io::stdin().lock(), std::io::stdout().lock());
    for command in input.lines() {
        let command = command?;
        let judgement = judged(&command);
        // Match every verdict: a new one must not become a yes by accident.
        let does = match judgement.verdict {
            Verdict::AutoApprove => "runs",
            Verdict::Confirm => "is put to the user",
            Verdict::Block => "does not run",
        };
        writeln!(out, "`{command}` {does}")?;
        for opinion in judgement.reasons() {
            writeln!(out, "    {}", opinion.because)?;
        }
    }
    Ok(())
}

/// The engine in three lines: what would the call do, and what is to be thought of that?
fn judged(command: &str) -> Judgement {
    let world = DescribedWorld::new(machine(), PROJECT);
    let facts = observe(&ToolCall::bash(command, PROJECT), &world);
    judge(&facts, &Policy::built_in())
}

/// A machine with a clean, trusted project.
fn machine() -> Description {
    Description { home: Some("/home/me".to_owned()), project: Some(PROJECT.to_owned()), ..Description::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_gets_its_verdict() {
        for (command, verdict) in
            [("ls -la", Verdict::AutoApprove), ("git push", Verdict::Confirm), ("rm -rf ~", Verdict::Block)]
        {
            assert_eq!(judged(command).verdict, verdict, "{command}");
        }
    }
}
