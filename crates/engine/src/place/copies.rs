//! Names that say what a file is without any table: copies of known files, bare words for secrets, folders of them.

/// What editors, people and programs put behind a name when they keep the file that was there.
// `.env.bak` holds the same secret as `.env`, and is seldom ignored by git.
const BEHIND: &[&str] = &[
    "~",
    ".bak",
    ".bkp",
    ".back",
    ".backup",
    ".old",
    ".orig",
    ".original",
    ".save",
    ".saved",
    ".swp",
    ".swo",
    ".swn",
    ".tmp",
    ".copy",
    ".prev",
    ".previous",
    ".disabled",
    ".dist-old",
    "_bak",
    "_old",
    "_backup",
    "_copy",
    "-bak",
    "-old",
    "-backup",
    "-copy",
    ".gz",
    ".bz2",
    ".xz",
    ".zst",
    ".zip",
    ".gpg",
    ".asc",
    ".enc",
    ".age",
    " copy",
    "#",
];

/// Bare names that people and tools give to files which hold one secret.
// Without an ending: with one (`token.rs`) the file is about tokens.
const SECRETS: &[&str] = &[
    "credentials",
    "credential",
    "creds",
    "token",
    "tokens",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "api_token",
    "api-token",
    "apitoken",
    "access_token",
    "access-token",
    "auth_token",
    "auth-token",
    "refresh_token",
    "bearer_token",
    "private_key",
    "privatekey",
    "secret_key",
    "password",
    "passwords",
    "passphrase",
    "authtoken",
];

/// Words in the name of a file of data that say what it holds: `api_tokens.json`, `db-credentials.ini`.
const TOLD: &str = "credentials credential creds secret secrets password passwords passwd passphrase apikey apikeys \
    token tokens";

/// Words beside them that make it something else.
// Design tokens, tokens of a language model, policies and lists about secrets are read all day.
const ABOUT: &str = "design color colors theme style styles special added tokenizer tokenization vocab map schema \
    template policy rules lint baseline rotation reset css syntax lexer parser grammar type types max count usage \
    common wordlist blacklist denylist external sealed store example examples sample test tests fixture mock page \
    form strength generator manager tailwind figma ui list";

/// Endings of files that hold data rather than text about it.
const DATA: &str = "txt json yaml yml ini toml cfg conf env csv properties xml plist dat";

/// Lists of people: `customers.csv`, `payroll-2024.xlsx`.
const PEOPLE: &str = "customer customers patient patients employee employees payroll salaries salary subscribers \
    contacts members pii personal passengers applicants candidates donors voters users accounts addresses emails \
    beneficiaries tenants guests personnel phonebook";

/// Endings of tables; code and settings about people are none.
const TABLES: &str = "csv tsv xlsx xls ods parquet vcf mbox ndjson";

/// Directories of source text and documents, where such a word is what the text is about.
// In `src/credentials/` the word names a feature; in a home directory it names a file of credentials.
const SOURCES: &[&str] = &[
    "src",
    "lib",
    "libs",
    "pkg",
    "internal",
    "crates",
    "packages",
    "app",
    "apps",
    "cmd",
    "include",
    "source",
    "sources",
    "modules",
    "components",
    "doc",
    "docs",
    "documentation",
    "locales",
    "i18n",
    "templates",
    "views",
    "types",
    "schemas",
    "migrations",
    "benches",
    "grammar",
    "grammars",
    "usr",
];

/// The name of the file that this one is a copy of: `.netrc` for `.netrc.bak`, `.netrc~` and `.netrc.2`.
pub(super) fn original(name: &str) -> Option<&str> {
    if let Some(locked) = name.strip_prefix(".#") {
        return Some(locked);
    }
    let name = name.strip_prefix('#').unwrap_or(name);
    let kept =
        BEHIND.iter().find_map(|end| name.strip_suffix(end)).or_else(|| numbered(name)).or_else(|| swapped(name));
    kept.filter(|kept| kept.len() > 1)
}

/// `.1`, `.2024-11-18`, `-20241118`, ` (2)`: which copy it is.
fn numbered(name: &str) -> Option<&str> {
    if let Some(rest) = name.strip_suffix(')') {
        return rest.rsplit_once(" (").map(|(kept, _)| kept);
    }
    let kept = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '-' | '_' | ':'));
    let count = name.len() - kept.len();
    let kept_dot = kept.strip_suffix('.');
    match kept_dot {
        Some(kept) if count > 0 => Some(kept),
        Some(_) | None => (count >= 8).then_some(kept),
    }
}

