//! The list of toolchain programs outside the system directories, pinned by content hash.
//!
//! One authenticated file per program, so that a call reads only the entries of the programs it runs.

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use doorward_ledger::{State, StateKey, States};
use serde::{Deserialize, Serialize};

use super::pin::{PinnedFile, Sameness};
use crate::machine::paths::Dirs;

/// Directories below the home where toolchains put their programs.
// Installers write here without root. A program counts only once a person has listed it (`doorward trust tools`).
pub(crate) const TOOL_CHAINS: &[&str] = &[
    ".cargo/bin",
    ".rustup/toolchains",
    ".nvm/versions",
    ".local/bin",
    "go/bin",
    ".bun/bin",
    ".deno/bin",
    ".volta",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".local/share/mise",
    ".local/share/pnpm",
    ".npm-global",
    ".dotnet",
    ".sdkman",
    ".ghcup/bin",
    ".juliaup/bin",
    ".opam",
];

/// Names of program directories.
// Descending into every directory of a toolchain would list its tests and sources as programs.
const PLACES: &[&str] = &["bin", "sbin", "shims", "tools", ".dotnet", "pnpm"];

/// `.nvm/versions/node/v22/bin` and `.asdf/installs/ruby/3.3/bin` are four levels down.
const LEVELS: usize = 4;

/// More directories than toolchains have on those levels.
// Ends a walk into a cache with millions of directories; what was not reached stays unlisted and asks.
const DIRECTORIES: usize = 20_000;

/// More programs than anyone installs.
const PROGRAMS: usize = 10_000;

/// A program, by the path it is called by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ListedProgram {
    /// The file behind all links: a link that points elsewhere is another program.
    real: String,
    file: PinnedFile,
}

impl State for ListedProgram {
    const NAME: &'static str = "program";
}

/// The list on disk.
#[derive(Clone, Debug)]
pub(crate) struct Inventory {
    directory: PathBuf,
    key: PathBuf,
}

impl Inventory {
    pub(crate) fn open(dirs: &Dirs) -> Inventory {
        Inventory { directory: dirs.state().join("programs"), key: dirs.state().join("programs.key") }
    }

    /// The programs were listed; from then on doorward asks about unlisted ones.
    pub(crate) fn is_made(&self) -> bool {
        self.directory.is_dir()
    }

    /// The program is the one listed under this path. Nothing is hashed while the file system says the file is untouched; a
    /// touched file with the same content is listed again with its new times.
    pub(crate) fn knows(&self, path: &Path, real: &Path) -> bool {
        let Ok(key) = StateKey::load(&self.key) else { return false };
        let (Some(name), Some(real_name)) = (path.to_str(), real.to_str()) else { return false };
        let states = States::at(&self.directory, key);
        let Ok(Some(listed)) = states.find::<ListedProgram>(name) else { return false };
        if listed.real != real_name {
            return false;
        }
        match listed.file.compare(real) {
            Sameness::Untouched => true,
            Sameness::SameBytes(file) => {
                // If this can't be stored, the next call hashes again.
                let _ = states.replace(name, &ListedProgram { file, ..listed });
                true
            }
            Sameness::Different => false,
        }
    }

