//! Where bundles come from: the hub, a directory, or a web server. None of them is believed.

use std::io::Read;
use std::path::Path;

use doorward_team::{Bundle, Failure, LONGEST_BUNDLE};

use crate::machine::checked_read;
use crate::machine::paths::Dirs;
use crate::machine::team::{Membership, transport};
use crate::policy::team_policy::TeamPolicy;

/// The last bundle, for machines that have none yet.
pub(super) const LATEST: &str = "latest.tar";

/// What a bundle is called where machines fetch it.
pub(super) fn file_name(version: u64) -> String {
    format!("{version:06}.tar")
}

/// Why fetching stopped.
#[derive(Debug)]
pub(super) enum Stopped {
    /// It may work later.
    Away(String),
    /// A bundle was refused, or the source can't be used.
    Refused(String),
}

/// The bundle behind the last one that was followed.
pub(super) fn next(dirs: &Dirs, policy: &TeamPolicy) -> Result<Option<Bundle>, Stopped> {
    let last = policy.known.last.map_or(0, |(version, _)| version);
    let name = if last == 0 { LATEST.to_owned() } else { file_name(last + 1) };
    let bytes = match policy.source.as_str() {
        "hub" => from_hub(dirs, last)?,
        place if place.starts_with('/') => from_directory(&Path::new(place).join(name))?,
        address => {
            let way = transport(address, None).map_err(|error| Stopped::Refused(format!("{error:#}")))?;
            way.download(&format!("/{name}")).map_err(stopped)?
        }
    };
    let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
    Bundle::read(&bytes).map(Some).map_err(|refused| Stopped::Refused(refused.to_string()))
}

fn from_hub(dirs: &Dirs, last: u64) -> Result<Option<Vec<u8>>, Stopped> {
    let refused = |error: anyhow::Error| Stopped::Refused(format!("{error:#}"));
    let Some(membership) = Membership::load(dirs).map_err(refused)? else {
        let why = "this machine is not enrolled with a hub: `doorward ship enrol URL TOKEN`";
        return Err(Stopped::Refused(why.to_owned()));
    };
    let hub = membership.hub(dirs).map_err(refused)?;
    hub.get(&format!("/v1/bundles/after/{last}")).map(Some).map_err(stopped)
}

fn from_directory(path: &Path) -> Result<Option<Vec<u8>>, Stopped> {
    let file = match checked_read::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // A share that is not mounted is away, not empty.
            let is_there = path.parent().is_some_and(Path::is_dir);
            return if is_there { Ok(None) } else { Err(Stopped::Away(format!("`{}` is not there", path.display()))) };
        }
        Err(error) => return Err(Stopped::Away(format!("can't read `{}`: {error}", path.display()))),
    };
    let mut bytes = Vec::new();
    let read = file.take(LONGEST_BUNDLE as u64 + 1).read_to_end(&mut bytes);
    read.map(|_length| Some(bytes)).map_err(|error| Stopped::Away(error.to_string()))
}

fn stopped(failure: Failure) -> Stopped {
    match failure.is_passing() {
        true => Stopped::Away(failure.to_string()),
        false => Stopped::Refused(failure.to_string()),
    }
}
