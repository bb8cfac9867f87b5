//! Internet addresses in every spelling that some program accepts.

use core::net::{Ipv4Addr, Ipv6Addr};

/// What kind of network an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    Loopback,
    /// A cloud service that hands out credentials of the machine.
    Metadata,
    Private,
    Public,
}

/// An address and whether it was spelled the one usual way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub network: Network,
    pub is_usual: bool,
}

/// The host is a number as browsers decide it: its last label is one. `None` for names.
pub(super) fn number(host: &str) -> Option<Number> {
    if let Some(inner) = host.strip_prefix('[') {
        let inner = inner.strip_suffix(']').unwrap_or(inner);
        return Some(version6(inner).unwrap_or(UNREADABLE));
    }
    let last = host.strip_suffix('.').unwrap_or(host).rsplit('.').next()?;
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())
        || part(last).is_some() && last.starts_with("0x");
    is_number.then(|| version4(host).unwrap_or(UNREADABLE))
}

/// An address without brackets that can only be of version 6.
pub(super) fn bare_version6(text: &str) -> Option<Number> {
    (text.matches(':').count() > 1).then(|| version6(text).unwrap_or(UNREADABLE))
}

// An address that only some programs accept may be read differently by the one that connects, so it counts as
// unusual.
const UNREADABLE: Number = Number { network: Network::Public, is_usual: false };

/// One to four parts, each decimal, octal or hexadecimal; the last fills what is left.
fn version4(host: &str) -> Option<Number> {
    let parts: Vec<&str> = host.strip_suffix('.').unwrap_or(host).split('.').collect();
    let (last, firsts) = parts.split_last()?;
    if firsts.len() > 3 {
        return None;
    }
    let mut value: u64 = 0;
    for text in firsts {
        value = (value << 8) | part(text).filter(|part| *part < 256)?;
    }
    let bits = 8 * (4 - firsts.len() as u32);
    let address = (value << bits) | part(last).filter(|part| *part < 1 << bits)?;
    let address = Ipv4Addr::from(u32::try_from(address).ok()?);
    let network = network4(address);
    Some(Number { network, is_usual: address.to_string() == host && !address.is_unspecified() })
}

fn part(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some("") => return Some(0),
        Some(rest) => (rest, 16),
        None if text.len() > 1 && text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().filter(|value| *value <= u64::from(u32::MAX))
}

fn version6(text: &str) -> Option<Number> {
    let (plain, zone) = text.split_once('%').map_or((text, None), |(plain, zone)| (plain, Some(zone)));
    let address: Ipv6Addr = plain.parse().ok()?;
    let (network, is_plain) = network6(address);
    Some(Number { network, is_usual: is_plain && zone.is_none() && address.to_string() == plain })
}

fn network4(address: Ipv4Addr) -> Network {
    match address.octets() {
        [127, ..] => Network::Loopback,
        [169, 254, 169 | 170, _] | [169, 254, 0, 23] | [100, 100, 100, 200] | [168, 63, 129, 16] | [192, 0, 0, 192] => {
            Network::Metadata
        }
        [0 | 10, ..]
        | [172, 16..=31, ..]
        | [192, 168, ..]
        | [100, 64..=127, ..]
        | [169, 254, ..]
        | [198, 18 | 19, ..]
        | [192, 0, 0, _]
        | [224..=255, ..] => Network::Private,
        _ => Network::Public,
    }
}

/// The network, and whether the address is more than an old address in a new coat.
fn network6(address: Ipv6Addr) -> (Network, bool) {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let old = |high: u16, low: u16| network4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0] if g == 0 && h == 1 => (Network::Loopback, true),
        [0, 0, 0, 0, 0, 0 | 0xffff] | [0, 0, 0, 0, 0xffff, 0] | [0x64, 0xff9b, ..] => (old(g, h), false),
        [0x2002, high, low, ..] => (old(high, low), false),
        [0xfd00, 0xec2, ..] | [0xfd20, 0xce, ..] if h == 0x254 => (Network::Metadata, true),
        [0xfc00..=0xfdff | 0xfe80..=0xfeff | 0xff00..=0xffff, ..] => (Network::Private, true),
        _ => (Network::Public, true),
    }
}
