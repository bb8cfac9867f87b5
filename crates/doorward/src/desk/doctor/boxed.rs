//! Which way calls of an agent get to the box, and why not the other.

use crate::hook::contained::alone;
use crate::hook::contained::replace::REWRITTEN;
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::memory::contained::BoxMemory;

/// In words; `None` for an agent whose calls can't be replaced by anyone.
pub(super) fn way(dirs: &Dirs, agent: Agent) -> Option<String> {
    if !REWRITTEN.contains(&agent) {
        return None;
    }
    let proof = BoxMemory::open(dirs).ok().and_then(|memory| memory.proof(agent));
    let here = std::env::current_dir().ok().and_then(|path| path.into_os_string().into_string().ok());
    Some(match proof {
        None => "calls are not replaced, because it was not tested (`doorward doctor --test-box`)".to_owned(),
        Some(proof) if proof.broken.is_some() => {
            format!("calls are not replaced any more: {}", proof.broken.unwrap_or_default())
        }
        Some(proof) if !proof.is_current() => {
            format!("calls are not replaced, because it was tested as {} and has changed", proof.version)
        }
        Some(proof) => match alone::another(agent, dirs.home(), here.as_deref()) {
            Some(other) => format!("calls are not replaced, because of {other}, which could rewrite them too"),
            None => format!("calls of version {} are replaced by contained runs", proof.version),
        },
    })
}
