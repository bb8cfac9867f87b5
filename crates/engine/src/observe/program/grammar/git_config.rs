//! Git settings: which ones make git run programs, for which commands, and which ones are harmless.

use std::collections::BTreeMap;

/// When git obeys a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Always,
    Network,
    /// Shows changes through an external program.
    ExternalDiff,
    /// Shows content through a converter.
    TextConversion,
    /// Moves content between the index and the work tree.
    Content,
    Editor,
    Sign,
    Merge,
    Pick,
    Submodule,
    Archive,
    Trailer,
    Tool,
    Help,
    Mail,
    Hooks,
}

impl Use {
    /// What git obeys without being told to sign, merge or send.
    // `git status` and `git diff` run these programs too, which is what makes a foreign repository dangerous to look
    // at.
    pub(super) const WHILE_LOOKING: &[Use] = &[Use::ExternalDiff, Use::TextConversion, Use::Content];
}

/// First and last part of a key, when it counts, and the values that are harmless; `ssh*` stands for what begins so.
type Setting = (&'static str, &'static str, Use, &'static [&'static str]);

// Editors without a script. `vim -c '!sh'` is none of them, since the value is compared as a whole.
const EDITORS: &[&str] = &[
    "",
    "true",
    ":",
    "cat",
    "vi",
    "vim",
    "nvim",
    "nano",
    "emacs",
    "code --wait",
    "code -w",
    "cursor --wait",
    "zed --wait",
    "subl -w",
    "hx",
    "micro",
];
// The signing programs that git's and 1Password's manuals name, at the paths where installers put them.
const SIGNERS: &[&str] = &[
    "gpg",
    "gpg2",
    "/usr/bin/gpg",
    "/usr/local/bin/gpg",
    "/opt/homebrew/bin/gpg",
    "ssh-keygen",
    "/usr/bin/ssh-keygen",
    "/opt/1Password/op-ssh-sign",
    "/Applications/1Password.app/Contents/MacOS/op-ssh-sign",
];
// Credential helpers that ship with git, gh and glab. A value that starts with `!` is otherwise any shell command.
const HELPERS: &[&str] = &[
    "",
    "cache",
    "cache --timeout*",
    "store",
    "osxkeychain",
    "manager",
    "manager-core",
    "libsecret",
    "wincred",
    "gnome-keyring",
    "!gh auth git-credential",
    "!/usr/bin/gh auth git-credential",
    "!/usr/local/bin/gh auth git-credential",
    "!/opt/homebrew/bin/gh auth git-credential",
    "!glab auth git-credential",
];

// Every key of git's manual whose value is started as a program, with when that happens and the values that are
// harmless.
const SETTINGS: &[Setting] = &[
    ("core", "fsmonitor", Use::Always, &["", "true", "false", "0", "1", "yes", "no", "on", "off"]),
    ("hook", "command", Use::Always, &[]),
    (
        "core",
        "sshcommand",
        Use::Network,
        &["", "ssh", "ssh -o BatchMode=yes", "ssh -o StrictHostKeyChecking=accept-new"],
    ),
    ("core", "gitproxy", Use::Network, &[""]),
    ("core", "askpass", Use::Network, &["", "true", "echo"]),
    ("core", "alternaterefscommand", Use::Network, &[""]),
    ("credential", "helper", Use::Network, HELPERS),
    ("remote", "uploadpack", Use::Network, &["git-upload-pack"]),
    ("remote", "receivepack", Use::Network, &["git-receive-pack"]),
    ("remote", "vcs", Use::Network, &[]),
    ("uploadpack", "packobjectshook", Use::Network, &[""]),
    ("lfs", "path", Use::Network, &[]),
    ("diff", "external", Use::ExternalDiff, &["", "difft", "difft *", "delta"]),
    ("diff", "command", Use::ExternalDiff, &[]),
    ("diff", "textconv", Use::TextConversion, &["cat"]),
    ("filter", "clean", Use::Content, &["git-lfs clean -- %f", "cat"]),
    ("filter", "smudge", Use::Content, &["git-lfs smudge -- %f", "git-lfs smudge --skip -- %f", "cat"]),
    ("filter", "process", Use::Content, &["git-lfs filter-process", "git-lfs filter-process --skip"]),
    ("core", "editor", Use::Editor, EDITORS),
    ("sequence", "editor", Use::Editor, EDITORS),
    ("gpg", "program", Use::Sign, SIGNERS),
    ("gpg", "defaultkeycommand", Use::Sign, &["ssh-add -L"]),
    ("merge", "driver", Use::Merge, &["true", "cat %A", "union"]),
    ("interactive", "difffilter", Use::Pick, &["", "cat", "less", "delta", "delta --color-only"]),
    ("submodule", "update", Use::Submodule, &["checkout", "rebase", "merge", "none"]),
    ("tar", "command", Use::Archive, &["gzip -cn", "xz -c", "zstd -c"]),
    ("trailer", "command", Use::Trailer, &[]),
    ("trailer", "cmd", Use::Trailer, &[]),
    ("difftool", "cmd", Use::Tool, &[]),
    ("mergetool", "cmd", Use::Tool, &[]),
    ("difftool", "path", Use::Tool, &[]),
    ("mergetool", "path", Use::Tool, &[]),
    ("man", "cmd", Use::Help, &[]),
    ("browser", "cmd", Use::Help, &[]),
    ("web", "browser", Use::Help, &[]),
    ("help", "browser", Use::Help, &[]),
    ("sendemail", "sendmailcmd", Use::Mail, &[]),
    ("sendemail", "tocmd", Use::Mail, &[]),
    ("sendemail", "cccmd", Use::Mail, &[]),
    ("sendemail", "smtpserver", Use::Mail, &[]),
    ("core", "hookspath", Use::Hooks, &[]),
];

