//! Directories and files known by where they stand below a dot directory, anywhere, or below a home.
//!
//! A longer entry replaces a shorter one: `.ssh/known_hosts` is not a key although `.ssh` holds keys.

use super::class::*;
use super::table::Table;

/// The longest entry of these tables has this many components.
pub const DEPTH: usize = 6;

/// Entries that count wherever their first component appears in a path.
pub static ANYWHERE: Table<Class> = Table::new(&[
    (&CREDENTIAL, &[
        ".aws", ".azure", ".gcloud", ".oci", ".cloudflared", ".password-store", ".kube/config", ".kube/configs",
        ".kube", ".docker/config.json", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
        ".bundle/config", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties",
        ".nuget/nuget.config", ".composer/auth.json", ".config/composer/auth.json", ".config/gcloud",
        ".config/gh/hosts.yml", ".config/hub", ".config/glab-cli", ".config/op", ".config/doctl", ".config/heroku",
        ".config/stripe", ".config/rclone", ".config/configstore", ".config/hcloud", ".config/ngrok", ".config/linode-cli",
        ".config/bitwarden cli", ".config/bitwarden", ".config/1password", ".config/keepassxc", ".config/google-chrome",
        ".config/google-chrome-beta", ".config/chromium", ".config/bravesoftware", ".config/microsoft-edge",
        ".config/opera", ".config/vivaldi", ".config/fly", ".config/nuget/nuget.config", ".config/sentry", ".config/argocd",
        ".config/scw", ".config/exercism", ".config/containers/auth.json", ".config/git/credentials", ".config/netlify",
        ".config/.wrangler", ".config/pypoetry/auth.toml", ".config/turso", ".config/slack", ".config/signal",
        ".config/discord", ".config/evolution", ".config/pulse/cookie", ".local/share/keyrings", ".local/share/kwalletd",
        ".local/share/containers/auth.json", ".local/share/com.vercel.cli", ".local/share/turso", ".local/share/uv/credentials",
        ".local/share/evolution", ".mozilla", ".thunderbird", ".terraform.d/credentials.tfrc.json", ".terraform.d",
        ".fly/config.yml", ".fly", ".railway", ".netlify/config.json", ".vercel/auth.json", ".supabase/access-token",
        ".wrangler/config", ".bluemix", ".ngrok2", ".snowsql", ".dbt/profiles.yml", ".kaggle", ".huggingface/token",
        ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".pulumi/credentials.json", ".circleci/cli.yml",
        ".argocd", ".minikube/profiles", ".vault", ".lastpass", ".subversion/auth", ".config/subversion/auth", ".sfdx",
        ".sf", ".expo/state.json", ".firebase", ".databricks", ".rhc", ".chef", ".jfrog", ".linode-cli", ".config/openstack",
        ".openstack", ".cdsapirc", ".netlify", ".cfconfig", ".cf", ".config/joplin", ".config/spotify", ".local/share/bw",
        "library/keychains", "library/cookies", "library/application support/google/chrome",
        "library/application support/chromium", "library/application support/bravesoftware",
        "library/application support/microsoft edge", "library/application support/firefox",
        "library/application support/arc", "library/application support/com.apple.tcc", "library/application support/slack",
        "library/application support/1password", "library/application support/bitwarden", "library/safari",
        "library/application support/gcloud", "library/group containers/2bua8c4s2c.com.1password",
        "appdata/roaming/mozilla", "appdata/local/google/chrome/user data", "appdata/local/microsoft/edge/user data",
        "appdata/local/bravesoftware", "appdata/roaming/gcloud", "appdata/roaming/gh/hosts.yml",
        "appdata/roaming/microsoft/credentials", "appdata/local/microsoft/credentials", "appdata/roaming/microsoft/protect",
        "appdata/roaming/npm/.npmrc",
    ]),
    (&KEY, &[
        ".gnupg", ".bitcoin", ".ethereum", ".electrum", ".config/solana", ".config/sops", ".config/age", ".step/secrets",
        ".config/mkcert", ".local/share/mkcert", ".local/share/gnupg", ".minisign", ".sigstore", ".cosign", ".putty",
        ".android/adbkey", ".android/debug.keystore", ".config/near", ".near-credentials", ".sui", ".aptos", ".foundry/keystores",
    ]),
    (&SSH_KEY, &[".ssh"]),
    (&SSH, &[
        ".ssh/config", ".ssh/config.d", ".ssh/known_hosts", ".ssh/known_hosts.old", ".ssh/known_hosts2", ".ssh/sockets",
        ".ssh/environment", ".ssh/rc",
    ]),
    (&AUTHORIZED_KEYS, &[".ssh/authorized_keys", ".ssh/authorized_keys2", ".ssh/authorized_keys.d"]),
    (&PERSONAL, &[
        "library/messages", "library/mail", "library/calendars", "library/application support/addressbook",
        "library/containers/com.apple.mail", ".local/share/atuin", ".config/atuin", ".local/share/zeitgeist",
    ]),
    (&PROFILE, &[
        ".config/fish", ".config/nushell", ".config/powershell", ".config/elvish", ".elvish", ".config/xonsh",
        ".config/zsh", ".config/bash", ".config/direnv", ".config/tmux", ".tmux", ".oh-my-zsh", ".oh-my-bash", ".bashrc.d",
        ".zshrc.d", ".zsh", ".zinit", ".zprezto", ".antigen", ".bash_completion.d", ".bash_it", ".config/starship.toml",
        ".config/readline", ".config/shell", ".config/profile", ".local/share/bash-completion", ".local/share/zinit",
        ".config/wezterm", ".config/kitty", ".config/alacritty", ".config/ghostty", ".wezterm.lua", ".config/zellij",
        ".local/share/fish/vendor_conf.d", ".tmux.conf.local", ".config/sheldon", ".config/aliases",
    ]),
    (&PERSISTENCE, &[
        ".config/systemd", ".local/share/systemd", ".config/autostart", ".config/autostart-scripts",
        ".config/environment.d", ".config/upstart", ".config/plasma-workspace", ".config/lxsession", ".config/i3",
        ".config/sway", ".config/hypr", ".config/dbus-1", ".local/share/dbus-1", ".kde/autostart", ".kde4/autostart",
        ".config/openbox/autostart", ".config/udev", ".config/cron", ".config/launchd", ".local/share/applications",
        ".config/mimeapps.list", ".config/containers/systemd", ".config/runit", ".config/s6", ".config/user-tmpfiles.d",
        "library/launchagents", "library/launchdaemons", "library/startupitems", "library/input methods",
        "library/loginplugins", "library/scripts", "library/application scripts", "library/quicklook",
        "library/preferences/loginwindow.plist", "library/services",
        "appdata/roaming/microsoft/windows/start menu/programs/startup",
    ]),
    (&GUARD, &[
        ".config/doorward", ".local/share/doorward", ".local/state/doorward", ".cache/doorward", ".doorward",
        ".local/bin/doorward", ".cargo/bin/doorward", ".local/lib/doorward", "library/application support/doorward",
        "library/caches/doorward", "appdata/roaming/doorward", "appdata/local/doorward",
    ]),
    (&AGENT, &[
        ".claude", ".codex", ".gemini", ".qwen", ".cursor", ".opencode", ".pi", ".copilot", ".windsurf", ".codeium",
        ".continue", ".cline", ".clinerules", ".roo", ".roocode", ".kilocode", ".kilo", ".amazonq", ".kiro", ".goose",
        ".crush", ".augment", ".trae", ".junie", ".factory", ".amp", ".agents", ".agent", ".openhands", ".iflow", ".kimi",
        ".codebuddy", ".antigravity", ".grok", ".mcp", ".config/opencode", ".config/goose", ".config/amp", ".config/crush",
        ".config/claude", ".config/codex", ".config/gemini", ".config/cursor", ".config/agents", ".config/mcp",
        ".config/pi", ".config/aider", ".config/github-copilot", ".github/hooks", ".vscode/mcp.json", ".vs/mcp.json",
        ".zed/mcp.json", ".local/share/opencode", ".local/share/crush", ".local/share/goose", ".local/share/claude",
        ".local/state/opencode", ".config/code/user/mcp.json", ".aider", "library/application support/claude",
        "library/application support/claudecode", "library/application support/code/user/mcp.json",
        "library/application support/cursor", "appdata/roaming/claude",
    ]),
    (&AGENT_AUTH, &[
        ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".gemini/google_accounts.json",
        ".gemini/mcp-oauth-tokens.json", ".gemini/.env", ".qwen/oauth_creds.json", ".qwen/.env", ".pi/agent/auth.json",
        ".config/github-copilot/apps.json", ".config/github-copilot/hosts.json", ".copilot/config.json",
        ".local/share/opencode/auth.json", ".local/share/opencode/mcp-auth.json", ".config/goose/secrets.yaml",
        ".continue/.env", ".kimi/credentials", ".factory/auth.json", ".augment/session.json", ".cursor/auth.json",
        ".config/cursor/auth.json", ".local/share/amp/secrets.json", ".local/share/crush/crush.json", ".codeium/config.json",
        ".aider/oauth-keys.env", ".claude/.env", ".codex/.env", ".codex/.credentials.json", ".mcp-auth",
    ]),
    (&AGENT_NOTES, &[".aider.tags.cache.v3", ".aider.tags.cache.v4", ".aider.chat.history.md", ".aider.input.history"]),
    (&INSTRUCTION, &[
        ".github/instructions", ".github/prompts", ".github/agents", ".github/chatmodes", ".github/skills",
        ".github/copilot-instructions.md", ".github/copilot",
    ]),
    (&GIT, &[".git"]),
    (&GIT_CONFIG, &[".git/config", ".git/config.worktree", ".git/info/attributes"]),
    (&GIT_OWN_HOOK, &[".git/hooks"]),
    (&USER_GIT_CONFIG, &[".config/git", ".config/jj", ".jjconfig.toml", ".hgrc", ".hg/hgrc", ".gittemplates", ".git-templates"]),
    (&GIT_HOOK, &[".husky", ".githooks", ".git-hooks", ".lefthook", ".config/lefthook.yml", ".hooks"]),
    (&MANIFEST, &[".mvn", ".cargo/config", ".cargo/config.toml", ".config/pip", ".pip", ".config/uv", ".config/nextest.toml", ".config/mise"]),
    (&RECIPE, &[".yarn/releases", ".yarn/plugins", ".yarn/sdks", ".gradle/init.gradle", ".gradle/init.d", ".pnp.cjs", ".pnp.loader.mjs"]),
    (&RUNS_ON_LOAD, &[".ipython", ".jupyter", ".config/ipython", ".config/matplotlib", ".config/gdb", ".dvc/config", ".storybook", ".config/yarn"]),
    (&CI, &[
        ".github/workflows", ".github/actions", ".github/dependabot.yml", ".github/dependabot.yaml", ".github/codeowners",
        ".github/settings.yml", ".forgejo/workflows", ".forgejo/actions", ".gitea/workflows", ".gitea/actions", ".gitlab/ci",
        ".circleci", ".buildkite", ".woodpecker", ".semaphore", ".teamcity", ".azure-pipelines", ".tekton", ".azuredevops",
        ".builds", ".drone", ".ci",
    ]),
    (&INFRASTRUCTURE, &[".ebextensions", ".elasticbeanstalk", ".platform", ".do", ".kamal", ".ansible", ".nomad"]),
    (&CONTAINER, &[".devcontainer", ".config/containers", ".docker/daemon.json"]),
    (&EDITOR, &[
        ".vscode", ".vscode-server", ".vscode-oss", ".idea", ".vim", ".emacs.d", ".zed", ".fleet", ".helix", ".nvim", ".vs", ".doom.d", ".spacemacs.d",
        ".config/nvim", ".config/vim", ".config/zed", ".config/helix", ".config/emacs", ".config/doom", ".config/code/user",
        ".config/vscodium/user", ".config/sublime-text", ".config/jetbrains", ".local/share/nvim", ".config/kak", ".config/micro",
        "library/application support/code/user", "library/application support/jetbrains", "appdata/roaming/code/user",
    ]),
    (&PROGRAMS, &[
        ".local/bin", ".cargo/bin", ".npm-global/bin", ".npm-packages/bin", ".yarn/bin", ".bun/bin", ".deno/bin",
        ".pyenv/shims", ".pyenv/bin", ".rbenv/shims", ".rbenv/bin", ".asdf/shims", ".asdf/bin", ".volta/bin", ".goenv/shims",
        ".local/share/mise/shims", ".local/share/pnpm", ".local/share/fnm", ".krew/bin", ".dotnet/tools", ".composer/vendor/bin",
        ".config/composer/vendor/bin", ".nix-profile/bin", ".docker/cli-plugins", ".local/pipx/venvs", ".local/share/pipx",
        ".rustup/toolchains", ".nvm/versions", ".sdkman/candidates", ".jenv/shims", ".ghcup/bin", ".cabal/bin", ".opam",
        ".foundry/bin", ".pub-cache/bin", ".poetry/bin", ".kube/plugins", ".toolbox/bin", ".fzf", ".atuin/bin", ".juliaup/bin", ".linuxbrew/bin",
    ]),
    (&PROJECT_PROGRAMS, &[
        "node_modules/.bin", ".venv/bin", "venv/bin", ".venv/scripts", "venv/scripts", "vendor/bin",
    ]),
]);

