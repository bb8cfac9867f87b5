//! Settings that a tool reads: which of them run nothing.

use toml::Value as Toml;

use super::{ini, json};
use crate::knowledge::schema::{Sections, Text};

/// Code that a tool loads by itself.
pub(super) fn is_code(name: &str) -> bool {
    // Files that a test runner or linter imports as code when it starts, so a changed one runs with the next `pytest`
    // or `eslint`.
    const NAMES: &[&str] = &[
        "conftest.py",
        "noxfile.py",
        "setup.py",
        "dodo.py",
        "tasks.py",
        "gulpfile.js",
        "Gruntfile.js",
        ".eslintrc.js",
        ".eslintrc.cjs",
        ".mocharc.js",
        ".mocharc.cjs",
        ".prettierrc.js",
        ".prettierrc.cjs",
        "jest.setup.js",
        "vitest.setup.js",
        "setupTests.js",
    ];
    NAMES.contains(&name)
        || [".config.js", ".config.mjs", ".config.cjs", ".config.ts", ".config.mts"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// `.envrc` without the functions of direnv that only say which files to watch or to read.
pub(super) fn plain_shell(text: &str) -> String {
    // Functions of direnv that only watch or log; the others put programs on the path or run files.
    const QUIET: &[&str] = &[
        "watch_file",
        "watch_dir",
        "strict_env",
        "unstrict_env",
        "dotenv_if_exists",
        "source_up_if_exists",
        "log_status",
    ];
    let is_quiet = |line: &&str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        QUIET.contains(&first) && !line.contains(['$', '`', ';', '|', '&', '<', '>', '('])
    };
    text.lines().filter(|line| !is_quiet(line)).collect::<Vec<_>>().join("\n")
}

/// Packages that every project's tests are made of.
pub(crate) fn usual_package(line: &str) -> bool {
    // Tools that every other project installs to test and format itself. A name that is not here is a choice of the
    // agent.
    const USUAL: &[&str] = &[
        "pytest",
        "pytest-cov",
        "pytest-xdist",
        "pytest-asyncio",
        "pytest-mock",
        "coverage",
        "mypy",
        "ruff",
        "flake8",
        "black",
        "isort",
        "pylint",
        "hypothesis",
        "tox",
        "nox",
        "build",
        "twine",
        "pre-commit",
        "sphinx",
        "mkdocs",
        "pyright",
    ];
    let name = line.split(['=', '<', '>', '~', '!', '[', ';', ' ']).next().unwrap_or(line);
    let rest = line.get(name.len()..).unwrap_or_default();
    let pinned = !rest.contains(['@', '/', '\\', '-', '$', '{']);
    matches!(line, "." | "-e ." | "-e .[test]" | ".[test]" | ".[dev]") || (USUAL.contains(&name) && pinned)
}

/// Nothing in the file makes the program run something else.
pub(super) fn are_plain(sections: &[Sections], name: &str, text: &str) -> bool {
    match name {
        "pyproject.toml" => toml::from_str::<Toml>(text).is_ok_and(|file| python_project(sections, &file)),
        "setup.cfg" | "tox.ini" | "pytest.ini" | "mypy.ini" | ".mypy.ini" | ".coveragerc" | ".pylintrc"
        | "pylintrc" => ini::read(text).is_some_and(|found| {
            found.iter().all(|(section, values)| {
                !concerns(sections, section) || values.iter().all(|(key, value)| plain_key(key, value))
            })
        }),
        "package.json" => serde_json::from_str(text).is_ok_and(|file| node_project(sections, &file)),
        "tsconfig.json" | "biome.json" | "biome.jsonc" | "pyrightconfig.json" | "turbo.json" => {
            serde_json::from_str::<serde_json::Value>(&json::plain(text))
                .is_ok_and(|file| file.get("plugins").is_none() && file.get("extends").is_none())
        }
        "requirements.txt" => {
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).all(usual_package)
        }
        ".npmrc" => text.lines().all(plain_npm),
        ".python-version" | ".nvmrc" | ".node-version" => {
            text.trim().len() < 20 && !text.trim().contains(['/', ' ', '$'])
        }
        _ => false,
    }
}

/// The parts of a file that a program reads, if that is known.
fn parts_of<'s>(sections: &'s [Sections], file: &str) -> Option<&'s [Text]> {
    sections.iter().find(|known| known.file == file).map(|known| known.parts.as_slice())
}

