//! Whether anyone can answer a question that the agent itself would ask.

use std::path::Path;

use crate::machine::agent::Agent;
use crate::machine::checked_read::text_of_pipe;

/// Between us and the agent are a shell and the agent's launcher.
// Further up come terminals and session managers, whose command lines say nothing about this agent.
const ANCESTORS: usize = 6;

/// Whether the session is attended, as far as the agent says.
pub(super) fn is_attended(agent: Agent) -> bool {
    // It says nothing in its payload or environment, and a question hangs it without a terminal.
    if agent == Agent::Gemini {
        return is_at_terminal("gemini");
    }
    agent.attendance_variable().and_then(std::env::var_os).is_none_or(|value| value != "0")
}

/// The agent was started at a terminal and not for a single prompt. If that can't be determined, the session is unattended.
fn is_at_terminal(name: &str) -> bool {
    let mut process = std::os::unix::process::parent_id();
    for _ in 0..ANCESTORS {
        let line = text_of_pipe(&format!("/proc/{process}/cmdline"), 1 << 16).unwrap_or_default();
        let words: Vec<&str> = line.split('\0').collect();
        // A shell names the program only inside its script.
        if words.iter().take(3).any(|word| is_program(word, name)) {
            return !words.iter().any(|word| is_prompt(word)) && [0, 1].iter().all(|file| is_terminal(process, *file));
        }
        match parent(process) {
            Some(above) if above > 1 => process = above,
            Some(_) | None => return false,
        }
    }
    false
}

fn is_program(word: &str, name: &str) -> bool {
    let file = Path::new(word).file_name().and_then(|file| file.to_str()).unwrap_or_default();
    file == name || (file.ends_with(".js") && word.contains(name))
}

/// An option that makes the agent answer once and exit.
fn is_prompt(word: &str) -> bool {
    word == "-p" || word.starts_with("--prompt") || word.starts_with("-p=")
}

fn is_terminal(process: u32, file: u32) -> bool {
    let target = std::fs::read_link(format!("/proc/{process}/fd/{file}")).unwrap_or_default();
    target.starts_with("/dev/pts") || target.to_string_lossy().starts_with("/dev/tty")
}

fn parent(process: u32) -> Option<u32> {
    let status = text_of_pipe(&format!("/proc/{process}/stat"), 1 << 12)?;
    // The program name is in parentheses and may contain anything.
    status.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_known_by_its_program_and_a_single_prompt_by_its_option() {
        for (word, expected) in [
            ("/usr/bin/gemini", true),
            ("/x/node_modules/@google/gemini-cli/bundle/gemini.js", true),
            ("/home/me/.gemini/settings.json", false),
            ("gemini hook", false),
        ] {
            assert_eq!(is_program(word, "gemini"), expected, "{word}");
        }
        assert!(is_prompt("-p") && is_prompt("--prompt=x") && !is_prompt("prompt"));
        assert!(parent(std::process::id()).is_some_and(|parent| parent > 0));
        assert!(!is_at_terminal("a program that nobody has"));
    }
}
