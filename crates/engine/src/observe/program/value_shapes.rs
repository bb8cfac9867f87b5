//! Values that no role explains: a plain value that looks like a path elsewhere, an address or code is not understood.

use doorward_vocabulary::{Degree, Mark, Operation};

use super::Invocation;
use super::findings::Findings;
use crate::knowledge::schema::{Count, Does, Facet, Grammar, Operand, Role};
use crate::path;
use crate::place;
use crate::world::World;

/// What stands between the values of a list.
// Each is judged by itself: one that is harmless does not speak for the next (`http://localhost,~/.bashrc`).
const LISTS: [char; 2] = [',', ';'];

/// What stands between the parts of one value: `key=value`, `host:path`, `user@host`.
const PARTS: [char; 3] = ['=', ':', '@'];

/// Devices that hold nothing and keep nothing.
const NOTHING: [&str; 4] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// Schemes by which something is transferred to or from the host behind them.
const TRANSFERS: [&str; 9] = ["http", "https", "ftp", "ftps", "sftp", "ssh", "git", "ws", "wss"];

/// What a plain value looks like, if it looks like more than a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Elsewhere,
    Address,
    Code,
    Guarded,
}

impl Shape {
    fn says(self) -> &'static str {
        match self {
            Shape::Elsewhere => "points outside the project",
            Shape::Address => "names another machine",
            Shape::Code => "looks like code",
            Shape::Guarded => "is a file that git, an editor, an agent or a shell loads by itself",
        }
    }
}

/// Plain values of flags and operands that look like something else.
pub(super) fn shaped_values(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    // `--host 0.0.0.0` listens, and is judged by that.
    let flags = invocation.args.given.iter().filter(|given| !given.changes.marks.has(Mark::Listens));
    let flags = flags.filter_map(|given| given.value.as_ref().map(|value| (value, given.role)));
    let operands = invocation.args.operands.iter().zip(invocation.roles.iter().copied());
    let cwd = invocation.cwd.as_deref();
    // Git's settings and paths are read by its own grammar.
    let is_read = invocation.args.chain.iter().any(|entry| entry.grammar == Some(Grammar::Git));
    for (value, role) in flags.chain(operands) {
        let found_shape = shape(&Place { world, cwd }, value.prefix(), role);
        if let Some(shape) = found_shape.filter(|shape| !(is_read && *shape == Shape::Guarded)) {
            let (name, says) = (&invocation.by.name, shape.says());
            found.doubt(
                Degree::Unknown,
                format!("what `{name}` does with `{}`, which {says}", without_login(&value.text)),
            );
        }
    }
    found
}

/// An address without what stands before its host: that may be a password.
fn without_login(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 <= at => {
            format!("{}…{}", text.get(..scheme + 3).unwrap_or_default(), text.get(at..).unwrap_or_default())
        }
        (_, Some(at)) if text.contains(':') => format!("…{}", text.get(at..).unwrap_or_default()),
        _ => text.to_owned(),
    }
}

/// A folder elsewhere that is given to a program which runs the code of the folder it works on.
pub(super) fn foreign_code(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let runs =
        |does: &Does| does.operation == Operation::Execute && does.marks.has_any(&[Mark::RunsProject, Mark::Build]);
    if !invocation.does.iter().any(runs) {
        return found;
    }
    let place = Place { world, cwd: invocation.cwd.as_deref() };
    let is_folder = |role: Role| matches!(role, Role::Read | Role::ReadTree | Role::List);
    let operands = invocation.args.operands.iter().zip(&invocation.roles).filter(|(_, role)| is_folder(**role));
    for (field, _) in operands.filter(|(field, _)| place.is_left_by(field.prefix())) {
        let name = &invocation.by.name;
        found.doubt(Degree::Unknown, format!("the code in `{}`, which `{name}` may run", field.shown()));
    }
    found
}