/// A program reads the section of a file that is made of sections.
fn concerns(sections: &[Sections], section: &str) -> bool {
    let section = section.to_ascii_lowercase();
    parts_of(sections, "*.ini").is_none_or(|parts| parts.iter().any(|part| section.contains(&**part)))
}

fn python_project(sections: &[Sections], file: &Toml) -> bool {
    let table = |part: &Text| part.split('.').try_fold(file, |table, key| table.get(key));
    parts_of(sections, "pyproject.toml").is_some_and(|parts| parts.iter().filter_map(table).all(plain_table))
}

fn plain_table(table: &Toml) -> bool {
    match table {
        Toml::Table(members) => members.iter().all(|(key, value)| match value {
            Toml::Table(_) => plain_table(value),
            Toml::String(text) => plain_key(key, text),
            Toml::Array(values) => {
                plain_key(key, "")
                    && values
                        .iter()
                        .all(|value| plain_table(value) && value.as_str().is_none_or(|text| plain_key(key, text)))
            }
            Toml::Integer(_) | Toml::Float(_) | Toml::Boolean(_) | Toml::Datetime(_) => plain_key(key, ""),
        }),
        Toml::String(_) | Toml::Integer(_) | Toml::Float(_) | Toml::Boolean(_) | Toml::Datetime(_) | Toml::Array(_) => {
            true
        }
    }
}

/// Keys by which code is loaded, and options that do so.
fn plain_key(key: &str, value: &str) -> bool {
    // Keys whose value is imported as code, put on Python's path, or names a file that is written.
    const LOADING: &[&str] = &[
        "plugins",
        "load-plugins",
        "load_plugins",
        "init-hook",
        "init_hook",
        "pythonpath",
        "required_plugins",
        "python_paths",
        "local-plugins",
        "pytest_plugins",
        "mypy_path",
        "python_executable",
        "python-executable",
        "cache_dir",
        "confcutdir",
        "log_file",
        "data_file",
        "extension-pkg-allow-list",
        "django_settings_module",
        "command_line",
        "ignore-plugins",
    ];
    if key == "addopts" {
        return value.split_whitespace().all(plain_option);
    }
    !LOADING.contains(&key.to_ascii_lowercase().as_str())
}

fn plain_option(word: &str) -> bool {
    // pytest options that choose or report. `-p` and `--pyargs` load modules and are missing.
    const PLAIN: &[&str] = &[
        "--strict-markers",
        "--strict-config",
        "--strict",
        "--tb",
        "--cov",
        "--cov-report",
        "--cov-branch",
        "--cov-fail-under",
        "--disable-warnings",
        "--durations",
        "--maxfail",
        "--color",
        "--doctest-modules",
        "--showlocals",
        "--no-header",
        "--no-cov",
        "--timeout",
        "--randomly-seed",
        "--benchmark-skip",
        "--benchmark-disable",
        "--import-mode",
        "--ignore",
        "--exitfirst",
        "--verbose",
        "--quiet",
        "--asyncio-mode",
        "--numprocesses",
    ];
    let name = word.split('=').next().unwrap_or(word);
    let short = word.strip_prefix('-').is_some_and(|letters| {
        !letters.is_empty()
            && (letters.chars().all(|letter| "vqxsl".contains(letter))
                || matches!(letters, "ra" | "rA" | "rf" | "rs" | "n" | "m" | "k" | "rfEX"))
    });
    short
        || PLAIN.contains(&name)
        || (!word.starts_with('-')
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '"' | '\'' | '.')))
}

/// A manifest in which a tool finds none of its own settings.
fn node_project(sections: &[Sections], file: &serde_json::Value) -> bool {
    let Some(own) = parts_of(sections, "package.json") else { return false };
    let imports = file.get("imports").is_none() && file.get("resolutions").is_none() && file.get("overrides").is_none();
    file.is_object() && imports && own.iter().all(|key| file.get(&**key).is_none())
}

fn plain_npm(line: &str) -> bool {
    // Keys of `.npmrc` that neither name a registry, a script shell nor a file.
    const PLAIN: &[&str] = &[
        "save-exact",
        "engine-strict",
        "fund",
        "audit",
        "loglevel",
        "progress",
        "legacy-peer-deps",
        "auto-install-peers",
        "package-lock",
        "save-prefix",
        "strict-peer-dependencies",
        "shamefully-hoist",
        "prefer-offline",
        "update-notifier",
    ];
    let line = line.trim();
    line.is_empty()
        || line.starts_with(['#', ';'])
        || line.split_once('=').is_some_and(|(key, _)| PLAIN.contains(&key.trim()))
}