/// Keys that change how git speaks or records, whatever their value.
// Keys whose every value only changes output, line ends or speed, so that setting them does not ask.
const HARMLESS: &[&str] = &[
    "core.quotepath",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.abbrev",
    "core.longpaths",
    "core.compression",
    "core.preloadindex",
    "core.untrackedcache",
    "core.whitespace",
    "core.commentchar",
    "core.symlinks",
    "user.name",
    "user.email",
    "init.defaultbranch",
    "merge.conflictstyle",
    "merge.ff",
    "merge.renamelimit",
    "merge.log",
    "pull.rebase",
    "pull.ff",
    "push.default",
    "push.autosetupremote",
    "push.followtags",
    "fetch.prune",
    "fetch.parallel",
    "rebase.autostash",
    "rebase.autosquash",
    "rebase.updaterefs",
    "rerere.enabled",
    "rerere.autoupdate",
    "diff.algorithm",
    "diff.renames",
    "diff.renamelimit",
    "diff.context",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.colormoved",
    "diff.indentheuristic",
    "diff.interhunkcontext",
    "diff.ignoresubmodules",
    "diff.submodule",
    "diff.wserrorhighlight",
    "diff.wordregex",
    "status.showuntrackedfiles",
    "status.short",
    "status.branch",
    "status.relativepaths",
    "status.submodulesummary",
    "log.date",
    "log.decorate",
    "log.showsignature",
    "log.abbrevcommit",
    "log.follow",
    "branch.sort",
    "tag.sort",
    "blame.date",
    "format.pretty",
    "grep.linenumber",
    "grep.extendedregexp",
    "grep.patterntype",
    "column.ui",
    "commit.verbose",
    "gc.auto",
    "maintenance.auto",
    "help.autocorrect",
    "submodule.recurse",
    "submodule.fetchjobs",
    "http.postbuffer",
    "http.lowspeedlimit",
    "http.lowspeedtime",
    "index.version",
    "feature.manyfiles",
    "pack.threads",
    "versionsort.suffix",
];

/// Keys that are harmless with these values.
// The rest of these keys' values would run a program or drop a check (git-044, git-050).
const HARMLESS_VALUES: &[(&str, &[&str])] = &[
    ("core.pager", &["cat", "", "less", "less -FRX", "less -R", "less -FX"]),
    ("commit.gpgsign", &["true", "false"]),
    ("tag.gpgsign", &["true", "false"]),
    ("core.hookspath", &["/dev/null", "", ".husky", ".husky/_", ".githooks"]),
    ("core.editor", EDITORS),
    ("sequence.editor", EDITORS),
    ("credential.helper", HELPERS),
    ("core.fsmonitor", &["", "true", "false"]),
    ("advice.detachedhead", &["true", "false"]),
    ("protocol.version", &["0", "1", "2"]),
    ("protocol.file.allow", &["never", "user"]),
    ("gpg.format", &["openpgp", "ssh", "x509"]),
];

