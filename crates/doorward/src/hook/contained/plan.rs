//! The box of one run: where it works, what it sees, what of the environment goes along.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use doorward_cell::{Command, Input, Output, Plan, Usage};
use doorward_engine::{Configured, Machine, Sensitivity, place_of, redact};

use crate::machine::paths::Dirs;
use crate::memory::world::disk::DiskWorld;

/// How many names of the home are looked at for credentials.
// A home's dot directories hold some thousands of names without caches. Beyond this nobody knows what is shown.
const NAMES: usize = 20_000;

/// How deep below the home credentials are looked for.
const DEPTH: usize = 4;

/// Variables that lead out of the box.
// Sockets of agents and desktops, and proxies: nothing behind them is in the box.
const LEADING_OUT: &[&str] =
    &["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"];

/// Where a run reads from and prints to.
#[derive(Debug)]
pub(super) struct Streams {
    pub stdin: Input,
    pub stdout: Output,
    pub stderr: Output,
}

impl Streams {
    /// Those of this process.
    pub(super) fn own() -> Result<Streams> {
        let passed = |error| anyhow::Error::new(error).context("can't pass input and output on");
        Ok(Streams {
            stdin: Input::From(std::io::stdin().as_fd().try_clone_to_owned().map_err(passed)?),
            stdout: Output::To(std::io::stdout().as_fd().try_clone_to_owned().map_err(passed)?),
            stderr: Output::To(std::io::stderr().as_fd().try_clone_to_owned().map_err(passed)?),
        })
    }
}

pub(super) fn plan(dirs: &Dirs, world: &DiskWorld, (command, cwd): (&str, &str), streams: Streams) -> Result<Plan> {
    let shell = PathBuf::from("/bin/sh");
    let shell = Some(PathBuf::from("/bin/bash")).filter(|bash| bash.exists()).unwrap_or(shell);
    let project = world.project().unwrap_or(cwd);
    let mut plan = Plan::new(Command::Shell { shell, text: OsString::from(command) }, project);
    plan.cwd = PathBuf::from(cwd);
    plan.home = Some(PathBuf::from(dirs.home()));
    plan.env = environment(world);
    plan.masks = masks(dirs, world)?;
    (plan.stdin, plan.stdout, plan.stderr) = (streams.stdin, streams.stdout, streams.stderr);
    Ok(plan)
}

/// It tried to connect somewhere. Sockets that are refused say nothing: the C library asks a local service for names of users.
pub(super) fn wanted_network(usage: &Usage) -> bool {
    usage.calls.iter().any(|(name, times)| *times > 0 && *name == "connect")
}

/// The environment of this process without what holds secrets or leads out, and with the size of its terminal: inside, the
/// output is a pipe, and programs that lay out tables look here next.
fn environment(world: &DiskWorld) -> Vec<(OsString, OsString)> {
    let key = world.redaction_key();
    let is_plain = |name: &str, value: &str| {
        let upper = name.to_ascii_uppercase();
        let names_secret =
            ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"].iter().any(|word| upper.contains(word));
        let leads_out = LEADING_OUT.contains(&name) || upper.ends_with("_PROXY") || upper.ends_with("_SOCK");
        !names_secret && !leads_out && redact(value, &key) == value
    };
    let all = std::env::vars_os();
    all.filter(|(name, value)| match (name.to_str(), value.to_str()) {
        (Some(name), Some(value)) => is_plain(name, value),
        (None, _) | (_, None) => false,
    })
    .chain(terminal_size())
    .collect()
}

fn terminal_size() -> Vec<(OsString, OsString)> {
    let Ok(size) = rustix::termios::tcgetwinsize(std::io::stdout()) else { return Vec::new() };
    let is_unset = |name: &&(&str, u16)| std::env::var_os(name.0).is_none() && name.1 > 0;
    let sizes = [("COLUMNS", size.ws_col), ("LINES", size.ws_row)];
    sizes.iter().filter(is_unset).map(|(name, size)| (name.into(), size.to_string().into())).collect()
}

/// Credentials in the home and doorward's own directories: the box shows them empty.
fn masks(dirs: &Dirs, world: &DiskWorld) -> Result<Vec<PathBuf>> {
    let mut masks = vec![dirs.state(), dirs.config_directory()];
    let mut names = NAMES;
    let home = PathBuf::from(dirs.home());
    find_credentials(&home, (world, DEPTH), &mut names, &mut masks);
    if names == 0 {
        bail!("there are too many files in `{}` to look for credentials, so nothing runs in a box there", dirs.home());
    }
    Ok(masks)
}

fn find_credentials(
    directory: &Path,
    (world, depth): (&DiskWorld, usize),
    names: &mut usize,
    masks: &mut Vec<PathBuf>,
) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        *names = names.saturating_sub(1);
        let path = entry.path();
        let Some(text) = path.to_str() else { continue };
        if *names == 0 || doorward_engine::is_tool_cache(text, world.home()) {
            continue;
        }
        if place_of(text, world) >= Sensitivity::Credential {
            masks.push(path);
            continue;
        }
        let is_dot = entry.file_name().to_string_lossy().starts_with('.');
        let is_deeper = depth < DEPTH || is_dot;
        let is_project = world.project().is_some_and(|project| doorward_engine::path::under(text, project));
        if depth > 0 && is_deeper && !is_project && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find_credentials(&path, (world, depth - 1), names, masks);
        }
    }
}