/// Files elsewhere that are given to a program which runs the settings it finds next to them.
pub(super) fn foreign_settings(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    if !invocation.args.chain.iter().any(|entry| entry.facets.has(Facet::SettingsBesideOperand)) {
        return found;
    }
    let place = Place { world, cwd: invocation.cwd.as_deref() };
    let is_looked_at = |role: Role| matches!(role, Role::Read | Role::ReadTree | Role::Print | Role::List | Role::Edit);
    let operands = invocation.args.operands.iter().zip(invocation.roles.iter().copied());
    let flags = invocation.args.given.iter().filter_map(|given| given.value.as_ref().map(|value| (value, given.role)));
    for (field, _) in operands.chain(flags).filter(|(_, role)| is_looked_at(*role)) {
        if place.is_left_by(field.prefix()) {
            let name = &invocation.by.name;
            found.doubt(Degree::Unknown, format!("the settings next to `{}`, which `{name}` loads", field.shown()));
        }
    }
    found
}

/// `xxd *`: a wildcard stands for one word in the call and for several when it runs; the last of them may be written.
pub(super) fn filled_by_wildcard(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let args = &invocation.args;
    let Some(entry) = args.entry() else { return found };
    let is_open = args.operands.iter().any(|field| field.glob || field.many);
    let writes =
        |role: Role| matches!(role, Role::Write | Role::Append | Role::Create | Role::Edit | Role::Into | Role::Empty);
    let is_single = |operand: &Operand| operand.count != Count::Any && operand.given.is_empty() && writes(operand.role);
    let outputs = args.given.iter().filter(|given| writes(given.role));
    if outputs.filter_map(|given| given.value.as_ref()).any(|value| value.glob) {
        let name = &invocation.by.name;
        found.doubt(Degree::Unknown, format!("which file `{name}` writes where the wildcard stands"));
    }
    // Words that fill the position show their own effect.
    if is_open && args.operands.len() < entry.operands.len() && entry.operands.iter().skip(1).any(is_single) {
        let name = &invocation.by.name;
        found.doubt(Degree::Unknown, format!("which file `{name}` writes if the wildcard stands for several"));
    }
    found
}

/// Where the command runs.
struct Place<'a> {
    world: &'a dyn World,
    cwd: Option<&'a str>,
}

/// The shape of a value, as far as it can be read.
fn shape(place: &Place<'_>, text: &str, role: Role) -> Option<Shape> {
    if role == Role::Address {
        // A repository on this machine, but not in this project.
        return (text.starts_with(['/', '~', '.']) && place.is_left_by(text)).then_some(Shape::Elsewhere);
    }
    if text.is_empty() || !matches!(role, Role::Data | Role::Name) {
        return None;
    }
    let is_name = role == Role::Name;
    if is_code(text) {
        return Some(Shape::Code);
    }
    // Keys, labels and resources have names like `//pkg:target`, `/users/1`.
    let leaves = |part: &str| !(is_name && part.starts_with('/')) && place.is_left_by(part);
    let has_path = |text: &str| std::iter::once(text).chain(text.split(PARTS)).any(leaves);
    let guarded = |text: &str| (!is_name && place.names_guarded(text)).then_some(Shape::Guarded);
    text.split(LISTS).find_map(|piece| match address(place, piece, is_name) {
        Some((_, Some(shape))) => Some(shape),
        Some((before, None)) => has_path(before).then_some(Shape::Elsewhere),
        None => has_path(piece).then_some(Shape::Elsewhere).or_else(|| guarded(piece)),
    })
}

/// A value behind a flag that is handed on to code of the project names such a file.
pub(super) fn names_guarded(world: &dyn World, cwd: Option<&str>, value: &str) -> bool {
    Place { world, cwd }.names_guarded(value)
}