/// `.env.swp` of an editor is `..env.swp` or `.name.swp`; the copy of a name that began with no dot has one.
fn swapped(name: &str) -> Option<&str> {
    name.strip_prefix("..").and_then(|rest| name.get(1..).filter(|_| !rest.is_empty()))
}

/// A file below this path is a secret by the plain word that it or its directory is called by.
pub(super) fn is_called_secret(path: &str, in_project: bool) -> bool {
    let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_source = |part: &str| SOURCES.contains(&part) || super::shapes::is_fixtures(part);
    if parents.split('/').any(is_source) && in_project {
        return false;
    }
    let bare = name.strip_prefix('.').unwrap_or(name);
    let words = if in_project { bare } else { bare.strip_suffix(".txt").unwrap_or(bare) };
    SECRETS.contains(&words) || is_told(name, in_project) || (parents.split('/').any(is_folder) && !is_text(name))
}

/// A table that is called by the people in it.
pub(super) fn is_list_of_people(name: &str) -> bool {
    let has = |list: &str, word: &str| list.split_ascii_whitespace().any(|known| known == word);
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let mut words = stem.split(|sign: char| !sign.is_ascii_alphabetic());
    ending == "vcf" || has(TABLES, ending) && words.any(|word| has(PEOPLE, word)) && !words_are_made_up(stem)
}

/// `sample-users.csv` is there to be read.
fn words_are_made_up(stem: &str) -> bool {
    const MADE_UP: &[&str] =
        &["sample", "example", "fake", "test", "tests", "mock", "demo", "dummy", "seed", "synthetic", "schema"];
    stem.split(|sign: char| !sign.is_ascii_alphabetic()).any(|word| MADE_UP.contains(&word))
}

/// A file of data whose name has such a word in it.
fn is_told(name: &str, in_project: bool) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let has = |list: &str, word: &str| list.split_ascii_whitespace().any(|known| known == word);
    if !has(DATA, ending) {
        return false;
    }
    let words = || stem.split(|sign: char| !sign.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    // `tokens.json` alone may be colours or words as well.
    let is_bare = in_project && matches!(stem, "token" | "tokens" | "secret" | "password");
    !is_bare && words().any(|word| has(TOLD, word)) && !words().any(|word| has(ABOUT, word))
}

/// A directory that is called by what lies in it, and is no part of a source tree.
pub(super) fn is_secret_folder(path: &str, in_project: bool) -> bool {
    let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_source = |part: &str| SOURCES.contains(&part) || super::shapes::is_fixtures(part);
    is_folder(name) && !(in_project && parents.split('/').any(is_source))
}

fn is_folder(part: &str) -> bool {
    matches!(part, "secrets" | ".secrets" | "secret" | ".secret")
}

/// Source text and documents say something about secrets; they do not hold any.
fn is_text(name: &str) -> bool {
    // `example`, `sample` and `template` are here because such files are made to be committed.
    const TEXTS: &[&str] = &[
        "rs",
        "go",
        "py",
        "js",
        "ts",
        "tsx",
        "jsx",
        "java",
        "kt",
        "rb",
        "c",
        "h",
        "cc",
        "cpp",
        "cs",
        "swift",
        "md",
        "rst",
        "html",
        "css",
        "lock",
        "mod",
        "sum",
        "example",
        "sample",
        "template",
        "sh",
        "gitignore",
        "gitkeep",
        "tf",
        "php",
        "ex",
        "exs",
    ];
    name.rsplit('.').next().is_some_and(|ending| TEXTS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::{is_called_secret, original};

    #[test]
    fn copies() {
        for (name, kept) in [
            (".netrc.bak", ".netrc"),
            (".env~", ".env"),
            ("#.env#", ".env"),
            (".#.env", ".env"),
            ("credentials.json.1", "credentials.json"),
            ("id_rsa.old", "id_rsa"),
            ("shadow-20241118", "shadow"),
            (".netrc (1)", ".netrc"),
        ] {
            assert_eq!(original(name), Some(kept), "{name}");
        }
        assert_eq!(original("main.rs"), None);
        assert_eq!(original("python3.12"), Some("python3"));
    }

    #[test]
    fn words() {
        for path in [
            "credentials",
            "config/token",
            "secrets/db.yml",
            ".secrets/x",
            "deploy/secrets/a.json",
            "config/api_tokens.json",
            "db_credentials.ini",
        ] {
            assert!(is_called_secret(path, true), "{path}");
        }
        for path in [
            "src/token",
            "docs/credentials",
            "tests/fixtures/secrets/db.yml",
            "secrets/mod.rs",
            "token.rs",
            "x",
            "design-tokens.json",
            "special_tokens_map.json",
            "tokens.json",
            "password-policy.yml",
        ] {
            assert!(!is_called_secret(path, true), "{path}");
        }
    }
}