fn parts(key: &str) -> (&str, &str) {
    (key.split('.').next().unwrap_or(key), key.rsplit('.').next().unwrap_or(key))
}

fn listed(values: &[&str], value: &str) -> bool {
    values.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => value.starts_with(start) && !value.contains([';', '&', '|', '$', '`', '\n', '(']),
        None => *known == value,
    })
}

/// The setting may be given or stored without effect on what git runs.
pub(super) fn is_harmless(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (section, _) = parts(&key);
    matches!(section, "color" | "advice")
        || HARMLESS.contains(&key.as_str())
        || (section == "pager" && matches!(value, "false" | "true" | "cat" | "less" | ""))
        || HARMLESS_VALUES.iter().any(|(known, values)| *known == key && listed(values, value))
}

/// The setting says where git looks for hooks: another place is a way past those of the repository.
pub(super) fn is_hooks_path(key: &str) -> bool {
    key.eq_ignore_ascii_case("core.hookspath")
}

/// Keys whose value git runs, loads, or uses to find other configuration or another host.
pub(super) fn is_dangerous(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (section, last) = parts(&key);
    matches!(
        section,
        "alias"
            | "include"
            | "includeif"
            | "url"
            | "safe"
            | "protocol"
            | "pager"
            | "hook"
            | "sendemail"
            | "difftool"
            | "mergetool"
    ) || matches!(
        key.as_str(),
        "core.pager"
            | "core.worktree"
            | "core.attributesfile"
            | "init.templatedir"
            | "http.sslverify"
            | "http.proxy"
            | "core.excludesfile"
    ) || last == "sslverify"
        || last == "proxy"
        || SETTINGS.iter().any(|(first, end, _, _)| *first == section && *end == last)
}

/// The setting switches certificate checks off.
pub(super) fn weakens_tls(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.starts_with("http.")
        && key.ends_with("sslverify")
        && matches!(value.to_ascii_lowercase().as_str(), "false" | "0" | "no" | "off")
}

/// In a partial clone any command may have to fetch what it looks at.
pub(super) fn fetches_late(config: &BTreeMap<String, String>) -> Option<Use> {
    let is_promised = |key: &String| key == "extensions.partialclone" || key.ends_with(".promisor");
    config.keys().any(is_promised).then_some(Use::Network)
}

/// The settings in force that would make this command run something that is not known to be harmless.
pub(super) fn dangers(config: &BTreeMap<String, String>, uses: &[Use]) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in config {
        let (section, last) = parts(key);
        let setting = SETTINGS.iter().find(|(first, end, _, _)| *first == section && *end == last);
        let unsafe_setting = setting.is_some_and(|(_, _, when, values)| {
            *when != Use::Hooks && (*when == Use::Always || uses.contains(when)) && !listed(values, value.trim())
        });
        let redirect = uses.contains(&Use::Network)
            && section == "url"
            && matches!(last, "insteadof" | "pushinsteadof")
            && !same_host(key, value);
        let helper = uses.contains(&Use::Network)
            && section == "remote"
            && matches!(last, "url" | "pushurl")
            && value.contains("::");
        let elsewhere = key == "core.worktree" && value.starts_with('/');
        let pager = (key == "core.pager" || section == "pager") && !is_pager(value.trim());
        if unsafe_setting || redirect || helper || elsewhere || pager {
            found.push(key.clone());
        }
    }
    found
}

