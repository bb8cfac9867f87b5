//! How many files of a project import a file: a bounded scan of the first lines of tracked sources.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use doorward_engine::imports::{EVERYWHERE, HEAD, Imported, WIDELY};

use crate::machine::world::bounds;
use crate::memory::world::disk::DiskWorld;

/// The first lines of files, read once for a call that changes several.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    heads: RefCell<BTreeMap<String, Option<Rc<str>>>>,
    counted: Cell<usize>,
}

impl Sources {
    /// The dependents of a file; `None` if the project has no index, or too many sources to read and few dependents so far. If
    /// the scan ends early, the count is what was found until then.
    pub(crate) fn count(&self, path: &str, world: &DiskWorld) -> Option<u32> {
        self.counted.set(self.counted.get() + 1);
        if self.counted.get() > bounds::COUNTED {
            return None;
        }
        let repository = world.repository(Path::new(path).parent()?.to_str()?)?;
        let root = repository.root();
        let below = path.strip_prefix(root)?.trim_start_matches('/');
        let wanted = import_of(root, below)?;
        let (mut looked, mut count) = (0, 0);
        for (other, ..) in repository.index()?.entries() {
            let Some(other) = std::str::from_utf8(other).ok().filter(|other| wanted.may_be_imported_by(other)) else {
                continue;
            };
            looked += 1;
            if looked > bounds::SOURCES {
                return Some(count).filter(|count| *count >= WIDELY);
            }
            let head = self.head(root, other);
            count += u32::from(head.is_some_and(|head| wanted.is_imported_by(other, &head)));
            // More of them would not matter, and scanning on would only cost time.
            if count >= EVERYWHERE * 2 {
                break;
            }
        }
        Some(count)
    }

    fn head(&self, root: &str, path: &str) -> Option<Rc<str>> {
        if let Some(known) = self.heads.borrow().get(path) {
            return known.clone();
        }
        let head = read(&Path::new(root).join(path));
        self.heads.borrow_mut().insert(path.to_owned(), head.clone());
        head
    }
}

/// The file, with its package name if code uses that instead of a path.
fn import_of(root: &str, below: &str) -> Option<Imported> {
    let file = Imported::at(below)?;
    if !file.is_root_of_package() {
        return Some(file);
    }
    let manifest = Path::new(root).join(below).parent()?.parent()?.join("Cargo.toml");
    let text = read(&manifest)?;
    let package = text.split("[package]").nth(1)?;
    let line =
        package.lines().find_map(|line| line.trim_start().strip_prefix("name")?.trim_start().strip_prefix('='))?;
    Some(file.of_package(line.trim().trim_matches(['"', '\''])))
}

/// The first bytes of a regular file as text; doesn't follow links and can't hang.
fn read(path: &Path) -> Option<Rc<str>> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(open(path, flags, Mode::empty()).ok()?);
    let mut bytes = Vec::new();
    file.take(HEAD as u64).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::paths::Dirs;
    use crate::policy::load::Loaded;

    struct House {
        base: tempfile::TempDir,
    }

    impl House {
        fn new(files: &[(String, String)]) -> House {
            let house = House { base: tempfile::tempdir().unwrap() };
            house.git(&["init", "-q"]);
            for (name, text) in files {
                let path = house.base.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            house.git(&["add", "."]);
            house
        }

        fn git(&self, words: &[&str]) {
            let ran = std::process::Command::new("git").current_dir(self.base.path()).args(words).status();
            assert!(ran.unwrap().success());
        }

        fn count(&self, name: &str) -> Option<u32> {
            use doorward_engine::Machine;
            let root = self.base.path().canonicalize().unwrap().to_str().unwrap().to_owned();
            let world = DiskWorld::new(&Dirs::at(&root), &root, Some(root.clone()), &Loaded::default());
            world.dependents(&format!("{root}/{name}"))
        }
    }

    fn users(count: usize, text: &str) -> Vec<(String, String)> {
        (0..count).map(|number| (format!("src/m{number:04}.rs"), text.to_owned())).collect()
    }

    #[test]
    fn the_files_that_import_a_file_are_counted() {
        let mut files = users(7, "use crate::path::join;\n");
        files.extend([
            ("src/path.rs".to_owned(), "pub fn join() {}\n".to_owned()),
            ("src/lone.rs".to_owned(), String::new()),
            ("src/lib.rs".to_owned(), "mod path;\nmod lone;\n".to_owned()),
            ("Cargo.toml".to_owned(), "[package]\nname = \"my-tool\"\n".to_owned()),
            ("src/main.rs".to_owned(), "use my_tool::run;\n".to_owned()),
            ("README.md".to_owned(), "crate::path::join\n".to_owned()),
        ]);
        let house = House::new(&files);
        assert_eq!(house.count("src/path.rs"), Some(8));
        assert_eq!(house.count("src/lone.rs"), Some(1));
        assert_eq!(house.count("src/lib.rs"), Some(1));
        assert_eq!(house.count("src/m0001.rs"), Some(0));
        assert_eq!(house.count("README.md"), None);
    }

    #[test]
    fn a_large_project_is_not_read_to_its_end() {
        let mut files = users(bounds::SOURCES + 50, "fn f() {}\n");
        files.push(("src/path.rs".to_owned(), String::new()));
        files.push(("src/a.rs".to_owned(), "use crate::path::x;\n".to_owned()));
        assert_eq!(House::new(&files).count("src/path.rs"), None, "not known");
        let mut files = users(bounds::SOURCES + 50, "use crate::path::x;\n");
        files.push(("src/path.rs".to_owned(), String::new()));
        assert_eq!(House::new(&files).count("src/path.rs"), Some(EVERYWHERE * 2), "enough were seen");
    }

    #[test]
    fn links_and_pipes_in_the_place_of_sources_are_not_read() {
        let house = House::new(&[
            ("src/path.rs".to_owned(), String::new()),
            ("src/a.rs".to_owned(), String::new()),
            ("src/b.rs".to_owned(), String::new()),
            ("outside".to_owned(), "use crate::path::x;\n".to_owned()),
        ]);
        let at = |name: &str| house.base.path().join(name);
        std::fs::remove_file(at("src/a.rs")).unwrap();
        std::os::unix::fs::symlink(at("outside"), at("src/a.rs")).unwrap();
        std::fs::remove_file(at("src/b.rs")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("src/b.rs")).status().unwrap().success());
        assert_eq!(house.count("src/path.rs"), Some(0));
    }
}
