//! Which class of place a path is: system, credential store, shell profile, manifest and so on.

mod cache;
mod class;
mod copies;
mod fold;
mod link_targets;
mod loaded;
mod location;
mod meeting;
mod names;
mod shapes;
mod system;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod under_home;
pub(crate) use system::is_harmless_device;

pub(crate) use cache::{is_cache, is_installed};
use class::{Class, Holds};
use doorward_vocabulary::{Mark, Marks, Reach, Scope, Sensitivity};
pub use loaded::loads_by_itself;
use location::{Ground, Location, locate};

use crate::world::{Kind, World};

/// What is known about a path from its text and the machine's roots alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub scope: Scope,
    pub reach: Reach,
    pub marks: Marks,
    pub sensitivity: Sensitivity,
}

/// Classifies an absolute path whose dots and links are resolved.
///
/// Names are compared folded: no case, invisible character, trailing dot, stream or short name hides one.
pub(crate) fn classify(path: &str, world: &dyn World) -> Place {
    let folded = fold::fold(path);
    let mut place = match Alias::of(&folded.text) {
        Alias::Harmless => mild(Scope::Scratch, Reach::Workspace),
        Alias::Device => marked(Mark::Device),
        Alias::Secret => Place { sensitivity: Sensitivity::Credential, ..marked(Mark::ProcAlias) },
        Alias::Process => marked(Mark::ProcAlias),
        Alias::Rooted(rest) => {
            let mut place = classify_plain(rest, rest, world);
            place.marks.add(Mark::ProcAlias);
            place
        }
        Alias::None => classify_plain(path, &folded.text, world),
    };
    if folded.hidden {
        place.marks.add(Mark::Hidden);
    }
    place
}

/// What a path holds, from its text and the machine's roots alone.
pub fn place_of(path: &str, world: &dyn World) -> Sensitivity {
    classify(path, world).sensitivity
}

/// Whether tools fill it again by themselves.
pub fn is_tool_cache(path: &str, home: Option<&str>) -> bool {
    is_cache(path, home)
}

/// A directory whose programs belong to the system.
pub(crate) fn is_program_directory(path: &str) -> bool {
    ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"]
        .iter()
        .any(|directory| path.strip_prefix(directory).is_some_and(|name| !name.contains('/')))
}

/// What a path below `/dev` or `/proc` really is.
enum Alias<'a> {
    None,
    Harmless,
    Device,
    /// Another name of this path.
    Rooted(&'a str),
    /// Memory or environment of a process.
    Secret,
    Process,
}

impl Alias<'_> {
    fn of(folded: &str) -> Alias<'_> {
        if system::is_harmless_device(folded) {
            return Alias::Harmless;
        }
        if folded.starts_with("/dev/") && !folded.starts_with("/dev/shm") {
            return Alias::Device;
        }
        let Some((process, rest)) = folded.strip_prefix("/proc/").and_then(|rest| rest.split_once('/')) else {
            return Alias::None;
        };
        if !(matches!(process, "self" | "thread-self") || process.bytes().all(|byte| byte.is_ascii_digit())) {
            return Alias::None;
        }
        let rest = rest.strip_prefix("task/").and_then(|rest| rest.split_once('/')).map_or(rest, |(_, inner)| inner);
        match rest.split('/').next().unwrap_or(rest) {
            "environ" | "mem" | "auxv" | "pagemap" => Alias::Secret,
            "root" => match rest.strip_prefix("root").filter(|rest| rest.len() > 1) {
                Some(inner) if !inner.starts_with("/proc/") => Alias::Rooted(inner),
                Some(_) => Alias::Process,
                None => Alias::Rooted("/"),
            },
            "cwd" | "fd" | "exe" | "map_files" | "cmdline" | "maps" => Alias::Process,
            _ => Alias::None,
        }
    }
}

fn mild(scope: Scope, reach: Reach) -> Place {
    Place { scope, reach, marks: Marks::default(), sensitivity: Sensitivity::None }
}

fn marked(mark: Mark) -> Place {
    let mut place = mild(Scope::System, Reach::Machine);
    place.marks = place.marks.with(mark).with(Mark::SystemDirectory).with(Mark::OutsideProject);
    place
}

/// A device, also one that only passes data on: whoever removes or replaces it takes it from every program.
pub(crate) fn device() -> Place {
    marked(Mark::Device)
}

fn classify_plain(path: &str, folded: &str, world: &dyn World) -> Place {
    let location = locate(&Ground::new(path, folded, world));
    let place =
        Place { scope: location.scope, reach: location.reach, marks: location.marks, sensitivity: Sensitivity::None };
    let mut finder = Finder { folded, location, place };
    finder.by_system();
    finder.by_home();
    finder.by_components();
    finder.by_name();
    link_targets::by_environment(folded, place.scope, world, |class| finder.add(class, 0));
    finder.by_settings(world);
    finder.by_word(path, world);
    let mut place = finder.place;
    if place.sensitivity == Sensitivity::None {
        add_original(&mut place, folded, world);
    }
    place
}

