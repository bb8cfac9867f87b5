//! Loose objects: one file each.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::budget::Budget;
use super::inflate::{Inflater, Input};
use super::store::Object;
use super::{Id, ObjectKind, Unread, listed};
use crate::machine::checked_read;

/// The longest object header: a word, a number and the zero byte.
const HEAD: usize = 32;

/// Reads a loose object; `None` if there is no such file.
pub(super) fn read(
    directory: &Path,
    id: &Id,
    limit: u64,
    tools: (&RefCell<Inflater>, &Budget),
) -> Result<Option<Object>, Unread> {
    let path = place(directory, id);
    if !listed::exists(&path)? {
        return Ok(None);
    }
    let (inflater, budget) = tools;
    // Compressed data can be a little longer than its content, never much.
    let most = limit.min(budget.bytes_left()).saturating_add(64 << 10);
    let most = most.saturating_add(most / 512);
    let chunk = checked_read::bytes_of(&path, most).ok_or_else(|| unreadable(&path, most))?;
    let mut input = Input { chunk, used: 0, more: None };
    let object = inflated(&mut inflater.borrow_mut(), &mut input, limit, budget)?;
    if input.rest().is_empty() { Ok(Some(object)) } else { Err(Unread::Corrupt) }
}

fn place(directory: &Path, id: &Id) -> PathBuf {
    let hex = id.to_string();
    let (first, rest) = hex.split_at_checked(2).unwrap_or_default();
    directory.join(first).join(rest)
}

fn unreadable(path: &Path, most: u64) -> Unread {
    if path.metadata().is_ok_and(|metadata| metadata.len() > most) { Unread::OverBudget } else { Unread::Unreadable }
}

fn inflated(inflater: &mut Inflater, input: &mut Input<'_>, limit: u64, budget: &Budget) -> Result<Object, Unread> {
    let (mut bytes, ended) = inflater.start(input, HEAD)?;
    let end = bytes.iter().take(HEAD).position(|byte| *byte == 0).ok_or(Unread::Corrupt)?;
    let (kind, size) = bytes.get(..end).and_then(head).ok_or(Unread::Corrupt)?;
    if size > limit {
        return Err(Unread::TooLarge);
    }
    budget.spend_bytes(size)?;
    let whole = usize::try_from(size).map_err(|_| Unread::TooLarge)? + end + 1;
    if (!ended && !inflater.fill(input, &mut bytes, whole + 1)?) || bytes.len() != whole {
        return Err(Unread::Corrupt);
    }
    bytes.drain(..=end);
    Ok(Object { kind, bytes })
}

fn head(bytes: &[u8]) -> Option<(ObjectKind, u64)> {
    let space = bytes.iter().position(|byte| *byte == b' ')?;
    let digits = std::str::from_utf8(bytes.get(space + 1..)?).ok()?;
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) || (digits.starts_with('0') && digits.len() > 1) {
        return None;
    }
    Some((ObjectKind::parse(bytes.get(..space)?)?, digits.parse().ok()?))
}

/// The ids that start with these digits, of which there are at least two.
pub(super) fn beginning_with(directory: &Path, digits: &str) -> Result<Vec<Id>, Unread> {
    let (first, rest) = digits.split_at_checked(2).ok_or(Unread::Corrupt)?;
    let names = listed::names(&directory.join(first))?;
    let ids =
        names.iter().filter(|name| name.starts_with(rest)).filter_map(|name| Id::parse(&format!("{first}{name}")));
    Ok(ids.collect())
}
