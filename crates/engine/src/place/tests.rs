//! Rows: a path, and what it is.

use doorward_vocabulary::Mark;

use super::{Place, classify};
use crate::described_world::{DescribedWorld, Description};
use crate::world::Settings;

fn world(changes: &str) -> DescribedWorld {
    let base = r#"{"home": "/home/dev", "project": "/home/dev/app", "scratch": ["/tmp/agent-7"],
        "env": {"PATH": "/usr/bin:/home/dev/tools:/home/dev/app/scripts", "KUBECONFIG": "/home/dev/clusters/one"},
        "files": {"/tmp/made-here": {"created_this_session": true}, "/home/dev/app/src/lib.rs": {}}"#;
    let text = if changes.is_empty() { format!("{base}}}") } else { format!("{base}, {changes}}}") };
    let description: Description = serde_json::from_str(&text).unwrap();
    DescribedWorld::new(description, "/home/dev/app")
}

/// Scope, reach, sensitivity, then the marks in order of the vocabulary.
fn shown(place: &Place) -> String {
    let marks: Vec<&str> = place.marks.iter().filter(|mark| *mark != Mark::OutsideProject).map(Mark::as_str).collect();
    format!("{} {} {}: {}", place.scope, place.reach, place.sensitivity, marks.join(" ")).trim_end().to_owned()
}

