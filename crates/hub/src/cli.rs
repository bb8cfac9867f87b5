//! The command line of the hub.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use doorward_ledger::SigningKey;
use doorward_team::Token;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::api::Hub;
use crate::clock::{DAY_MS, now_ms};
use crate::dev;
use crate::store::people::{self, Role};
use crate::store::pool::Pool;
use crate::store::{bundles, edges, migrate, retain};

/// Collect the records of a team's machines in one PostgreSQL ledger.
#[derive(Debug, Parser)]
#[command(name = "doorward-hub", version, max_term_width = 100, arg_required_else_help = true)]
struct CommandLine {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    command: Command,
}

/// Where the hub keeps what it has.
#[derive(Debug, Args)]
struct Place {
    /// The database, as `host=… user=… dbname=…` or `postgresql://…`; without it, the one that `dev` starts
    #[arg(long, global = true, env = "DOORWARD_HUB_DATABASE", hide_env_values = true)]
    database: Option<String>,
    /// The directory of the hub's key and of what `dev` keeps
    #[arg(long, global = true, value_name = "DIR")]
    state: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Try it: start a private PostgreSQL and the hub, on this machine only
    ///
    /// Needs PostgreSQL's programs `initdb` and `postgres`; does not run as root.
    Dev(Listening),
    /// Run the hub on a database of yours
    Serve(Listening),
    /// Make a token with which one machine can enrol
    Token {
        /// The team the machine belongs to
        #[arg(long, default_value = "")]
        team: String,
        /// How many days it can be used
        #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..=90))]
        days: u64,
    },
    /// List the machines that ship their record
    Edges {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Take nothing more from a machine; what it sent stays
    Revoke {
        /// Its number in `doorward-hub edges`
        edge: i32,
    },
    /// List what needs attention
    ///
    /// Exit code: 0 nothing open, 1 something is.
    Alerts {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Let somebody look at the fleet through the API; prints the secret they sign in with, once
    ///
    /// Viewers see counts, machines and alerts; reviewers and policy owners also records of people; auditors also who looked at
    /// what. Every look at records of people is written down.
    Person {
        name: String,
        /// What they may see
        #[arg(long)]
        role: Role,
    },
    /// Hand out a signed policy bundle to the machines
    Publish {
        /// What `doorward bundle build` made and enough people signed
        bundle: PathBuf,
    },
    /// Drop whole months of old records; blocks, overrides and other sensitive records stay
    Retain {
        /// How many days records stay at least
        #[arg(long, default_value_t = retain::LEAST_DAYS)]
        days: u64,
    },
}

#[derive(Debug, Args)]
struct Listening {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// What the team is called
    #[arg(long, default_value = "team")]
    name: String,
    /// Listen beyond this machine, without encryption of its own: something in front of it does that
    #[arg(long)]
    behind_proxy: bool,
}

/// Parses the command line and runs it.
pub(crate) fn run() -> ExitCode {
    let line = CommandLine::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = runtime.context("can't start").and_then(|runtime| runtime.block_on(command(line)));
    outcome.unwrap_or_else(|error| {
        say(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

#[expect(clippy::print_stdout, reason = "this is what commands answer with")]
fn show(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "this is where a service says what happens")]
fn say(text: &str) {
    eprintln!("{text}");
}

async fn command(CommandLine { place, command }: CommandLine) -> Result<ExitCode> {
    match command {
        Command::Dev(listening) => development(&place, listening).await,
        Command::Serve(listening) => serve(&place, listening).await,
        Command::Token { team, days } => token(&place, &team, days).await,
        Command::Edges { json } => listed(&place, EDGES, json).await,
        Command::Alerts { json } => listed(&place, ALERTS, json).await,
        Command::Revoke { edge } => {
            let client = place.pool()?.get().await?;
            if !edges::revoke(&client, edge, now_ms()).await? {
                bail!("there is no edge {edge} that could be revoked; `doorward-hub edges` lists them");
            }
            show(&format!("edge {edge} is revoked: nothing more is taken from it, and what it sent stays"));
            Ok(ExitCode::SUCCESS)
        }
        Command::Person { name, role } => {
            let client = place.pool()?.get().await?;
            match people::add(&client, (&name, role), now_ms()).await? {
                Some(secret) => show(&secret),
                None => bail!("`{name}` has a secret already"),
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Publish { bundle } => {
            let bytes = std::fs::read(&bundle).with_context(|| format!("can't read `{}`", bundle.display()))?;
            let mut client = place.pool()?.get().await?;
            let version = bundles::publish(&mut client, &bytes, now_ms()).await?;
            show(&format!("version {version} is handed out from now on"));
            Ok(ExitCode::SUCCESS)
        }
        Command::Retain { days } => {
            let mut client = place.pool()?.get().await?;
            let done = retain::retain(&mut client, days, now_ms()).await?;
            show(&format!("{} months dropped: {} records gone, {} kept", done.months, done.dropped, done.kept));
            Ok(ExitCode::SUCCESS)
        }
    }
}

impl Place {
    fn state(&self) -> Result<PathBuf> {
        if let Some(state) = &self.state {
            return Ok(state.clone());
        }
        let home = std::env::var_os("HOME").context("the home directory is unknown: give `--state DIR`")?;
        Ok(PathBuf::from(home).join(".local/share/doorward-hub"))
    }

    fn key(&self) -> Result<SigningKey> {
        let path = self.state()?.join("hub.key");
        SigningKey::load_or_create(&path).context("can't use the hub's key")
    }

    fn pool(&self) -> Result<Arc<Pool>> {
        match &self.database {
            Some(url) => Pool::new(url),
            None => Pool::new(&dev::address(&self.state()?)),
        }
    }
}

async fn serve(place: &Place, listening: Listening) -> Result<ExitCode> {
    if place.database.is_none() {
        bail!("`serve` needs a database: give `--database`, or try `doorward-hub dev`");
    }
    answer(place, listening).await?;
    Ok(ExitCode::SUCCESS)
}

async fn development(place: &Place, listening: Listening) -> Result<ExitCode> {
    if place.database.is_some() {
        bail!("`dev` brings a database of its own: leave out `--database`, or use `serve`");
    }
    let mut postgres = dev::start(&place.state()?).await?;
    let answered = answer(place, listening).await;
    postgres.stop();
    answered?;
    Ok(ExitCode::SUCCESS)
}

async fn answer(place: &Place, listening: Listening) -> Result<()> {
    let Listening { listen, name, behind_proxy } = listening;
    if !listen.ip().is_loopback() && !behind_proxy {
        bail!(
            "records name people and their work, and the hub doesn't encrypt: listen on 127.0.0.1 behind a proxy that does, \
             or say `--behind-proxy` if `{listen}` is reachable for that proxy only"
        );
    }
    let hub = Hub::new(place.pool()?, place.key()?, name);
    hub.prepare().await.context("can't use the database")?;
    let listener = TcpListener::bind(listen).await.with_context(|| format!("can't listen on `{listen}`"))?;
    say(&format!("doorward-hub listens on http://{}", listener.local_addr()?));
    let (mut terminated, mut interrupted) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stopped = async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
    };
    hub.serve(listener, stopped).await
}

async fn token(place: &Place, team: &str, days: u64) -> Result<ExitCode> {
    let mut client = place.pool()?.get().await.context("is the hub's database running?")?;
    migrate(&mut client).await?;
    let token = Token::new(place.key()?.fingerprint()).context("no random bytes")?;
    let key = token.key().context("no random bytes")?.public_key();
    edges::add_token(&client, (&key, team), (now_ms(), now_ms() + days * DAY_MS)).await?;
    show(&token.reveal());
    say(&format!("For one machine, within {days} days: `doorward ship enrol ADDRESS TOKEN`"));
    Ok(ExitCode::SUCCESS)
}

/// One list: its query, whose rows are JSON, and the columns that a person sees.
struct List {
    query: &'static str,
    columns: &'static [&'static str],
    fails_if_any: bool,
}

const EDGES: List = List {
    query: "select to_json(e)::text from (select id, name, user_name, team, version, head_sequence as records, \
            to_timestamp(seen_ms / 1000) as seen, skew_ms, revoked_ms is not null as revoked from edge order by id) e",
    columns: &["id", "name", "user_name", "team", "version", "records", "seen", "revoked"],
    fails_if_any: false,
};

const ALERTS: List = List {
    query: "select to_json(a)::text from (select id, name, edge, detail, times, to_timestamp(last_ms / 1000) as last \
            from alert where resolved_ms is null order by last_ms desc) a",
    columns: &["id", "name", "edge", "times", "last", "detail"],
    fails_if_any: true,
};

async fn listed(place: &Place, list: List, as_json: bool) -> Result<ExitCode> {
    let client = place.pool()?.get().await.context("is the hub's database running?")?;
    let rows: Vec<String> = client.query(list.query, &[]).await?.iter().map(|row| row.get(0)).collect();
    let is_failure = list.fails_if_any && !rows.is_empty();
    for row in rows {
        if as_json {
            show(&row);
            continue;
        }
        let value: serde_json::Value = serde_json::from_str(&row)?;
        let cell = |name: &&str| {
            let value = value.get(*name).filter(|value| !value.is_null());
            let text = value.and_then(|value| value.as_str().map(visible));
            text.or_else(|| value.map(ToString::to_string)).unwrap_or_else(|| "-".to_owned())
        };
        show(&list.columns.iter().map(cell).collect::<Vec<_>>().join("  "));
    }
    Ok(if is_failure { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Names come from machines; a terminal obeys control characters.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
