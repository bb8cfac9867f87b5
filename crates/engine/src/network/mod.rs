//! Where a URL, a host or a remote path leads, and what is unusual about how it is written.

mod hosts;
mod number;
mod parts;
#[cfg(test)]
mod tests;
pub(crate) use parts::{device_path, remote_path};

use doorward_vocabulary::{Mark, Marks};
use hosts::Kind;
use number::Network;
use parts::Parts;

use crate::world::World;

/// A path and query longer than this can carry a file out.
// Browsers and servers handle about 2000 characters; half of that already holds a private key.
const LONG: usize = 1000;
/// An unbroken run of letters and digits longer than this is data rather than a name.
// Longer than the hashes and identifiers of real addresses: a SHA-256 in hex has 64 characters.
const RUN: usize = 100;
/// A path longer than this, or with a longer name in it, may have been made up to say something.
// After a secret was read even a short path may spell it out. Documentation paths are mostly shorter.
const PLAIN_PATH: usize = 80;
// A word of 24 characters can hold a token's worth of data.
const PLAIN_NAME: usize = 24;
/// A label longer than this is data rather than a name.
// A label may have 63 bytes. Names that people register stay far below; data in a name query uses the full length
// (network-059, secrets-044).
const LABEL: usize = 40;

/// Where something is sent or fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
    /// In lower case, without user, port or trailing dot; empty if there is none.
    pub host: String,
    pub port: Option<u16>,
    /// In lower case; empty for a bare host.
    pub scheme: String,
    pub marks: Marks,
}

/// Reads a URL as browsers do. What programs could read in different ways is marked, never guessed at.
pub(crate) fn url(text: &str, world: &dyn World) -> Address {
    address(Parts::of_url(text), world)
}

/// Reads `host`, `host:port`, `user@host` or `[address]:port`.
pub(crate) fn host(text: &str, world: &dyn World) -> Address {
    if text.contains("://") { url(text, world) } else { address(Parts::of_host(text), world) }
}

fn address(parts: Parts, world: &dyn World) -> Address {
    let mut marks = Marks::default();
    let number = if parts.is_bare6 { number::bare_version6(&parts.host) } else { number::number(&parts.host) };
    let known = if number.is_none() { HostKinds::of(&parts.host) } else { HostKinds::default() };
    let is_odd = parts.is_odd || number.is_some_and(|number| !number.is_usual) || known.rebinder;
    if is_odd {
        marks.add(Mark::OddAddress);
    }
    match number {
        Some(number) => {
            marks.add(Mark::AddressLiteral);
            by_network(number.network, is_odd, &mut marks);
        }
        None => by_name(&parts.host, is_odd, &mut marks),
    }
    if known.metadata {
        marks.add(Mark::MetadataAddress);
    }
    let known = if is_odd { HostKinds { drop: known.drop, ..HostKinds::default() } } else { known };
    by_lists(&parts.host, known, world, &mut marks);
    by_port(&parts, &mut marks);
    // Whatever the host is called: a name that somebody points at this machine leads to the desk as well.
    if parts.port.is_some_and(|port| desk_ports(world).contains(&port)) {
        marks.add(Mark::GuardOwn);
    }
    if parts.rest_length > LONG || parts.longest_run > RUN || parts.host.split('.').any(|label| label.len() > LABEL) {
        marks.add(Mark::CarriesData);
    }
    if parts.has_query || parts.rest_length > PLAIN_PATH || parts.longest_run > PLAIN_NAME {
        marks.add(Mark::VariablePart);
    }
    Address { host: parts.host, port: parts.port, scheme: parts.scheme, marks }
}

/// The usual port of doorward's desk: DOOR on a telephone's keys.
const DESK: u16 = 3667;

/// The ports on which this user's desk may be.
pub(crate) fn desk_ports(world: &dyn World) -> Vec<u16> {
    std::iter::once(DESK).chain(world.settings().desk_ports.iter().copied()).collect()
}

fn by_network(network: Network, is_odd: bool, marks: &mut Marks) {
    match network {
        Network::Loopback if is_odd => marks.add(Mark::PrivateAddress),
        Network::Loopback => marks.add(Mark::Loopback),
        Network::Metadata => marks.add(Mark::MetadataAddress),
        Network::Private => {
            marks.add(Mark::PrivateAddress);
            // Written in an odd way it may lead elsewhere.
            if !is_odd {
                marks.add(Mark::LanAddress);
            }
        }
        Network::Public => {}
    }
}

