//! Where a path lies: in the agent's scratch, the project, the home, the system or elsewhere.

use std::borrow::Cow;

use doorward_vocabulary::{Mark, Marks, Reach, Scope};

use super::fold::fold;
use super::{meeting, system};
use crate::path::under;
use crate::world::{Kind, World};

/// Directories for temporary files that every machine has, on top of those that the world names.
// POSIX, Linux and macOS. The agent's own scratch directory is named by the world and is not shared.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/usr/tmp", "/dev/shm", "/var/folders"];

/// Where a path lies.
pub(super) struct Location {
    pub scope: Scope,
    pub reach: Reach,
    pub marks: Marks,
    /// Nobody builds or starts anything from here.
    pub temporary: bool,
    /// Where in the folded path the part below the project's root begins.
    pub project: Option<usize>,
    /// Where in the folded path the part below a home directory begins.
    pub home: Option<usize>,
}

/// The path in the two forms that are compared, with the roots of this machine.
pub(super) struct Ground<'a> {
    /// As given, or folded if the disk ignores case.
    pub path: &'a str,
    pub folded: &'a str,
    pub ignores_case: bool,
    pub world: &'a dyn World,
    /// The user's home directory, folded.
    home: Option<Cow<'a, str>>,
}

impl<'a> Ground<'a> {
    pub(super) fn new(path: &'a str, folded: &'a str, world: &'a dyn World) -> Ground<'a> {
        let ignores_case = world.case_insensitive() || !path.starts_with('/');
        let home = world.home().map(|home| fold(home).text);
        Ground { path: if ignores_case { folded } else { path }, folded, ignores_case, world, home }
    }

    fn root<'r>(&self, root: &'r str) -> Cow<'r, str> {
        if self.ignores_case { fold(root).text } else { Cow::Borrowed(root) }
    }

    fn is_below(&self, root: &str) -> bool {
        under(self.path, &self.root(root))
    }

    fn is_at(&self, root: &str) -> bool {
        self.path == self.root(root).trim_end_matches('/')
    }

    /// A directory of the system, or one that contains the home directory, holds too much to be anybody's own.
    fn is_too_wide(&self, root: &str) -> bool {
        let root = self.root(root);
        let inner = root.trim_matches('/');
        let mut components = inner.split('/');
        let first = components.next().unwrap_or_default();
        let is_top = components.next().is_none();
        let holds_home =
            || self.world.home().map(|home| self.root(home)).is_some_and(|home| under(&home, &root) && home != root);
        system::is_never_owned(first) || (is_top && system::is_system(first, None)) || holds_home()
    }

    /// The project, if the path lies in it.
    fn project(&self) -> Option<&'a str> {
        let project = self.world.project().filter(|project| self.is_below(project))?;
        (self.world.home() == Some(project) || !self.is_too_wide(project)).then_some(project)
    }

    fn in_scratch(&self) -> bool {
        self.world.scratch().iter().any(|scratch| {
            let holds_project =
                || self.world.project().is_some_and(|project| under(project, scratch) && self.is_below(project));
            self.is_below(scratch)
                && !self.is_too_wide(scratch)
                && self.world.home() != Some(scratch)
                && !holds_project()
        })
    }

    fn temporary_root(&self) -> Option<&str> {
        let mut named = self.world.temporary().iter().map(String::as_str);
        let usual = TEMPORARY.iter().copied().find(|root| self.is_below(root));
        usual.or_else(|| named.find(|root| self.is_below(root) && !self.is_too_wide(root)))
    }
}

/// Decides where the path lies, from the agent's own corner outward.
pub(super) fn locate(ground: &Ground) -> Location {
    let mut location = place_of(ground);
    if !matches!(location.scope, Scope::Scratch | Scope::File | Scope::Directory | Scope::Project) {
        location.marks.add(Mark::OutsideProject);
    }
    location.home = home_start(ground);
    location
}

fn place_of(ground: &Ground) -> Location {
    if ground.folded == "/" || ground.folded == "c:" || ground.folded == "c:/" {
        return at(Scope::System, Reach::Machine, &[Mark::Root, Mark::HomeRoot, Mark::SystemDirectory]);
    }
    if ground.in_scratch() {
        return Location { temporary: true, ..at(Scope::Scratch, Reach::Workspace, &[]) };
    }
    if let Some(project) = ground.project() {
        return in_project(ground, project);
    }
    if let Some(root) = ground.temporary_root() {
        return in_temporary(ground, root);
    }
    elsewhere(ground)
}

