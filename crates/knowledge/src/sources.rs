//! The files of this folder, read from disk.
//!
//! The engine's build script packs them, and tests look at every one. The program itself never reads them.
#![expect(clippy::disallowed_methods, reason = "the build script has a disk")]

use std::path::{Path, PathBuf};

use doorward_vocabulary::Verdict;

use crate::file::{Complaint, File};
use crate::program::{self, ProgramFile};
use crate::rule::{self, RuleFile};
use crate::server::{self, Server};
use crate::tool::{self, ToolEntry};

/// Where the files are.
pub const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// Everything a build packs.
#[derive(Debug)]
pub struct Sources {
    /// By the name of their file.
    pub programs: Vec<(String, ProgramFile)>,
    pub rules: Vec<RuleFile>,
    pub tools: Vec<ToolEntry>,
    pub servers: Vec<Server>,
}

/// Reads all files, or says what is wrong with each.
pub fn read() -> Result<Sources, String> {
    let mut complaints = Vec::new();
    let programs = programs(&mut complaints)?;
    let tools = all("tools", &mut complaints, |file, _| tool::read(file))?;
    let servers = all("servers", &mut complaints, |file, _| server::read(file))?;
    let mut rules = Vec::new();
    for (folder, verdict) in
        [("rules/allow", Verdict::AutoApprove), ("rules/confirm", Verdict::Confirm), ("rules/block", Verdict::Block)]
    {
        rules.extend(all(folder, &mut complaints, |file, id| rule::read(file, id, verdict))?);
    }
    if complaints.is_empty() {
        Ok(Sources { programs, rules, tools: tools.into_iter().flatten().collect(), servers })
    } else {
        Err(complaints.iter().map(Complaint::to_string).collect::<Vec<_>>().join("\n"))
    }
}

/// Reads the program files: first those that stand alone, then those that are like one of them.
fn programs(complaints: &mut Vec<Complaint>) -> Result<Vec<(String, ProgramFile)>, String> {
    let texts = all("programs", complaints, |file, _| {
        program::like(file).map(|like| (like.is_some(), file.name.to_owned(), file.text.to_owned()))
    })?;
    let mut programs: Vec<(String, ProgramFile)> = Vec::new();
    for is_like in [false, true] {
        let mut read = Vec::new();
        for (_, name, text) in texts.iter().filter(|(like, ..)| *like == is_like) {
            match program::read(File { name, text }, &programs) {
                Ok(file) => read.push((name.clone(), file)),
                Err(complaint) => complaints.push(complaint),
            }
        }
        programs.extend(read);
    }
    programs.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(programs)
}

/// Reads the TOML files of a folder, in the order of their names.
fn all<T>(
    folder: &str,
    complaints: &mut Vec<Complaint>,
    read: impl Fn(File<'_>, &str) -> Result<T, Complaint>,
) -> Result<Vec<T>, String> {
    let mut found = Vec::new();
    for path in toml_files(&Path::new(FOLDER).join(folder))? {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        match read(File { name: &format!("{folder}/{stem}.toml"), text: &text }, &stem) {
            Ok(one) => found.push(one),
            Err(complaint) => complaints.push(complaint),
        }
    }
    Ok(found)
}

fn toml_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unread = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