/// Entries below a home directory that do not begin with a dot.
pub static HOME: Table<Class> = Table::new(&[
    (&PROGRAMS, &["bin", "go/bin", "sbin", "scripts/bin", "homebrew/bin", "miniconda3/bin", "anaconda3/bin"]),
    (&PROFILE, &["documents/powershell", "documents/windowspowershell"]),
]);

/// What part of an agent's directory the component after it names.
pub fn agent_part(directory: &str, rest: &str) -> Option<&'static Class> {
    let rest = rest.strip_prefix("agent/").unwrap_or(rest);
    let (part, inner) = rest.split_once('/').unwrap_or((rest, ""));
    match part {
        "worktrees" if !inner.is_empty() => None,
        "plans" | "todos" | "tasks" | "sessions" | "archived_sessions" | "log" | "logs" | "tmp" | "cache" | "history"
        | "history.jsonl" | "file-history" | "paste-cache" | "image-cache" | "debug" | "statsig" | "scratch" | "scratchpad"
        | "storage" | "ide" | "log.txt" | "worktrees" | "checkpoints" | "telemetry" | "session-env" => Some(&AGENT_NOTES),
        "projects" if inner.contains("/memory") => Some(&INSTRUCTION),
        "projects" => Some(&AGENT_NOTES),
        // For Codex these are permissions, not advice.
        "rules" if directory.ends_with(".codex") => Some(&AGENT),
        "skills" | "skill" | "commands" | "command" | "agents" | "agent" | "rules" | "prompts" | "memory" | "memories"
        | "output-styles" | "workflows" | "steering" | "specs" | "modes" | "themes" | "guidelines.md" => Some(&INSTRUCTION),
        _ => Some(&AGENT),
    }
}
