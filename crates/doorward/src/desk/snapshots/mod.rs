//! `doorward undo` and `doorward snapshots`.

pub(crate) mod show;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use doorward_ledger::{Became, OutcomeBody};
use serde_json::json;

use crate::desk::person;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::memory::ledger_view::LedgerView;
use crate::memory::snapshots::manifest::{Former, Manifest};
use crate::memory::snapshots::prune;
use crate::memory::snapshots::prune::Run;
use crate::memory::snapshots::restore::Fate;
use crate::memory::snapshots::store::SnapshotStore;
use crate::memory::snapshots::undo;
use crate::memory::snapshots::undo::Undo;
use crate::policy::load;
use crate::policy::snapshot_limits::Limits;

/// Selects the call to undo.
#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// The snapshot or call id, from the agent's message or from `doorward snapshots list`
    #[arg(conflicts_with_all = ["last", "session"], value_parser = NonEmptyStringValueParser::new())]
    pub id: Option<String>,
    /// Undo the last call that has not been undone yet (the default)
    #[arg(long, conflicts_with = "session")]
    pub last: bool,
    /// Undo all calls of this session
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// Also overwrite files that changed after the call
    #[arg(long)]
    pub overwrite: bool,
    /// Show what would change without changing it
    #[arg(long)]
    pub dry_run: bool,
    /// Don't ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// Print JSON; needs --yes or --dry-run
    #[arg(long)]
    pub json: bool,
}

/// Undoes one call without asking, for the demo, which plays the user too. Returns the number of paths.
pub(crate) fn take_back(dirs: &Dirs, decision: &str) -> Result<usize> {
    let Some(store) = SnapshotStore::existing(dirs)? else { bail!("there are no snapshots") };
    let Some(name) = store.named_for(decision) else { bail!("there is no snapshot for `{decision}`") };
    let limits = load::load(dirs, None, "").config.snapshots.limits();
    let undo = Undo::of(&store, &[name], limits)?;
    let steps = undo.preview();
    Ok(undo.run(&undo.wanted(&steps))?.paths)
}

/// What to do with snapshots.
#[derive(Debug, Args)]
pub(crate) struct SnapshotsArguments {
    #[command(subcommand)]
    command: SnapshotsCommand,
}

