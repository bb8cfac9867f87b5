//! A URL or host taken apart, and whether anything in it is written in an unusual way.

use std::borrow::Cow;

/// The parts that say where an address leads.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub scheme: String,
    pub host: String,
    pub port: Option<u16>,
    /// Two programs could read this text as two different hosts, or it hides what it is.
    pub is_odd: bool,
    /// The host is an address of version 6 without brackets.
    pub is_bare6: bool,
    /// How long path, query and fragment are together.
    pub rest_length: usize,
    /// The longest run of letters and digits in path, query and fragment.
    pub longest_run: usize,
    /// There is a query, a fragment or an encoded sign behind the host.
    pub has_query: bool,
}

impl Parts {
    pub(super) fn of_url(text: &str) -> Parts {
        let (text, was_cleaned) = clean(text);
        let (scheme, rest) = split_scheme(&text);
        let is_special = matches!(scheme.as_str(), "http" | "https" | "ws" | "wss" | "ftp");
        let after = rest.trim_start_matches(['/', '\\']);
        let slashes = rest.get(..rest.len() - after.len()).unwrap_or_default();
        let is_slashed = slashes == "//" || scheme_is_missing(&text);
        if !is_special && !is_slashed || scheme == "file" {
            return Parts { scheme, is_odd: true, rest_length: rest.len(), has_query: true, ..Parts::default() };
        }
        let end = after.find(['/', '?', '#', '\\']).unwrap_or(after.len());
        let (authority, tail) = after.split_at_checked(end).unwrap_or((after, ""));
        let mut parts = Parts { scheme, rest_length: tail.len(), longest_run: longest_run(tail), ..Parts::default() };
        parts.has_query = tail.contains(['?', '#', '%', '&', '=', ';']);
        let has_user = parts.read_authority(authority);
        let is_web = is_special && parts.scheme != "ftp";
        parts.is_odd |= was_cleaned || !is_slashed || has_user && is_web || tail.starts_with('\\');
        parts.is_odd |= !is_special && !is_known_scheme(&parts.scheme);
        // A second `@` or a colon after it shows only in the tail; it names another host to a careless reader.
        parts.is_odd |= tail.starts_with(['#', '?']) && tail.contains('@');
        parts
    }

    pub(super) fn of_host(text: &str) -> Parts {
        let (text, was_cleaned) = clean(text);
        let authority = text.rsplit_once('@').map_or(text.as_ref(), |(_, host)| host);
        if !authority.starts_with('[') && authority.matches(':').count() > 1 {
            return Parts {
                host: authority.to_ascii_lowercase(),
                is_bare6: true,
                is_odd: was_cleaned,
                ..Parts::default()
            };
        }
        let mut parts = Parts::default();
        parts.read_authority(&text);
        parts.is_odd |= was_cleaned || text.contains(['/', '\\', '?', '#']);
        parts
    }

    /// Reads `user@host:port` and says whether there was a user.
    fn read_authority(&mut self, authority: &str) -> bool {
        let (user, place) = authority.rsplit_once('@').map_or((None, authority), |(user, place)| (Some(user), place));
        self.is_odd |= user.is_some_and(|user| user.contains('@'));
        let close = place.rfind(']').unwrap_or(0);
        let (host, port) = match place.rfind(':').filter(|colon| *colon > close || close == 0) {
            Some(colon) => (place.get(..colon).unwrap_or(place), place.get(colon + 1..)),
            None => (place, None),
        };
        if let Some(port) = port {
            let is_plain = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            self.port = port.parse().ok().filter(|_| is_plain);
            self.is_odd |= self.port.is_none() || port.len() > 1 && port.starts_with('0');
        }
        self.read_host(host);
        user.is_some()
    }

    fn read_host(&mut self, host: &str) {
        let decoded = decode(host);
        self.is_odd |= decoded != host || host.ends_with('.');
        let plain = decoded.strip_suffix('.').unwrap_or(&decoded);
        self.host = plain.to_ascii_lowercase();
        if let Some(inner) = self.host.strip_prefix('[') {
            self.is_odd |= !inner.ends_with(']') || inner.matches(']').count() > 1;
            return;
        }
        self.is_odd |= self.host.is_empty() || self.host.len() > 253 || !self.host.split('.').all(is_label);
    }
}

