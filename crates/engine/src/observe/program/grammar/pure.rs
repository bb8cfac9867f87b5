//! Inline code that certainly only computes and prints: every word of it is on a list.

/// Languages that are looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Python,
    JavaScript,
    Other,
}

impl Language {
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "Python",
            Language::JavaScript => "JavaScript",
            Language::Other => "inline",
        }
    }
}

const PYTHON: &[&str] = &[
    "print",
    "import",
    "sys",
    "json",
    "math",
    "platform",
    "len",
    "sum",
    "range",
    "sorted",
    "reversed",
    "min",
    "max",
    "int",
    "str",
    "float",
    "bool",
    "list",
    "dict",
    "set",
    "tuple",
    "abs",
    "round",
    "repr",
    "enumerate",
    "zip",
    "any",
    "all",
    "for",
    "in",
    "if",
    "else",
    "elif",
    "and",
    "or",
    "not",
    "is",
    "None",
    "True",
    "False",
    "hex",
    "bin",
    "oct",
    "ord",
    "chr",
    "pow",
    "divmod",
    "type",
    "end",
    "sep",
    "file",
    "indent",
    "sort_keys",
    "key",
    "reverse",
    "x",
    "y",
    "z",
    "i",
    "j",
    "k",
    "v",
    "a",
    "b",
    "c",
    "d",
    "n",
    "s",
    "t",
    "data",
    "line",
    "item",
    "value",
    "result",
    "obj",
    "row",
    "name",
    "total",
    "pass",
    "assert",
    "break",
    "continue",
    "while",
];

const PYTHON_MEMBERS: &[&str] = &[
    "version",
    "version_info",
    "platform",
    "maxsize",
    "executable",
    "stdin",
    "stderr",
    "byteorder",
    "major",
    "minor",
    "micro",
    "load",
    "loads",
    "dumps",
    "system",
    "machine",
    "release",
    "python_version",
    "sqrt",
    "pi",
    "e",
    "floor",
    "ceil",
    "log",
    "log2",
    "log10",
    "pow",
    "sin",
    "cos",
    "tan",
    "gcd",
    "factorial",
    "join",
    "split",
    "strip",
    "rstrip",
    "lstrip",
    "upper",
    "lower",
    "title",
    "get",
    "keys",
    "values",
    "items",
    "replace",
    "startswith",
    "endswith",
    "append",
    "count",
    "index",
    "read",
    "readlines",
    "splitlines",
    "__version__",
    "prefix",
    "implementation",
    "zfill",
];

const JAVASCRIPT: &[&str] = &[
    "console",
    "JSON",
    "Math",
    "Number",
    "String",
    "Boolean",
    "parseInt",
    "parseFloat",
    "const",
    "let",
    "var",
    "true",
    "false",
    "null",
    "undefined",
    "typeof",
    "new",
    "Date",
    "process",
    "if",
    "else",
    "for",
    "of",
    "in",
    "x",
    "y",
    "z",
    "i",
    "j",
    "k",
    "v",
    "a",
    "b",
    "c",
    "d",
    "n",
    "s",
    "t",
    "isNaN",
    "data",
    "result",
    "total",
];

const JAVASCRIPT_MEMBERS: &[&str] = &[
    "log",
    "error",
    "stringify",
    "version",
    "versions",
    "platform",
    "arch",
    "node",
    "v8",
    "PI",
    "E",
    "sqrt",
    "floor",
    "ceil",
    "round",
    "abs",
    "max",
    "min",
    "pow",
    "random",
    "now",
    "toISOString",
    "toFixed",
    "length",
    "toUpperCase",
    "toLowerCase",
    "trim",
    "split",
    "join",
    "getTime",
    "toString",
    "includes",
    "startsWith",
    "endsWith",
];

/// Modules that may be imported; other listed names are variables.
const MODULES: &[&str] = &["sys", "json", "math", "platform"];

/// The code only computes and prints.
pub fn is_pure(text: &str, language: Language) -> bool {
    match language {
        Language::Python => only_listed(text, PYTHON, PYTHON_MEMBERS, "()[]{}+-*/%,.:=<>!;&|^~ \t\n"),
        // Without brackets no member is computed; without a slash no pattern hides a quote.
        Language::JavaScript => only_listed(text, JAVASCRIPT, JAVASCRIPT_MEMBERS, "(){}+-*%,.:=<>!;&|? \t\n"),
        Language::Other => false,
    }
}

fn only_listed(text: &str, names: &[&str], members: &[&str], signs: &str) -> bool {
    if text.contains("\"\"\"") || text.contains("'''") {
        return false;
    }
    let mut rest = text.chars().peekable();
    let mut after_dot = false;
    let mut importing = false;
    while let Some(character) = rest.next() {
        match character {
            '"' | '\'' => {
                if !string(&mut rest, character) {
                    return false;
                }
                after_dot = false;
            }
            '0'..='9' => {
                while rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '.' || *next == '_').is_some() {}
                after_dot = false;
            }
            first if first.is_ascii_alphabetic() || first == '_' => {
                let mut word = first.to_string();
                while let Some(next) = rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '_') {
                    word.push(next);
                }
                let list = if importing {
                    MODULES
                } else if after_dot {
                    members
                } else {
                    names
                };
                importing |= word == "import";
                // A word that touches a quote is a prefix, which may make the text a template.
                if !list.contains(&word.as_str()) || matches!(rest.peek(), Some('"' | '\'')) {
                    return false;
                }
                after_dot = false;
            }
            sign if signs.contains(sign) => {
                after_dot = sign == '.' || (after_dot && sign == ' ');
                importing &= !matches!(sign, ';' | '\n');
            }
            _ => return false,
        }
    }
    true
}

/// Skips a text; false if it does not end on its line.
fn string(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char) -> bool {
    while let Some(character) = rest.next() {
        match character {
            '\\' => drop(rest.next()),
            '\n' => return false,
            _ if character == quote => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{Language, is_pure};

    fn check(language: Language, text: &str, pure: bool) {
        assert_eq!(is_pure(text, language), pure, "{text}");
    }

    #[test]
    fn python() {
        check(Language::Python, "print(1 + 2 * 3)", true);
        check(Language::Python, "import sys; print(sys.version)", true);
        check(Language::Python, "import json,sys; d=json.load(sys.stdin); print(d['a'][0])", true);
        check(Language::Python, "print('\\n'.join(sorted(set('abc'))))", true);
        for text in [
            "import os",
            "import data",
            "import sys, data",
            "__import__('os')",
            "eval('1')",
            "print(open('x').read())",
            "().__class__",
            "f'{x}'",
            "print(f\"{x}\")",
            "exec",
            "sys.modules",
            "import sys; sys.exit(1)",
            "json . codecs",
            "'''a''' + x",
            "print('a)",
            "é = 1",
            "getattr(x, 'y')",
            "print(x)\n# 'note\nimport os",
        ] {
            check(Language::Python, text, false);
        }
    }

    #[test]
    fn javascript() {
        check(Language::JavaScript, "console.log(1 + 1)", true);
        check(Language::JavaScript, "console.log(process.version, Math.max(1, 2))", true);
        for text in [
            "require('fs')",
            "[]['constructor']",
            "console.log(`${x}`)",
            "process.env",
            "process.exit()",
            "/\"/; x",
            "eval('1')",
            "import('x')",
            "x.constructor('y')()",
        ] {
            check(Language::JavaScript, text, false);
        }
    }
}
