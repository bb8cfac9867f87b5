//! Pairing at the terminal: the code, the words to compare, the person's decision; and `doorward devices`.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use doorward_ledger::DeviceStep;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::json;

use super::signature::entry;
use super::store::{DeskStore, Device};
use crate::desk::person;
use crate::machine::clock::{self, now_ms};
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::visible;

/// How often the terminal looks whether a device has shown the code.
const LOOK: Duration = Duration::from_millis(300);

/// `doorward devices`.
#[derive(Debug, Args)]
pub(crate) struct DevicesArguments {
    #[command(subcommand)]
    what: Option<DevicesCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum DevicesCommand {
    /// List paired devices (the default)
    List,
    /// Take a device's right to answer and to read (not for agents)
    Revoke {
        /// Its id or its name
        device: String,
    },
}

pub(crate) fn devices(arguments: &DevicesArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    match &arguments.what {
        None | Some(DevicesCommand::List) => list(&DeskStore::open(&dirs)?, arguments.json)?,
        Some(DevicesCommand::Revoke { device }) => revoke(&dirs, device)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(store: &DeskStore, is_json: bool) -> Result<()> {
    let devices = store.devices();
    let mut out = anstream::stdout().lock();
    if is_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!(devices))?)?;
        return Ok(());
    }
    for device in &devices {
        let state = device.revoked_ms.map_or("may answer".to_owned(), |at| format!("revoked {}", clock::moment(at)));
        writeln!(out, "{}  paired {}  {state}  {}", device.id, clock::moment(device.paired_ms), visible(&device.name))?;
    }
    if devices.is_empty() {
        writeln!(out, "no device is paired; `doorward serve --pair` pairs one")?;
    }
    Ok(())
}

fn revoke(dirs: &Dirs, named: &str) -> Result<()> {
    person::required()?;
    let store = DeskStore::open(dirs)?;
    let mut found = store.devices();
    found.retain(|device| device.revoked_ms.is_none() && (device.id == named || device.name == named));
    let [device] = found.as_slice() else {
        bail!("no single paired device is called `{named}`; `doorward devices` lists them with their ids");
    };
    // Taken away first: it counts even if it can't be recorded.
    store.keep_device(&Device { revoked_ms: Some(now_ms()), ..device.clone() })?;
    let _receipt = Ledger::open(dirs).append(LogEntry::new(&entry(DeviceStep::Revoked, device))?)?;
    Ok(writeln!(anstream::stdout(), "`{}` can't answer or read any more", visible(&device.name))?)
}

/// Pairs one device with the desk that runs.
pub(super) fn pair(dirs: &Dirs) -> Result<()> {
    person::required()?;
    let store = DeskStore::open(dirs)?;
    let origin = store.running().context("no desk is running; start one with `doorward serve`")?.origin;
    let code = store.begin_pairing()?;
    let outcome = announce(&origin, &code).and_then(|()| decide(dirs, &store));
    match outcome {
        Ok(()) => store.end_pairing(),
        // The browser is told; the code is dead.
        Err(_) => drop(store.refuse_pairing()),
    }
    outcome
}

fn announce(origin: &str, code: &str) -> Result<()> {
    let link = format!("{origin}/pair#{code}");
    let mut out = anstream::stdout().lock();
    if let Ok(drawn) = QrCode::new(&link) {
        writeln!(
            out,
            "{}",
            drawn.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build()
        )?;
    }
    let spelled: Vec<&str> = [code.get(..4), code.get(4..8), code.get(8..)].into_iter().flatten().collect();
    writeln!(
        out,
        "Open {link}\nor {origin}/pair and type {}. The code is good for five minutes, once.",
        spelled.join("-")
    )?;
    Ok(out.flush()?)
}

fn decide(dirs: &Dirs, store: &DeskStore) -> Result<()> {
    let device = claimed(store)?;
    writeln!(
        anstream::stdout(),
        "\n`{}` wants to be paired. It must show these words: {}",
        visible(&device.name),
        device.words()
    )?;
    if !person::agrees("Does it? It may then answer soft and firm questions until you revoke it")? {
        bail!("not paired");
    }
    // INVARIANT: on record before it can answer.
    let _receipt = Ledger::open(dirs).append(LogEntry::new(&entry(DeviceStep::Paired, &device))?)?;
    store.keep_device(&device)?;
    Ok(writeln!(
        anstream::stdout(),
        "Paired. `doorward devices` lists paired devices; `doorward devices revoke {}` ends this.",
        device.id
    )?)
}

/// Waits for a device that knows the code.
fn claimed(store: &DeskStore) -> Result<Device> {
    loop {
        let pairing = store.pairing().context("another `doorward serve --pair` took over")?;
        if let Some(device) = pairing.claim {
            return Ok(device);
        }
        if now_ms() > pairing.until_ms {
            bail!("nobody used the code within five minutes; not paired");
        }
        std::thread::sleep(LOOK);
    }
}
