//! A git repository with one commit, written file by file, so that the demo needs no git.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use sha1::{Digest, Sha1};

/// A file of the commit.
pub(super) type Tracked<'a> = (&'a str, &'a str);

type Id = [u8; 20];

/// Writes `.git` below `root`: one commit of these files, which are at most one directory deep and sorted by name.
pub(super) fn write(root: &Path, files: &[Tracked<'_>], file: impl Fn(&str, &[u8]) -> Result<()>) -> Result<()> {
    let object = |kind: &str, body: &[u8]| -> Result<Id> {
        let whole = [format!("{kind} {}\0", body.len()).as_bytes(), body].concat();
        let id: Id = Sha1::digest(&whole).into();
        let name = hex(&id);
        let (start, rest) = name.split_at(2);
        file(&format!(".git/objects/{start}/{rest}"), &miniz_oxide::deflate::compress_to_vec_zlib(&whole, 6))?;
        Ok(id)
    };
    let mut blobs = Vec::new();
    for (name, text) in files {
        blobs.push((*name, object("blob", text.as_bytes())?));
    }
    let top = tree(&blobs, &object)?;
    let author = "an agent <agent@example.org> 1700000000 +0000";
    let commit = format!("tree {}\nauthor {author}\ncommitter {author}\n\nthe shop\n", hex(&top));
    let id = object("commit", commit.as_bytes())?;
    file(".git/HEAD", b"ref: refs/heads/feature\n")?;
    file(".git/refs/heads/feature", format!("{}\n", hex(&id)).as_bytes())?;
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://github.com/acme/shop.git\n";
    file(".git/config", config.as_bytes())?;
    file(".git/index", &index(root, &blobs)?)
}

/// The tree of the names: those in a directory form a subtree.
fn tree(blobs: &[(&str, Id)], object: &impl Fn(&str, &[u8]) -> Result<Id>) -> Result<Id> {
    let mut body = Vec::new();
    let mut done: Vec<&str> = Vec::new();
    for (name, id) in blobs {
        let Some((directory, _)) = name.split_once('/') else {
            body.extend_from_slice(&[format!("100644 {name}\0").as_bytes(), id].concat());
            continue;
        };
        if done.contains(&directory) {
            continue;
        }
        done.push(directory);
        let below: Vec<(&str, Id)> = blobs
            .iter()
            .filter_map(|(name, id)| Some((name.strip_prefix(directory)?.strip_prefix('/')?, *id)))
            .collect();
        let id = tree(&below, object)?;
        body.extend_from_slice(&[format!("40000 {directory}\0").as_bytes(), &id].concat());
    }
    object("tree", &body)
}

/// The index, version 2, of the files on disk.
fn index(root: &Path, blobs: &[(&str, Id)]) -> Result<Vec<u8>> {
    use std::os::unix::fs::MetadataExt;
    let count = u32::try_from(blobs.len()).context("too many files")?;
    let mut bytes = [&b"DIRC"[..], &2u32.to_be_bytes(), &count.to_be_bytes()].concat();
    for (name, id) in blobs {
        let found = root.join(name).metadata().with_context(|| format!("`{name}`"))?;
        // Git keeps the lower half of each number.
        let low = |number: i64| u32::try_from(number & 0xffff_ffff).unwrap_or_default();
        let start = bytes.len();
        for number in [found.ctime(), found.ctime_nsec(), found.mtime(), found.mtime_nsec()] {
            bytes.extend_from_slice(&low(number).to_be_bytes());
        }
        let whose = [found.dev(), found.ino()].map(|number| u32::try_from(number & 0xffff_ffff).unwrap_or_default());
        let size = u32::try_from(found.size()).unwrap_or(u32::MAX);
        for number in [whose[0], whose[1], 0o100_644, found.uid(), found.gid(), size] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(id);
        bytes.extend_from_slice(&u16::try_from(name.len()).unwrap_or(u16::MAX).to_be_bytes());
        bytes.extend_from_slice(name.as_bytes());
        // Entries end with one to eight zeros, at a multiple of eight.
        let length = bytes.len() - start;
        bytes.resize(start + (length / 8 + 1) * 8, 0);
    }
    let sum: Id = Sha1::digest(&bytes).into();
    bytes.extend_from_slice(&sum);
    Ok(bytes)
}

fn hex(id: &Id) -> String {
    id.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
