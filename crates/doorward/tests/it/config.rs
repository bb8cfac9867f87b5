//! The configuration through the real program: what cannot be trusted makes it strict, and the message says how to mend it.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::support::Home;

const FILE: &str = ".config/doorward/config.toml";
const AUTO: &str = "[agents.claude]\nmode = \"auto\"\n";

/// What the hook decides, and why.
fn decision(home: &Home, command: &str) -> (String, String) {
    let ran = home.hook("Bash", json!({ "command": command }));
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{} {}", ran.stdout, ran.stderr));
    let output = &answer["hookSpecificOutput"];
    (
        output["permissionDecision"].as_str().unwrap_or_default().to_owned(),
        output["permissionDecisionReason"].as_str().unwrap_or_default().to_owned(),
    )
}

/// A home whose configuration trusts the agent, spoilt in some way.
fn spoilt(spoil: impl Fn(&Path)) -> Home {
    let home = Home::new();
    let ran = home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(decision(&home, "ls").0, "allow");
    spoil(&home.path(FILE));
    home
}

fn is_strict(home: &Home, file: &str, fix: &str) {
    let (verdict, why) = decision(home, "ls");
    assert_eq!(verdict, "ask", "{why}");
    assert!(why.contains(file), "the file is not named: {why}");
    assert!(why.to_lowercase().contains(&fix.to_lowercase()), "no way to mend it: {why}");
    let (verdict, why) = decision(home, "curl -s https://unlisted.example/");
    assert_eq!(verdict, "deny", "not strict: {why}");
    let shown = home.run(&["config"], b"");
    assert_eq!(shown.code, 1);
    assert!(shown.stdout.contains("problem:") && shown.stdout.contains(file), "{}", shown.stdout);
}

#[test]
fn a_file_that_others_may_write() {
    let home = spoilt(|file| std::fs::set_permissions(file, PermissionsExt::from_mode(0o666)).unwrap());
    is_strict(&home, "config.toml", "remove write permission");
}

#[test]
fn a_link() {
    let home = spoilt(|file| {
        let real = file.with_file_name("real.toml");
        std::fs::rename(file, &real).unwrap();
        symlink(real, file).unwrap();
    });
    is_strict(&home, "config.toml", "put the file itself there");
}

#[test]
fn a_directory() {
    let home = spoilt(|file| {
        std::fs::remove_file(file).unwrap();
        std::fs::create_dir(file).unwrap();
    });
    is_strict(&home, "config.toml", "put the file itself there");
}

#[test]
fn text_that_is_no_toml() {
    let home = spoilt(|file| std::fs::write(file, "mode = = auto").unwrap());
    is_strict(&home, "config.toml", "fix or remove it");
}

#[test]
fn a_key_that_nobody_knows_and_a_value_of_the_wrong_kind() {
    for text in ["stritc = true\n", "strict = \"yes\"\n", "[permissions]\ndeny = \"bash(ls)\"\n"] {
        let home = spoilt(|file| std::fs::write(file, format!("{text}{AUTO}")).unwrap());
        is_strict(&home, "config.toml", "fix or remove it");
    }
}

#[test]
fn ten_megabytes() {
    let home = spoilt(|file| std::fs::write(file, "#".repeat(10 << 20)).unwrap());
    is_strict(&home, "config.toml", "shorten it");
}

#[test]
fn a_file_of_somebody_else() {
    // Only the administrator can give files away.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let home = spoilt(|file| chown(file, Some(12_345), None).unwrap());
    is_strict(&home, "config.toml", "take ownership");
}

#[test]
fn trust_that_was_not_written_by_doorward() {
    let home = spoilt(|file| {
        let state = file.parent().unwrap().parent().unwrap().parent().unwrap().join(".local/state/doorward/trust");
        std::fs::create_dir_all(state).unwrap();
    });
    is_strict(&home, "doorward/trust", "trust again");
}