/// `host:path` as scp, rsync and git understand it. The host keeps its `user@`.
pub(crate) fn remote_path(text: &str) -> Option<(&str, &str)> {
    if text.contains("://") {
        return None;
    }
    let bracket = text.find('[').filter(|open| *open == 0 || text.get(..*open).is_some_and(|user| user.ends_with('@')));
    let from = match bracket {
        Some(open) => open + text.get(open..)?.find(']')?,
        None => 0,
    };
    let colon = from + text.get(from..)?.find(':')?;
    let (host, rest) = (text.get(..colon)?, text.get(colon + 1..)?);
    let is_drive = host.len() == 1 && rest.starts_with('\\');
    if host.is_empty() || host.contains('/') || is_drive {
        return None;
    }
    Some((host, rest.strip_prefix(':').unwrap_or(rest)))
}

/// The host and port of the shell's own network paths, `/dev/tcp/host/port` and `/dev/udp/host/port`.
pub(crate) fn device_path(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    Some(rest.split_once('/').unwrap_or((rest, "")))
}

/// Drops what browsers drop, and says whether there was any of it.
fn clean(text: &str) -> (Cow<'_, str>, bool) {
    let is_plain = |byte: u8| (0x21..0x7f).contains(&byte);
    let authority = text.find("://").map_or(0, |at| at + 3);
    let end = text.get(authority..).and_then(|rest| rest.find(['/', '?', '#'])).map_or(text.len(), |at| authority + at);
    let head_is_plain = text.bytes().take(end).all(is_plain);
    let is_clean = head_is_plain && text.bytes().all(|byte| byte >= 0x20 && byte != 0x7f);
    if is_clean {
        return (Cow::Borrowed(text.trim_end_matches(' ')), false);
    }
    let kept = text
        .trim_matches(|character: char| character <= ' ')
        .chars()
        .filter(|character| !matches!(character, '\t' | '\n' | '\r'));
    (Cow::Owned(kept.collect()), true)
}

fn is_known_scheme(scheme: &str) -> bool {
    matches!(
        scheme,
        "ssh"
            | "git"
            | "git+ssh"
            | "ssh+git"
            | "git+https"
            | "git+http"
            | "sftp"
            | "scp"
            | "rsync"
            | "svn"
            | "svn+ssh"
            | "ftps"
            | "tftp"
            | "postgres"
            | "postgresql"
            | "mysql"
            | "mariadb"
            | "redis"
            | "rediss"
            | "mongodb"
            | "mongodb+srv"
            | "amqp"
            | "amqps"
            | "nats"
            | "kafka"
            | "mqtt"
            | "mqtts"
            | "s3"
            | "gs"
            | "az"
            | "docker"
            | "oci"
            | "grpc"
            | "grpcs"
            | "tcp"
            | "udp"
            | "tls"
            | "ldap"
            | "ldaps"
            | "telnet"
            | "smtp"
            | "smtps"
            | "imap"
            | "imaps"
            | "rtsp"
            | "sqlserver"
            | "clickhouse"
            | "bolt"
            | "neo4j"
            | "socks5"
            | "socks5h"
    )
}

fn scheme_is_missing(text: &str) -> bool {
    !text.contains("://") && split_scheme(text).1.len() == text.len()
}

/// The scheme in lower case and what follows its colon. A text without a scheme is fetched as `http`.
fn split_scheme(text: &str) -> (String, &str) {
    let end = text.find([':', '/', '?', '#', '\\', '@', '[']).unwrap_or(text.len());
    let (scheme, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    match rest.strip_prefix(':') {
        Some(rest) if is_scheme && !is_port(scheme, rest) => (scheme.to_ascii_lowercase(), rest),
        Some(_) | None => ("http".to_owned(), text),
    }
}

/// `localhost:3000/x` is a host with its port, not a scheme.
fn is_port(scheme: &str, rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let ends = matches!(rest.as_bytes().get(digits), None | Some(b'/' | b'?' | b'#'));
    let is_known = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https" | "ws" | "wss" | "ftp" | "file");
    digits > 0 && ends && !is_known
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && label.len() <= 63
        && !label.starts_with('-')
        && !label.ends_with('-')
        && !label.starts_with("xn--")
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Percent escapes undone, as browsers do in a host.
fn decode(host: &str) -> Cow<'_, str> {
    if !host.contains('%') || host.starts_with('[') {
        return Cow::Borrowed(host);
    }
    let mut bytes = Vec::with_capacity(host.len());
    let mut rest = host.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()).filter(|_| *first == b'%');
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'%') { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
