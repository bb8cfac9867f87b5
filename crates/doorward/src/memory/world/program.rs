//! Which file a program name stands for, and whether that file is one the user knows.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

use doorward_engine::{Identity, REBUILDABLE};

use crate::machine::world::directory_cache::DirectoryCache;
use crate::machine::world::ownership;
use crate::machine::world::ownership::belongs_to_system;
use crate::policy::trust::PinnedFile;
use crate::policy::trust::inventory::{Inventory, TOOL_CHAINS};

/// Directories whose programs belong to the system, if only the system can change them.
// Only where they belong to root all the way up: a directory that the user can write is where malware would go.
const SYSTEM: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/lib",
    "/usr/libexec",
    "/usr/local/lib",
    "/usr/games",
    "/usr/share",
    "/opt/homebrew/bin",
    "/opt/homebrew/Cellar",
    "/snap/bin",
    "/nix/store",
    "/run/current-system/sw/bin",
];

/// Directories of package managers that belong to a user of the machine.
// They belong to whoever installed them and not to root, so ownership alone would make their programs strangers.
const SHARED_TOOL_CHAINS: &[&str] =
    &["/opt/homebrew", "/home/linuxbrew/.linuxbrew", "/usr/local/Cellar", "/opt/local", "/nix", "/gnu/store", "/snap"];

/// What decides whether a program is trusted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramContext<'a> {
    pub cwd: &'a str,
    pub project: Option<&'a str>,
    pub home: Option<&'a str>,
    /// Toolchain directories the user named.
    pub directories: &'a [String],
    /// Programs the user trusted, by real path.
    pub binaries: &'a BTreeMap<String, PinnedFile>,
    pub system: &'a SystemDirectories,
    /// The list of toolchain programs.
    pub inventory: &'a Inventory,
    /// Programs count only by hash, wherever they are: the strict profile.
    pub by_hash_alone: bool,
}

/// Which directories belong to the system, and what those on the search path contain, looked up once each.
#[derive(Debug, Default)]
pub(crate) struct SystemDirectories {
    known: RefCell<BTreeMap<OsString, bool>>,
    listings: DirectoryCache,
}

impl SystemDirectories {
    /// A system directory, reached without any link, that only the system can change.
    fn include(&self, directory: &Path) -> bool {
        if let Some(known) = self.known.borrow().get(directory.as_os_str()) {
            return *known;
        }
        let includes = SYSTEM.iter().any(|system| directory.starts_with(system))
            && directory.canonicalize().is_ok_and(|real| real == directory)
            && belongs_to_system(directory);
        self.known.borrow_mut().insert(directory.as_os_str().to_owned(), includes);
        includes
    }
}

/// Finds and classifies a program: a name is searched for in `path`, a path is taken as it is.
pub(crate) fn identify(name: &str, path: Option<&str>, known: &ProgramContext<'_>) -> Identity {
    if name.contains('/') {
        return if is_program(Path::new(name)) { classify(Path::new(name), known) } else { Identity::Missing };
    }
    let Some(path) = path else { return Identity::Missing };
    let mut seen: Vec<&str> = Vec::new();
    for directory in path.split(':') {
        // Start-up files often add a directory twice; looking again finds nothing new.
        if seen.contains(&directory) {
            continue;
        }
        seen.push(directory);
        // An empty or relative entry means wherever the command happens to run.
        let directory = match Path::new(directory) {
            directory if directory.is_absolute() => Cow::Borrowed(directory),
            directory => Cow::Owned(Path::new(known.cwd).join(directory)),
        };
        if !known.system.listings.may_hold(&directory, name) {
            continue;
        }
        let candidate = directory.join(name);
        match candidate.symlink_metadata() {
            // The common case: no link anywhere, so one lookup is enough.
            Ok(found) if is_executable(&found) && is_plainly_system(&candidate, &found, known) => {
                return Identity::Trusted(candidate.to_string_lossy().into_owned());
            }
            Ok(_) if is_program(&candidate) => return classify(&candidate, known),
            Ok(_) | Err(_) => known.system.listings.missed(&directory),
        }
    }
    Identity::Missing
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| is_executable(&found))
}

fn is_executable(found: &Metadata) -> bool {
    found.is_file() && found.mode() & 0o111 != 0
}

/// What `classify` finds out about a regular system file, with fewer lookups.
fn is_plainly_system(path: &Path, found: &Metadata, known: &ProgramContext<'_>) -> bool {
    !known.by_hash_alone
        && is_plain(path)
        && ownership::is_systems(found)
        && !path.to_str().is_some_and(|path| known.binaries.contains_key(path))
        && known.project.is_none_or(|project| project == "/" || !path.starts_with(project))
        && path.parent().is_some_and(|directory| known.system.include(directory))
}

