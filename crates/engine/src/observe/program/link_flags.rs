//! Programs that read what the links on their way lead to, by themselves or because a flag says so.

use super::Invocation;

/// Programs that read what a link met on the way leads to if they are told so by one of these flags.
// By default these do not follow links below their operands; the flags are from their manuals. Then one link in a
// project prints a file of the home directory (reading-804).
const TOLD: &[(&str, &[&str])] = &[
    ("grep", &["-R", "--dereference-recursive"]),
    ("rg", &["-L", "--follow"]),
    ("ag", &["-f", "--follow"]),
    ("ack", &["--follow"]),
    ("cp", &["-L", "--dereference"]),
    ("tar", &["-h", "--dereference", "-L"]),
    ("bsdtar", &["-h", "--dereference", "-L"]),
    ("rsync", &["-L", "--copy-links", "-k", "--copy-dirlinks", "--copy-unsafe-links"]),
    ("rclone", &["-L", "--copy-links"]),
    ("cpio", &["-L", "--dereference"]),
    ("pax", &["-L"]),
    ("find", &["-L", "-follow"]),
    ("docker", &["-L", "--follow-link"]),
    ("du", &["-L", "--dereference"]),
    ("tree", &["-l"]),
];

/// Programs that do so unless one of these flags says otherwise.
// `zip`, `scp` and `diff` follow links unless told not to, so the absence of a flag is what matters.
const BY_THEMSELVES: &[(&str, &[&str])] = &[
    ("zip", &["-y", "--symlinks"]),
    ("7z", &["-snl"]),
    ("diff", &["--no-dereference"]),
    ("scp", &[]),
    ("aws", &["--no-follow-symlinks"]),
];

/// The command reads through the links that it meets below its operands.
pub(crate) fn follows(invocation: &Invocation) -> bool {
    let Some(program) = invocation.args.chain.first().map(|entry| entry.key.to_string()) else { return false };
    let of = |table: &[(&str, &'static [&'static str])]| {
        table.iter().find(|(name, _)| *name == program).map(|(_, flags)| *flags)
    };
    let is_listed = program == "ls"
        && invocation.args.has_any(&["-L", "--dereference"])
        && invocation.args.has_any(&["-R", "--recursive"]);
    is_listed
        || of(TOLD).is_some_and(|flags| invocation.args.has_any(flags))
        || of(BY_THEMSELVES).is_some_and(|flags| !invocation.args.has_any(flags))
}
