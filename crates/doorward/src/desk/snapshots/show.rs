//! Snapshots and undo steps on the screen.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use crate::machine::clock;
use crate::machine::visible;
use crate::memory::snapshots::manifest::{Entry, Former, Manifest};
use crate::memory::snapshots::restore::{Fate, RestoreStep};
use crate::memory::snapshots::store::{SnapshotStore, StoredContent};

const FAINT: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// Longer files are listed without a diff.
// A line diff is quadratic at worst, and no one reads one of a larger file on a screen.
const SHOWN: u64 = 64 << 10;

/// More changes are only counted.
const CHANGES: usize = 20;

/// One line of a list.
pub(crate) fn line(out: &mut dyn Write, manifest: &Manifest, is_taken_back: bool) -> io::Result<()> {
    let (files, bytes) = manifest.size();
    let state = if is_taken_back { "  undone" } else { "" };
    writeln!(
        out,
        "{STRONG}{}{STRONG:#}  {} UTC  {files:>5} {}  {:>9}  {}{FAINT}{state}{FAINT:#}",
        manifest.id,
        clock::moment(manifest.taken_ms),
        if files == 1 { "file " } else { "files" },
        size(bytes),
        start(&manifest.call)
    )
}

/// Everything a snapshot contains.
pub(crate) fn full(out: &mut dyn Write, manifest: &Manifest) -> io::Result<()> {
    line(out, manifest, false)?;
    writeln!(out, "  for the call `{}` in session `{}`", visible(&manifest.decision), visible(&manifest.session))?;
    for entry in &manifest.entries {
        writeln!(out, "  {}", entry_line(entry))?;
    }
    if manifest.left_to_git > 0 {
        let files = crate::machine::count::counted(manifest.left_to_git, "more file");
        writeln!(out, "  {FAINT}{files} that git can restore{FAINT:#}")?;
    }
    Ok(())
}

fn entry_line(entry: &Entry) -> String {
    let path = entry.path.0.display().to_string();
    let what = match &entry.what {
        Former::File { size: bytes, about, .. } => format!("file {:o}, {}", about.mode, size(*bytes)),
        Former::Link { to, .. } => format!("link to {}", to.0.display()),
        Former::Directory { about } => format!("directory {:o}", about.mode),
        Former::Absent => "nothing".to_owned(),
    };
    format!("{}  {}", visible(&path), visible(&what))
}

/// What an undo would change, the diff of text files included.
pub(crate) fn steps(out: &mut dyn Write, store: &SnapshotStore, steps: &[RestoreStep]) -> io::Result<()> {
    let mut left = CHANGES;
    for step in steps {
        let path = step.entry.path.0.display().to_string();
        let path = visible(&path);
        match step.fate {
            Fate::Same => continue,
            Fate::Returns => writeln!(out, "comes back  {path}")?,
            Fate::Changes => writeln!(out, "changes     {path}")?,
            Fate::Goes => writeln!(out, "goes        {path}")?,
            Fate::Newer => writeln!(
                out,
                "{WARNING}changed since{WARNING:#} {path}: it is not as the call left it, or that is unknown"
            )?,
            Fate::Blocked => writeln!(out, "{WARNING}in the way{WARNING:#} {path}: something else is there now")?,
        }
        if left > 0 && shows_change(step) {
            left -= 1;
            difference(out, store, step)?;
        }
    }
    Ok(())
}

fn shows_change(step: &RestoreStep) -> bool {
    match (&step.entry.what, step.fate) {
        (Former::File { .. }, Fate::Changes | Fate::Newer | Fate::Returns) => true,
        (Former::File { .. } | Former::Link { .. } | Former::Directory { .. } | Former::Absent, _) => false,
    }
}

fn difference(out: &mut dyn Write, store: &SnapshotStore, step: &RestoreStep) -> io::Result<()> {
    let Former::File { hash, size, at, .. } = &step.entry.what else { return Ok(()) };
    let path = step.entry.path.0.as_path();
    let read = |path: &std::path::Path| {
        crate::machine::checked_read::bytes_of(path, SHOWN).and_then(|all| String::from_utf8(all).ok())
    };
    let now = if step.is_there { read(path) } else { Some(String::new()) };
    let kept = if *size <= SHOWN { store.content(&step.from, hash, *size, *at).ok() } else { None };
    let then = match kept {
        Some(StoredContent::Bytes(bytes)) => String::from_utf8(bytes).ok(),
        Some(StoredContent::File(file)) => std::io::read_to_string(file).ok(),
        None => None,
    };
    match (now, then) {
        (Some(now), Some(then)) => crate::desk::screen::change(out, path, &now, &then),
        (Some(_) | None, Some(_) | None) => writeln!(out, "  {FAINT}not text, or too long to show{FAINT:#}"),
    }
}

/// The steps for programs.
pub(crate) fn steps_json(steps: &[RestoreStep]) -> Value {
    let one = |step: &RestoreStep| {
        let fate = match step.fate {
            Fate::Same => "same",
            Fate::Returns => "returns",
            Fate::Changes => "changes",
            Fate::Goes => "goes",
            Fate::Newer => "newer",
            Fate::Blocked => "blocked",
        };
        json!({ "path": step.entry.path, "fate": fate })
    };
    steps.iter().map(one).collect()
}

pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} B"),
        10_000..=9_999_999 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

fn start(call: &str) -> String {
    let shown = visible(call).replace('\n', " ⏎ ");
    let cut: String = shown.chars().take(60).collect();
    if cut.len() < shown.len() { format!("{cut}…") } else { cut }
}
