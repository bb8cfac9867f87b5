//! `doorward trust` and `doorward untrust`: not for agents; shown first, then recorded.

pub(crate) mod change;
pub(crate) mod offer;
pub(crate) mod recipes;
mod tools;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};

use crate::desk::person;
use crate::desk::trust::change::TrustChange;
use crate::machine::paths::Dirs;
use crate::machine::record::Ledger;
use crate::machine::world::project_root;
use crate::policy::approved_config;
use crate::policy::trust::inventory::Inventory;
use crate::policy::trust::{Trust, mcp};

/// What to trust; default: the project around this directory.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TrustArguments {
    #[command(subcommand)]
    pub what: Option<TrustCommand>,
    /// A project, by its directory
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// List what is trusted, and what has changed since
    #[arg(long)]
    pub list: bool,
}

/// What to stop trusting.
#[derive(Debug, Args)]
pub(crate) struct UntrustArguments {
    #[command(subcommand)]
    pub what: TrustCommand,
}

/// The things that can be trusted.
#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// A project: agents may run its tests, builds and scripts, as its recipe files are now
    Project {
        /// The project; default: the one around this directory
        path: Option<PathBuf>,
    },
    /// An agent: doorward uses its own judgement instead of asking about every call
    Agent { name: String },
    /// A program, or every program in a directory, pinned to their current content
    Binary { path: PathBuf },
    /// The programs of toolchains outside the system directories, pinned to their current content
    Tools,
    /// A host and its subdomains
    Domain { name: String },
    /// A tool (MCP) server, pinned to its current configuration and to what it says about its tools
    Mcp { server: String },
}

/// Trusts something, or lists what is trusted.
pub(crate) fn trust(arguments: &TrustArguments) -> Result<ExitCode> {
    let path = arguments.path.clone();
    match &arguments.what {
        Some(what) => decide(what, true),
        None if arguments.list => list(&mut anstream::stdout().lock()),
        None if path.is_some() || (current_directory().is_some() && person::required().is_ok()) => {
            decide(&TrustCommand::Project { path }, true)
        }
        // There is no project here, or no user to decide about it.
        None => {
            let mut out = anstream::stdout().lock();
            if current_directory().is_none() {
                writeln!(out, "This directory is in no project; `doorward trust PATH` trusts one. Trusted so far:")?;
            }
            list(&mut out)
        }
    }
}

/// Trusts a project for `setup`: asks, unless the user already said so. If it has harmful recipes, they are listed and only
/// a typed yes counts.
pub(crate) fn this_project(dirs: &Dirs, root: &Path, is_wanted: bool) -> Result<()> {
    let change = TrustChange::project(root, true, now())?;
    let is_harmful = warn(&change, dirs)?;
    let recipes = match &change {
        TrustChange::Project { pinned: Some(pinned), .. } => pinned.files.len(),
        TrustChange::Project { pinned: None, .. } | TrustChange::Binary { .. } | TrustChange::Domain { .. } => 0,
        TrustChange::Server { .. } | TrustChange::Agent { .. } | TrustChange::Tools { .. } => 0,
    };
    let question = format!(
        "Trust this project, `{}`? Agents may then run its tests and builds ({recipes} recipe files, as they are now)",
        root.display()
    );
    let agrees = match (is_wanted, is_harmful) {
        (true, _) => true,
        (false, true) => person::agrees(&question)?,
        (false, false) => person::agrees_unless_no(&question)?,
    };
    let mut out = anstream::stdout();
    if agrees {
        change.apply(dirs, &mut Ledger::open(dirs))?;
        writeln!(out, "✓ this project is trusted; `doorward untrust project` undoes that")?;
    } else {
        writeln!(out, "this project is not trusted; run `doorward trust` if you change your mind")?;
    }
    Ok(())
}

/// Removes trust.
pub(crate) fn untrust(arguments: &UntrustArguments) -> Result<ExitCode> {
    decide(&arguments.what, false)
}

/// Accepts what configuration files loosened, in running sessions too.
pub(crate) fn reload() -> Result<ExitCode> {
    person::required()?;
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    // Pi reads all files there are.
    let loaded = crate::policy::load::load(&dirs, None, "pi");
    let mut out = anstream::stdout().lock();
    if let Some(problem) = unread(&dirs, &loaded) {
        bail!("nothing was changed; doorward stays strict until you fix this: {problem}");
    }
    for sentence in loaded.unaccepted_sentences() {
        writeln!(out, "{}", crate::machine::visible(&sentence))?;
    }
    if !person::agrees("Accept the configuration as it is now, in running sessions too?")? {
        bail!("nothing was changed");
    }
    approved_config::accept(&dirs, &loaded, &mut Ledger::open(&dirs))?;
    crate::policy::session_policy::forget(&dirs).context("can't reset the policy of running sessions")?;
    writeln!(out, "Done. It applies from the next call on.")?;
    Ok(ExitCode::SUCCESS)
}

/// What keeps the configuration from being read. An unreadable list of accepted settings is rebuilt here.
fn unread<'l>(dirs: &Dirs, loaded: &'l crate::policy::load::Loaded) -> Option<&'l String> {
    let own = approved_config::Accepted::load(dirs).err();
    loaded.problems.iter().find(|problem| Some(*problem) != own.as_ref())
}

