//! How each language says that it imports something.

use super::{Imported, bare, language, resolved};
use crate::path::{name, parent};

/// `mod x;` beside it, `use crate::a::x`, `use super::{x, y}`, `a::x::f()`.
pub(super) fn rust(wanted: &Imported, other: &str, text: &str) -> bool {
    let word = wanted.word.as_str();
    if wanted.package.is_some() {
        return mentions(text, &format!("{word}::")) || mentions(text, &format!("use {word};"));
    }
    let (above, directory) = (parent(&wanted.bare), parent(other));
    let declares = format!("mod {word};");
    if text.lines().any(|line| line.trim_end().ends_with(&declares)) && is_at_or_below(above, directory) {
        return true;
    }
    let module = if name(above) == "src" { "crate" } else { name(above) };
    if mentions(text, &format!("{module}::{word}::")) {
        return true;
    }
    let uses = |statement: &str| {
        let words = || statement.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        let is_beside =
            parent(&bare(other, super::Language::Rust)) == above || bare(other, super::Language::Rust) == above;
        let relative = |part: &str| matches!(part, "super" | "self") && is_beside;
        words().any(|part| part == word) && words().any(|part| part == module || relative(part))
    };
    statements(text, "use ", ';').any(uses)
}

/// `from './x'`, `require("../x")`, `import('@/x')`; `./x.js` may be `x.ts`.
pub(super) fn javascript(wanted: &Imported, other: &str, text: &str) -> bool {
    let names = |specifier: &str| {
        if specifier.starts_with('.') {
            let path = resolved(other, specifier);
            return path == wanted.bare
                || (language(&path).is_some() && bare(&path, super::Language::JavaScript) == wanted.bare);
        }
        let alias = ["@/", "~/", "#/", "src/"].iter().find_map(|alias| specifier.strip_prefix(alias));
        alias.is_some_and(|path| wanted.ends_with(path.rsplit_once('.').map_or(path, |(stem, _)| stem)))
    };
    let imports = |line: &&str| ["import", "from", "require"].iter().any(|word| line.contains(word));
    text.lines().filter(imports).flat_map(quoted).any(names)
}

/// `import a.b`, `from a import b`, `from .b import x`.
pub(super) fn python(wanted: &Imported, other: &str, text: &str) -> bool {
    let is_it = |module: &str| {
        let path = module.replace('.', "/");
        let shorter = |root: &str| wanted.bare.strip_prefix(root).is_some_and(|rest| rest == path);
        shorter("/") || shorter("/src/") || shorter("/lib/") || shorter("/python/")
    };
    let from = |statement: &str| {
        let Some((module, names)) = statement.split_once(" import ") else { return false };
        let dots = module.bytes().take_while(|byte| *byte == b'.').count();
        let rest = module.trim_start_matches('.').trim();
        let module = if dots == 0 {
            rest.to_owned()
        } else {
            let mut package = parent(other);
            (1..dots).for_each(|_| package = parent(package));
            let package = package.trim_matches('/').replace('/', ".");
            [package.as_str(), rest].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(".")
        };
        let named = names.split([',', '(', ')']).filter_map(|name| name.split_whitespace().next());
        is_it(&module) || named.map(|name| format!("{module}.{name}")).any(|name| is_it(name.trim_start_matches('.')))
    };
    let plain = |statement: &str| statement.split(',').filter_map(|name| name.split_whitespace().next()).any(is_it);
    let starts = |line: &str, word: &str| line.trim_start().strip_prefix(word).map(str::to_owned);
    joined(text).iter().any(|line| {
        starts(line, "from ").is_some_and(|rest| from(&rest))
            || starts(line, "import ").is_some_and(|rest| plain(&rest))
    })
}

/// `"example.com/module/a/b"` is the package in the directory `a/b`.
pub(super) fn go(wanted: &Imported, other: &str, text: &str) -> bool {
    let directory = parent(&wanted.path);
    if directory == "/" || parent(other) == directory || wanted.path.ends_with("_test.go") {
        return false;
    }
    let imports = text.split("\nfunc ").next().unwrap_or(text);
    imports.lines().flat_map(quoted).any(|path| path.contains('/') && path.ends_with(directory))
}

