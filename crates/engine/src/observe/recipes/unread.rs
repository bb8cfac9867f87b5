//! Changed sources in languages that are not read: they run unread as the project's own, unless they name what no program of a
//! project needs by name: the places where a user keeps keys and passwords.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use crate::observe::program::Invocation;
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::shell::state::State;
use crate::path;
use crate::world::{Tracking, World};

/// More changed sources than this are a new state of the project, which is for its trust to say.
// The same bound as for sources that can be read.
const FILES: usize = 48;

/// Endings of such sources.
// Languages that doorward has no parser for: only their words are compared.
const ENDINGS: &[&str] = &[
    "c", "cc", "clj", "cljs", "cpp", "cr", "cs", "cxx", "dart", "erl", "ex", "exs", "fs", "go", "groovy", "h", "hpp",
    "hs", "java", "jl", "kt", "kts", "lua", "m", "ml", "mm", "nim", "php", "pl", "pm", "r", "rake", "rb", "rs",
    "scala", "swift", "vb", "zig",
];

/// Where keys and passwords lie, as a text would name it.
// As the text of a program would spell them, in quotes or as part of a path.
const STORES: &[&str] = &[
    "/.ssh",
    ".ssh/",
    "\".ssh\"",
    "'.ssh'",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "authorized_keys",
    "/.aws",
    ".aws/",
    "\".aws\"",
    "/.gnupg",
    ".gnupg/",
    "/.netrc",
    "\".netrc\"",
    "/.git-credentials",
    ".kube/config",
    ".docker/config.json",
    ".config/gcloud",
    ".config/gh/hosts",
    "/etc/shadow",
    "Login Data",
    "login.keychain",
];

/// A command that runs code of the project: a changed source of it names where secrets are kept.
pub(crate) fn unread_sources(out: &mut Observer<'_>, invocation: &Invocation, state: &State<'_>) {
    let runs = |marks: Marks| marks.has_any(&[Mark::Test, Mark::RunsProject]);
    if invocation.does.iter().any(|does| does.operation == Operation::Execute && runs(does.marks)) {
        names_stores(out, &invocation.by.clone(), state);
    }
}

/// The same for a file of the project that is run itself.
pub(crate) fn names_stores(out: &mut Observer<'_>, by: &By, state: &State<'_>) {
    let Some(project) = out.world.project().map(str::to_owned) else { return };
    let mut files = out.world.changed_files();
    files.extend(state.written.keys().cloned());
    files.retain(|file| path::under(file, &project) && is_unread(file) && is_uncommitted(out.world, file, state));
    files.sort_unstable();
    files.dedup();
    for file in files.iter().take(FILES) {
        let Some(text) = super::files::text(file, out.world, state) else { continue };
        if let Some(store) = STORES.iter().find(|store| text.contains(**store)) {
            let name = path::name(file);
            out.lower(Degree::Opaque, format!("what `{name}`, which changed, does with `{store}`"));
            out.unknown(Operation::Execute, by, Marks::default().with(Mark::SessionFile));
        }
    }
}

/// Not what somebody committed since the project was trusted, unless this session made it.
fn is_uncommitted(world: &dyn World, file: &str, state: &State<'_>) -> bool {
    state.written.contains_key(file) || world.look(file).created_this_session || world.tracking(file) != Tracking::Clean
}

fn is_unread(file: &str) -> bool {
    path::name(file).rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}
