//! The edge is a house with floors: what stands on one uses what is on it or below, never what is above.

use crate::tidy::{blank::blank, files, is_test, none};

/// From the ground up.
const FLOORS: &[&str] = &["machine", "policy", "memory", "hook", "desk", "cli"];

/// The floor that a source file of the edge stands on.
fn floor_of(name: &str) -> Option<usize> {
    let inside = name.strip_prefix("crates/doorward/src/")?;
    let first = inside.split('/').next()?.trim_end_matches(".rs");
    FLOORS.iter().position(|floor| *floor == first)
}

/// The floors that a text names. Tests at the end of a file may use the whole house.
fn named(text: &str) -> Vec<(usize, usize)> {
    let text = blank(text);
    let own = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).enumerate();
    own.flat_map(|(number, line)| {
        line.split("crate::tidy::").skip(1).map(move |rest| {
            let first: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // A list behind `crate::tidy::` hides what it names, so it counts as the top.
            (number + 1, FLOORS.iter().position(|floor| *floor == first).unwrap_or(FLOORS.len()))
        })
    })
    .collect()
}

#[test]
fn no_floor_looks_up() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in files(&[".rs"]).iter().filter(|file| !is_test(&file.name)) {
        let Some(own) = floor_of(&file.name) else { continue };
        seen += 1;
        for (line, used) in named(&file.text) {
            if used > own {
                wrong.push(format!("{}:{line} is on `{}`", file.name, FLOORS[own]));
            }
        }
        // A floor's own `mod.rs` could reach the others without naming the crate.
        if file.name.matches('/').count() == 4 && file.text.contains("super::") && file.name.ends_with("/mod.rs") {
            wrong.push(format!("{}: `super` is the whole crate here", file.name));
        }
    }
    assert!(seen > 250, "{seen} files of the edge");
    none(&wrong, "floors that look up");
}

#[test]
fn a_look_up_is_found() {
    assert_eq!(named("use crate::tidy::desk::audit;\nlet x = crate::tidy::machine::y();\n"), [(1, 4), (2, 0)]);
    assert_eq!(named("use crate::tidy::{desk, machine};"), [(1, FLOORS.len())]);
    assert_eq!(named("// crate::tidy::desk\n#[cfg(test)]\nuse crate::tidy::desk;"), []);
    assert_eq!(floor_of("crates/doorward/src/memory/session.rs"), Some(2));
    assert_eq!(floor_of("crates/doorward/src/cli.rs"), Some(5));
}
