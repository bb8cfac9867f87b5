//! Whether one source file of a project imports another, read from its first lines, language by language.
//!
//! It weighs and never decides, so a guess that is right most of the time is enough: nothing is compiled or resolved.

mod languages;
#[cfg(test)]
mod tests;

use crate::path::{join, lexical, name, parent};

/// From so many dependents on a file is widely imported.
// Below this a mistake mostly shows up in the file's own tests. Decision 0026.
pub const WIDELY: u32 = 5;

/// From so many on it is imported everywhere.
// A change here reaches most of a middle-sized project at once.
pub const EVERYWHERE: u32 = 20;

/// Imports stand at the top of a file; so many bytes of it are read.
// Counting reads thousands of files while the agent waits; imports after the first screens are rare and only
// undercounted.
pub const HEAD: usize = 16 * 1024;

/// Languages whose imports name files or modules of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Rust,
    JavaScript,
    Python,
    Go,
    C,
    Java,
    Ruby,
    Php,
}

// Languages whose imports can be matched by name without resolving packages. Vue, Svelte and Astro files import like
// JavaScript.
const ENDINGS: &[(Language, &[&str])] = &[
    (Language::Rust, &["rs"]),
    (Language::JavaScript, &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "astro"]),
    (Language::Python, &["py", "pyi"]),
    (Language::Go, &["go"]),
    (Language::C, &["h", "hpp", "hh", "hxx", "inl", "c", "cc", "cpp", "cxx", "m", "mm", "cu", "cuh"]),
    (Language::Java, &["java", "kt", "kts", "scala", "groovy"]),
    (Language::Ruby, &["rb"]),
    (Language::Php, &["php"]),
];

/// A source file whose dependents somebody counts.
#[derive(Clone, Debug)]
pub struct Imported {
    language: Language,
    /// Below the root of the project, with a slash before it.
    path: String,
    /// The path without its ending, or without the name that stands for its directory.
    bare: String,
    /// What every file that imports it has to mention.
    word: String,
    /// The name of the package whose root it is.
    package: Option<String>,
}

impl Imported {
    /// The file at this path below the root of its project; `None` if nothing imports files of its kind.
    pub fn at(path: &str) -> Option<Imported> {
        let language = language(path)?;
        let path = format!("/{}", path.trim_start_matches('/'));
        let bare = bare(&path, language);
        let word = match language {
            Language::C => name(&path).to_owned(),
            Language::Go => name(parent(&path)).to_owned(),
            Language::Rust
            | Language::JavaScript
            | Language::Python
            | Language::Java
            | Language::Ruby
            | Language::Php => name(&bare).to_owned(),
        };
        Some(Imported { language, path, bare, word, package: None })
    }

    /// The file is what others get who name its package, so that no path names it: `lib.rs` of a crate.
    pub fn is_root_of_package(&self) -> bool {
        self.language == Language::Rust && self.path.ends_with("/src/lib.rs")
    }

    /// The same with the name of the package that it is the root of, as code spells it.
    #[must_use]
    pub fn of_package(mut self, package: &str) -> Imported {
        let package = package.replace('-', "_");
        self.word.clone_from(&package);
        self.package = Some(package);
        self
    }

    /// A file at this path is written in the same language.
    pub fn may_be_imported_by(&self, other: &str) -> bool {
        language(other) == Some(self.language) && self.path.trim_start_matches('/') != other
    }

    /// The file at `other`, which begins with this text, imports it.
    pub fn is_imported_by(&self, other: &str, text: &str) -> bool {
        if self.word.is_empty() || !text.contains(self.word.as_str()) {
            return false;
        }
        let other = format!("/{}", other.trim_start_matches('/'));
        match self.language {
            Language::Rust => languages::rust(self, &other, text),
            Language::JavaScript => languages::javascript(self, &other, text),
            Language::Python => languages::python(self, &other, text),
            Language::Go => languages::go(self, &other, text),
            Language::C => languages::c(self, &other, text),
            Language::Java => languages::java(self, text),
            Language::Ruby => languages::ruby(self, &other, text),
            Language::Php => languages::php(self, text),
        }
    }

    /// `a/b` names the file by the end of its path.
    fn ends_with(&self, named: &str) -> bool {
        let named = named.trim_matches('/');
        !named.is_empty() && self.bare.strip_suffix(named).is_some_and(|rest| rest.ends_with('/'))
    }
}

fn language(path: &str) -> Option<Language> {
    let (_, ending) = name(path).rsplit_once('.')?;
    ENDINGS.iter().find(|(_, endings)| endings.contains(&ending)).map(|(language, _)| *language)
}

/// The path as code names it: `a/index.ts` and `a/__init__.py` are `a`.
fn bare(path: &str, language: Language) -> String {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let stands_for_directory = match (language, name(stem)) {
        (Language::JavaScript, "index") | (Language::Python, "__init__") | (Language::Rust, "mod" | "lib" | "main") => {
            true
        }
        (_, _) => false,
    };
    if stands_for_directory { parent(stem).to_owned() } else { stem.to_owned() }
}

/// A path that is written relative to the file that names it.
fn resolved(other: &str, named: &str) -> String {
    lexical(&join(parent(other), named))
}
