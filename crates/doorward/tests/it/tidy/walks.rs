//! `docs/walks.md` follows calls through the code: every function that it names is there, and the way leads forward.

use super::{files, root};

/// A step: the file and the function.
fn steps(text: &str) -> Vec<Vec<(String, String)>> {
    let mut walks: Vec<Vec<(String, String)>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("## ") {
            walks.push(Vec::new());
        }
        let numbered = line.split_once(". `").filter(|(number, _)| number.parse::<u32>().is_ok());
        if let (Some((_, rest)), Some(walk)) = (numbered, walks.last_mut()) {
            let named = rest.split_once('`').map(|(step, _)| step).unwrap_or_default();
            let (file, function) = named.split_once(' ').unwrap_or((named, ""));
            walk.push((file.to_owned(), function.to_owned()));
        }
    }
    walks
}

#[test]
fn every_step_of_the_walks_is_a_function() {
    let text = std::fs::read_to_string(root().join("docs/walks.md")).unwrap();
    let walks = steps(&text);
    assert_eq!(walks.len(), 6, "six walks");
    let sources = files(&[".rs"]);
    for walk in &walks {
        assert!(walk.len() >= 8, "a walk of {} steps", walk.len());
        for (file, function) in walk {
            let path = format!("crates/{file}");
            let source = sources.iter().find(|source| source.name == path);
            let source = source.unwrap_or_else(|| panic!("docs/walks.md names `{path}`, which is not there"));
            let is_there = [format!("fn {function}("), format!("fn {function}<")];
            assert!(
                is_there.iter().any(|start| source.text.contains(start)),
                "docs/walks.md names `{function}`, which is not in `{path}`"
            );
        }
    }
}

#[test]
fn no_walk_meets_a_function_twice() {
    let text = std::fs::read_to_string(root().join("docs/walks.md")).unwrap();
    for walk in steps(&text) {
        for (at, step) in walk.iter().enumerate() {
            assert!(!walk[..at].contains(step), "a walk comes back to `{} {}`", step.0, step.1);
        }
    }
}