fn in_project(ground: &Ground, project: &str) -> Location {
    let inner = fold(project).text.trim_end_matches('/').len() + 1;
    let mut location = Location { project: Some(inner), ..at(Scope::File, Reach::Project, &[]) };
    if ground.is_at(project) {
        location.scope = Scope::Project;
        location.marks.add(Mark::ProjectRoot);
        if ground.world.home().is_some_and(|home| ground.is_at(home)) {
            location.marks.add(Mark::HomeRoot);
        }
        return location;
    }
    match ground.world.look(ground.path).kind {
        Kind::Directory => location.scope = Scope::Directory,
        Kind::Special => location.marks.add(Mark::Device),
        Kind::File | Kind::Missing | Kind::Link | Kind::Unlisted | Kind::Unreadable => {}
    }
    location
}

/// Everybody may write there, so only what this session made is the agent's own.
fn in_temporary(ground: &Ground, root: &str) -> Location {
    let mut location = if ground.is_at(root) {
        at(Scope::System, Reach::Machine, &[Mark::SystemDirectory, Mark::Temp])
    } else if is_of_session(ground) || is_fresh(ground, root) {
        at(Scope::Scratch, Reach::Workspace, &[Mark::Temp])
    } else {
        at(Scope::OtherRepo, Reach::Workspace, &[Mark::Temp])
    };
    if ground.world.home().is_some_and(|home| ground.is_at(home)) {
        location.marks.add(Mark::HomeRoot);
    }
    // A home that lies among temporary files is a home all the same: its start-up files are run.
    location.temporary = !ground.world.home().is_some_and(|home| ground.is_below(home));
    location
}

fn is_of_session(ground: &Ground) -> bool {
    ground.world.look(ground.path).created_this_session || ground.world.is_made(ground.path)
}

/// Nothing is there yet, whoever makes it owns it, and no tool looks for such a name from elsewhere.
fn is_fresh(ground: &Ground, root: &str) -> bool {
    let inner = ground.path.strip_prefix(root).unwrap_or_default();
    // Whatever tools search for there, they find it for what this session made and for nothing else.
    let in_made = || ground.world.is_made(crate::path::parent(ground.path));
    let in_home = || ground.world.home().is_some_and(|home| ground.is_below(home));
    // A repository among temporary files is somebody's work all the same.
    let in_repository = || ground.world.git(crate::path::parent(ground.path)).is_some_and(|git| git.root != "/");
    ground.world.look(ground.path).kind == Kind::Missing
        && !in_home()
        && ground.world.is_own_temporary(ground.path)
        && (in_made() || (!inner.split('/').any(meeting::is_met) && !in_repository()))
}

fn elsewhere(ground: &Ground) -> Location {
    if let Some(home) = ground.world.home() {
        if ground.is_at(home) {
            return at(Scope::OtherRepo, Reach::Machine, &[Mark::HomeRoot]);
        }
        if ground.is_below(home) {
            return at(Scope::OtherRepo, Reach::Machine, &[]);
        }
        if under(&ground.root(home), ground.path) {
            return at(Scope::System, Reach::Machine, &[Mark::HomeRoot, Mark::SystemDirectory]);
        }
    }
    let mut components = ground.folded.trim_start_matches('/').split('/');
    let first = components.next().unwrap_or_default();
    let second = components.next();
    match first {
        "home" | "users" if second.is_none() => {
            at(Scope::System, Reach::Machine, &[Mark::HomeRoot, Mark::SystemDirectory])
        }
        "home" | "users" if components.next().is_none() => at(Scope::System, Reach::Machine, &[Mark::HomeRoot]),
        "home" | "users" => at(Scope::System, Reach::Machine, &[]),
        _ if system::is_system(first, second) => at(Scope::System, Reach::Machine, &[Mark::SystemDirectory]),
        _ => at(Scope::OtherRepo, Reach::Machine, &[]),
    }
}

/// Where the part below a home directory begins: the user's own, or what is a home by its place.
fn home_start(ground: &Ground) -> Option<usize> {
    if let Some(home) = ground.home.as_ref().filter(|home| under(ground.folded, home)) {
        return Some(home.trim_end_matches('/').len() + 1);
    }
    for homes in ["/home/", "/users/", "c:/users/"] {
        if let Some(rest) = ground.folded.strip_prefix(homes) {
            return rest.find('/').map(|end| homes.len() + end + 1);
        }
    }
    ["/root/", "/var/root/"].iter().find(|home| ground.folded.starts_with(**home)).map(|home| home.len())
}

fn at(scope: Scope, reach: Reach, marks: &[Mark]) -> Location {
    let marks = marks.iter().copied().collect();
    Location { scope, reach, marks, temporary: false, project: None, home: None }
}