#[test]
fn a_repository_tightens_and_never_loosens() {
    let home = spoilt(|_| {});
    let file = home.project().join(".doorward.toml");
    let put = |text: &str| {
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    };
    put(
        "[permissions]\ndeny = [\"bash(ls*)\"]\nallow = [\"bash(git push*)\"]\n[hosts]\nallowed = [\"unlisted.example\"]\n",
    );
    let (verdict, why) = decision(&home, "ls -la");
    assert!(verdict == "deny" && why.contains("permissions.deny"), "{why}");
    assert_eq!(decision(&home, "curl -s https://unlisted.example/").0, "ask");
    let shown = home.run(&["config", "--json"], b"").json();
    let project = shown["sources"].as_array().unwrap().iter().find(|source| source["name"] == "project").unwrap();
    let ignored: Vec<&str> =
        project["notes"].as_array().unwrap().iter().map(|note| note["key"].as_str().unwrap()).collect();
    assert_eq!(ignored, ["permissions.allow", "hosts.allowed"]);
    put("strict = true\n");
    assert_eq!(decision(&home, "curl -s https://unlisted.example/").0, "deny");
}

#[test]
fn every_value_is_shown_with_its_source() {
    let home = Home::new();
    home.write(
        FILE,
        "[agents.claude]\nmode = \"auto\"\n[permissions]\nask = [\"bash(make release*)\"]\nallow = [\"bash(*)\", \"bsh(x)\"]\n\
         [hosts]\nallowed = [\"wiki.example\"]\n[thresholds]\nconfidence = 0.9\n",
    );
    let shown = home.run(&["config", "--json"], b"").json();
    let of = |key: &str| {
        let values = shown["values"].as_array().unwrap();
        values.iter().find(|value| value["key"] == key).unwrap_or_else(|| panic!("{key}: {shown}")).clone()
    };
    assert_eq!(
        (of("agents.claude.mode")["value"].as_str(), of("agents.claude.mode")["source"].as_str()),
        (Some("auto"), Some("user"))
    );
    assert_eq!(of("thresholds.confidence")["source"], "user");
    assert_eq!(of("thresholds.irreversible")["source"], "built in");
    let notes = shown["sources"][0]["notes"].to_string();
    for text in ["`bash(*)` is dropped", "`bsh(x)` can never match", "replaces the built-in list"] {
        assert!(notes.contains(text), "{text}: {notes}");
    }
    let printed = home.run(&["config"], b"").stdout;
    assert!(printed.contains("permissions.ask = \"bash(make release*)\"") && printed.contains("# user"), "{printed}");
}

