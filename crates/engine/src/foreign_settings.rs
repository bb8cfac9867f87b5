//! Finds settings that make a tool load code from outside the project: a plugin, a parser, a preset, a module to require.

use crate::path;

/// Keys whose value a tool loads as code, in lower case and without `-` and `_`.
// The same in ESLint, Babel, Mocha, Jest, Prettier, Stylelint, TypeScript, Pylint, mypy, pytest, RuboCop and their kin.
const LOADING: &[&str] = &[
    "plugin",
    "plugins",
    "preset",
    "presets",
    "parser",
    "parsers",
    "require",
    "requires",
    "loader",
    "loaders",
    "extends",
    "setupfiles",
    "setupfilesafterenv",
    "globalsetup",
    "globalteardown",
    "testenvironment",
    "transform",
    "transforms",
    "resolver",
    "runner",
    "testrunner",
    "reporter",
    "reporters",
    "processor",
    "processors",
    "customsyntax",
    "paths",
    "inithook",
    "loadplugins",
    "import",
    "imports",
    "importmap",
    "preload",
    "formatter",
    "formatters",
    "rulesdir",
    "rulepaths",
    "customrules",
    "modulenamemapper",
    "moduledirectories",
    "noderequire",
    "addopts",
    "pythonpath",
    "bootstrap",
    "inheritfrom",
    "autoload",
    "extensions",
    "supportfile",
    "bootstrapfiles",
    "exec",
    "execmap",
];

/// How far behind its key a value is looked for.
// A list of a dozen names fits; what stands farther away belongs to another key.
const VALUE: usize = 400;

/// Endings of files that hold settings as data.
const DATA: &[&str] =
    &[".json", ".jsonc", ".json5", ".yml", ".yaml", ".ini", ".cfg", ".toml", ".neon", ".xml", "rc", "flake8"];

/// The file holds settings as data, by its name.
pub(crate) fn is_data(file: &str) -> bool {
    let name = path::name(file).to_ascii_lowercase();
    DATA.iter().any(|ending| name.ends_with(ending))
}

/// A text that is put into this file of the project makes a tool load code from outside it.
pub(crate) fn loads_from_elsewhere(file: &str, text: &str, project: &str) -> bool {
    let name = path::name(file).to_ascii_lowercase();
    if !is_data(file) {
        return false;
    }
    let folder = path::parent(file);
    // Of TypeScript's `paths`, one beside the project is the next package; one elsewhere on the machine is not.
    let is_package = |key: &str, word: &str| key == "paths" && name.starts_with("tsconfig") && word.starts_with("../");
    let mut last: Option<(usize, String)> = None;
    for (at, word) in words(text) {
        let near = last.as_ref().filter(|(end, _)| at - end <= VALUE);
        if near.is_some_and(|(_, key)| leaves(word, folder, project) && !is_package(key, word)) {
            return true;
        }
        let bare: String = word.chars().filter(|letter| !matches!(letter, '-' | '_')).collect();
        let key = bare.to_ascii_lowercase();
        // These inherit data from data, and load no code.
        let is_plain = key == "extends" && (name.starts_with("tsconfig") || name.starts_with("biome"));
        if LOADING.contains(&key.as_str()) && !is_plain {
            last = Some((at + word.len(), key));
        }
    }
    false
}

/// The words of a settings file, with where they begin: what quotes, brackets and separators leave.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_between = |letter: char| letter.is_whitespace() || "\"'`,;:=[]{}()<>|".contains(letter);
    text.split(is_between)
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// A path that does not stay in the project.
fn leaves(word: &str, folder: &str, project: &str) -> bool {
    if word.starts_with("~/") {
        return true;
    }
    // `//` begins a comment or an address; `file:///x` leaves three.
    let is_absolute = word.starts_with('/') && word.len() > 1 && (!word.starts_with("//") || word.starts_with("///"));
    let is_path = is_absolute || word.split('/').any(|part| part == "..");
    is_path && !path::under(&path::lexical(&path::join(folder, word)), project)
}

#[cfg(test)]
mod tests {
    use super::loads_from_elsewhere;

    fn loads(file: &str, text: &str) -> bool {
        loads_from_elsewhere(&format!("/home/dev/project/{file}"), text, "/home/dev/project")
    }

    #[test]
    fn a_plugin_outside_the_project_is_found_in_any_notation() {
        for (file, text) in [
            ("babel.config.json", r#"{"presets": ["/tmp/evil.js"]}"#),
            (".babelrc", r#"{"plugins": [["~/x.js", {}]]}"#),
            (".eslintrc.json", r#"{"parser": "/tmp/evil.js"}"#),
            (".eslintrc.yml", "plugins:\n  - a\n  - ../../evil\n"),
            (".mocharc.yml", "require: /tmp/x.js"),
            ("jsconfig.json", r#"{"compilerOptions": {"paths": {"a": ["/tmp/x"]}}}"#),
            ("jest.config.json", r#"{"setupFiles": ["/tmp/x.js"]}"#),
            (".pylintrc", "[MASTER]\nload-plugins=a\ninit-hook='import sys; sys.path.append(\"/tmp\")'\n"),
            (".rubocop.yml", "require:\n  - ../other/cop.rb\n"),
            ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-p x\"\npythonpath = [\"/tmp\"]\n"),
            (".prettierrc", r#"{"plugins": ["file:///tmp/x.js"]}"#),
            (".prettierrc", r#"{"plugins": ["./a/../../x.js"]}"#),
            ("tsconfig.json", r#"{"compilerOptions": {"plugins": [{"transform": "../other/x.js"}]}}"#),
            ("packages/a/.prettierrc", r#"{"plugins": ["../../../evil/p.js"]}"#),
        ] {
            assert!(loads(file, text), "{file}: {text}");
        }
    }

    #[test]
    fn what_stays_in_the_project_is_not() {
        for (file, text) in [
            ("babel.config.json", r#"{"presets": ["@babel/env", "./preset.js"]}"#),
            ("packages/a/.eslintrc.json", r#"{"extends": ["../../.eslintrc.json"]}"#),
            ("tsconfig.json", r#"{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}"#),
            ("data.json", r#"{"route": "/users/1"}"#),
            ("tsconfig.json", r#"{"extends": "../tsconfig.base.json"}"#),
            ("biome.json", r#"{"extends": ["../biome.json"]}"#),
            ("src/a.ts", "import x from '/tmp/x'"),
        ] {
            assert!(!loads(file, text), "{file}: {text}");
        }
    }
}