fn classify(path: &Path, known: &ProgramContext<'_>) -> Identity {
    let shown = || path.to_string_lossy().into_owned();
    let Ok(real) = path.canonicalize() else { return Identity::Unlisted(shown()) };
    let lies_in = |directory: &str| path.starts_with(directory) || real.starts_with(directory);
    let pinned = real.to_str().and_then(|real| known.binaries.get(real));
    let in_project = known.project.is_some_and(|project| project != "/" && lies_in(project));
    // A build keeps recreating its output; whoever pinned it meant the program, not its content.
    if in_project && !known.by_hash_alone && (pinned.is_none() || is_built(path)) {
        return Identity::Project(shown());
    }
    if let Some(pinned) = pinned {
        return match pinned.is_same(&real) {
            true if in_project && !known.by_hash_alone => Identity::Project(shown()),
            true => Identity::Trusted(shown()),
            // The toolchain may have been listed again since.
            false if known.inventory.knows(path, &real) => Identity::Trusted(shown()),
            false if is_managed(path, &real, known) => Identity::Changed(shown()),
            false => Identity::Exchanged(shown()),
        };
    }
    if known.by_hash_alone {
        return Identity::Unlisted(shown());
    }
    if is_plain(path) && [path, real.as_path()].iter().all(|path| is_system(path)) {
        return Identity::Trusted(shown());
    }
    let is_named = is_plain(path) && known.directories.iter().any(|directory| path.starts_with(directory));
    if !is_named && !known.home.is_some_and(|home| is_tool_chain(path, &real, home)) {
        return Identity::Unlisted(shown());
    }
    // Without a list nothing is listed: a lost list must not trust everything.
    if known.inventory.knows(path, &real) { Identity::Trusted(shown()) } else { Identity::Changed(shown()) }
}

/// A package manager maintains the file: its updates change the content and must not lock the user out.
fn is_managed(path: &Path, real: &Path, known: &ProgramContext<'_>) -> bool {
    let home = known.home.map(Path::new);
    let in_home = |real: &Path| {
        home.is_some_and(|home| TOOL_CHAINS.iter().any(|directory| real.starts_with(home.join(directory))))
    };
    let lies = SYSTEM.iter().chain(SHARED_TOOL_CHAINS).any(|directory| real.starts_with(directory))
        || in_home(real)
        || known.directories.iter().any(|directory| real.starts_with(directory));
    // If everyone can write there, no package manager vouches for anything.
    let is_guarded = |path: &Path| path.metadata().is_ok_and(|found| found.mode() & 0o002 == 0);
    is_plain(path) && lies && is_guarded(real) && real.parent().is_some_and(is_guarded)
}

/// The file is in a build output directory.
fn is_built(path: &Path) -> bool {
    path.components().any(|part| REBUILDABLE.iter().any(|name| part.as_os_str() == *name))
}

/// The program is in one of the user's toolchain directories, and only the user can change it.
fn is_tool_chain(path: &Path, real: &Path, home: &str) -> bool {
    let home = Path::new(home);
    let lies = |path: &Path| TOOL_CHAINS.iter().any(|directory| path.starts_with(home.join(directory)));
    let owner = home.metadata().map(|found| found.uid());
    let is_own = |path: &Path| {
        path.metadata().is_ok_and(|found| {
            found.mode() & 0o022 == 0 && owner.as_ref().is_ok_and(|owner| *owner == found.uid() || found.uid() == 0)
        })
    };
    is_plain(path) && lies(path) && is_own(path) && is_own(real) && path.parent().is_some_and(is_own)
}

fn is_plain(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::RootDir | Component::Normal(_)))
}