#[test]
fn trust_is_for_persons() {
    let home = Home::new();
    for arguments in
        [["trust", "domain", "a.example"], ["untrust", "domain", "a.example"], ["trust", "agent", "claude"]]
    {
        let ran = home.without_terminal(&arguments);
        assert_eq!(ran.code, 1, "{arguments:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("agents can't run this command"), "{}", ran.stderr);
    }
    assert!(home.read(FILE).is_none() && !home.path(".local/state/doorward/trust").exists());
}

#[test]
fn patterns_are_compared_with_resolved_paths() {
    let check = |pattern: &str, tool: &str, input: Value| {
        let home = Home::new();
        let line = json!({
            "id": 1, "tool": tool, "input": input, "cwd": "/home/dev/project",
            "world": { "home": "/home/dev", "project": "/home/dev/project", "git": { "root": "/home/dev/project" },
                       "symlinks": { "/home/dev/project/link": "/home/dev/project/private" } },
            "config": { "permissions": { "deny": [pattern] } },
        });
        let answer = home.run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json();
        answer["verdict"] == "block" && answer["settled_by"] == "permission"
    };
    assert!(check("read(private/*)", "read", json!({ "path": "src/../private/a" })));
    assert!(check("read(private/*)", "read", json!({ "path": "link/a" })));
    assert!(check("Write(~/project/private/*)", "write", json!({ "path": "private/a", "content": "x" })));
    assert!(check(
        "edit(/home/dev/project/b)",
        "edit",
        json!({ "files": [{ "path": "a", "op": "update" }, { "path": "b", "op": "update" }] })
    ));
    assert!(check("bash(git push --force*)", "bash", json!({ "command": "true; git   'push' --force origin" })));
    assert!(!check("read(private/*)", "read", json!({ "path": "src/private.rs" })));
    assert!(!check("bash(git status*)", "bash", json!({ "command": "git push" })));
}

#[test]
fn a_denied_place_is_denied_as_part_of_a_directory_too() {
    let is_denied = |tool: &str, input: Value| {
        let line = json!({
            "id": 1, "tool": tool, "input": input, "cwd": "/home/dev/project",
            "world": { "home": "/home/dev", "project": "/home/dev/project", "git": { "root": "/home/dev/project" },
                       "files": { "private/notes": { "content": "x" }, "public/notes": { "content": "x" } } },
            "config": { "permissions": { "deny": ["read(private/*)", "edit(./private/**)"] } },
        });
        let answer = Home::new().run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json();
        answer["verdict"] == "block" && answer["settled_by"] == "permission"
    };
    for command in [
        "cat private/*",
        "cat private/not?s",
        "grep -r x private",
        "grep -r x ./private/",
        "cp -r private z",
        "mv private pub",
        "rm -rf private",
        "tar cf - private",
        "find private -type f -exec cat {} +",
        "cd private && cat notes",
    ] {
        assert!(is_denied("bash", json!({ "command": command })), "{command}");
    }
    assert!(is_denied("search", json!({ "path": "private", "pattern": "x" })));
    for command in ["cat public/*", "grep -r x public", "ls", "cat privates/notes", "grep -rn needle ."] {
        assert!(!is_denied("bash", json!({ "command": command })), "{command}");
    }
    assert!(!is_denied("search", json!({ "path": "public", "pattern": "x" })));
}

#[test]
fn a_denied_place_is_denied_as_part_of_the_whole_project_too() {
    let is_denied = |command: &str| {
        let line = json!({
            "id": 1, "tool": "bash", "input": { "command": command }, "cwd": "/home/dev/project",
            "world": { "home": "/home/dev", "project": "/home/dev/project",
                       "git": { "root": "/home/dev/project", "ignored": [".env"] },
                       "files": { "private/notes": { "content": "x" }, "public/notes": { "content": "x" },
                                  ".env": { "content": "KEY=1", "tracked": false }, "n": { "content": "x" } },
                       "hardlinks": { "n": "private/notes" } },
            "config": { "permissions": { "deny": ["read(private/**)", "read(.env)"] } },
        });
        let answer = Home::new().run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json();
        answer["verdict"] == "block" && answer["settled_by"] == "permission"
    };
    for command in [
        "git log -p",
        "git log -p -- .",
        "git whatchanged -p",
        "git show",
        "git show --stat -p",
        "git show HEAD -- .",
        "git diff HEAD~3",
        "git diff main...HEAD",
        "git diff HEAD~1 -- . ':!src'",
        "git diff main private",
        "git grep x",
        "git grep -n x -- .",
        "git archive HEAD",
        "git format-patch -1",
        "git stash show -p",
        "git cat-file -p abc1234",
        "grep -rn x .",
        "rg x",
        "tar cf - .",
        "zip -r x.zip .",
        "cp -r . /tmp/x",
        "cp -al . /tmp/x",
        "rsync -a . /tmp/x",
        "find . -type f -exec cat {} +",
        "find . -type f | xargs cat",
        "ln private/notes m && cat m",
        "cat n",
    ] {
        assert!(is_denied(command), "{command}");
    }
    for command in [
        "ls -R",
        "find . -type f",
        "du -sh .",
        "tree",
        "git status",
        "git ls-files",
        "git log",
        "git log --stat",
        "git log -p -- public",
        "git log -p -- . ':!private'",
        "git show --stat",
        "git show HEAD -- public",
        "git show HEAD:public/notes",
        "git diff",
        "git diff --name-only HEAD~1",
        "git grep x -- public",
        "git grep needle",
        "git archive HEAD public",
        "git cat-file -t abc1234",
        "git cat-file -p HEAD",
        "git add .",
        "git commit -m x",
        "tar cf - public",
        "tar cf - --exclude=private --exclude=.env --exclude=n .",
        "grep -rn x . --exclude-dir=private",
        "find . -type f -exec wc -l {} +",
        "cat public/notes",
    ] {
        assert!(!is_denied(command), "{command}");
    }
}

#[test]
fn a_denied_file_that_git_does_not_track_is_in_no_difference() {
    let verdict = |command: &str| {
        let line = json!({
            "id": 1, "tool": "bash", "input": { "command": command }, "cwd": "/home/dev/project",
            "world": { "home": "/home/dev", "project": "/home/dev/project",
                       "git": { "root": "/home/dev/project", "ignored": [".env", "secrets"] },
                       "files": { ".env": { "content": "KEY=1", "tracked": false }, "src/a.js": { "content": "x" } } },
            "config": { "permissions": { "deny": ["read(.env)", "read(.env.*)", "read(secrets/**)"] } },
        });
        let answer = Home::new().run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json();
        answer["verdict"].as_str().unwrap_or_default().to_owned()
    };
    for command in
        ["git diff", "git show", "git log -p -3", "git diff main...HEAD", "git grep KEY", "grep -rn useState ."]
    {
        assert_eq!(verdict(command), "approve", "{command}");
    }
    assert_eq!(verdict("grep -rn KEY ."), "block");
}

/// What becomes of a command in a project whose `private` must not be read, with links into it and beside it.
fn with_private(command: &str) -> (String, bool) {
    let line = json!({
        "id": 1, "tool": "bash", "input": { "command": command }, "cwd": "/home/dev/project",
        "world": { "home": "/home/dev", "project": "/home/dev/project", "complete": true,
                   "scratch": ["/tmp/agent-session"], "git": { "root": "/home/dev/project" },
                   "files": { "private/plan.md": { "content": "x" }, "public/n.md": { "content": "x" },
                              "docs/a.md": { "content": "x" }, "src/a.js": { "content": "x" } },
                   "symlinks": { "docs/p": "../private", "docs/f": "../private/plan.md", "src/in": "../public",
                                 "out/all": ".." } },
        "config": { "permissions": { "deny": ["read(private/**)"] } },
    });
    let answer = Home::new().run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json();
    let verdict = answer["verdict"].as_str().unwrap_or_default().to_owned();
    let is_denied = verdict == "block" && answer["settled_by"] == "permission";
    (verdict, is_denied)
}

#[test]
fn a_denied_place_is_denied_in_loops_and_lists_too() {
    for command in [
        "for f in private/*; do cat $f; done",
        "for f in */*.md; do cat $f; done",
        "for f in docs/* private/*; do cat $f; done",
        "for f in priv*/*; do head -3 \"$f\"; done",
        "for d in p*; do cat $d/plan.md; done",
        "for d in *; do for f in $d/*; do cat $f; done; done",
        "x='private/*'; for f in $x; do cat $f; done",
        "while read f; do cat \"$f\"; done < <(ls private/*)",
        "ls */*.md | xargs head",
        "git ls-files | xargs cat",
        "git ls-files '*.md' | xargs grep -n x",
        "rg --files | xargs cat",
    ] {
        assert!(with_private(command).1, "{command}");
    }
    for command in [
        "for f in docs/*.md; do cat $f; done",
        "for f in public/* src/*.js; do cat $f; done",
        "for f in */*.js; do cat $f; done",
        "for f in private/*; do echo $f; done",
        "git ls-files src | xargs cat",
        "git ls-files | xargs wc -l",
        "rg --files",
        "rg --files | head",
        "rg --files src | xargs cat",
    ] {
        assert_eq!(with_private(command).0, "approve", "{command}");
    }
}

#[test]
fn a_denied_place_is_denied_under_another_name_too() {
    for command in [
        "mv private shown",
        "git mv private shown",
        "mv private/plan.md docs/",
        "git mv private/plan.md docs/b.md",
        "mv priv* shown",
        "mv private{,2}",
        "python3 -c \"import os; os.rename('private','shown')\"",
        "ln private/plan.md docs/b.md",
        "ln -s private shown",
        "ln -s ../private docs/shown",
        "ln -s ../private/plan.md docs/b.md",
        "ln -s ../private docs",
        "cd docs && ln -s ../private .",
        "git worktree add /tmp/agent-session/w && cat /tmp/agent-session/w/private/plan.md",
        "git bundle create /tmp/agent-session/x.bundle HEAD",
        "git bundle create /tmp/agent-session/x.bundle --all",
    ] {
        assert!(with_private(command).1, "{command}");
    }
    for command in [
        "mv public shown",
        "git mv docs/a.md docs/b.md",
        "ln -s ../public docs/shown",
        "ln -s public shown",
        "ln -s ../src/a.js docs/a.js",
        "mv src/a.js docs/",
        "git worktree add /tmp/agent-session/w && cat /tmp/agent-session/w/docs/a.md",
    ] {
        assert_eq!(with_private(command).0, "approve", "{command}");
    }
}

#[test]
fn a_denied_place_is_denied_through_links_that_a_tool_follows_too() {
    for command in [
        "grep -R x docs",
        "grep -R x out",
        "tar chf - docs",
        "cp -rL docs /tmp/agent-session/d",
        "rsync -aL docs/ /tmp/agent-session/d",
        "zip -r /tmp/agent-session/x.zip docs",
        "rg -L x docs",
        "grep -rn x docs/p/",
        "cat docs/f",
    ] {
        assert!(with_private(command).1, "{command}");
    }
    for command in
        ["grep -r x docs", "grep -R x src", "tar cf - docs", "cp -rL src /tmp/agent-session/d", "rg -L x src"]
    {
        assert_eq!(with_private(command).0, "approve", "{command}");
    }
}

#[test]
fn a_denied_file_is_in_a_difference_only_if_it_differs() {
    let home = Home::new();
    home.write(FILE, "[permissions]\ndeny = [\"read(private/**)\"]\n");
    let git = |line: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", line]).current_dir(home.project()).env("HOME", home.path(""));
        command.envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "me")));
        command.envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "me@example.org")));
        assert!(command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap().status.success(), "{line}");
    };
    let commit = |line: &str| git(&format!("{line} && git add -A && git commit -qm x"));
    git("git checkout -q -b main");
    commit("mkdir docs private && echo a > docs/a.md && echo a > private/plan.md");
    commit("echo b > private/plan.md");
    commit("echo b > docs/a.md");
    git("git checkout -q -b x");
    commit("echo c > docs/a.md");
    let is_denied = |command: &str| {
        let answer = home.run(&["check", "--json", command], b"").json();
        answer["verdict"] == "block" && answer["settled_by"] == "permission"
    };
    for command in [
        "git show",
        "git show HEAD",
        "git show HEAD~1",
        "git log -p -1",
        "git log -2 -p",
        "git log -p -n 1 main",
        "git diff HEAD~1",
        "git diff HEAD",
        "git diff main...HEAD",
        "git diff main..x",
        "git diff main x",
        "git -C docs show",
    ] {
        assert!(!is_denied(command), "{command}");
    }
    for command in [
        "git show HEAD~2",
        "git show HEAD~3",
        "git show HEAD HEAD~2",
        "git log -p",
        "git log -p -3",
        "git log -p -1 HEAD~2",
        "git log -p -1 --all",
        "git log -p -1 -S plan",
        "git diff HEAD~3",
        "git diff HEAD~3 HEAD",
        "git diff HEAD~3...HEAD",
        "git diff -C --find-copies-harder HEAD~1",
        "git show no-such-name",
        "echo x > private/plan.md; git add -A; git commit -m x; git show",
    ] {
        assert!(is_denied(command), "{command}");
    }
    git("echo c > private/plan.md");
    assert!(is_denied("git diff HEAD") && is_denied("git diff HEAD~1") && is_denied("git diff"));
    assert!(!is_denied("git show") && !is_denied("git diff main...HEAD"));
}

