//! Judgements about words that are paths or lists of paths.

use crate::observe::field::Field;
use crate::path::{Follow, lexical, resolve, under};
use crate::world::World;

/// The word can only become paths below the current directory.
pub(crate) fn stays_inside(field: &Field) -> bool {
    !field.dynamic && !field.text.starts_with(['/', '-', '~']) && !field.text.split('/').any(|part| part == "..")
}

/// The directory is known, and the project or a scratch directory holds it, also by its links.
pub(crate) fn is_ours(directory: Option<&str>, world: &dyn World) -> bool {
    let Some(directory) = directory else { return false };
    let resolved = resolve(directory, world, Follow::Last);
    let holds = |root: &str| under(&resolved.real, root) && under(&resolved.lexical, root);
    !resolved.lost && (world.project().is_some_and(holds) || world.scratch().iter().any(|scratch| holds(scratch)))
}

/// The directory can be listed, and no name in it looks like a flag.
pub(crate) fn is_free_of_flags(directory: &str, world: &dyn World) -> bool {
    world.entries(directory).is_some_and(|names| !names.iter().any(|name| name.starts_with('-')))
}

/// What stands before the first wildcard leads to a directory of ours, as the links go.
fn begins_inside(field: &Field, cwd: &str, world: &dyn World) -> bool {
    let at = field.text.find(['*', '?', '[', '(', '{']).filter(|_| field.glob).unwrap_or(field.text.len());
    let fixed = field.text.get(..at).unwrap_or_default();
    let directory = if field.glob { fixed.rsplit_once('/').map_or("", |(directory, _)| directory) } else { fixed };
    is_ours(Some(&crate::path::join(cwd, directory)), world)
}

/// The word begins at the root, and leads into the project in which the command works.
fn leads_inside(field: &Field, cwd: Option<&str>, world: &dyn World) -> bool {
    let climbs = field.text.split('/').any(|part| part == "..");
    !field.dynamic
        && !climbs
        && field.text.starts_with('/')
        && world.project().is_some_and(|project| {
            cwd.is_some_and(|cwd| under(cwd, project))
                && field.text.strip_prefix(project).is_some_and(|rest| rest.starts_with('/'))
        })
}

/// The word stays inside, and neither names nor may match anything sensitive.
pub(crate) fn is_plain_inside(field: &Field, cwd: Option<&str>, world: &dyn World) -> bool {
    (stays_inside(field) || leads_inside(field, cwd, world))
        && cwd.is_some_and(|cwd| {
            let (directory, name) = field.text.rsplit_once('/').unwrap_or(("", &field.text));
            let directory = crate::path::lexical(&crate::path::join(cwd, directory));
            is_ours(Some(cwd), world)
                && begins_inside(field, cwd, world)
                && !super::globs::is_sensitive(&field.text, cwd, world)
                && !super::globs::is_sensitive(name, &directory, world)
                && !(field.glob && super::globs::lists_sensitive(name, &directory, world))
        })
}

/// Every entry is the project or its `src`, the code that its tests and scripts are about, or was there before.
pub(crate) fn source_roots(text: &str, cwd: Option<&str>, world: &dyn World) -> bool {
    let (Some(cwd), Some(project)) = (cwd, world.project()) else { return false };
    // `PYTHONPATH=src:$PYTHONPATH` without such a variable: the empty entry is the directory of the command.
    let text = text.strip_prefix(':').or_else(|| text.strip_suffix(':')).unwrap_or(text);
    let before = world.environment("PYTHONPATH");
    text.split(':').all(|entry| {
        let path = lexical(&crate::path::join(cwd, entry));
        let is_kept = before.as_deref().is_some_and(|before| before.split(':').any(|old| old == entry));
        let is_source = path == project || path == crate::path::join(project, "src");
        !entry.is_empty() && (is_kept || under(cwd, project) && is_source)
    })
}

/// Directories where tool chains put their programs.
// Where installers of languages put programs. The user can write there, so a program there counts as a tool, not as
// part of the system.
const TOOL_DIRECTORIES: &[&str] = &[
    ".cargo/bin",
    ".local/bin",
    "go/bin",
    ".bun/bin",
    ".deno/bin",
    ".nvm",
    ".volta/bin",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".local/share/mise",
    ".rustup",
    ".sdkman",
    ".npm-global/bin",
    ".yarn/bin",
    ".local/share/pnpm",
    "Library/pnpm",
    ".foundry/bin",
    ".dotnet",
    ".poetry/bin",
];

/// Every entry of a PATH is the old PATH, a system directory or a tool chain's directory.
pub(crate) fn harmless_path_list(text: &str, world: &dyn World) -> bool {
    let before = world.environment("PATH");
    text.split(':').all(|entry| {
        let known = before.as_deref().is_some_and(|path| path.split(':').any(|old| old == entry));
        known || is_tool_directory(entry, world)
    })
}

fn is_tool_directory(entry: &str, world: &dyn World) -> bool {
    // Only an administrator or a package manager writes there; what is elsewhere was put there by the user or an
    // agent.
    const SYSTEM: &[&str] = &[
        "/usr/local/bin",
        "/usr/bin",
        "/bin",
        "/usr/local/sbin",
        "/usr/sbin",
        "/sbin",
        "/opt/homebrew",
        "/usr/local/go/bin",
        "/home/linuxbrew",
        "/snap/bin",
        "/usr/lib",
    ];
    if !entry.starts_with('/') {
        return false;
    }
    let entry = lexical(entry);
    SYSTEM.iter().any(|directory| under(&entry, directory))
        || world
            .home()
            .is_some_and(|home| TOOL_DIRECTORIES.iter().any(|directory| under(&entry, &format!("{home}/{directory}"))))
}

/// The text is written like a path, and leads out of the project and the agent's own directories.
pub(crate) fn leads_out(text: &str, cwd: Option<&str>, world: &dyn World) -> bool {
    let text = text.split(['=', ':']).find(|piece| is_written_as_path(piece)).unwrap_or(text);
    if !is_written_as_path(text) {
        return false;
    }
    let Some(absolute) = cwd.map(|cwd| lexical(&crate::path::join(cwd, text))) else { return true };
    let mut owned = world.scratch().iter().map(String::as_str).chain(world.project());
    text.starts_with('~') || !(crate::place::is_harmless_device(&absolute) || owned.any(|root| under(&absolute, root)))
}

fn is_written_as_path(text: &str) -> bool {
    text.starts_with(['/', '~']) && text.len() > 1 && !text.starts_with("//")
        || text.split('/').any(|part| part == "..")
}