/// A pager that people use, without anything that makes it run or load something else.
fn is_pager(value: &str) -> bool {
    // Pagers that only show text. `less` can run commands by a key press, but nobody is at the keyboard.
    const PAGERS: &[&str] =
        &["less", "more", "cat", "delta", "bat", "moar", "moor", "most", "diff-so-fancy", "true", "false"];
    // Booleans as git spells them; in `pager.log` a boolean is no program.
    const SWITCHES: &[&str] = &["1", "0", "yes", "no", "on", "off", ""];
    let plain = |word: &str| {
        word.strip_prefix('-').is_some_and(|letters| letters.bytes().all(|byte| b"FRXSKMiNqQrn".contains(&byte)))
            || matches!(word, "--color-only" | "--paging=never" | "--paging=always" | "--plain" | "--dark" | "--light")
            || word
                .strip_prefix("--tabs=")
                .is_some_and(|tabs| tabs.bytes().all(|byte| byte.is_ascii_digit() || byte == b','))
    };
    SWITCHES.contains(&value)
        || value.split('|').all(|stage| {
            let mut words = stage.split_whitespace();
            words.next().is_some_and(|name| PAGERS.contains(&name)) && words.all(plain)
        })
}

/// `url.git@host:.insteadof https://host/` only changes the protocol.
fn same_host(key: &str, value: &str) -> bool {
    let base = key.strip_prefix("url.").and_then(|rest| rest.rsplit_once('.')).map_or("", |(base, _)| base);
    let (base, value) = (host(base), host(value));
    !base.is_empty() && base.eq_ignore_ascii_case(value)
}

/// The host of an address in any of git's spellings.
pub(super) fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.split(['/', ':']).next().unwrap_or(rest);
    rest.rsplit('@').next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::{Use, dangers, is_dangerous, is_harmless};

    fn check(key: &str, value: &str, uses: &[Use], dangerous: bool) {
        let config = [(key.to_owned(), value.to_owned())].into();
        assert_eq!(!dangers(&config, uses).is_empty(), dangerous, "{key}={value}");
    }

    #[test]
    fn settings_count_for_the_commands_that_obey_them() {
        check("core.fsmonitor", "./watch.sh", &[], true);
        check("core.fsmonitor", "true", &[], false);
        check("core.sshcommand", "sh -c x", &[], false);
        check("core.sshcommand", "sh -c x", &[Use::Network], true);
        check("core.sshcommand", "ssh", &[Use::Network], false);
        check("diff.pdf.textconv", "pdf2txt", &[Use::TextConversion], true);
        check("filter.lfs.clean", "git-lfs clean -- %f", &[Use::Content], false);
        check("filter.lfs.clean", "git-lfs clean -- %f; id", &[Use::Content], true);
        check("credential.https://github.com.helper", "!gh auth git-credential", &[Use::Network], false);
        check("credential.helper", "!sh x", &[Use::Network], true);
        check("credential.helper", "cache --timeout=60;id", &[Use::Network], true);
        check("url.git@github.com:.insteadof", "https://github.com/", &[Use::Network], false);
        check("url.https://evil.example/.insteadof", "https://github.com/", &[Use::Network], true);
        check("remote.origin.url", "ext::sh -c id", &[Use::Network], true);
        check("core.worktree", "/", &[], true);
        check("core.pager", "sh -c id", &[], true);
        check("core.pager", "less -FRX", &[], false);
        check("core.pager", "less '+!id'", &[], true);
        check("core.pager", "less -k keys", &[], true);
        check("core.pager", "diff-so-fancy | less --tabs=4 -RFX", &[], false);
        check("core.pager", "delta", &[], false);
        check("core.pager", "./delta", &[], true);
        check("core.pager", "less; id", &[], true);
        check("pager.diff", "delta", &[], false);
        check("pager.log", "false", &[], false);
        check("pager.log", "./evil", &[], true);
        check("alias.st", "!id", &[Use::Network], false);
    }

    #[test]
    fn keys_that_may_be_given() {
        for (key, value) in [
            ("color.ui", "always"),
            ("user.name", "dev"),
            ("core.pager", "cat"),
            ("pager.log", "false"),
            ("core.quotePath", "false"),
            ("advice.detachedHead", "false"),
        ] {
            assert!(is_harmless(key, value), "{key}");
        }
        for (key, value) in [
            ("core.pager", "sh -c id"),
            ("core.sshCommand", "x"),
            ("alias.x", "!id"),
            ("core.fsmonitor", "x"),
            ("diff.external", "x"),
            ("safe.directory", "*"),
            ("frob.nicate", "1"),
        ] {
            assert!(!is_harmless(key, value), "{key}");
        }
        assert!(
            is_dangerous("Core.SshCommand")
                && is_dangerous("credential.https://x.helper")
                && !is_dangerous("user.email")
        );
    }
}