/// A copy of a secret is one, whatever was put behind its name.
fn add_original(place: &mut Place, folded: &str, world: &dyn World) {
    let start = folded.rfind('/').map_or(0, |at| at + 1);
    let (Some(directory), Some(name)) = (folded.get(..start), folded.get(start..)) else { return };
    let Some(kept) = copies::original(name) else { return };
    let kept = format!("{directory}{kept}");
    let original = classify_plain(&kept, &kept, world);
    if original.sensitivity > Sensitivity::None {
        place.sensitivity = original.sensitivity;
        place.reach = place.reach.max(original.reach);
        let copied = [Mark::CredentialStore, Mark::DotEnv, Mark::SshMaterial];
        copied.iter().filter(|mark| original.marks.has(**mark)).for_each(|mark| place.marks.add(*mark));
    }
}

/// Where the secrets of a home and a project usually lie, to be compared with files that have several names.
pub(crate) fn usual_secrets(world: &dyn World) -> Vec<String> {
    // A hard link to a secret has an innocent name. Comparing with these few files finds it without reading the tree.
    const OF_PROJECT: &[&str] =
        &[".env", ".env.local", ".env.production", ".npmrc", "secrets.yaml", "credentials.json"];
    let home = world.home().into_iter().flat_map(|home| {
        let names = under_home::HOME
            .secret_names()
            .chain(under_home::ANYWHERE.secret_names())
            .chain(names::NAMES.secret_names());
        names.chain([".ssh", ".npmrc", ".env"]).map(move |name| crate::path::join(home, name))
    });
    let project = world.project().into_iter();
    home.chain(project.flat_map(|project| OF_PROJECT.iter().map(move |name| crate::path::join(project, name))))
        .collect()
}

/// The directory is called by the secrets in it: `secrets/`, `~/.secret`.
pub(crate) fn is_secret_folder(directory: &str, world: &dyn World) -> bool {
    let folded = fold::fold(directory);
    let location = locate(&Ground::new(directory, &folded.text, world));
    let inner = location.project.and_then(|start| folded.text.get(start..));
    let below_home = location.home.and_then(|start| folded.text.get(start..));
    let rest = inner.or(below_home).filter(|_| !location.temporary);
    rest.is_some_and(|rest| copies::is_secret_folder(rest.trim_end_matches('/'), inner.is_some()))
}

/// Below this directory lie secrets of the system or of other users, whoever may read them.
pub(crate) fn holds_system_secrets(directory: &str) -> bool {
    let folded = fold::fold(directory);
    let path = folded.text.trim_matches('/');
    let mut parts = path.split('/');
    match (parts.next().unwrap_or_default(), parts.next(), parts.next()) {
        ("proc", None, _) => true,
        ("proc", Some(process), None) => process == "self" || process.bytes().all(|byte| byte.is_ascii_digit()),
        ("root", None, _) | ("home" | "users", None, _) => true,
        ("home" | "users", Some(user), None) => !user.contains('.'),
        // Settings of another user.
        ("root", Some(first), _) | ("home" | "users", Some(_), Some(first)) => {
            first.starts_with('.') || first == "library"
        }
        _ => system::has_secrets_below(path),
    }
}

/// Collects what the tables say about one path.
struct Finder<'a> {
    folded: &'a str,
    location: Location,
    place: Place,
}

