//! Sharper sentences for calls that a rule's own sentence fits badly: a rule covers many programs.

use doorward_engine::{Effect, Mark, Operation};

/// Replaces a rule's sentence and its way out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    rule: &'static str,
    fits: fn(&Effect) -> bool,
    /// A verb and its objects, to follow "this".
    pub what: &'static str,
    pub instead: &'static str,
}

/// The first case of a rule that fits the effect.
pub(super) fn case_of(rule: &str, effect: &Effect) -> Option<&'static Case> {
    CASES.iter().find(|case| case.rule == rule && (case.fits)(effect))
}

pub(super) const UNPACK_APART: &str = "unpack it into a new directory";
pub(super) const UNPACKS: &str = "unpacks an archive and may overwrite files";

/// Programs that unpack archives.
pub(super) fn unpacks(effect: &Effect) -> bool {
    let archivers = ["tar", "bsdtar", "gtar", "unzip", "7z", "7za", "7zz", "cpio", "pax", "unrar", "unar", "ditto"];
    archivers.contains(&program(effect)) && effect.marks.has(Mark::CountUnknown)
}

/// Programs that log in to another machine.
pub(super) fn logs_in(effect: &Effect) -> bool {
    ["ssh", "mosh", "telnet", "rlogin", "autossh"].contains(&program(effect))
}

/// Programs that show an address in a browser.
pub(super) fn browses(effect: &Effect) -> bool {
    let browsers =
        ["xdg-open", "open", "sensible-browser", "x-www-browser", "firefox", "chromium", "google-chrome", "wslview"];
    browsers.contains(&program(effect))
}

/// The separator between a recipe and the command in it.
const IN_RECIPE: &str = " › ";

/// The command that causes the effect, wherever it was called from.
fn command(effect: &Effect) -> &str {
    effect.by.rsplit(IN_RECIPE).next().unwrap_or_default()
}

/// The first word of that command.
pub(super) fn program(effect: &Effect) -> &str {
    command(effect).split(' ').next().unwrap_or_default()
}

/// One of these words follows the program.
fn has_word(effect: &Effect, words: &[&str]) -> bool {
    command(effect).split(' ').skip(1).any(|word| words.contains(&word))
}

fn in_container(effect: &Effect) -> bool {
    ["docker", "docker-compose", "podman", "podman-compose", "nerdctl", "buildah"].contains(&program(effect))
}

fn copies(effect: &Effect) -> bool {
    ["mv", "cp", "install", "ln", "rsync", "dd", "ditto", "curl", "wget"].contains(&program(effect))
}

fn is_git(effect: &Effect, words: &[&str]) -> bool {
    program(effect) == "git" && has_word(effect, words)
}