fn check_in(world: &DescribedWorld, rows: &[(&str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(path, expected)| (path, expected, shown(&classify(path, world))))
        .filter(|(_, expected, actual)| *expected != actual)
        .map(|(path, expected, actual)| format!("{path}\n  expected {expected}\n  actual   {actual}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check(rows: &[(&str, &str)]) {
    check_in(&world(""), rows);
}

/// Every path carries the mark, in the ordinary world.
fn marked(mark: Mark, paths: &[&str]) {
    let world = world("");
    let wrong: Vec<&&str> = paths.iter().filter(|path| !classify(path, &world).marks.has(mark)).collect();
    assert!(wrong.is_empty(), "not {mark}: {wrong:?}");
}

fn unmarked(mark: Mark, paths: &[&str]) {
    let world = world("");
    let wrong: Vec<&&str> = paths.iter().filter(|path| classify(path, &world).marks.has(mark)).collect();
    assert!(wrong.is_empty(), "{mark}: {wrong:?}");
}

#[test]
fn scope_follows_component_boundaries() {
    check(&[
        ("/", "system machine none: root home-root system-directory"),
        ("/home", "system machine none: home-root system-directory"),
        ("/home/dev", "other-repo machine none: home-root"),
        ("/home/dev/app", "project project none: project-root"),
        ("/home/dev/app/src/lib.rs", "file project none:"),
        ("/home/dev/app/src", "directory project none:"),
        ("/home/dev/app-staging/src/lib.rs", "other-repo machine none:"),
        ("/home/dev/other/src/lib.rs", "other-repo machine none:"),
        ("/home/devil/x", "system machine none:"),
        ("/home/devil", "system machine none: home-root"),
        ("/data/set.csv", "other-repo machine none:"),
        ("/tmp/agent-7/notes.txt", "scratch workspace none:"),
        ("/tmp/agent-77/notes.txt", "other-repo workspace none: temp"),
        ("/tmp/made-here", "scratch workspace none: temp"),
        ("/tmp", "system machine none: system-directory temp"),
        ("/tmp/x", "other-repo workspace none: temp"),
        ("/dev/shm/x", "other-repo workspace none: temp"),
        ("/etc/hosts", "system machine none: system-directory"),
        ("/usr/share/doc/x", "system machine none: system-directory"),
        ("/var/log/syslog", "system machine none: system-directory"),
        ("/opt/tool/x", "system machine none: system-directory"),
        ("/System/Library/x", "system machine none: system-directory"),
        ("/Applications/X.app", "system machine none: system-directory on-program-path"),
        ("/mnt/c/Windows/System32/x.dll", "system machine none: system-directory"),
        (r"C:\Windows\System32\x.dll", "system machine none: system-directory"),
    ]);
}

#[test]
fn a_project_or_scratch_that_holds_too_much_is_not_believed() {
    for root in ["/", "/home", "/etc", "/usr", "/lib/x"] {
        let text =
            format!(r#"{{"home": "/home/dev", "project": "{root}", "scratch": ["{root}"], "temp": ["{root}"]}}"#);
        let world = DescribedWorld::new(serde_json::from_str(&text).unwrap(), "/");
        check_in(
            &world,
            &[
                ("/etc/hosts", "system machine none: system-directory"),
                ("/usr/share/x", "system machine none: system-directory"),
                ("/lib/x/y", "system machine none: system-directory"),
                ("/home/dev/notes", "other-repo machine none:"),
            ],
        );
    }
}

#[test]
fn a_home_that_is_the_project_keeps_its_live_files() {
    let description: Description = serde_json::from_str(r#"{"home": "/home/dev", "project": "/home/dev"}"#).unwrap();
    check_in(
        &DescribedWorld::new(description, "/home/dev"),
        &[
            ("/home/dev", "project project none: home-root project-root"),
            ("/home/dev/notes.txt", "file project none:"),
            ("/home/dev/.bashrc", "file machine none: shell-profile"),
            ("/home/dev/.config/systemd/user/x.service", "file machine none: persistence"),
            ("/home/dev/dotfiles/.bashrc", "file shared none: runs-on-load"),
        ],
    );
}

#[test]
fn devices_and_proc() {
    check(&[
        ("/dev/null", "scratch workspace none:"),
        ("/dev/stdout", "scratch workspace none:"),
        ("/dev/fd/3", "scratch workspace none:"),
        ("/proc/self/fd/1", "scratch workspace none:"),
        ("/dev/tty", "system machine none: system-directory device"),
        ("/dev/urandom", "scratch workspace none:"),
        ("/dev/sda", "system machine none: system-directory device"),
        ("/dev/nullx", "system machine none: system-directory device"),
        ("/dev/tcp/evil.example/80", "system machine none: system-directory device"),
        ("/proc/cpuinfo", "system machine none: system-directory"),
        ("/proc/sysrq-trigger", "system machine none: system-directory device"),
        ("/proc/self/environ", "system machine credential: system-directory proc-alias"),
        ("/proc/1/task/1/environ", "system machine credential: system-directory proc-alias"),
        ("/proc/4242/mem", "system machine credential: system-directory proc-alias"),
        ("/proc/self/cwd/x", "system machine none: system-directory proc-alias"),
        ("/proc/self/root/home/dev/app/src/lib.rs", "file project none: proc-alias"),
        ("/proc/self/root/etc/shadow", "system identity credential: system-directory credential-store proc-alias"),
        ("/proc/1/root", "system machine none: root home-root system-directory proc-alias"),
        ("/run/docker.sock", "system machine none: system-directory device"),
    ]);
}

#[test]
fn credentials() {
    check(&[
        ("/home/dev/.aws/credentials", "other-repo identity credential: credential-store"),
        ("/home/dev/.config/gcloud/access_tokens.db", "other-repo identity credential: credential-store"),
        ("/home/dev/.ssh/id_ed25519", "other-repo identity key: credential-store ssh-material"),
        ("/home/dev/.ssh/work_key", "other-repo identity key: credential-store ssh-material"),
        ("/home/dev/.ssh/id_ed25519.pub", "other-repo identity none: ssh-material"),
        ("/home/dev/.ssh/known_hosts", "other-repo identity none: ssh-material"),
        ("/home/dev/.ssh/config", "other-repo identity none: ssh-material"),
        ("/home/dev/.ssh/authorized_keys", "other-repo identity none: ssh-material authorized-keys"),
        ("/home/dev/.npmrc", "other-repo identity credential: credential-store manifest"),
        ("/home/dev/app/.npmrc", "file shared none: manifest"),
        ("/home/dev/app/.env", "file project credential: dot-env"),
        ("/home/dev/app/.env.production", "file project credential: dot-env"),
        ("/home/dev/app/deploy/prod.env", "file project credential: dot-env"),
        ("/home/dev/app/.env.example", "file project none:"),
        ("/home/dev/app/.env.local.sample", "file project none:"),
        ("/home/dev/app/.envrc", "file project none: runs-on-load"),
        ("/home/dev/app/terraform.tfstate", "file identity credential: credential-store infrastructure"),
        ("/home/dev/app/certs/server.key", "file identity key: credential-store"),
        ("/home/dev/app/testdata/server.key", "file project secret-shaped:"),
        ("/home/dev/app/certs/ca.pem", "file project none:"),
        ("/home/dev/app/certs/fullchain.pem", "file project none:"),
        ("/home/dev/.claude/.credentials.json", "other-repo identity credential: credential-store agent-settings"),
        ("/home/dev/clusters/one", "other-repo identity credential: credential-store"),
        ("/home/dev/.bash_history", "other-repo machine personal:"),
        ("/etc/shadow", "system identity credential: system-directory credential-store"),
        ("/etc/passwd", "system machine none: system-directory"),
        ("/home/dev/.zshrc", "other-repo machine none: shell-profile"),
    ]);
    marked(
        Mark::CredentialStore,
        &[
            "/home/dev/.netrc",
            "/home/dev/.pgpass",
            "/home/dev/.my.cnf",
            "/home/dev/.pypirc",
            "/home/dev/.kube/config",
            "/home/dev/.docker/config.json",
            "/home/dev/.cargo/credentials.toml",
            "/home/dev/.gem/credentials",
            "/home/dev/.config/gh/hosts.yml",
            "/home/dev/.git-credentials",
            "/home/dev/.gnupg/private-keys-v1.d/x.key",
            "/home/dev/.password-store/bank.gpg",
            "/Users/ann/Library/Keychains/login.keychain-db",
            "/home/dev/.mozilla/firefox/a.default/logins.json",
            "/home/dev/.config/google-chrome/Default/Login Data",
            "/home/dev/.vault-token",
            "/home/dev/.terraform.d/credentials.tfrc.json",
            "/home/dev/app/credentials.json",
            "/home/dev/app/config/secrets.yml",
            "/home/dev/app/config/master.key",
            "/home/dev/app/signing.p12",
            "/home/dev/app/my-firebase-adminsdk-1a.json",
            "/etc/sudoers",
            "/etc/ssl/private/x",
            "/root/.aws/credentials",
            "/home/dev/.codex/auth.json",
            "/home/dev/.gemini/oauth_creds.json",
            "/home/dev/.local/share/opencode/auth.json",
            "/home/dev/.pi/agent/auth.json",
            "/home/dev/.config/github-copilot/apps.json",
            "/home/dev/.claude.json",
            "/run/secrets/db",
            "/var/run/secrets/kubernetes.io/serviceaccount/token",
            "/backup/dev/.config/gcloud/x",
            "/home/dev/.m2/settings.xml",
            "/run/user/1000/keyring/ssh",
            "/home/dev/deploy_rsa",
            "/home/dev/app/.aws/credentials",
        ],
    );
    unmarked(
        Mark::CredentialStore,
        &[
            "/home/dev/app/src/credentials.rs",
            "/home/dev/app/src/secrets/mod.rs",
            "/home/dev/app/docs/ssh-keys.md",
            "/home/dev/app/src/password.py",
            "/home/dev/app/locales/en.keys",
            "/home/dev/app/src/tokens.json",
            "/home/dev/.cargo/registry/x",
            "/home/dev/.docker/buildx",
            "/home/dev/app/test/fixtures/id.pem",
        ],
    );
}

#[test]
fn what_runs_by_itself() {
    marked(
        Mark::ShellProfile,
        &[
            "/home/dev/.bashrc",
            "/home/dev/.profile",
            "/home/dev/.zshenv",
            "/home/dev/.bash_logout",
            "/home/dev/.zsh/x.zsh",
            "/home/dev/.config/fish/config.fish",
            "/home/dev/.config/fish/conf.d/x.fish",
            "/etc/profile",
            "/etc/profile.d/x.sh",
            "/etc/bash.bashrc",
            "/etc/zsh/zshrc",
            "/home/dev/.inputrc",
            "/root/.bashrc",
            "/home/dev/dots/zsh/.zshrc",
            "/home/dev/.config/nushell/config.nu",
            "/etc/environment",
            "/home/dev/.tmux.conf",
            "/home/dev/.xprofile",
        ],
    );
    marked(
        Mark::Persistence,
        &[
            "/etc/cron.d/x",
            "/var/spool/cron/crontabs/dev",
            "/home/dev/.config/systemd/user/x.service",
            "/etc/systemd/system/x",
            "/Users/ann/Library/LaunchAgents/x.plist",
            "/home/dev/Library/LaunchAgents/x.plist",
            "/Library/LaunchDaemons/x.plist",
            "/home/dev/.config/autostart/x.desktop",
            "/etc/init.d/x",
            "/etc/rc.local",
            "/etc/udev/rules.d/x",
            "/etc/pam.d/sudo",
            "/etc/ld.so.preload",
            "/var/spool/at/x",
            "/home/dev/.xprofile",
            "/lib/systemd/system/x.service",
            "/etc/sudoers.d/x",
        ],
    );
    marked(
        Mark::RunsOnLoad,
        &[
            "/home/dev/app/conftest.py",
            "/home/dev/app/vite.config.ts",
            "/home/dev/app/build.rs",
            "/home/dev/app/.envrc",
            "/home/dev/app/lib/evil.pth",
            "/home/dev/app/sitecustomize.py",
            "/home/dev/app/.eslintrc.cjs",
            "/home/dev/app/Makefile",
            "/home/dev/app/home/.bashrc",
            "/home/dev/app/.config/systemd/user/x.service",
        ],
    );
    marked(
        Mark::OnProgramPath,
        &[
            "/home/dev/.local/bin/git",
            "/home/dev/bin/ls",
            "/home/dev/.cargo/bin/cargo",
            "/usr/local/bin/ls",
            "/usr/bin/env",
            "/home/dev/app/node_modules/.bin/tsc",
            "/home/dev/tools/git",
            "/home/dev/tools",
            "/home/dev/app/scripts/make",
            "/home/dev/app/.venv/bin/python",
            "/opt/homebrew/bin/git",
            "/home/dev/go/bin/x",
            "/home/dev/.pyenv/shims/python",
        ],
    );
    unmarked(Mark::OnProgramPath, &["/home/dev/app/bin/run", "/home/dev/toolsy/git", "/home/dev/app/src/bin/x.rs"]);
    unmarked(Mark::ShellProfile, &["/home/dev/app/dots/.bashrc", "/home/dev/app/src/profile.rs"]);
}

#[test]
fn the_guard_and_the_agents() {
    marked(
        Mark::GuardOwn,
        &[
            "/home/dev/.config/doorward/config.toml",
            "/home/dev/.local/share/doorward/log",
            "/home/dev/.local/state/doorward/x",
            "/etc/doorward/policy.toml",
            "/home/dev/app/.doorward.toml",
            "/home/dev/app/.Doorward.TOML",
            "/usr/local/bin/doorward",
            "/home/dev/.cargo/bin/doorward",
            "/run/user/1000/doorward/sock",
            "/home/dev/.local/bin/doorward",
        ],
    );
    unmarked(Mark::GuardOwn, &["/home/dev/doorward/crates/doorward/src/main.rs", "/home/dev/app/docs/doorward.md"]);
    marked(
        Mark::AgentSettings,
        &[
            "/home/dev/app/.claude/settings.json",
            "/home/dev/.claude/settings.local.json",
            "/home/dev/.claude/hooks/x.sh",
            "/home/dev/.codex/config.toml",
            "/home/dev/.codex/rules/default.rules",
            "/home/dev/.gemini/settings.json",
            "/home/dev/app/.cursor/mcp.json",
            "/home/dev/app/.github/hooks/x.json",
            "/home/dev/app/opencode.json",
            "/home/dev/app/.opencode/plugin/x.ts",
            "/home/dev/.pi/agent/settings.json",
            "/home/dev/app/.mcp.json",
            "/home/dev/app/.vscode/mcp.json",
            "/home/dev/app/.aider.conf.yml",
            "/etc/claude-code/managed-settings.json",
            "/home/dev/.config/opencode/opencode.json",
            "/home/dev/.qwen/settings.json",
            "/home/dev/.claude",
            "/home/dev/.claude/session-env/s/hook-0.sh",
            "/tmp/x/.claude/settings.json",
        ],
    );
    marked(
        Mark::AgentNotes,
        &[
            "/home/dev/.claude/plans/one.md",
            "/home/dev/.claude/todos/1.json",
            "/home/dev/.codex/sessions/x.jsonl",
            "/home/dev/.claude/projects/p/x.jsonl",
            "/home/dev/.pi/agent/sessions/x",
        ],
    );
    unmarked(
        Mark::AgentSettings,
        &[
            "/home/dev/.claude/plans/one.md",
            "/home/dev/.claude/projects/p/x.jsonl",
            "/home/dev/app/.claude/skills/x/SKILL.md",
            "/home/dev/app/.claude/worktrees/a/src/lib.rs",
            "/home/dev/app/src/claude/settings.json",
            "/home/dev/app/claude.json",
        ],
    );
    marked(
        Mark::InstructionFile,
        &[
            "/home/dev/app/CLAUDE.md",
            "/home/dev/app/docs/AGENTS.md",
            "/home/dev/.gemini/GEMINI.md",
            "/home/dev/app/.cursorrules",
            "/home/dev/app/.github/copilot-instructions.md",
            "/home/dev/app/.claude/skills/x/run.sh",
            "/home/dev/app/.cursor/rules/a.mdc",
            "/home/dev/.claude/projects/p/memory/notes.md",
            "/home/dev/app/.claude/commands/x.md",
            "/home/dev/app/.windsurfrules",
        ],
    );
}

#[test]
fn what_others_build_from() {
    check(&[
        ("/home/dev/app/package.json", "file shared none: manifest"),
        ("/home/dev/app/sub/Cargo.toml", "file shared none: manifest"),
        ("/home/dev/app/Cargo.lock", "file shared none: lockfile"),
        ("/home/dev/app/.github/workflows/ci.yml", "file shared none: ci"),
        ("/home/dev/app/Dockerfile.dev", "file shared none: container"),
        ("/home/dev/app/infra/main.tf", "file shared none: infrastructure"),
        ("/home/dev/app/.vscode/tasks.json", "file shared none: editor-config"),
        ("/home/dev/app/.git/config", "file project none: git-internals git-config"),
        ("/home/dev/app/.git/hooks/pre-commit", "file shared none: git-internals git-hook"),
        ("/home/dev/app/.git/modules/a/hooks/x", "file shared none: git-internals git-hook"),
        ("/home/dev/app/.git", "file project none: git-internals"),
        ("/home/dev/app/.gitignore", "file project none:"),
        ("/home/dev/mirror.git/hooks/post-receive", "other-repo machine none: git-internals git-hook"),
        ("/home/dev/app/.husky/pre-commit", "file shared none: git-hook"),
        ("/home/dev/.gitconfig", "other-repo machine none: git-config"),
        ("/tmp/agent-7/package.json", "scratch workspace none:"),
        ("/tmp/agent-7/clone/.git/hooks/x", "scratch shared none: git-internals git-hook"),
        ("/home/dev/app/tsconfig.json", "file project none:"),
        ("/home/dev/app/README.md", "file project none:"),
        ("/home/dev/app/src/config.ts", "file project none:"),
        ("/home/dev/app/tests/parser_test.rs", "file project none:"),
    ]);
    marked(
        Mark::Manifest,
        &[
            "/home/dev/app/pyproject.toml",
            "/home/dev/app/setup.py",
            "/home/dev/app/go.mod",
            "/home/dev/app/Gemfile",
            "/home/dev/app/composer.json",
            "/home/dev/app/pom.xml",
            "/home/dev/app/build.gradle.kts",
            "/home/dev/app/Makefile",
            "/home/dev/app/justfile",
            "/home/dev/app/CMakeLists.txt",
            "/home/dev/app/requirements-dev.txt",
            "/home/dev/app/.yarnrc.yml",
            "/home/dev/app/.cargo/config.toml",
            "/home/dev/app/bunfig.toml",
            "/home/dev/app/x.csproj",
            "/home/dev/app/rules.mk",
        ],
    );
    marked(
        Mark::Ci,
        &[
            "/home/dev/app/.gitlab-ci.yml",
            "/home/dev/app/.circleci/config.yml",
            "/home/dev/app/Jenkinsfile",
            "/home/dev/app/action.yml",
            "/home/dev/app/azure-pipelines.yml",
            "/home/dev/app/.github/actions/setup/action.yml",
            "/home/dev/app/.buildkite/pipeline.yml",
        ],
    );
    marked(
        Mark::Infrastructure,
        &[
            "/home/dev/app/prod.tfvars",
            "/home/dev/app/chart/Chart.yaml",
            "/home/dev/app/k8s/deploy.yaml",
            "/home/dev/app/fly.toml",
            "/home/dev/app/Procfile",
            "/home/dev/app/wrangler.toml",
            "/home/dev/app/vercel.json",
            "/home/dev/app/Pulumi.prod.yaml",
        ],
    );
    marked(
        Mark::Container,
        &[
            "/home/dev/app/compose.yaml",
            "/home/dev/app/docker-compose.prod.yml",
            "/home/dev/app/Containerfile",
            "/home/dev/app/.devcontainer/devcontainer.json",
            "/home/dev/app/api.Dockerfile",
        ],
    );
}

#[test]
fn no_spelling_hides_a_protected_name() {
    marked(
        Mark::GitInternals,
        &[
            "/home/dev/app/.GIT/config",
            "/home/dev/app/.git /config",
            "/home/dev/app/.git./config",
            "/home/dev/app/.git::$INDEX_ALLOCATION/config",
            "/home/dev/app/git~1/config",
            "/home/dev/app/GIT~1/config",
            "/home/dev/app/.g\u{200c}it/config",
            "/home/dev/app/.gi\u{feff}t/config",
            "/home/dev/app/\u{ff0e}git/config",
            r"/home/dev/app/.git\config",
            r"C:\Users\dev\app\.git\config",
        ],
    );
    marked(
        Mark::SshMaterial,
        &["/home/dev/.SSH/id_rsa", "/home/dev/.\u{17f}sh/id_rsa", "/home/dev/.ssh../x", r"C:\Users\dev\.ssh\id_rsa"],
    );
    marked(
        Mark::Hidden,
        &["/home/dev/app/.g\u{200c}it/config", "/home/dev/app/a\u{202e}b", "/home/dev/app/a\u{e0041}"],
    );
    unmarked(Mark::Hidden, &["/home/dev/app/größe.txt", "/home/dev/app/日本.md"]);
}

#[test]
fn a_disk_that_ignores_case_has_one_project() {
    check_in(
        &world(r#""case_insensitive": true"#),
        &[
            ("/Home/Dev/App/src/x.rs", "file project none:"),
            ("/HOME/dev/app", "project project none: project-root"),
            ("/private/tmp/x", "other-repo workspace none: temp"),
            ("/private/etc/hosts", "system machine none: system-directory"),
        ],
    );
    check(&[("/Home/Dev/App/src/x.rs", "system machine none:")]);
}

#[test]
fn the_settings_name_more() {
    let settings = Settings {
        protected_paths: vec!["migrations".into(), "src/core/**".into(), "~/notes".into(), "*.sql".into()],
        denied_paths: vec!["/srv/prod".into(), "data/**/raw".into()],
        ..Settings::default()
    };
    check_in(
        &world("").with_settings(settings),
        &[
            ("/home/dev/app/db/migrations/1.py", "file project none: protected-path"),
            ("/home/dev/app/src/core/a.rs", "file project none: protected-path"),
            ("/home/dev/app/src/Core/a.rs", "file project none: protected-path"),
            ("/home/dev/app/src/cores/a.rs", "file project none:"),
            ("/home/dev/notes/x", "other-repo machine none: protected-path"),
            ("/home/dev/app/x.sql", "file project none: protected-path"),
            ("/srv/prod/x", "other-repo machine none: denied-path"),
            ("/srv/product/x", "other-repo machine none:"),
            ("/home/dev/app/data/a/b/raw/x", "file project none: denied-path"),
            ("/home/dev/app/data/a/b/rawer/x", "file project none:"),
        ],
    );
}

#[test]
fn tables_are_folded_and_free_of_doubles() {
    for table in [&super::names::NAMES, &super::under_home::ANYWHERE, &super::under_home::HOME, &super::system::SYSTEM]
    {
        let names: Vec<&str> = table.names().collect();
        for name in &names {
            assert_eq!(&super::fold::fold(name).text, name, "`{name}` is not folded");
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "`{name}` is listed twice");
            assert!(table.find(name).is_some(), "`{name}` is not found");
            assert!(name.split('/').count() <= super::system::DEPTH, "`{name}` is too deep");
        }
        assert!(names.len() <= 1024, "{} names crowd the table", names.len());
    }
}

#[test]
#[ignore = "prints a measurement"]
fn speed() {
    let world = world("");
    let paths = [
        "/home/dev/app/src/lib.rs",
        "/home/dev/app/README.md",
        "/home/dev/.aws/credentials",
        "/etc/shadow",
        "/tmp/x",
        "/home/dev/app/node_modules/left-pad/lib/index.js",
    ];
    let total: usize = (0..1_000_000)
        .map(|turn| classify(std::hint::black_box(paths[turn % paths.len()]), &world).marks.words()[0] as usize & 1)
        .sum();
    println!("a million paths, {total}");
}
