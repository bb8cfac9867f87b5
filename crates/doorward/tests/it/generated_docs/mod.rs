//! `docs/generated/` says what the program says; `UPDATE=1` writes it anew.

mod cli;
mod matrix;
mod rules;
mod world;

use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated")
}

/// Compares a page with what is committed, or writes it.
fn check(name: &str, body: &str) {
    let note = "<!-- generated: UPDATE=1 cargo test -p doorward --test generated_docs -->";
    compare(name, &format!("{note}\n\n{}\n", body.trim_end()));
}

fn compare(name: &str, page: &str) {
    let path = folder().join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(path, page).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let first = page.lines().zip(committed.lines().chain(std::iter::repeat(""))).find(|(new, old)| new != old);
    assert!(
        page == committed,
        "docs/generated/{name} is out of date; UPDATE=1 cargo test -p doorward --test it generated_docs writes it anew\n{first:#?}"
    );
}

/// A table of Markdown; bars inside cells are escaped.
fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&header.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>());
    text.push_str(&format!("|{}\n", "---|".repeat(header.len())));
    for row in rows {
        text.push_str(&line(&row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>()));
    }
    text
}

#[test]
fn rules() {
    check("rules.md", &rules::rules());
}

#[test]
fn programs() {
    check("programs.md", &rules::programs());
}

#[test]
fn features() {
    check("features.md", &rules::features());
}

#[test]
fn matrix() {
    check("matrix.md", &matrix::matrix());
}

#[test]
fn command_line() {
    check("cli.md", &cli::command_line());
}

#[test]
fn configuration() {
    check("config.md", &cli::configuration());
}

#[test]
fn alerts() {
    check("alerts.md", &cli::alerts());
}

#[test]
fn described_world() {
    compare("world.schema.json", &format!("{}\n", world::schema()));
}

#[test]
fn schema() {
    compare("config.schema.json", &crate::support::Home::new().run(&["config", "--schema"], b"").stdout);
}