/// What stands before an address, and its shape; none for one of this machine or one that the user listed.
fn address<'t>(place: &Place<'_>, text: &'t str, is_name: bool) -> Option<(&'t str, Option<Shape>)> {
    let mut front = "";
    // `--url=https://…` inside a forwarded flag, `key=https://…`.
    let known = if let Some(at) = text.find("://") {
        let before = text.get(..at).unwrap_or_default();
        let start =
            before.rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '+').map_or(0, |at| at + 1);
        front = text.get(..start).unwrap_or_default();
        let url = text.get(start..).unwrap_or_default();
        let scheme = before.get(start..).unwrap_or_default().to_ascii_lowercase();
        if scheme == "file" {
            let is_left = place.is_left_by(text.get(at + 3..).unwrap_or_default());
            return Some((front, is_left.then_some(Shape::Elsewhere)));
        }
        // `s3://bucket`, `op://vault/item`: the name of something at a service that the program talks to anyway.
        if is_name && !TRANSFERS.contains(&scheme.as_str()) {
            return Some((front, None));
        }
        crate::network::url(url, place.world)
    } else {
        let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
        // `pkg@1.2.3` is a version; `.com` and the like have letters.
        let has_domain = host
            .rsplit_once('.')
            .is_some_and(|(_, last)| last.starts_with(|letter: char| letter.is_ascii_alphabetic()));
        let is_behind_user = !user.is_empty() && has_domain && !text.contains([' ', '/']);
        if is_name || !(host_with_port(host) || is_number(host) || is_behind_user) {
            return None;
        }
        crate::network::host(host, place.world)
    };
    let is_known = known.marks.has_any(&[Mark::Loopback, Mark::ListedHost]);
    Some((front, (!is_known).then_some(Shape::Address)))
}

/// `evil.example:8080`
fn host_with_port(text: &str) -> bool {
    let Some((host, port)) = text.split_once(':') else { return false };
    let port = port.split('/').next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    is_port
        && is_name
        && host.contains('.')
        && !host.starts_with('.')
        && host.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// `10.1.2.3`, with or without a port.
fn is_number(text: &str) -> bool {
    let host = text.split([':', '/']).next().unwrap_or_default();
    let parts: Vec<&str> = host.split('.').collect();
    parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok())
}

impl Place<'_> {
    /// The value, or a part of it, is the path of a file in the project that is loaded by itself.
    fn names_guarded(&self, value: &str) -> bool {
        let parts = std::iter::once(value).chain(value.split(PARTS));
        // A pattern leaves out or picks, and `.git` alone is what tools are told to skip.
        let is_path = |part: &&str| {
            (part.starts_with('.') || part.contains('/')) && !part.contains(['*', '?', ' ']) && part.len() > 1
        };
        let Some(cwd) = self.cwd else { return false };
        parts.filter(is_path).map(|part| part.trim_end_matches('/')).any(|part| {
            let full = path::lexical(&path::join(cwd, part));
            let is_inside = self.world.project().is_some_and(|root| path::under(&full, root));
            is_inside && path::name(&full) != ".git" && {
                let marks = place::classify(&full, self.world).marks;
                marks.has_any(&GUARDED) || (path::name(&full).starts_with('.') && marks.has(Mark::RunsOnLoad))
            }
        })
    }

    /// A path that does not stay in the project or in scratch space.
    fn is_left_by(&self, piece: &str) -> bool {
        if piece.starts_with('~') {
            return true;
        }
        let is_path = piece.starts_with('/') || piece.split('/').any(|part| part == "..");
        if !is_path || NOTHING.contains(&piece) {
            return false;
        }
        let Some(cwd) = self.cwd else { return true };
        let full = path::lexical(&path::join(cwd, piece));
        let is_inside = self.world.project().is_some_and(|root| path::under(&full, root));
        !is_inside && !self.world.scratch().iter().any(|scratch| path::under(&full, scratch))
    }
}

/// Files of a project that something loads or runs without being told to.
// What writes one of them decides what runs next: a hook, an editor's task, an agent's settings, a workflow.
const GUARDED: [Mark; 8] = [
    Mark::GitInternals,
    Mark::GitHook,
    Mark::AgentSettings,
    Mark::GuardOwn,
    Mark::EditorConfig,
    Mark::Persistence,
    Mark::Ci,
    Mark::ShellProfile,
];

/// A command substitution, a call, or statements in a row.
fn is_code(text: &str) -> bool {
    let is_call = text.match_indices('(').any(|(at, _)| {
        at > 0 && text.as_bytes().get(at - 1).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    });
    is_call
        || text.contains("$(")
        || text.contains('`')
        || text.contains("; ")
        || text.contains('\n')
        || text.contains(" | ")
}
