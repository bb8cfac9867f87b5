//! What is to be run, where, and under which limits.

use std::ffi::{CString, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::limits::Limits;

/// A program and its words, or a text for a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Argv(Vec<OsString>),
    Shell { shell: PathBuf, text: OsString },
}

/// Where the command reads from.
#[derive(Debug, Default)]
pub enum Input {
    #[default]
    Nothing,
    /// Passed on through a pipe, so the command never has the file itself.
    From(OwnedFd),
}

/// Where its output goes.
#[derive(Debug, Default)]
pub enum Output {
    #[default]
    Nowhere,
    /// Passed on through a pipe, so the command never has the file itself.
    To(OwnedFd),
}

/// One run. What is not named here is read-only or not there.
#[derive(Debug)]
pub struct Plan {
    pub command: Command,
    /// Where it starts: inside project or home, or any directory it may read.
    pub cwd: PathBuf,
    /// The tree that it works on.
    pub project: PathBuf,
    /// The person's home, if it is to be seen as writable too.
    pub home: Option<PathBuf>,
    /// All of its environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    pub limits: Limits,
    /// Credentials and socket directories: shown empty, read-only.
    pub masks: Vec<PathBuf>,
    pub stdin: Input,
    pub stdout: Output,
    pub stderr: Output,
    /// The run ends when this file is readable or closed at its other end (Ctrl-C, a deadline of the caller).
    pub stop: Option<OwnedFd>,
}

/// Why a plan cannot be carried out by any box.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("the command is empty")]
    NoCommand,
    #[error("`{}` contains a null byte", .0.display())]
    NullByte(PathBuf),
    #[error("`{}` can't be resolved: {why}", path.display())]
    NoSuchPlace { path: PathBuf, why: String },
    #[error("`{}` is too much of the system to be written to", .0.display())]
    TooWide(PathBuf),
    #[error("`{}` would be masked", .0.display())]
    Masked(PathBuf),
    #[error("other file systems are mounted inside `{}`", .0.display())]
    Submounts(PathBuf),
}

impl Plan {
    /// A plan with the usual limits, no input and no output.
    #[must_use]
    pub fn new(command: Command, project: impl Into<PathBuf>) -> Plan {
        let project = project.into();
        Plan {
            command,
            cwd: project.clone(),
            project,
            home: None,
            env: Vec::new(),
            limits: Limits::default(),
            masks: Vec::new(),
            stdin: Input::default(),
            stdout: Output::default(),
            stderr: Output::default(),
            stop: None,
        }
    }
}

/// The command as exec takes it: the places to look for the program, its words, its environment.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) candidates: Vec<CString>,
    pub(crate) argv: Vec<CString>,
    pub(crate) env: Vec<CString>,
}

impl Program {
    pub(crate) fn of(plan: &Plan) -> Result<Program, PlanError> {
        let words = match &plan.command {
            Command::Argv(words) => words.clone(),
            Command::Shell { shell, text } => vec![shell.clone().into_os_string(), OsString::from("-c"), text.clone()],
        };
        let first = words.first().filter(|word| !word.is_empty()).ok_or(PlanError::NoCommand)?;
        let candidates = candidates(Path::new(first), &plan.env).into_iter().map(c_path).collect::<Result<_, _>>()?;
        let argv = words.into_iter().map(c_string).collect::<Result<_, _>>()?;
        let env = plan.env.iter().map(|(name, value)| {
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            c_string(pair)
        });
        Ok(Program { candidates, argv, env: env.collect::<Result<_, _>>()? })
    }
}

/// As execvp does: a name with a slash is a path, any other is looked for in `PATH`.
fn candidates(program: &Path, env: &[(OsString, OsString)]) -> Vec<PathBuf> {
    if program.as_os_str().as_bytes().contains(&b'/') {
        return vec![program.to_path_buf()];
    }
    let path =
        env.iter().find(|(name, _)| name == "PATH").map_or_else(|| OsString::from("/bin:/usr/bin"), |(_, v)| v.clone());
    path.as_bytes()
        .split(|byte| *byte == b':')
        .map(|place| Path::new(std::ffi::OsStr::from_bytes(if place.is_empty() { b"." } else { place })).join(program))
        .collect()
}

pub(crate) fn c_path(path: PathBuf) -> Result<CString, PlanError> {
    c_string(path.into_os_string())
}

fn c_string(string: OsString) -> Result<CString, PlanError> {
    CString::new(string.into_vec()).map_err(|error| PlanError::NullByte(OsString::from_vec(error.into_vec()).into()))
}