impl Finder<'_> {
    fn by_system(&mut self) {
        let rest = self.folded.trim_start_matches('/');
        let mut components = rest.split('/');
        if !system::is_system(components.next().unwrap_or_default(), components.next()) {
            return;
        }
        if let Some((class, _)) = system::SYSTEM.find_above(rest, system::DEPTH) {
            self.add(class, 0);
        }
        let session = rest.strip_prefix("run/user/").and_then(|rest| rest.split_once('/'));
        if let Some((_, inner)) = session {
            self.by_session_socket(inner);
        }
    }

    /// Sockets of the user's session below `/run/user/N`.
    fn by_session_socket(&mut self, inner: &str) {
        let class = match inner.split('/').next().unwrap_or(inner) {
            "doorward" | "doorward.sock" => &class::GUARD,
            "keyring" | "gnupg" | "ssh-agent" | "openssh_agent" | "gcr" => &class::KEY,
            "bus" | "systemd" | "docker.sock" | "docker" | "podman" => &class::SPECIAL,
            _ => return,
        };
        self.add(class, 0);
    }

    fn by_home(&mut self) {
        let Some(start) = self.location.home else { return };
        let Some(rest) = self.folded.get(start..) else { return };
        if let Some((class, _)) = under_home::HOME.find_above(rest, under_home::DEPTH) {
            self.add(class, start);
        }
        if rest.starts_with("library/") || rest.starts_with("appdata/") {
            self.by_entry(start);
        }
    }

    fn by_components(&mut self) {
        let is_definition = shapes::is_definition(self.folded);
        let mut start = 0;
        for component in self.folded.as_bytes().split(|byte| *byte == b'/') {
            match component {
                [b'.', _, ..] | b"node_modules" | b"venv" | b"vendor" => self.by_entry(start),
                [_, .., b'.', b'g', b'i', b't'] => self.by_bare_repository(start + component.len(), start),
                _ if is_definition && shapes::is_infrastructure(component) => self.add(&class::INFRASTRUCTURE, start),
                _ => {}
            }
            start += component.len() + 1;
        }
    }

    /// The entry that begins at this component, the longest one that fits.
    fn by_entry(&mut self, start: usize) {
        let Some(rest) = self.folded.get(start..) else { return };
        let Some((class, length)) = under_home::ANYWHERE.find_above(rest, under_home::DEPTH) else { return };
        let inner = rest.get(length..).unwrap_or_default();
        let class = if *class == class::AGENT && !inner.is_empty() {
            under_home::agent_part(rest.get(..length).unwrap_or_default(), inner.trim_start_matches('/'))
        } else if *class == class::SSH_KEY && rest.ends_with(".pub") {
            Some(&class::SSH)
        } else if *class == class::GIT && inner.split('/').any(|part| part == "hooks") {
            Some(&class::GIT_OWN_HOOK)
        } else if *class == class::GIT && (inner.ends_with("/config") || inner.ends_with("/config.worktree")) {
            Some(&class::GIT_CONFIG)
        } else {
            Some(class)
        };
        if let Some(class) = class {
            self.add(class, start);
        }
    }

    /// A repository without a work tree, by the usual name of its directory.
    fn by_bare_repository(&mut self, end: usize, start: usize) {
        let inner = self.folded.get(end..).unwrap_or_default().trim_start_matches('/');
        let class = match inner.split('/').next().unwrap_or_default() {
            "hooks" => &class::GIT_OWN_HOOK,
            "config" => &class::GIT_CONFIG,
            "" | "head" | "objects" | "refs" | "info" | "packed-refs" | "worktrees" | "modules" => &class::GIT,
            _ => return,
        };
        self.add(class, start);
    }

    fn by_name(&mut self) {
        let start = self.folded.rfind('/').map_or(0, |at| at + 1);
        let Some(name) = self.folded.get(start..).filter(|name| !name.is_empty()) else { return };
        if let Some(class) = names::NAMES.find(name).or_else(|| shapes::shape(name)) {
            self.add(class, start);
        }
        let is_home = self.location.home == Some(start);
        if is_home && matches!(name, ".npmrc" | ".yarnrc.yml" | ".yarnrc") {
            self.add(&class::CREDENTIAL, start);
        }
    }

    /// `credentials`, `secrets/db.yml`: no tool is known for it, but the word says it.
    fn by_word(&mut self, path: &str, world: &dyn World) {
        if self.place.sensitivity > Sensitivity::None || self.location.temporary {
            return;
        }
        let inner = self.location.project.and_then(|start| self.folded.get(start..));
        let below_home = self.location.home.and_then(|start| self.folded.get(start..));
        let Some(rest) = inner.or(below_home) else { return };
        if !self.in_fixtures() && copies::is_list_of_people(crate::path::name(rest)) {
            self.add(&class::PEOPLE, 0);
        }
        let is_secret = copies::is_called_secret(rest, inner.is_some());
        if is_secret && world.look(path).kind != Kind::Directory {
            self.add(&class::CALLED_SECRET, 0);
        }
    }

    fn by_settings(&mut self, world: &dyn World) {
        let settings = world.settings();
        let lists = [(&settings.protected_paths, Mark::ProtectedPath), (&settings.denied_paths, Mark::DeniedPath)];
        for (patterns, mark) in lists {
            if patterns.iter().any(|pattern| link_targets::matches(pattern, self.folded, world)) {
                self.place.marks.add(mark);
            }
        }
    }

    fn in_fixtures(&self) -> bool {
        let inner = self.location.project.and_then(|start| self.folded.get(start..));
        inner.is_some_and(|inner| inner.split('/').any(shapes::is_fixtures))
    }

    /// Adds what a class says, as far as it counts where the path lies.
    fn add(&mut self, class: &'static Class, start: usize) {
        let in_project = self.location.project.is_some_and(|inner| start >= inner);
        let is_live = self.location.home == Some(start) || !in_project;
        let class = match class.holds {
            Holds::OutsideTemp | Holds::Live if self.location.temporary => return,
            Holds::Live if !is_live => &class::COPY,
            Holds::OutsideFixtures if self.in_fixtures() => &class::FIXTURE,
            Holds::Everywhere | Holds::OutsideTemp | Holds::Live | Holds::OutsideFixtures => class,
        };
        class.marks.iter().for_each(|mark| self.place.marks.add(*mark));
        self.place.reach = self.place.reach.max(class.reach);
        self.place.sensitivity = self.place.sensitivity.max(class.sensitivity);
    }
}
