//! `doorward bundle`: policy for a team: built, signed by several people, handed out, and followed.

mod follow;
mod look;
mod make;
mod source;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use doorward_team::{Bundle, LONGEST_BUNDLE};

use crate::machine::checked_read;
use crate::machine::paths::Dirs;

pub(crate) use follow::fetch_if_followed;

#[derive(Debug, Args)]
pub(crate) struct BundleArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a key that signs bundles, and print its public half (not for agents)
    Key {
        /// Where to keep it; nobody else may read it
        file: PathBuf,
    },
    /// Put a bundle together from `config.toml` and `rules/*.toml` in a directory (not for agents)
    ///
    /// The first one names the team and the keys; later ones take both from the one before, unless you say otherwise.
    Build(BuildArguments),
    /// Sign a bundle; it takes as many signatures as its threshold says (not for agents)
    Sign {
        bundle: PathBuf,
        /// Your key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
    },
    /// Say what a bundle is, who signed it, and whether it would be followed
    ///
    /// Exit code: 0 it would be followed, 1 it would be refused.
    Verify {
        bundle: PathBuf,
        /// The bundle before it, whose keys count; without it, the bundle's own keys
        #[arg(long, value_name = "FILE")]
        previous: Option<PathBuf>,
    },
    /// Show what changes from one bundle to another
    Diff { before: PathBuf, after: PathBuf },
    /// Put a bundle where machines fetch it: a directory that they or a web server can read (not for agents)
    Publish {
        bundle: PathBuf,
        /// The directory; for a hub, use `doorward-hub publish`
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
    },
    /// Follow a team's policy: trust the keys that a bundle names, and say where bundles come from (not for agents)
    Trust {
        /// A bundle of the team, from somebody you trust
        bundle: PathBuf,
        /// `hub`, a directory, or an `https://` address
        #[arg(long, default_value = "hub")]
        from: String,
        /// Don't ask, for your own scripts
        #[arg(long)]
        yes: bool,
    },
    /// Get newer bundles and follow them
    ///
    /// Exit code: 0 the policy is up to date, 75 its source can't be reached now, 1 a bundle was refused.
    Fetch,
    /// Show which policy counts here, until when, and where it comes from
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Stop following a team's policy (not for agents)
    Leave,
}

#[derive(Debug, Args)]
struct BuildArguments {
    directory: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The bundle before; without it, this is the first
    #[arg(long, value_name = "FILE")]
    previous: Option<PathBuf>,
    /// Whose policy it is
    #[arg(long)]
    team: Option<String>,
    /// For how many days it holds; then machines are strict until there is a newer one
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=400))]
    days: u64,
    /// A public key that may sign the next bundle; repeat it for each
    #[arg(long = "signer", value_name = "KEY")]
    signers: Vec<String>,
    /// How many of them it takes
    #[arg(long, value_name = "NUMBER")]
    threshold: Option<usize>,
    /// The share of machines it is for, in percent; the others keep the one before
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u8).range(1..=100))]
    share: u8,
    /// Take back the bundle before: machines are strict until there is a newer one
    #[arg(long)]
    revoke: bool,
}

pub(crate) fn run(arguments: &BundleArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    match &arguments.action {
        Action::Key { file } => make::key(file),
        Action::Build(arguments) => make::build(arguments),
        Action::Sign { bundle, key } => make::sign(bundle, key),
        Action::Publish { bundle, to } => make::publish(bundle, to),
        Action::Verify { bundle, previous } => look::verify(bundle, previous.as_deref()),
        Action::Diff { before, after } => look::diff(before, after),
        Action::Trust { bundle, from, yes } => follow::trust(&dirs, bundle, (from, *yes)),
        Action::Fetch => follow::fetch(&dirs),
        Action::Status { json } => look::status(&dirs, *json),
        Action::Leave => follow::leave(&dirs),
    }
}

/// The bundle in a file.
fn read(path: &Path) -> Result<Bundle> {
    let file = checked_read::open(path).with_context(|| format!("can't open `{}`", path.display()))?;
    let mut bytes = Vec::new();
    file.take(LONGEST_BUNDLE as u64 + 1).read_to_end(&mut bytes)?;
    Bundle::read(&bytes).with_context(|| format!("`{}`", path.display()))
}
