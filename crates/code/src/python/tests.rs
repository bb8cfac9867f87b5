//! What is found in texts, and what is said about the rest.

use crate::value::{HOME, UNKNOWN, Value};
use crate::{Language, Reading};

fn read(text: &str) -> Reading {
    crate::read(text, Language::Python)
}

/// The uses of a text as lines: `name(arguments)`, `name` if it is handed on.
fn uses(text: &str) -> Vec<String> {
    let reading = read(text);
    assert!(reading.unclear.is_empty(), "{text}: {:?}", reading.unclear);
    reading
        .uses
        .iter()
        .map(|used| {
            let receiver = if used.receiver == Value::Unknown { String::new() } else { shown(&used.receiver) };
            match &used.arguments {
                None => format!("{receiver}{}", used.name),
                Some(arguments) => {
                    let mut all: Vec<String> = arguments.iter().map(shown).collect();
                    all.extend(used.named.iter().map(|(name, value)| format!("{name}={}", shown(value))));
                    format!("{receiver}{}({})", used.name, all.join(", "))
                }
            }
        })
        .collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Unknown => "?".into(),
        Value::Text(text) => format!("'{}'", text.replace(UNKNOWN, "…").replace(HOME, "HOME")),
        Value::Plain(text) => text.clone(),
        Value::List(all) => format!("[{}]", all.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::OneOf(all) => format!("one of {}", all.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::Matches(pattern) => format!("matches {pattern}"),
        Value::Below(base) => format!("below {base}"),
        Value::Name => "name".into(),
        Value::Record(_) => "record".into(),
    }
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(uses(text), expected, "{text}");
}

#[test]
fn names_lead_to_their_modules() {
    check("import os\nos.remove('a')", &["os.remove('a')"]);
    check("import os as o\no.remove('a')", &["os.remove('a')"]);
    check("from os import remove as r\nr('a')", &["os.remove('a')"]);
    check("from os import path\npath.exists('a')", &["os.path.exists('a')"]);
    check("import os.path\nos.path.exists('a')", &["os.path.exists('a')"]);
}

#[test]
fn a_function_that_is_handed_on_is_listed() {
    check("import os\nx = os.remove", &["os.remove"]);
    check("import os\nlist(map(os.remove, ['a']))", &["list(?)", "map(?, ['a'])", "os.remove"]);
    check("import os\nf(os)\ndef f(x): pass", &["os"]);
    check("p = 'a'\nq = p.unlink", &["'a'.unlink"]);
}

#[test]
fn a_part_of_a_member_is_listed() {
    check("import os\nos.environ['HOME']", &["os.environ[]('HOME')"]);
}

#[test]
fn values_are_followed_where_nothing_can_change_them() {
    check("p = 'a' + '/b'\nopen(p, 'w')", &["open('a/b', 'w')"]);
    check("for p in ['a', 'b']:\n  open(p)", &["open(one of 'a' 'b')"]);
    check("n = input()\nopen(f'x/{n}')", &["input()", "open('x/…')"]);
    check("p = 'a'\np += 'b'\nopen(p)", &["open(?)"]);
    check("ps = ['a']\nps.append('/etc/x')\nfor p in ps: open(p)", &[".append('/etc/x')", "open(?)"]);
    check("def f(p): open(p)\nf('a')", &["open(?)"]);
    check(r"open('a\x2fb')", &["open('a…2fb')"]);
}

#[test]
fn paths_are_put_together() {
    check("from pathlib import Path\n(Path('a') / 'b').unlink()", &["'a/b'.unlink()", "pathlib.Path('a')"]);
    check(
        "from pathlib import Path\nPath.home().joinpath('x').read_text()",
        &["'HOME/x'.read_text()", "'HOME'.joinpath('x')", "pathlib.Path.home()"],
    );
    check(
        "from pathlib import Path\nfor p in Path('a').rglob('*.py'): p.read_text()",
        &["'a'.rglob('*.py')", "pathlib.Path('a')", "below a.read_text()"],
    );
    check(
        "import os\nfor r, d, fs in os.walk('a'):\n  for f in fs:\n    open(os.path.join(r, f))",
        &["os.walk('a')", "open(below a)", "os.path.join(below a, name)"],
    );
    check("import os\nopen(os.path.expanduser('~/x'))", &["open('HOME/x')", "os.path.expanduser('~/x')"]);
}

#[test]
fn what_cannot_be_followed_is_said() {
    for text in [
        "x = ",
        "from os import *",
        "import os\nos = 3\nos.remove(1)",
        "import os\nos.environ['PATH'] = 'x'",
        "import os\nos.system = print",
        "f = [1]\nf[0]()",
        "f()()\ndef f(): pass",
        "f = g\nf()\ng = 1",
        "x.__class__ = 3\nx = 1",
    ] {
        assert!(!read(text).unclear.is_empty(), "{text}");
    }
    assert!(!read(&format!("{}1{}", "(".repeat(5000), ")".repeat(5000))).unclear.is_empty());
}

/// The edits of a text as lines: `path: old > new`, where `?` is a pattern or a place.
fn check_edits(text: &str, expected: &[&str]) {
    let edits = read(text).edits;
    let shown = edits.iter().flat_map(|edit| {
        edit.replaced.iter().map(move |replaced| {
            let old = replaced.old.as_ref().map_or("?".into(), |old| old.join("|"));
            format!("{}: {old} > {}", edit.path, replaced.new.join("|"))
        })
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn a_file_that_gets_its_own_text_back_is_an_edit() {
    check_edits("p='a'; s=open(p).read(); open(p,'w').write(s.replace('x','y'))", &["a: x > y"]);
    check_edits(
        "from pathlib import Path\nq = Path('a')\nq.write_text(q.read_text().replace('x', 'y'))",
        &["a: x > y"],
    );
    check_edits(
        "with open('a') as f:\n  c = f.read()\nif 'x' in c:\n  c = c.replace('x', 'y')\n  c = c.replace('v', 'w')\n\
         with open('a', 'w') as f:\n  f.write(c)",
        &["a: x > y", "a: v > w"],
    );
    check_edits(
        "o = 'x'\nn = 'y\\n' + 'z'\nc = open('a').read()\nopen('a', 'w').write(c.replace(o, n, 1))",
        &["a: x > y\nz"],
    );
    check_edits("import re\nc = open('a').read()\nopen('a', 'w').write(re.sub('x+', 'y', c))", &["a: ? > y"]);
    check_edits("c = open('a').read()\nopen('a', 'w').write(c + 'end')", &["a: ? > end"]);
    check_edits("c = open('a').read()\ni = c.index('x')\nopen('a', 'w').write(c[:i] + 'new' + c[i:])", &["a: ? > new"]);
    check_edits(
        "c = open('a').read()\nfor o, n in [('b', 'c'), ('d', 'e')]:\n  c = c.replace(o, n)\nopen('a', 'w').write(c)",
        &["a: b|c|d|e > b|c|d|e"],
    );
}

#[test]
fn whatever_else_is_written_is_no_edit() {
    for text in [
        "open('a', 'w').write(open('b').read().replace('x', 'y'))",
        "c = open('a').read()\nc = input()\nopen('a', 'w').write(c.replace('x', 'y'))",
        "c = open('a').read()\nopen('a', 'w').write(c.replace('x', input()))",
        "c = open('a').read()\nopen('a', 'w')",
        "c = open('a').read()\nopen('a', 'w').write(c)\nopen('a', 'w')",
        "c = open('a').read()\nopen('a', 'w').write(c.replace('x', 'y'))\nopen('a', 'w').write(input())",
        "c = open('a').read()\nc += input()\nopen('a', 'w').write(c)",
        "def f(c): open('a', 'w').write(c)\nf(1)",
        "c = open('a').read()\nopen('a', 'w').write(c.upper())",
        "c = open('a').read()\nopen('a', 'a').write(c)",
        "f = open('a')\nf = open('b')\nopen('a', 'w').write(f.read())",
        "import re\nc = open('a').read()\nopen('a', 'w').write(re.sub('x', lambda m: input(), c))",
        "c = open('a').read()\nopen('a', 'w').write(f'{c}{input()}')",
        "c = open('a').read()\nopen('a', 'w').write(c[:9])",
        "c = open('a').read()\nopen('a', 'w').write(c[:9] + 'x' + c[99:])",
        "c = open('a', opener=print).read()\nopen('a', 'w').write(c.format(1))",
    ] {
        check_edits(text, &[]);
    }
}

#[test]
fn a_hidden_builtin_is_still_listed() {
    check("def open(x): pass\nopen('a')", &["open"]);
}
