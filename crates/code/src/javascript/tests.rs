//! What is found in texts, and what is said about the rest.

use crate::value::Value;
use crate::{Language, Reading};

fn read(text: &str) -> Reading {
    crate::read(text, Language::JavaScript)
}

fn names(text: &str) -> Vec<String> {
    let reading = read(text);
    assert!(reading.unclear.is_empty(), "{text}: {:?}", reading.unclear);
    let called = |used: &crate::Use| if used.arguments.is_some() { "()" } else { "" };
    reading.uses.iter().map(|used| format!("{}{}", used.name, called(used))).collect()
}

fn first_argument(text: &str) -> Value {
    let reading = read(text);
    assert!(reading.unclear.is_empty(), "{text}: {:?}", reading.unclear);
    reading.uses.first().and_then(|used| used.argument(0)).cloned().unwrap_or_default()
}

#[test]
fn modules_are_found_under_every_name() {
    for text in [
        "require('fs').unlinkSync('a')",
        "const fs = require('node:fs'); fs.unlinkSync('a')",
        "const { unlinkSync } = require('fs'); unlinkSync('a')",
        "const { unlinkSync: gone } = require('fs'); gone('a')",
        "import fs from 'fs'; fs.unlinkSync('a')",
        "import * as fs from 'fs'; fs.unlinkSync('a')",
        "import { unlinkSync as gone } from 'node:fs'; gone('a')",
        "const fs = await import('fs'); fs.unlinkSync('a')",
    ] {
        let found = names(text);
        assert!(found.contains(&"fs.unlinkSync()".to_owned()), "{text}: {found:?}");
        assert_eq!(read(text).imports, ["fs"], "{text}");
    }
}

#[test]
fn a_function_that_is_handed_on_is_listed() {
    assert_eq!(names("['a'].forEach(require('fs').unlinkSync)"), [".forEach()", "fs.unlinkSync"]);
    for text in [
        "[require('child_process')].map(c => c.exec('id'))",
        "import('child_process').then(c => c.exec('id'))",
        "const c = require('child_' + 'process'); c.exec('id')",
    ] {
        assert!(names(text).contains(&"child_process".to_owned()), "{text}");
    }
    assert!(names("const { constructor: F } = x; var x = 1").contains(&".constructor".to_owned()));
    assert!(names("const f = x['constructor']; var x = 1").contains(&".constructor".to_owned()));
}

#[test]
fn values_are_followed_where_nothing_can_change_them() {
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(first_argument("const p = 'a' + '/b'; f.g(p)"), text("a/b"));
    assert_eq!(first_argument("f.g(`a/${'b'}`)"), text("a/b"));
    assert_eq!(first_argument("let p = 'a'; p = 'b'; f.g(p)"), Value::Unknown);
    assert_eq!(first_argument("const path = require('path'); f.g(path.join('a', '/b'))"), text("a/b"));
    assert_eq!(first_argument("for (const p of ['a']) f.g(p)"), text("a"));
}

#[test]
fn what_cannot_be_followed_is_said() {
    for text in [
        "const x = ;",
        "require(name)",
        "import(name)",
        "const k = read(); require('fs')[k]('a'); function read() {}",
        "x[y](1); var x = {}, y = 'a' + z; var z = 2; z++",
        "process.env.PATH = 'x'",
        "const f = x[y]; f('code'); var x = [], y = z(); function z() {}",
        "((f) => f('code'))(x[y]); var x = [], y = z(); function z() {}",
        "let fs = require('fs'); fs = 3; fs.x()",
        "Array.prototype.map = 3",
        "a()()\nfunction a() {}",
        "with (x) { y() }",
        "const require = () => ({ log: eval }); const c = require('console'); c.log('code')",
    ] {
        assert!(!read(text).unclear.is_empty(), "{text}: {:?}", read(text).uses);
    }
}

#[test]
fn everyday_code_is_clear() {
    for text in [
        "const d = JSON.parse(require('fs').readFileSync('a.json', 'utf8')); console.log(Object.keys(d).length)",
        "const c = {}; for (const w of text.split(' ')) c[w] = (c[w] || 0) + 1; console.log(c); var text = 'a b'",
        "console.log([1, 2].map(x => x * 2).filter(Boolean))",
        "process.stdin.on('data', d => console.log(d.toString()))",
        "new Promise(resolve => setTimeout(resolve, 10)).then(() => console.log('done'))",
    ] {
        assert!(read(text).unclear.is_empty(), "{text}: {:?}", read(text).unclear);
    }
}