#[derive(Debug, Subcommand)]
enum SnapshotsCommand {
    /// List snapshots, newest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a snapshot contains
    Show {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check every copy against its hash; exit code 1 if something is damaged
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove snapshots that exceed the configured age or size (not for agents)
    ///
    /// Snapshots of sessions that were active in the last day or are waiting for an answer are kept.
    Prune {
        /// Show what would be removed without removing it
        #[arg(long)]
        dry_run: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Undoes a call.
pub(crate) fn undo(arguments: &UndoArguments) -> Result<ExitCode> {
    if !arguments.dry_run {
        person::required()?;
    }
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let Some(store) = SnapshotStore::existing(&dirs)? else {
        bail!("there are no snapshots yet, so there is nothing to undo")
    };
    let ids = chosen_ids(&store, arguments)?;
    let undo = Undo { overwrite: arguments.overwrite, ..Undo::of(&store, &ids, limits(&dirs))? };
    let steps = undo.preview();
    let mut out = anstream::stdout().lock();
    if !arguments.json {
        show::steps(&mut out, &store, &steps)?;
    }
    let wanted = undo.wanted(&steps);
    let left = steps.iter().filter(|step| matches!(step.fate, Fate::Newer | Fate::Blocked)).count();
    let skipped = left.saturating_sub(wanted.iter().filter(|step| step.fate == Fate::Newer).count());
    if arguments.dry_run {
        if arguments.json {
            writeln!(out, "{:#}", json!({ "snapshots": ids, "steps": show::steps_json(&steps) }))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if skipped > 0 && !arguments.overwrite {
        bail!("{skipped} paths changed after the call or are in the way; `--overwrite` replaces the changed ones");
    }
    if wanted.is_empty() {
        bail!("nothing to restore: everything is as it was");
    }
    if !arguments.yes && (arguments.json || !person::agrees("Restore this?")?) {
        bail!("nothing was changed");
    }
    let undone = undo.run(&wanted)?;
    record(&dirs, &undo, &undone.id)?;
    if arguments.json {
        let steps = show::steps_json(&steps);
        writeln!(out, "{:#}", json!({ "snapshots": ids, "steps": steps, "undo": undone.id, "short": undone.short }))?;
        return Ok(ExitCode::SUCCESS);
    }
    undone.short.iter().try_for_each(|short| writeln!(out, "{}", crate::machine::visible(short)))?;
    let git: u64 = undo.manifests.iter().map(|(manifest, _)| manifest.left_to_git).sum();
    if git > 0 {
        let (files, them) = (crate::machine::count::counted(git, "more file"), if git == 1 { "it" } else { "them" });
        writeln!(out, "`git restore` brings back {files}: git has {them}")?;
    }
    let are = if undone.paths == 1 { "path is as it was" } else { "paths are as they were" };
    writeln!(out, "{} {are}; `doorward undo {}` undoes that", undone.paths, undone.id)?;
    Ok(ExitCode::SUCCESS)
}

fn record(dirs: &Dirs, undo: &Undo<'_>, id: &str) -> Result<()> {
    let mut ledger = Ledger::open(dirs);
    for (manifest, _) in &undo.manifests {
        let detail = format!("snapshot {} was brought back; snapshot {id} takes that back", manifest.id);
        let body = OutcomeBody::new(manifest.decision.clone(), Became::Reverted, Some(detail));
        let _receipt = ledger.append(LogEntry::new(&body)?)?;
        crate::desk::outcomes::void_after(&LedgerView::open(dirs.clone())?, &manifest.decision, &mut ledger)?;
    }
    crate::hook::rollback::watch(dirs).map(|_taken_back| ())
}

fn limits(dirs: &Dirs) -> Limits {
    load::load(dirs, None, "").config.snapshots.limits()
}

/// The ids of the selected snapshots.
fn chosen_ids(store: &SnapshotStore, arguments: &UndoArguments) -> Result<Vec<String>> {
    if let Some(id) = &arguments.id {
        return Ok(vec![find_id(store, id)?]);
    }
    let (all, _) = store.all()?;
    let back = undo::taken_back(&all);
    let mut open = all.iter().filter(|manifest| manifest.undoes.is_none() && !back.contains(&manifest.id));
    let chosen: Vec<String> = match &arguments.session {
        Some(session) => {
            open.filter(|manifest| manifest.session == session.as_str()).map(|one| one.id.clone()).collect()
        }
        None => open.next().map(|manifest| manifest.id.clone()).into_iter().collect(),
    };
    if chosen.is_empty() {
        bail!("there is no call left to undo; `doorward snapshots list` shows all snapshots");
    }
    Ok(chosen)
}

/// Finds a snapshot by its id, the start of its id, or its call.
fn find_id(store: &SnapshotStore, id: &str) -> Result<String> {
    if let Some(name) = store.named_for(id) {
        return Ok(name);
    }
    let (all, unreadable) = store.all()?;
    let names = || all.iter().map(|manifest| &manifest.id).chain(&unreadable);
    if let Some(exact) = names().find(|name| *name == id) {
        return Ok(exact.clone());
    }
    let mut found = names().filter(|name| name.starts_with(id));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.clone()),
        (Some(_), Some(_)) => bail!("more than one snapshot id starts with `{id}`"),
        (None, _) => bail!("no snapshot `{id}`; `doorward snapshots list` shows all of them"),
    }
}

/// Lists, shows, verifies and removes snapshots.
pub(crate) fn snapshots(arguments: &SnapshotsArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let store = SnapshotStore::existing(&dirs)?;
    let mut out = anstream::stdout().lock();
    let Some(store) = store else {
        match &arguments.command {
            SnapshotsCommand::List { json: true } => writeln!(out, "[]")?,
            SnapshotsCommand::Show { id, .. } => bail!("no snapshot `{id}`"),
            SnapshotsCommand::List { .. } | SnapshotsCommand::Verify { .. } | SnapshotsCommand::Prune { .. } => {
                writeln!(out, "there are no snapshots yet")?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    };
    match &arguments.command {
        SnapshotsCommand::List { json } => list(&mut out, &store, *json)?,
        SnapshotsCommand::Show { id, json } => {
            let name = find_id(&store, id)?;
            let Some(manifest) = store.find(&name)? else { bail!("no snapshot `{id}`") };
            if *json {
                writeln!(out, "{:#}", serde_json::to_value(&manifest)?)?;
            } else {
                show::full(&mut out, &manifest)?;
            }
        }
        SnapshotsCommand::Verify { json } => return verify(&mut out, &store, *json),
        SnapshotsCommand::Prune { dry_run, json } => {
            let run = if *dry_run { Run::Dry } else { Run::Real };
            if run == Run::Real {
                person::required()?;
            }
            let pruned = prune::prune(&store, limits(&dirs), &prune::needed(&dirs), now_ms(), run)?;
            report_pruned(&mut out, &pruned, *json)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(out: &mut dyn Write, store: &SnapshotStore, json: bool) -> Result<()> {
    let (all, unreadable) = store.all()?;
    let back = undo::taken_back(&all);
    if json {
        let one = |manifest: &Manifest| {
            let (files, bytes) = manifest.size();
            json!({ "id": manifest.id, "decision": manifest.decision, "session": manifest.session, "call": manifest.call,
                "taken_ms": manifest.taken_ms, "files": files, "bytes": bytes, "undoes": manifest.undoes,
                "taken_back": back.contains(&manifest.id) })
        };
        return Ok(writeln!(out, "{:#}", all.iter().map(one).collect::<serde_json::Value>())?);
    }
    all.iter().try_for_each(|manifest| show::line(out, manifest, back.contains(&manifest.id)))?;
    unreadable.iter().try_for_each(|name| writeln!(out, "{name}  can't be read or was not written by doorward"))?;
    Ok(writeln!(out, "{} snapshots, {} of copies", all.len(), show::size(store.weigh()?))?)
}

/// Checks that every copy in every snapshot exists and is undamaged.
fn verify(out: &mut dyn Write, store: &SnapshotStore, json: bool) -> Result<ExitCode> {
    let (all, mut faults) = store.all()?;
    faults.iter_mut().for_each(|name| *name = format!("snapshot {name} can't be read or was not written by doorward"));
    let mut known = std::collections::BTreeMap::new();
    for (manifest, entry) in all.iter().flat_map(|one| one.entries.iter().map(move |entry| (one, entry))) {
        let Former::File { hash, size, at, .. } = &entry.what else { continue };
        let pack = at.map(|at| (manifest.id.as_str(), at));
        let is_whole =
            *known.entry((*hash, pack)).or_insert_with(|| store.content(&manifest.id, hash, *size, *at).is_ok());
        if !is_whole {
            faults.push(format!("snapshot {}: the copy of `{}` is damaged", manifest.id, entry.path.0.display()));
        }
    }
    if json {
        writeln!(out, "{:#}", json!({ "snapshots": all.len(), "objects": known.len(), "faults": faults }))?;
    } else {
        faults.iter().try_for_each(|fault| writeln!(out, "{}", crate::machine::visible(fault)))?;
        writeln!(out, "{} snapshots, {} copies, {} faults", all.len(), known.len(), faults.len())?;
    }
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn report_pruned(out: &mut dyn Write, pruned: &prune::Pruned, json: bool) -> Result<()> {
    if json {
        let value = json!({ "snapshots": pruned.snapshots, "copies": pruned.objects, "bytes": pruned.bytes,
            "unreadable": pruned.unreadable });
        return Ok(writeln!(out, "{value:#}")?);
    }
    pruned.snapshots.iter().try_for_each(|id| writeln!(out, "{id}"))?;
    let (count, size) = (pruned.snapshots.len(), show::size(pruned.bytes));
    writeln!(out, "{count} snapshots, {} copies, {size}", pruned.objects)?;
    if !pruned.unreadable.is_empty() {
        writeln!(
            out,
            "no copies were removed, because these snapshots can't be read: {}",
            pruned.unreadable.join(" ")
        )?;
    }
    Ok(())
}
