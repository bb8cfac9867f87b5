//! `doorward test FILE.md`: expectations written as tables in Markdown, each row judged and compared.

mod markdown;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use doorward_engine::{DescribedWorld, Description, Policy, ToolCall, Verdict, tool_from_json};
use serde_json::{Value, json};

use crate::machine::visible;
use crate::memory::evaluation::{self, Evaluation};
use markdown::{SpecBlock, SpecRow};

/// The files to check.
#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// Markdown files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// The machine for tables that describe none: a clean, trusted repository.
const WORLD: &str = r#"{"home": "/home/dev", "project": "/home/dev/project", "scratch": ["/tmp/agent-session"],
    "git": {"root": "/home/dev/project", "remotes": {"origin": "https://github.com/acme/project.git"}, "branch": "feature",
            "default_branch": "main", "ignored": ["target", "node_modules", "dist"]},
    "env": {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/dev"}}"#;

/// Judges every row of every file.
pub(crate) fn run(arguments: &TestArguments) -> Result<ExitCode> {
    evaluation::silence_panics();
    let policy = Policy::built_in();
    let mut out = anstream::stdout().lock();
    let (mut rows, mut wrong) = (0usize, 0usize);
    for path in &arguments.files {
        let text = std::fs::read_to_string(path).with_context(|| format!("can't read `{}`", path.display()))?;
        for complaint in complaints(&text, &policy, &mut rows) {
            wrong += 1;
            writeln!(out, "{}:{}: {}", path.display(), complaint.line, visible(&complaint.text))?;
        }
        expect_rows(path, &text)?;
    }
    writeln!(out, "{rows} rows, {wrong} wrong")?;
    Ok(ExitCode::from(u8::from(wrong > 0)))
}

/// A row or block that is wrong.
#[derive(Debug, PartialEq, Eq)]
struct Mismatch {
    line: usize,
    text: String,
}

/// A file without any rows is more likely a typo than intended.
fn expect_rows(path: &Path, text: &str) -> Result<()> {
    let has_rows = markdown::blocks(text).iter().any(|block| matches!(block, SpecBlock::Row(_)));
    anyhow::ensure!(has_rows, "`{}` has no table with the columns `call` and `verdict`", path.display());
    Ok(())
}

fn complaints(text: &str, policy: &Policy, rows: &mut usize) -> Vec<Mismatch> {
    let mut world = described(WORLD);
    let mut found = Vec::new();
    for block in markdown::blocks(text) {
        match block {
            SpecBlock::World { line, json } => {
                world = described(&json);
                if let Err(problem) = &world {
                    found.push(Mismatch { line, text: format!("this is not a valid machine description: {problem}") });
                }
            }
            SpecBlock::Row(row) => {
                *rows += 1;
                let outcome = world
                    .as_ref()
                    .map_err(|_| "the machine description above is invalid".to_owned())
                    .and_then(|world| disagreement(&row, world, policy));
                match outcome {
                    Ok(None) => {}
                    Ok(Some(text)) | Err(text) => found.push(Mismatch { line: row.line, text }),
                }
            }
        }
    }
    found
}

fn described(json: &str) -> Result<Description, String> {
    let value = crate::machine::json::parse(json.as_bytes())?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// How the judgement differs from what the row expects.
fn disagreement(row: &SpecRow, world: &Description, policy: &Policy) -> Result<Option<String>, String> {
    let (least, most) = verdicts(&row.verdict)?;
    let cwd = world.project.clone().unwrap_or_else(|| "/home/dev/project".to_owned());
    let call = ToolCall::new(tool_from_json(&row.tool, &input(row)?), cwd.clone());
    let evaluation = evaluation::evaluate(&call, &DescribedWorld::new(world.clone(), &cwd), policy);
    let judged = &evaluation.judgement;
    let said: Vec<&str> = judged.reasons().map(|opinion| opinion.because.as_str()).collect();
    if judged.verdict < least || judged.verdict > most {
        return Ok(Some(format!("`{}` is {}, not {}: {}", row.argument, judged.verdict, row.verdict, said.join("; "))));
    }
    if mentions(&evaluation, &row.because) {
        return Ok(None);
    }
    let rule = judged.rule.as_deref().unwrap_or("no rule");
    Ok(Some(format!(
        "`{}` is {} as expected, but not because of `{}`: {rule}: {}",
        row.argument,
        judged.verdict,
        row.because,
        said.join("; ")
    )))
}

/// `block`, or `at least confirm`.
fn verdicts(text: &str) -> Result<(Verdict, Verdict), String> {
    let (word, open) = text.strip_prefix("at least ").map_or((text, false), |word| (word, true));
    let verdict = Verdict::parse(word.trim()).ok_or_else(|| format!("`{text}` is not a verdict"))?;
    Ok((verdict, if open { Verdict::Block } else { verdict }))
}

/// A reason is given by its rule, its stage, or some of its words.
fn mentions(evaluation: &Evaluation, because: &str) -> bool {
    let judged = &evaluation.judgement;
    because.is_empty()
        || judged.rule.as_deref() == Some(because)
        || judged.settled_by.as_str() == because
        || judged.reasons().any(|opinion| opinion.because.contains(because) || opinion.rule.as_deref() == Some(because))
}

/// The argument as JSON, or as the tool's main field.
fn input(row: &SpecRow) -> Result<Value, String> {
    if row.argument.starts_with('{') && row.tool != "bash" {
        return crate::machine::json::parse(row.argument.as_bytes());
    }
    let field = match row.tool.as_str() {
        "bash" | "powershell" => "command",
        "write" | "edit" | "read" | "search" => "path",
        "fetch" => "url",
        "websearch" => "query",
        "python" => "code",
        "task" => "description",
        _ => "name",
    };
    Ok(json!({ field: row.argument }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_wrong_is_named_by_its_line() {
        let text = "# t\n\n| call | verdict | because |\n|---|---|---|\n| `rm -rf /` | approve | |\n| `frobnicate` | at least confirm | |\n| `x` | perhaps | |\n";
        let mut rows = 0;
        let found = complaints(text, &Policy::built_in(), &mut rows);
        assert_eq!((rows, found.len()), (3, 2), "{found:?}");
        assert!(found[0].line == 5 && found[0].text.starts_with("`rm -rf /` is "));
        assert_eq!(found[1], Mismatch { line: 7, text: "`perhaps` is not a verdict".into() });
    }

    #[test]
    fn a_world_counts_from_where_it_stands() {
        let text = "```json world\n{\"projekt\": 1}\n```\n\n| call | verdict |\n|--|--|\n| `ls` | approve |\n";
        let found = complaints(text, &Policy::built_in(), &mut 0);
        assert_eq!(found.iter().map(|complaint| complaint.line).collect::<Vec<_>>(), [1, 7]);
    }
}
