//! The agent that a hook works for: the process above it, and how that was started.

use std::path::{Path, PathBuf};

use crate::machine::agent::Agent;
use crate::machine::checked_read;

/// How many generations above the hook the agent is.
// The agent, a shell for the hook's line, and what starts the agent.
const GENERATIONS: usize = 8;

/// What runs the hook's line.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "busybox"];

/// What runs an agent that is a script.
const INTERPRETERS: &[&str] = &["node", "nodejs", "bun", "deno", "python", "python3"];

/// Arguments that bring hooks or plugins that stand in no file, or a program that may have its own.
const BRINGING: &[&str] = &[
    "--settings",
    "--plugin-dir",
    "--input-format",
    "--agents",
    "--extension",
    "--extensions",
    "--config",
    "--profile",
];

/// The program that this process works for; `None` if there is none, or if it was started with what stands in no file.
/// `named` is the script that an agent says it is; it counts only for an interpreter whose own words were replaced by a title.
pub(crate) fn agent_above(agent: Agent, named: Option<&str>) -> Option<PathBuf> {
    let above = ancestors().into_iter().find(|above| !above.is_named(SHELLS))?;
    if above.words.iter().any(|word| is_brought(agent, word)) {
        return None;
    }
    let is_titled = above.is_named(INTERPRETERS) && above.words.iter().skip(1).all(|word| word.is_empty());
    let script = || named.filter(|_| is_titled).and_then(|named| Path::new(named).canonicalize().ok());
    above.program().or_else(script)
}

/// The argument brings hooks or plugins that stand in no file.
fn is_brought(agent: Agent, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    match name {
        "-c" => agent == Agent::Codex,
        "-e" => agent == Agent::Pi,
        _ => BRINGING.contains(&name),
    }
}

/// A process above this one.
#[derive(Debug)]
struct Ancestor {
    exe: Option<PathBuf>,
    words: Vec<String>,
    cwd: Option<PathBuf>,
}

impl Ancestor {
    fn is_named(&self, names: &[&str]) -> bool {
        let name = self.exe.as_deref().and_then(Path::file_name).and_then(std::ffi::OsStr::to_str);
        // `python3.11` is `python3`.
        name.is_some_and(|name| names.iter().any(|known| name == *known || name.starts_with(&format!("{known}."))))
    }

    /// Its file, or the script that it interprets.
    fn program(&self) -> Option<PathBuf> {
        if !self.is_named(INTERPRETERS) {
            return self.exe.as_deref()?.canonicalize().ok();
        }
        let cwd = self.cwd.as_deref()?;
        let script = self.words.iter().skip(1).find(|word| !word.starts_with('-'))?;
        cwd.join(script).canonicalize().ok().filter(|script| script.is_file())
    }
}

/// The processes above this one, the nearest first.
fn ancestors() -> Vec<Ancestor> {
    let mut found = Vec::new();
    let mut current = std::process::id();
    for _ in 0..GENERATIONS {
        let stat = checked_read::text_of_pipe(&format!("/proc/{current}/stat"), 4096).unwrap_or_default();
        // The name in parentheses may hold anything, so the fields are counted from its end.
        let above = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        let Some(above) = above.filter(|above: &u32| *above > 1) else { break };
        current = above;
        let words = checked_read::text_of_pipe(&format!("/proc/{current}/cmdline"), 65536).unwrap_or_default();
        let words = words.split('\0').map(str::to_owned).collect();
        let link = |name: &str| std::fs::read_link(format!("/proc/{current}/{name}")).ok();
        found.push(Ancestor { exe: link("exe"), words, cwd: link("cwd") });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_a_process_above() {
        let own = std::fs::read_link("/proc/self/exe").unwrap();
        let above = agent_above(Agent::Gemini, None);
        assert!(above.is_none_or(|above| above != own), "the hook itself is no agent");
        let text = str::to_owned;
        let of = |exe: &str, words: &[&str]| Ancestor {
            exe: Some(exe.into()),
            words: words.iter().map(|word| text(word)).collect(),
            cwd: Some("/".into()),
        };
        let script = of("/usr/bin/node", &["node", "--flag=1", "proc/self/exe", "-p"]);
        assert_eq!(script.program(), Some(own.canonicalize().unwrap()));
        assert!(
            of("/usr/bin/python3.11", &["python3"]).is_named(INTERPRETERS) && of("/bin/dash", &["sh"]).is_named(SHELLS)
        );
        assert_eq!(of("/usr/bin/node", &["node", "-e", "x"]).program(), None);
    }

    #[test]
    fn arguments_bring_what_stands_in_no_file() {
        for (agent, word, is) in [
            (Agent::Claude, "--settings", true),
            (Agent::Claude, "--plugin-dir=/x", true),
            (Agent::Claude, "--input-format", true),
            (Agent::Codex, "-c", true),
            (Agent::Claude, "-c", false),
            (Agent::Pi, "-e", true),
            (Agent::Claude, "-p", false),
        ] {
            assert_eq!(is_brought(agent, word), is, "{word}");
        }
    }
}