#[test]
fn an_allow_pattern_covers_words_and_not_what_the_shell_does_beside_them() {
    let check = |pattern: &str, command: &str| {
        let line = json!({
            "id": 1, "tool": "bash", "input": { "command": command }, "cwd": "/home/dev/project",
            "world": { "home": "/home/dev", "project": "/home/dev/project", "git": { "root": "/home/dev/project" } },
            "config": { "permissions": { "allow": [pattern] } },
        });
        Home::new().run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json()["verdict"] == "approve"
    };
    assert!(check("bash(npm install left-pad)", "npm install left-pad"));
    assert!(check("bash(npm install left-pad*)", "npm install left-pad"));
    assert!(!check("bash(npm install left-pad*)", "npm install left-pad; npm install right-pad"));
    assert!(!check("bash(npm install left-pad*)", "npm install left-pad > package.json"));
    assert!(!check("bash(npm install left-pad*)", "SOME_HOOK=x npm install left-pad"));
    assert!(!check("bash(npm install left-pad*)", "npm install left-pad $(curl -s https://unlisted.example/)"));
    assert!(check("bash(echo x > Makefile)", "echo x > Makefile"));
    assert!(!check("bash(npm *)", "npm install left-pad"), "too broad to be taken");
    assert!(!check("bash(git push*)", "git push --force origin main"), "firm is not cleared by a pattern");
}

