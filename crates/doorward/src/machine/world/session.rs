//! Which processes belong to the agent's session.

/// More generations than any session has.
// Bounds the walk up the process table, which other processes change while we read.
const GENERATIONS: usize = 64;

/// The process was started by the agent, directly or through others.
pub(crate) fn is_ours(pid: u32) -> bool {
    let agent = std::env::var("CLAUDE_PID").ok().and_then(|pid| pid.parse().ok());
    let Some(agent) = agent.filter(|agent: &u32| *agent > 1) else { return false };
    let mut current = pid;
    for _ in 0..GENERATIONS {
        match parent(current) {
            Some(parent) if parent == agent => return true,
            Some(parent) if parent > 1 => current = parent,
            Some(_) | None => return false,
        }
    }
    false
}

fn parent(pid: u32) -> Option<u32> {
    let stat = crate::machine::checked_read::text_of_pipe(&format!("/proc/{pid}/stat"), 4096)?;
    // The name in parentheses may contain anything, so count the fields from its end.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_a_process_is_found() {
        assert_eq!(parent(std::process::id()), Some(std::os::unix::process::parent_id()));
        assert_eq!(parent(0), None);
    }
}
