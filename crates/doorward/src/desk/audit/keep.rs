//! `doorward audit export`, `retain`, `reindex` and `checkpoint`: maintenance of the record.

use std::io::{BufWriter, IsTerminal, Write};

use anyhow::{Context, Result, bail};
use doorward_ledger::{Days, Elsewhere, Filter, Format, Index, Log, Retained};
use serde_json::json;

use super::arguments::{CheckpointArguments, ExportArguments, FormatWord, ReindexArguments, RetainArguments};
use crate::desk::person;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::memory::ledger_view::LedgerView;

pub(super) fn export(view: &LedgerView, arguments: &ExportArguments) -> Result<()> {
    let format = match arguments.format {
        FormatWord::Jsonl => Format::Jsonl,
        FormatWord::Csv => Format::Csv,
        FormatWord::Parquet => Format::Parquet,
    };
    let filter = Filter { limit: arguments.limit, ..arguments.filter.filter()? };
    let index = view.index()?;
    let Some(path) = &arguments.output else {
        if format == Format::Parquet && std::io::stdout().is_terminal() {
            bail!("parquet is binary and can't be printed; name a file with `--output`");
        }
        let mut out = BufWriter::new(std::io::stdout().lock());
        index.export(&view.log, &filter, format, &mut out)?;
        return Ok(out.flush()?);
    };
    let file = std::fs::File::create(path).with_context(|| format!("can't create `{}`", path.display()))?;
    let mut out = BufWriter::new(file);
    let count = index.export(&view.log, &filter, format, &mut out)?;
    out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    if arguments.json {
        return print_line(&json!({ "records": count, "file": path }).to_string());
    }
    print_line(&format!("Wrote {count} records to `{}`.", path.display()))
}

pub(super) fn retain(view: LedgerView, arguments: &RetainArguments) -> Result<()> {
    let least = crate::policy::load::load(&view.dirs, None, "").config.profile.retain_days();
    let wanted = arguments.days.unwrap_or(least);
    if wanted < least {
        bail!(
            "the configuration keeps bodies for at least {least} days (`profile.retain_days`), so {wanted} is too few"
        );
    }
    let days = Days::new(wanted).context("bodies are kept for at least 90 days")?;
    let LedgerView { dirs, mut log } = view;
    if !is_person("Permanently drop the bodies of routine records", wanted)? {
        bail!("nothing was dropped");
    }
    let retained = drop_old(&dirs, &mut log, days)?;
    let Retained { dropped, segments, freed } = retained;
    if arguments.json {
        return print_line(&json!({ "dropped": dropped, "segments": segments, "freed": freed }).to_string());
    }
    print_line(&format!("Dropped {dropped} bodies from {segments} segments and freed {freed} bytes."))
}

/// Drops bodies from the log and from the index.
fn drop_old(dirs: &Dirs, log: &mut Log, days: Days) -> Result<Retained> {
    let retained = log.retain(days, clock::now_ms())?;
    Index::open(&record::index_file(dirs))?.feed(log)?;
    Ok(retained)
}

/// Asks at the terminal; without one, the answer is no.
fn is_person(what: &str, days: u32) -> Result<bool> {
    person::required()?;
    let answer = person::types(&format!("{what} older than {days} days? Type `yes`"))?;
    Ok(answer.trim() == "yes")
}

pub(super) fn reindex(view: &LedgerView, arguments: &ReindexArguments) -> Result<()> {
    let (_index, fed) = Index::rebuild(&record::index_file(&view.dirs), &view.log)?;
    if arguments.json {
        return print_line(&json!({ "records": fed.records, "unreadable": fed.bad }).to_string());
    }
    let unreadable = match fed.bad {
        0 => String::new(),
        bad => format!("; {bad} parts of the log can't be read, see `doorward audit verify`"),
    };
    print_line(&format!("Rebuilt the index: {} records{unreadable}", fed.records))
}

pub(super) fn checkpoint(view: LedgerView, arguments: &CheckpointArguments) -> Result<()> {
    let LedgerView { dirs, mut log } = view;
    let (checkpoint, path) = record::checkpoint(&dirs, &mut log, clock::now_ms()).context("can't sign the record")?;
    let mut copies = Vec::new();
    if let Some(path) = &arguments.copy_to {
        copies.push((Elsewhere::File(path.clone()), path.display().to_string()));
    }
    if !arguments.command.is_empty() {
        copies.push((Elsewhere::Command(arguments.command.clone()), arguments.command.join(" ")));
    }
    for (elsewhere, name) in &copies {
        elsewhere.send(&checkpoint).with_context(|| {
            format!("the checkpoint is saved in `{}`, but copying it to `{name}` failed", path.display())
        })?;
    }
    if arguments.json {
        return print_line(&checkpoint.to_line());
    }
    print_line(&format!("Signed records 1 to {}; the checkpoint is in `{}`.", checkpoint.sequence, path.display()))?;
    copies.iter().try_for_each(|(_, name)| print_line(&format!("Copied it to `{name}`.")))?;
    if copies.is_empty() {
        super::note("keep a copy somewhere else too: use `--copy-to FILE`, or a command after `--`");
    }
    Ok(())
}

fn print_line(text: &str) -> Result<()> {
    Ok(writeln!(anstream::stdout(), "{}", crate::machine::visible(text))?)
}
