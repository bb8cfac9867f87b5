//! Names in the temporary directory that programs look for: where they meet, and what they search for in all directories above.

/// Tools look for these in every directory above the one they work in, so that one in `/tmp` counts for all below it.
// Node, Python, git and build tools walk up to the root; a file in `/tmp` is then found by every project below it
// (files-1278, files-1279).
const SEARCHED: &[&str] = &[
    "node_modules",
    "package.json",
    "package-lock.json",
    "pnpm-workspace.yaml",
    "pnpm-lock.yaml",
    "yarn.lock",
    "lerna.json",
    "nx.json",
    "turbo.json",
    "tsconfig.json",
    "jsconfig.json",
    "deno.json",
    "deno.jsonc",
    "bunfig.toml",
    "conftest.py",
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "setup.py",
    "pyproject.toml",
    "uv.toml",
    "pyvenv.cfg",
    "sitecustomize.py",
    "usercustomize.py",
    "noxfile.py",
    "cargo.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "clippy.toml",
    "go.mod",
    "go.work",
    "makefile",
    "gnumakefile",
    "justfile",
    "rakefile",
    "gemfile",
    "taskfile.yml",
    "taskfile.yaml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "pom.xml",
    "build.xml",
    "workspace",
    "workspace.bazel",
    "module.bazel",
    "directory.build.props",
    "directory.build.targets",
    "nuget.config",
    "global.json",
    "composer.json",
    "mix.exs",
    "cmakelists.txt",
    "meson.build",
    "docker-compose.yml",
    "docker-compose.yaml",
    "compose.yml",
    "compose.yaml",
    "dockerfile",
    "ansible.cfg",
    "flake.nix",
    "shell.nix",
    "default.nix",
    "mise.toml",
    "devbox.json",
    "lefthook.yml",
    "claude.md",
    "agents.md",
    "gemini.md",
    "head",
    "objects",
    "refs",
];

/// Beginnings of names at which programs of one user or of all meet.
// Sockets and locks in shared directories: whoever makes the name first speaks for the program (files-1280).
const MET: &[&str] = &[
    "tmux-",
    "ssh-",
    "systemd-",
    "dbus-",
    "pulse-",
    "snap-",
    "runtime-",
    "gpg-",
    "agent.",
    "screens",
    "uscreens",
    "mysql.sock",
    "docker.sock",
    "vscode-ipc",
    "vscode-git",
    "krb5cc",
    "hsperfdata",
    "npm-",
    "yarn--",
    "pip-",
    "cargo-install",
    "go-build",
    "emacs",
    "nvim.",
    "kotlin-daemon",
    "doorward",
];

/// Parts of code names that a program would load from the directory it works in.
// Endings that a tool imports as code because of its name alone.
const LOADED: &[&str] = &[".config.js", ".config.cjs", ".config.mjs", ".config.ts", ".config.mts", ".pth"];

/// A program that works somewhere else may look for a component of this name.
pub(super) fn is_met(component: &str) -> bool {
    let name = component.to_ascii_lowercase();
    name.starts_with('.')
        || name.ends_with(".sock")
        || name.ends_with(".socket")
        || name.ends_with(".lock")
        || name.ends_with(".pid")
        || SEARCHED.contains(&name.as_str())
        || MET.iter().any(|start| name.starts_with(start))
        || LOADED.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::is_met;

    #[test]
    fn names_that_others_look_for_are_no_scratch_files() {
        for name in [".git", ".npmrc", ".X11-unix", "package.json", "Package.JSON", "conftest.py", "node_modules"] {
            assert!(is_met(name), "{name}");
        }
        for name in ["tmux-1000", "ssh-abc", "x.sock", "CLAUDE.md", "vite.config.ts", "HEAD", "Makefile"] {
            assert!(is_met(name), "{name}");
        }
        for name in ["cart.patch", "patches", "repro.c", "notes.md", "wide.csv", "claude-1000", "", "-home-dev-shop"] {
            assert!(!is_met(name), "{name}");
        }
    }
}