    /// Replaces the list with the programs as they are now; returns how many.
    pub(crate) fn make(&self, programs: &[PathBuf]) -> Result<usize, String> {
        let key = StateKey::load_or_create(&self.key).map_err(|error| error.to_string())?;
        self.clear()?;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)
            .map_err(|error| format!("`{}` can't be created: {error}", self.directory.display()))?;
        let states = States::at(&self.directory, key);
        let mut count = 0;
        for path in programs {
            let Some((name, listed)) = list_program(path) else { continue };
            states.replace(&name, &listed).map_err(|error| error.to_string())?;
            count += 1;
        }
        Ok(count)
    }

    fn clear(&self) -> Result<(), String> {
        match std::fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("`{}` can't be emptied: {error}", self.directory.display()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// A program that can't be read or whose name is not UTF-8 is not listed, so doorward asks about it.
fn list_program(path: &Path) -> Option<(String, ListedProgram)> {
    let real = path.canonicalize().ok()?;
    let file = PinnedFile::of(&real)?;
    Some((path.to_str()?.to_owned(), ListedProgram { real: real.to_str()?.to_owned(), file }))
}

/// The programs of the user's toolchains: in the given directories, and where toolchains are known to put them.
pub(crate) fn programs(home: &str, directories: &[String]) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = directories.iter().map(PathBuf::from).collect();
    let mut budget = DIRECTORIES;
    for chain in TOOL_CHAINS {
        below(&Path::new(home).join(chain), LEVELS, &mut budget, &mut dirs);
    }
    dirs.sort();
    dirs.dedup();
    let mut found: Vec<PathBuf> = dirs.iter().flat_map(|place| executables(place)).collect();
    found.truncate(PROGRAMS);
    found
}

/// Directories for programs at and below a directory, without following links.
fn below(directory: &Path, levels: usize, budget: &mut usize, dirs: &mut Vec<PathBuf>) {
    if directory.file_name().is_some_and(|name| PLACES.iter().any(|place| name == *place)) {
        dirs.push(directory.to_owned());
    }
    if levels == 0 {
        return;
    }
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if *budget == 0 {
            return;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            *budget -= 1;
            below(&entry.path(), levels - 1, budget, dirs);
        }
    }
}

fn executables(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_program = |path: &PathBuf| path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0);
    let mut found: Vec<PathBuf> = entries.filter(is_program).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn tool(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn knows(inventory: &Inventory, path: &Path) -> bool {
        inventory.knows(path, &path.canonicalize().unwrap())
    }

    #[test]
    fn a_listed_program_is_known_until_its_bytes_or_its_link_change() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let inventory = Inventory::open(&Dirs::at(home.to_str().unwrap()));
        std::fs::create_dir_all(home.join(".local/state/doorward")).unwrap();
        let (cargo, node) = (home.join(".cargo/bin/cargo"), home.join(".nvm/versions/node/v22/bin/node"));
        tool(&cargo, "one");
        tool(&node, "two");
        let link = home.join(".cargo/bin/link");
        symlink(&cargo, &link).unwrap();
        let found = programs(home.to_str().unwrap(), &[]);
        assert_eq!(found, [cargo.clone(), link.clone(), node.clone()]);
        assert!(!inventory.is_made() && !knows(&inventory, &cargo), "nothing is listed yet");
        assert_eq!(inventory.make(&found), Ok(3));
        assert!([&cargo, &node, &link].iter().all(|path| knows(&inventory, path)));

        tool(&cargo, "one");
        assert!(knows(&inventory, &cargo), "the bytes are the same");
        tool(&cargo, "six");
        assert!(!knows(&inventory, &cargo));
        std::fs::remove_file(&link).unwrap();
        symlink(&node, &link).unwrap();
        assert!(!knows(&inventory, &link), "another program under a listed name");
        let new = home.join(".cargo/bin/new");
        tool(&new, "new");
        assert!(!knows(&inventory, &new));
        assert_eq!(inventory.make(&programs(home.to_str().unwrap(), &[])), Ok(4));
        assert!(knows(&inventory, &new) && knows(&inventory, &cargo));
        assert_eq!(inventory.make(&[]), Ok(0));
        assert!(inventory.is_made() && !knows(&inventory, &cargo), "an empty list knows nothing");
    }

    #[test]
    fn a_forged_entry_lists_nothing() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let inventory = Inventory::open(&Dirs::at(home.to_str().unwrap()));
        std::fs::create_dir_all(home.join(".local/state/doorward")).unwrap();
        let tools = [home.join("bin/aaaa"), home.join("bin/bbbb")];
        tools.iter().for_each(|path| tool(path, "same"));
        assert_eq!(inventory.make(&tools[..1]), Ok(1));
        let entry = std::fs::read_dir(home.join(".local/state/doorward/programs")).unwrap().next().unwrap().unwrap();
        let forged = std::fs::read(entry.path()).unwrap();
        let text = String::from_utf8_lossy(&forged).replace("aaaa", "bbbb");
        std::fs::write(entry.path(), text).unwrap();
        assert!(!knows(&inventory, &tools[0]) && !knows(&inventory, &tools[1]));
    }
}
