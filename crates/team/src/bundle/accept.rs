//! Which bundle counts on a machine: keys, order and time decide, and the server does not.

use doorward_ledger::Hash;
use serde::{Deserialize, Serialize};

use super::{Bundle, Refused, Root};

/// What a machine knows of its team's policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The keys that sign the next bundle.
    pub root: Root,
    /// Whose policy; the first bundle says.
    pub team: Option<String>,
    /// Version and digest of the last bundle that was accepted.
    pub last: Option<(u64, Hash)>,
    /// The latest time that was ever seen: a clock set back makes nothing valid again.
    pub seen_ms: u64,
}

/// Whether a bundle holds at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Holds,
    /// Its time is over.
    Expired,
    /// It takes back what was in force.
    Revoked,
}

impl Known {
    /// The keys that a person trusted, and nothing yet.
    #[must_use]
    pub const fn new(root: Root) -> Self {
        Self { root, team: None, last: None, seen_ms: 0 }
    }

    /// What is known once a bundle is accepted, or why it is refused.
    pub fn accept(&self, bundle: &Bundle, now_ms: u64) -> Result<Self, Refused> {
        let manifest = &bundle.manifest;
        let (now_ms, found) = (now_ms.max(self.seen_ms), manifest.version);
        // Signatures first: nothing that an unsigned manifest says is worth an answer.
        let (signed, needed) = (bundle.signed_by(&self.root), self.root.threshold);
        if !self.root.is_sound() || signed < needed {
            return Err(Refused::Signatures { signed, needed });
        }
        if self.team.as_ref().is_some_and(|team| *team != manifest.team) {
            return Err(Refused::Team(manifest.team.clone()));
        }
        match self.last {
            // The same again changes nothing.
            Some(last) if last == (found, bundle.digest()) => {}
            Some((known, _)) if found <= known => return Err(Refused::Older { known, found }),
            Some((known, digest)) if (found, manifest.previous) != (known + 1, Some(digest)) => {
                return Err(Refused::Previous { found });
            }
            // A link of the chain may have expired before this machine came back; the first bundle may not.
            Some(_) => {}
            None if manifest.expires_ms <= now_ms => return Err(Refused::Expired),
            None => {}
        }
        if manifest.not_before_ms > now_ms {
            return Err(Refused::Early);
        }
        Ok(Self {
            root: manifest.root.clone(),
            team: Some(manifest.team.clone()),
            last: Some((found, bundle.digest())),
            seen_ms: now_ms,
        })
    }

    /// Whether a bundle that was accepted still holds.
    #[must_use]
    pub fn standing(&self, (revokes, expires_ms): (bool, u64), now_ms: u64) -> Standing {
        match (revokes, expires_ms <= now_ms.max(self.seen_ms)) {
            (true, _) => Standing::Revoked,
            (false, true) => Standing::Expired,
            (false, false) => Standing::Holds,
        }
    }
}