/// `#include "a/b.h"`, from the file itself or from a directory that the build names.
pub(super) fn c(wanted: &Imported, other: &str, text: &str) -> bool {
    let named = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
        let inner = rest.strip_prefix(['"', '<'])?;
        inner.split(['"', '>']).next().map(str::to_owned)
    };
    text.lines().filter_map(named).any(|path| {
        resolved(other, &path) == wanted.path
            || wanted.path.strip_suffix(path.as_str()).is_some_and(|rest| rest.ends_with('/'))
    })
}

/// `import a.b.C`, `import static a.b.C.f`, `import a.b.*`.
pub(super) fn java(wanted: &Imported, text: &str) -> bool {
    let imports = text.lines().filter_map(|line| line.trim().strip_prefix("import "));
    imports.into_iter().any(|rest| {
        let (is_static, rest) = match rest.strip_prefix("static ") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let named = rest.split([';', ' ']).next().unwrap_or_default().replace('.', "/");
        let above = named.rsplit_once('/').map(|(above, _)| above);
        match named.strip_suffix("/*").or_else(|| named.strip_suffix("/_")) {
            Some(package) if !is_static => parent(&wanted.bare).ends_with(&format!("/{package}")),
            Some(class) => wanted.ends_with(class),
            None => wanted.ends_with(&named) || above.is_some_and(|above| is_static && wanted.ends_with(above)),
        }
    })
}

/// `require_relative "x"`, `require "a/x"`.
pub(super) fn ruby(wanted: &Imported, other: &str, text: &str) -> bool {
    text.lines().map(str::trim_start).filter(|line| line.starts_with("require")).any(|line| {
        let is_relative = line.starts_with("require_relative");
        quoted(line).any(|path| {
            let path = path.trim_end_matches(".rb");
            if is_relative || path.starts_with('.') {
                resolved(other, path) == wanted.bare
            } else {
                wanted.ends_with(path)
            }
        })
    })
}

/// `use App\Models\User;` lies in `app/Models/User.php`; `require 'x.php'`.
pub(super) fn php(wanted: &Imported, text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        if let Some(rest) = line.strip_prefix("use ") {
            let class = rest.split([';', ' ', '{']).next().unwrap_or_default().replace('\\', "/");
            return class.split_once('/').is_some_and(|(_, below)| wanted.ends_with(below));
        }
        let loads = line.starts_with("require") || line.starts_with("include");
        loads && quoted(line).any(|path| wanted.ends_with(path.trim_end_matches(".php").trim_start_matches("./")))
    })
}

/// What stands in quotation marks in a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split(['"', '\'', '`']).skip(1).step_by(2)
}

/// The text between a word at the beginning of a line and the next `end`; visibility may stand before the word.
fn statements<'t>(text: &'t str, word: &'t str, end: char) -> impl Iterator<Item = &'t str> {
    text.match_indices(word).filter_map(move |(at, _)| {
        let before = text.get(..at)?.rsplit('\n').next()?.trim();
        let begins = before.is_empty() || before.starts_with("pub");
        let rest = text.get(at + word.len()..)?;
        begins.then(|| rest.split(end).next()).flatten()
    })
}

/// The lines of a Python file, with names in brackets on the line that opens them.
fn joined(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        match lines.last_mut().filter(|_| is_open) {
            Some(last) => last.push_str(line),
            None => lines.push(line.to_owned()),
        }
        let is_import = lines.last().is_some_and(|line| line.trim_start().starts_with("from "));
        is_open = is_import && (is_open || line.contains('(')) && !line.contains(')');
    }
    lines
}

/// The text holds this, and not as the end of a longer name.
fn mentions(text: &str, wanted: &str) -> bool {
    text.match_indices(wanted).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

fn is_at_or_below(path: &str, directory: &str) -> bool {
    crate::path::under(path, directory)
}
