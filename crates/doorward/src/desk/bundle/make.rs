//! Making bundles: keys, building, signing, handing out. All of it a person's work.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_ledger::{PublicKey, SigningKey};
use doorward_team::{Bundle, Manifest, Root};

use super::source::{LATEST, file_name};
use super::{BuildArguments, read};
use crate::desk::person;
use crate::machine::clock::now_ms;
use crate::machine::{atomic_file, visible};
use crate::policy::{team_policy, user_files};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

pub(super) fn key(file: &Path) -> Result<ExitCode> {
    person::no_agent()?;
    if file.exists() {
        bail!("`{}` exists already; a key is never overwritten", file.display());
    }
    let key = SigningKey::load_or_create(file).context("can't make the key")?;
    writeln!(anstream::stdout(), "{}", key.public_key())?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn build(arguments: &BuildArguments) -> Result<ExitCode> {
    person::no_agent()?;
    let previous = arguments.previous.as_deref().map(read).transpose()?;
    let before = previous.as_ref().map(|bundle| &bundle.manifest);
    let team = arguments.team.clone().or_else(|| before.map(|manifest| manifest.team.clone()));
    let team = team.context("the first bundle needs `--team NAME`")?;
    let root = root(arguments, before.map(|manifest| &manifest.root))?;
    let needed = before.map_or(root.threshold, |manifest| manifest.root.threshold);
    let about = previous.as_ref().map_or((1, None), |bundle| (bundle.manifest.version + 1, Some(bundle.digest())));
    let mut manifest = Manifest::new(&team, about, (now_ms(), now_ms() + arguments.days * DAY_MS), root);
    (manifest.share, manifest.revokes) = (arguments.share, arguments.revoke);
    let files = if arguments.revoke { BTreeMap::new() } else { files(&arguments.directory)? };
    let bundle = Bundle::build(manifest, files)?;
    team_policy::contents_of(&bundle).map_err(anyhow::Error::msg)?;
    write_new(&arguments.out, &bundle.bytes())?;
    let (shown, version) = (arguments.out.display(), bundle.manifest.version);
    let mut out = anstream::stdout();
    writeln!(
        out,
        "`{shown}` is version {version}. It needs {needed} signatures: `doorward bundle sign {shown} --key FILE`"
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The keys for the next bundle.
fn root(arguments: &BuildArguments, before: Option<&Root>) -> Result<Root> {
    let key = |text: &String| {
        PublicKey::from_hex(text).with_context(|| format!("`{text}` is not a public key of `doorward bundle key`"))
    };
    let signers = arguments.signers.iter().map(key).collect::<Result<Vec<_>>>()?;
    let signers = match (signers.is_empty(), before) {
        (false, _) => signers,
        (true, Some(before)) => before.signers.clone(),
        (true, None) => bail!("the first bundle needs at least one `--signer KEY`"),
    };
    // One person who can do it alone is one stolen laptop that can.
    let usual = before.map_or(signers.len().min(2), |before| before.threshold);
    Ok(Root { threshold: arguments.threshold.unwrap_or(usual), signers })
}

/// Configuration and rules of a directory; the examples of each rule are tried here, once for all machines.
fn files(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    if let Some(text) = atomic_file::text(&directory.join("config.toml"))? {
        files.insert("config.toml".to_owned(), text.into_bytes());
    }
    let rules = directory.join("rules");
    if rules.exists() {
        user_files::rules_in(&rules).map_err(|problems| anyhow::Error::msg(problems.join("; ")))?;
        for entry in std::fs::read_dir(&rules)? {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "toml") {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.insert(format!("rules/{name}"), std::fs::read(&path)?);
            }
        }
    }
    if files.is_empty() {
        bail!("`{}` has neither `config.toml` nor `rules/*.toml`", directory.display());
    }
    Ok(files)
}

pub(super) fn sign(path: &Path, key: &Path) -> Result<ExitCode> {
    person::no_agent()?;
    let mut bundle = read(path)?;
    let key = SigningKey::load(key).context("can't use the key")?;
    bundle.sign(&key);
    replace(path, &bundle.bytes())?;
    let (team, version) = (visible(&bundle.manifest.team), bundle.manifest.version);
    writeln!(anstream::stdout(), "Version {version} for `{team}` has {} signatures now.", bundle.signatures.len())?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn publish(path: &Path, to: &Path) -> Result<ExitCode> {
    person::no_agent()?;
    let bundle = read(path)?;
    let (version, bytes) = (bundle.manifest.version, bundle.bytes());
    let (signed, needed) = (bundle.signatures.len(), bundle.manifest.root.threshold);
    if signed < needed {
        bail!("no machine would follow it: {signed} of {needed} signatures");
    }
    let place = to.join(file_name(version));
    if place.exists() && read(&place)?.digest() != bundle.digest() {
        bail!("`{}` is another bundle of this version: machines that have it would refuse this one", place.display());
    }
    replace(&place, &bytes)?;
    replace(&to.join(LATEST), &bytes)?;
    writeln!(anstream::stdout(), "Version {version} is in `{}`.", to.display())?;
    Ok(ExitCode::SUCCESS)
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = || format!("can't write `{}`", path.display());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path).with_context(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).with_context(failed)
}

/// Replaces a file as a whole: a machine that fetches meanwhile gets the one or the other.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let scratch = path.with_extension(format!("{}.new", std::process::id()));
    let _left_over = std::fs::remove_file(&scratch);
    write_new(&scratch, bytes)?;
    std::fs::rename(&scratch, path).with_context(|| format!("can't replace `{}`", path.display()))
}