const CASES: &[Case] = &[
    Case {
        rule: "remote",
        fits: |effect| in_container(effect) && has_word(effect, &["build", "bake"]),
        what: "runs the build steps of a container image",
        instead: "",
    },
    Case {
        rule: "remote",
        fits: |effect| in_container(effect) && has_word(effect, &["up", "start", "restart"]),
        what: "starts containers and whatever they run",
        instead: "",
    },
    Case { rule: "remote", fits: in_container, what: "runs a command in a container", instead: "" },
    Case {
        rule: "remote",
        fits: |effect| logs_in(effect) && effect.marks.has(Mark::Interactive),
        what: "logs in to another machine",
        instead: "ask the user to log in",
    },
    Case {
        rule: "persistence",
        fits: |effect| {
            let removes = ["disable", "mask", "unload", "bootout", "remove"];
            effect.operation == Operation::Delete || has_word(effect, &removes)
        },
        what: "keeps something from starting automatically",
        instead: "ask the user to change what starts automatically",
    },
    Case {
        rule: "persistence",
        fits: |effect| effect.marks.has(Mark::Destroys) || program(effect) == "atrm",
        what: "deletes scheduled jobs",
        instead: "ask the user to change the schedule",
    },
    Case {
        rule: "persistence",
        fits: |effect| effect.marks.has(Mark::Interactive),
        what: "opens the scheduled jobs for editing",
        instead: "ask the user to change the schedule",
    },
    Case { rule: "unseen-change", fits: unpacks, what: UNPACKS, instead: UNPACK_APART },
    Case {
        rule: "unseen-change",
        fits: |effect| ["tar", "bsdtar", "gtar", "zip", "7z", "7za"].contains(&program(effect)),
        what: "writes an archive and may replace one with that name",
        instead: "",
    },
    Case {
        rule: "unseen-change",
        fits: |effect| is_git(effect, &["checkout", "restore", "switch"]),
        what: "replaces files with git's version",
        instead: "look at `git diff` first",
    },
    Case {
        rule: "unseen-change",
        fits: |effect| program(effect) == "patch" || is_git(effect, &["apply", "am"]),
        what: "applies a patch without showing it",
        instead: "show the patch first",
    },
    Case {
        rule: "unseen-change",
        fits: copies,
        what: "may overwrite a file with content doorward can't see",
        instead: "choose a new file name",
    },
    Case {
        rule: "data-to-unlisted-host",
        fits: |effect| effect.marks.has(Mark::Listens),
        what: "opens a port that other machines can connect to",
        instead: "ask the user to open the port",
    },
    Case {
        rule: "plaintext",
        fits: |effect| effect.marks.has(Mark::Listens),
        what: "opens a port that other machines can connect to",
        instead: "ask the user to open the port",
    },
    Case {
        rule: "external-write",
        fits: |effect| effect.marks.has(Mark::Listens),
        what: "opens a way into this machine from the internet",
        instead: "ask the user to open the tunnel",
    },
    Case {
        rule: "external-write",
        fits: |effect| effect.marks.has(Mark::SecretInContent),
        what: "stores a secret on another service",
        instead: "ask the user to store the secret",
    },
    Case {
        rule: "external-write",
        fits: |effect| effect.marks.has(Mark::ExternalMessage),
        what: "sends something to other people in your name",
        instead: "draft it and ask the user to send it",
    },
    Case {
        rule: "install-chosen",
        fits: |effect| effect.marks.has(Mark::RemoteCode),
        what: "downloads a package and runs it right away",
        instead: "add the tool to the project",
    },
    Case {
        rule: "install-chosen",
        fits: in_container,
        what: "downloads a container image that the agent chose",
        instead: "ask the user to choose the image",
    },
    Case {
        rule: "cloud-destroys",
        fits: |effect| effect.marks.has(Mark::Database),
        what: "deletes data or tables in a database",
        instead: "show the statement and ask the user to run it",
    },
    Case {
        rule: "cloud-destroys",
        fits: |effect| is_git(effect, &["push"]),
        what: "deletes a branch or tag on a remote",
        instead: "ask the user to delete it",
    },
    Case {
        rule: "discard-work",
        fits: |effect| is_git(effect, &["clean"]),
        what: "deletes files that are not in git",
        instead: "list them first with `git clean -n`",
    },
    Case {
        rule: "discard-work",
        fits: |effect| is_git(effect, &["stash"]),
        what: "discards stashed work",
        instead: "keep the stash",
    },
    Case {
        rule: "history-rewrite",
        fits: |effect| is_git(effect, &["branch"]),
        what: "moves or deletes a branch whose commits may exist nowhere else",
        instead: "use `git branch -d`, which keeps unmerged branches",
    },
    Case {
        rule: "git-config",
        fits: |effect| is_git(effect, &["remote"]),
        what: "changes where git fetches from and pushes to",
        instead: "give the address only in the command that needs it",
    },
    Case {
        rule: "raw-device",
        fits: |effect| {
            let formats = ["wipefs", "fdisk", "sfdisk", "parted", "mkswap", "gdisk", "sgdisk", "diskutil"];
            program(effect).starts_with("mkfs") || formats.contains(&program(effect))
        },
        what: "formats or repartitions a disk",
        instead: "ask the user to do it",
    },
    Case {
        rule: "unlisted-host",
        fits: browses,
        what: "opens a page in the browser from a host that is not on the list",
        instead: "",
    },
];
