//! Which shell runs an agent's commands.
//!
//! Claude Code starts what `CLAUDE_CODE_SHELL` or `SHELL` names if it is bash or zsh, and otherwise the first of zsh and
//! bash that it finds. Codex takes the user's login shell, and the model may name another one that no hook is shown. Gemini
//! and Qwen run `bash -c`, Copilot and Pi bash. OpenCode takes `SHELL` unless it is one that reads no POSIX syntax. The
//! editors open whatever terminal the user has set.

use doorward_engine::Shell;

use crate::machine::agent::Agent;

/// Possible paths of zsh.
// Claude Code prefers an installed zsh when no variable names a shell, and zsh expands globs unlike bash. It may look in
// more places than these, so a hit says "unknown" and not "zsh".
const ZSH: [&str; 4] = ["/bin/zsh", "/usr/bin/zsh", "/usr/local/bin/zsh", "/opt/homebrew/bin/zsh"];

/// What decides about the shell.
pub(crate) trait Machine {
    fn variable(&self, name: &str) -> Option<String>;
    fn has(&self, path: &str) -> bool;
}

/// This machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThisMachine;

impl Machine for ThisMachine {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn has(&self, path: &str) -> bool {
        std::fs::symlink_metadata(path).is_ok()
    }
}

impl Agent {
    /// The shell the agent runs its commands in; any, if that is uncertain.
    pub(crate) fn shell(self, machine: &dyn Machine) -> Shell {
        match self {
            Agent::Claude => claude(machine),
            Agent::Gemini | Agent::Qwen | Agent::Copilot => Shell::Bash,
            Agent::Pi if machine.has("/bin/bash") => Shell::Bash,
            Agent::Opencode => machine.variable("SHELL").and_then(|path| Shell::named(&path)).unwrap_or(Shell::Unknown),
            Agent::Codex | Agent::Pi | Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => {
                Shell::Unknown
            }
        }
    }
}

fn claude(machine: &dyn Machine) -> Shell {
    let named = ["CLAUDE_CODE_SHELL", "SHELL"].into_iter().filter_map(|name| machine.variable(name));
    let named = named.filter_map(|path| Shell::named(&path)).find(|shell| matches!(shell, Shell::Bash | Shell::Zsh));
    match named {
        Some(shell) => shell,
        None if ZSH.iter().any(|path| machine.has(path)) => Shell::Unknown,
        None => Shell::Bash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Described {
        variables: &'static [(&'static str, &'static str)],
        files: &'static [&'static str],
    }

    impl Machine for Described {
        fn variable(&self, name: &str) -> Option<String> {
            self.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }

        fn has(&self, path: &str) -> bool {
            self.files.contains(&path)
        }
    }

    #[test]
    fn each_agent_starts_its_own_shell() {
        type ShellCase = (Agent, &'static [(&'static str, &'static str)], &'static [&'static str], Shell);
        let rows: &[ShellCase] = &[
            (Agent::Claude, &[("SHELL", "/bin/zsh")], &[], Shell::Zsh),
            (Agent::Claude, &[("SHELL", "/bin/bash")], &["/bin/zsh"], Shell::Bash),
            (
                Agent::Claude,
                &[("SHELL", "/bin/zsh"), ("CLAUDE_CODE_SHELL", "/opt/bin/bash")],
                &["/bin/zsh"],
                Shell::Bash,
            ),
            (Agent::Claude, &[("SHELL", "/usr/bin/fish")], &["/usr/bin/zsh"], Shell::Unknown),
            (Agent::Claude, &[], &[], Shell::Bash),
            (Agent::Codex, &[("SHELL", "/bin/bash")], &[], Shell::Unknown),
            (Agent::Gemini, &[("SHELL", "/bin/zsh")], &[], Shell::Bash),
            (Agent::Opencode, &[("SHELL", "/bin/zsh")], &[], Shell::Zsh),
            (Agent::Opencode, &[("SHELL", "/bin/dash")], &[], Shell::Sh),
            (Agent::Opencode, &[("SHELL", "/usr/bin/fish")], &[], Shell::Unknown),
            (Agent::Pi, &[("SHELL", "/bin/zsh")], &["/bin/bash"], Shell::Bash),
            (Agent::Pi, &[], &[], Shell::Unknown),
            (Agent::Generic, &[("SHELL", "/bin/bash")], &[], Shell::Unknown),
        ];
        for (agent, variables, files, expected) in rows {
            assert_eq!(agent.shell(&Described { variables, files }), *expected, "{agent:?} {variables:?} {files:?}");
        }
    }
}