/// The file is in a system directory, and neither it nor its directory can be changed by others.
fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|directory| path.starts_with(directory))
        && belongs_to_system(path)
        && path.parent().is_some_and(belongs_to_system)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn tool(directory: &Path, name: &str) -> String {
        let path = directory.join(name);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[test]
    fn under_the_strict_profile_a_program_is_known_by_its_hash_alone() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().to_str().unwrap();
        let own = tool(base.path(), "own");
        let inventory = Inventory::open(&crate::machine::paths::Dirs::at(directory));
        let mut known = ProgramContext {
            cwd: "/",
            project: Some(directory),
            home: None,
            directories: &[directory.to_owned()],
            system: &SystemDirectories::default(),
            binaries: &BTreeMap::new(),
            inventory: &inventory,
            by_hash_alone: true,
        };
        assert!(matches!(identify("sh", Some("/usr/bin:/bin"), &known), Identity::Unlisted(_)));
        assert_eq!(identify(&own, None, &known), Identity::Unlisted(own.clone()));
        let shell = Path::new("/bin/sh").canonicalize().unwrap();
        let pin = |path: &Path| (path.to_str().unwrap().to_owned(), PinnedFile::of(path).unwrap());
        let real = Path::new(&own).canonicalize().unwrap();
        let binaries = BTreeMap::from([pin(&shell), pin(&real)]);
        known.binaries = &binaries;
        assert!(matches!(identify("sh", Some("/usr/bin:/bin"), &known), Identity::Trusted(_)));
        assert_eq!(identify(&own, None, &known), Identity::Trusted(own.clone()));
        std::fs::write(&real, "#!/bin/sh\nexit 1\n").unwrap();
        known.directories = &[];
        assert_eq!(identify(&own, None, &known), Identity::Exchanged(own));
    }

    #[test]
    fn a_program_that_a_person_trusted_is_another_one_when_its_bytes_change() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let project = home.join("project");
        let made = |directory: &str| {
            std::fs::create_dir_all(home.join(directory)).unwrap();
            tool(&home.join(directory), "tool")
        };
        let [own, chain, script, built] = ["bin", ".cargo/bin", "project/tools", "project/target/debug"].map(made);
        let dirs = crate::machine::paths::Dirs::at(home.to_str().unwrap());
        std::fs::create_dir_all(dirs.state()).unwrap();
        let inventory = Inventory::open(&dirs);
        let binaries: BTreeMap<String, PinnedFile> =
            [&own, &chain, &script, &built].map(|path| (path.clone(), PinnedFile::of(Path::new(path)).unwrap())).into();
        let known = ProgramContext {
            cwd: "/",
            project: project.to_str(),
            home: home.to_str(),
            directories: &[],
            system: &SystemDirectories::default(),
            binaries: &binaries,
            inventory: &inventory,
            by_hash_alone: false,
        };
        let of = |path: &String| identify(path, None, &known);
        assert_eq!(of(&own), Identity::Trusted(own.clone()));
        assert_eq!(of(&chain), Identity::Trusted(chain.clone()));
        assert_eq!(of(&script), Identity::Project(script.clone()));
        for path in [&own, &chain, &script, &built] {
            std::fs::write(path, "#!/bin/sh\nexit 1\n").unwrap();
        }
        assert_eq!(of(&own), Identity::Exchanged(own.clone()));
        assert_eq!(of(&script), Identity::Exchanged(script.clone()));
        assert_eq!(of(&built), Identity::Project(built.clone()), "a build changed it");
        assert_eq!(of(&chain), Identity::Changed(chain.clone()), "an update changed it");
        assert_eq!(inventory.make(&[chain.clone().into()]), Ok(1));
        assert_eq!(of(&chain), Identity::Trusted(chain.clone()), "listed again");
        let bin = home.join(".cargo/bin");
        tool(&bin, "tool");
        std::fs::write(&chain, "#!/bin/sh\nexit 2\n").unwrap();
        std::fs::set_permissions(&bin, PermissionsExt::from_mode(0o777)).unwrap();
        assert_eq!(of(&chain), Identity::Exchanged(chain.clone()), "everybody can write there");
    }

    #[test]
    fn a_program_is_known_by_where_it_lies() {
        let home = tempfile::tempdir().unwrap();
        let listed = tool(home.path(), "listed");
        let project = tempfile::tempdir().unwrap();
        let own = tool(project.path(), "cat");
        let directories = [home.path().to_str().unwrap().to_owned()];
        let project_path = project.path().to_str().unwrap();
        let dirs = crate::machine::paths::Dirs::at(home.path().to_str().unwrap());
        std::fs::create_dir_all(dirs.state()).unwrap();
        let inventory = Inventory::open(&dirs);
        let mut known = ProgramContext {
            cwd: "/",
            project: Some(project_path),
            home: None,
            directories: &directories,
            system: &SystemDirectories::default(),
            binaries: &BTreeMap::new(),
            inventory: &inventory,
            by_hash_alone: false,
        };
        let path = format!("{project_path}:{}:/usr/bin:/bin", directories[0]);
        let shell = identify("sh", Some("/usr/bin:/bin"), &known);
        assert!(matches!(shell, Identity::Trusted(_)), "{shell:?}");
        assert_eq!(identify("cat", Some(&path), &known), Identity::Project(own.clone()));
        assert_eq!(identify(&own, None, &known), Identity::Project(own));
        assert_eq!(identify("no-such-program", Some(&path), &known), Identity::Missing);
        assert_eq!(identify("listed", Some(&path), &known), Identity::Changed(listed.clone()), "there is no list");
        assert_eq!(inventory.make(&[listed.clone().into()]), Ok(1));
        assert_eq!(identify("listed", Some(&path), &known), Identity::Trusted(listed.clone()));
        known.directories = &[];
        assert_eq!(identify("listed", Some(&path), &known), Identity::Unlisted(listed));
        let chain = home.path().join(".cargo/bin");
        std::fs::create_dir_all(&chain).unwrap();
        let cargo = tool(&chain, "cargo");
        known.home = home.path().to_str();
        assert_eq!(identify("cargo", chain.to_str(), &known), Identity::Changed(cargo.clone()));
        assert_eq!(inventory.make(&[cargo.clone().into()]), Ok(1));
        assert_eq!(identify("cargo", chain.to_str(), &known), Identity::Trusted(cargo.clone()));
        std::fs::remove_dir_all(dirs.state().join("programs")).unwrap();
        assert_eq!(identify("cargo", chain.to_str(), &known), Identity::Changed(cargo.clone()), "the list is lost");
        std::fs::set_permissions(&cargo, PermissionsExt::from_mode(0o777)).unwrap();
        assert_eq!(identify("cargo", chain.to_str(), &known), Identity::Unlisted(cargo));
    }
}
