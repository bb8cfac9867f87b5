//! Which remote branch a branch tracks, by configuration.

use std::collections::BTreeMap;

use super::Unread;

/// The reference for `NAME@{upstream}`; `None` if the branch tracks none.
///
/// Keys are in lower case, and a key that has several values has its later ones below `SUBSECTION#…`.
pub(crate) fn upstream_of(values: &BTreeMap<String, String>, branch: &str) -> Result<Option<String>, Unread> {
    let Some(remote) = only(values, "branch", branch, "remote")? else { return Ok(None) };
    let Some(merged) = only(values, "branch", branch, "merge")? else { return Ok(None) };
    if remote == "." {
        return Ok(Some(merged.to_owned()));
    }
    let usual = format!("+refs/heads/*:refs/remotes/{remote}/*");
    if only(values, "remote", remote, "fetch")? != Some(&usual) {
        return Err(Unread::Unsupported("how the remote's branches are named here"));
    }
    let name = merged.strip_prefix("refs/heads/").ok_or(Unread::Unsupported("what the branch follows"))?;
    Ok(Some(format!("refs/remotes/{remote}/{name}")))
}

/// The value of a key that has only one.
fn only<'a>(
    values: &'a BTreeMap<String, String>,
    section: &str,
    subsection: &str,
    name: &str,
) -> Result<Option<&'a str>, Unread> {
    let key = |end: &str| format!("{section}.{subsection}{end}").to_lowercase();
    let further = key("#");
    let has_further = values
        .range(further.clone()..)
        .take_while(|(known, _)| known.starts_with(&further))
        .any(|(known, _)| known.rsplit_once('.').is_some_and(|(_, last)| last == name));
    if has_further {
        return Err(Unread::Unsupported("a setting with several values"));
    }
    Ok(values.get(&key(&format!(".{name}"))).map(String::as_str))
}