/// Pins the programs of toolchains for `setup`, and returns how many.
///
/// Existing pins stay, so that later changes show up.
pub(crate) fn tools(dirs: &Dirs) -> Result<usize> {
    if Inventory::open(dirs).is_made() {
        return Ok(0);
    }
    let change = change(&TrustCommand::Tools, true, dirs)?;
    let count = match &change {
        TrustChange::Tools { programs } => programs.len(),
        TrustChange::Project { .. }
        | TrustChange::Binary { .. }
        | TrustChange::Domain { .. }
        | TrustChange::Server { .. }
        | TrustChange::Agent { .. } => 0,
    };
    if count > 0 {
        change.apply(dirs, &mut Ledger::open(dirs))?;
    } else {
        // Keep an empty list too: it shows that a program added to a toolchain later was never listed.
        Inventory::open(dirs).make(&[]).map_err(anyhow::Error::msg)?;
    }
    Ok(count)
}

fn decide(what: &TrustCommand, trusts: bool) -> Result<ExitCode> {
    person::required()?;
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let changes = changes(what, trusts, &dirs)?;
    for change in &changes {
        let _is_harmful = warn(change, &dirs)?;
    }
    let question = match changes.as_slice() {
        [one] => one.question(),
        several => format!("Do this for {} programs, each pinned to its current content?", several.len()),
    };
    if changes.is_empty() || !person::agrees(&question)? {
        bail!("nothing was changed");
    }
    for change in changes {
        change.apply(&dirs, &mut Ledger::open(&dirs))?;
    }
    writeln!(anstream::stdout(), "Done. It applies from the next call on.")?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the recipes doorward blocks even though the project is trusted, and returns whether there are any.
fn warn(change: &TrustChange, dirs: &Dirs) -> Result<bool> {
    if let TrustChange::Server { name, definition: Some(_), .. } = change {
        tools::show(dirs, name, &mut anstream::stdout().lock())?;
    }
    let TrustChange::Project { root, pinned: Some(_) } = change else { return Ok(false) };
    let harmful = recipes::harmful(root, dirs);
    if harmful.is_empty() {
        return Ok(false);
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "Look at these recipes first. doorward blocks them even in a trusted project:")?;
    for line in harmful {
        writeln!(out, "  {}", crate::machine::visible(&line))?;
    }
    Ok(true)
}

/// One change; one for each program of a directory.
fn changes(what: &TrustCommand, trusts: bool, dirs: &Dirs) -> Result<Vec<TrustChange>> {
    match what {
        TrustCommand::Binary { path } if path.is_dir() => {
            let mut paths: Vec<PathBuf> = Vec::new();
            for entry in std::fs::read_dir(path)? {
                let path = entry?.path();
                if path.is_file() {
                    paths.push(path);
                }
            }
            paths.sort();
            // Unreadable programs can't be pinned and stay unlisted.
            Ok(paths.iter().filter_map(|path| TrustChange::binary(path, trusts).ok()).collect())
        }
        TrustCommand::Project { .. }
        | TrustCommand::Agent { .. }
        | TrustCommand::Binary { .. }
        | TrustCommand::Tools
        | TrustCommand::Domain { .. }
        | TrustCommand::Mcp { .. } => Ok(vec![change(what, trusts, dirs)?]),
    }
}

fn change(what: &TrustCommand, trusts: bool, dirs: &Dirs) -> Result<TrustChange> {
    match what {
        TrustCommand::Project { path } => {
            let path =
                path.clone().or_else(|| current_directory().map(PathBuf::from)).unwrap_or_else(|| PathBuf::from("."));
            TrustChange::project(&path, trusts, now())
        }
        TrustCommand::Agent { name } => Ok(TrustChange::agent(name, trusts)),
        TrustCommand::Binary { path } => TrustChange::binary(path, trusts),
        TrustCommand::Tools => {
            let directories = crate::policy::load::load(dirs, None, "").config.programs.directories;
            Ok(TrustChange::tools(dirs, &directories, trusts))
        }
        TrustCommand::Domain { name } => TrustChange::domain(name, trusts),
        TrustCommand::Mcp { server } => Ok(TrustChange::server(server, trusts, dirs, current_directory().as_deref())),
    }
}

/// The project around the current directory.
fn current_directory() -> Option<String> {
    let directory = std::env::current_dir().ok()?.into_os_string().into_string().ok()?;
    project_root(&directory)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn list(out: &mut dyn Write) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let trust = Trust::load(&dirs).map_err(anyhow::Error::msg)?;
    for (root, pinned) in &trust.projects {
        let changed = pinned.changes(Path::new(root));
        let since = if changed.is_empty() { String::new() } else { format!("  changed since: {}", changed.join(", ")) };
        writeln!(out, "project  {}{}", crate::machine::visible(root), crate::machine::visible(&since))?;
    }
    for (path, pinned) in &trust.binaries {
        let since = if pinned.is_same(Path::new(path)) { "" } else { "  changed since" };
        writeln!(out, "binary   {}{since}", crate::machine::visible(path))?;
    }
    if Inventory::open(&dirs).is_made() {
        writeln!(out, "tools    programs of toolchains, pinned to their content when listed")?;
    }
    for domain in &trust.domains {
        writeln!(out, "domain   {domain}")?;
    }
    for (server, pinned) in &trust.servers {
        let now = mcp::hash(&mcp::definitions(server, dirs.home(), current_directory().as_deref()));
        let since = if now == *pinned { "" } else { "  changed since, or configured differently here" };
        writeln!(out, "mcp      {}{since}", crate::machine::visible(server))?;
    }
    tools::list(&dirs, out)?;
    if trust == Trust::default() {
        writeln!(out, "nothing is trusted yet")?;
    }
    Ok(ExitCode::SUCCESS)
}