#[test]
fn tightening_counts_at_once_and_loosening_only_once_a_person_accepts_it() {
    let home = spoilt(|_| {});
    let before = home.read(FILE).unwrap();
    let in_session = |session: &str, command: &str| {
        let mut payload = home.payload("Bash", json!({ "command": command }));
        payload["session_id"] = session.into();
        let answer = home.run(&["hook", "claude"], payload.to_string().as_bytes()).json();
        answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
    };
    assert_eq!(in_session("one", "npm install left-pad"), "ask");
    home.write(
        FILE,
        &format!("{before}\n[permissions]\nallow = [\"bash(npm install left-pad)\"]\ndeny = [\"bash(ls)\"]\n"),
    );
    assert_eq!(in_session("one", "ls"), "deny", "tightened");
    for session in ["one", "two"] {
        assert_eq!(in_session(session, "npm install left-pad"), "ask", "no effect until you accept it");
    }
    let shown = home.run(&["config", "--json"], b"").json();
    let said = shown["unaccepted"].to_string();
    assert!(said.contains("`permissions.allow`") && said.contains("`doorward reload`"), "{said}");
    home.write(FILE, &before);
    assert_eq!(in_session("three", "ls"), "deny", "what was denied stays denied until a person accepts the change");
    let refused = home.without_terminal(&["reload"]);
    assert!(refused.code == 1 && refused.stderr.contains("agents can't run this command"), "{}", refused.stderr);
    assert_eq!(in_session("four", "ls"), "deny");
}

#[test]
fn a_mode_that_was_written_by_hand_has_no_effect() {
    let home = Home::new();
    home.write(FILE, AUTO);
    assert_eq!(home.run(&["setup", "codex", "--without-hooks", "--yes"], b"").code, 0);
    assert_eq!(decision(&home, "ls").0, "ask");
    let status = home.run(&["status"], b"").stdout;
    assert!(status.contains("`agents`, which has no effect until you accept it"), "{status}");
}
