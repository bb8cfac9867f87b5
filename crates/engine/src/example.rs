//! The machine on which the examples of rules, program files and expectations are judged.

use crate::described_world::{DescribedWorld, Description};

/// Where the examples run.
pub const CWD: &str = "/home/dev/project";

/// A developer's machine with one trusted, clean git project.
pub fn description() -> Description {
    let text = r#"{
        "home": "/home/dev",
        "project": "/home/dev/project",
        "temp": ["/tmp"],
        "scratch": ["/tmp/agent-session"],
        "git": {
            "root": "/home/dev/project",
            "ignored": ["target", "node_modules", "dist", "build", ".venv", "__pycache__", ".env"],
            "remotes": {"origin": "https://github.com/acme/project.git"},
            "branch": "feature/x",
            "default_branch": "main"
        },
        "env": {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/dev", "LANG": "C.UTF-8"}
    }"#;
    serde_json::from_str(text).unwrap_or_default()
}

/// The same machine as a world.
pub fn world() -> DescribedWorld {
    DescribedWorld::new(description(), CWD)
}