fn by_name(host: &str, is_odd: bool, marks: &mut Marks) {
    if host == "localhost" && !is_odd {
        marks.add(Mark::Loopback);
        return;
    }
    let Some((_, domain)) = host.rsplit_once('.') else {
        marks.add(Mark::PrivateAddress);
        return;
    };
    match domain {
        "local" | "internal" | "lan" | "home" | "corp" | "intranet" | "localhost" | "localdomain" | "arpa"
        | "private" => {
            marks.add(Mark::PrivateAddress);
        }
        _ if hosts::COMMON_DOMAINS.binary_search(&domain).is_err() => marks.add(Mark::RareDomain),
        _ => {}
    }
}

/// What the lists say about a name.
#[derive(Clone, Copy, Default)]
struct HostKinds {
    registry: bool,
    /// Registry, documentation or code.
    listed: bool,
    drop: bool,
    rebinder: bool,
    metadata: bool,
}

impl HostKinds {
    fn of(host: &str) -> HostKinds {
        let mut known = HostKinds::default();
        for kind in hosts::kinds(host) {
            match kind {
                Kind::Registry => (known.registry, known.listed) = (true, true),
                Kind::Documentation | Kind::CodeHost => known.listed = true,
                Kind::Drop => known.drop = true,
                Kind::Rebinder => known.rebinder = true,
                Kind::Metadata => known.metadata = true,
            }
        }
        known
    }
}

fn by_lists(host: &str, known: HostKinds, world: &dyn World, marks: &mut Marks) {
    let settings = world.settings();
    let names = |list: &[String]| list.iter().any(|entry| is_within(host, entry));
    let is_denied = names(&settings.denied_hosts);
    if is_denied {
        marks.add(Mark::DeniedHost);
    }
    if marks.has(Mark::Loopback) && !is_denied {
        return;
    }
    if known.registry {
        marks.add(Mark::Registry);
    }
    let is_allowed = names(&settings.allowed_hosts) && !marks.has(Mark::OddAddress);
    let is_built_in = known.listed && !settings.only_allowed_hosts;
    let is_listed = (is_built_in || is_allowed) && !is_denied && !marks.has(Mark::MetadataAddress);
    marks.add(if is_listed { Mark::ListedHost } else { Mark::UnlistedHost });
    if is_listed && is_allowed {
        // Whoever wrote the name down knows that it is rare.
        marks.remove(Mark::RareDomain);
    }
    if !is_listed && known.drop {
        marks.add(Mark::DropHost);
    }
}

/// `host` is the entry or lies below it, at a label boundary. `*.` and a leading dot mean the same.
fn is_within(host: &str, entry: &str) -> bool {
    let entry = entry.trim_start_matches("*.").trim_start_matches('.').trim_end_matches('.');
    if entry.is_empty() || host.len() < entry.len() {
        return false;
    }
    let (before, end) = host.split_at_checked(host.len() - entry.len()).unwrap_or((host, ""));
    end.eq_ignore_ascii_case(entry) && (before.is_empty() || before.ends_with('.'))
}

fn by_port(parts: &Parts, marks: &mut Marks) {
    let is_local = marks.has(Mark::Loopback);
    let is_plain =
        matches!(parts.scheme.as_str(), "http" | "ws" | "ftp" | "git" | "telnet" | "ldap" | "tftp" | "rsync" | "svn");
    if is_plain && !is_local {
        marks.add(Mark::Plaintext);
    }
    let Some(port) = parts.port else { return };
    let is_control =
        matches!(port, 2375..=2380 | 4243 | 5555 | 6443 | 7777 | 8001 | 9222 | 9229 | 10250 | 10255 | 16443);
    if is_control && (is_local || marks.has(Mark::PrivateAddress)) {
        marks.add(Mark::ControlPort);
    }
    if !is_local && !is_usual_port(&parts.scheme, port) {
        marks.add(Mark::OddPort);
    }
}

fn is_usual_port(scheme: &str, port: u16) -> bool {
    match scheme {
        "http" | "ws" => port == 80,
        "https" | "wss" => port == 443,
        "ssh" | "git+ssh" | "ssh+git" | "sftp" | "scp" => matches!(port, 22 | 443),
        "git" => port == 9418,
        "ftp" => port == 21,
        "postgres" | "postgresql" => port == 5432,
        "mysql" | "mariadb" => port == 3306,
        "redis" | "rediss" => port == 6379,
        "mongodb" => port == 27017,
        "amqp" => port == 5672,
        _ => matches!(port, 22 | 80 | 443),
    }
}
