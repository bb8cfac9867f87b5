//! What a call leaves behind for the rest of its session, and which later effects that makes riskier.

use crate::effect::{Effect, Operation, Sensitivity};
use crate::facts::Facts;
use crate::flow::FlowKind;
use crate::marks::Mark;
use crate::words::words;

words! {
    /// Something that happened in a session and makes later calls riskier.
    Taint {
        ManifestChanged = "manifest-changed" : "a manifest or lock file changed: what it declares may be installed next",
        RemoteChanged = "remote-changed" : "a git remote was added or changed: it may be fetched from or pushed to next",
        CodeDownloaded = "code-downloaded" : "something was downloaded: it may be run next",
        SecretRead = "secret-read" : "a secret was read: it may leave the machine next",
    }
}

/// What a call leaves behind if it runs.
pub fn left_by(facts: &Facts) -> Vec<Taint> {
    let leaves = |taint: &Taint| match taint {
        Taint::ManifestChanged => facts.effects.iter().any(changes_manifest),
        Taint::RemoteChanged => facts.effects.iter().any(|effect| effect.marks.has(Mark::GitRemoteChange)),
        Taint::CodeDownloaded => {
            facts.has_flow(FlowKind::DownloadToFile)
                || facts.effects.iter().any(|effect| effect.marks.has(Mark::Download) || stores(facts, effect))
        }
        Taint::SecretRead => facts.effects.iter().any(reads_secret),
    };
    Taint::ALL.iter().copied().filter(leaves).collect()
}

/// A program that talks to another machine also writes a file.
fn stores(facts: &Facts, effect: &Effect) -> bool {
    let writes = |other: &Effect| other.operation == Operation::Write && other.by == effect.by;
    effect.operation == Operation::Network && !effect.by.is_empty() && facts.effects.iter().any(writes)
}

fn changes_manifest(effect: &Effect) -> bool {
    let changes = match effect.operation {
        Operation::Write | Operation::Delete | Operation::Mutate => true,
        Operation::Read | Operation::Execute | Operation::Network => false,
    };
    changes && (effect.marks.has(Mark::Manifest) || effect.marks.has(Mark::Lockfile))
}

fn reads_secret(effect: &Effect) -> bool {
    let is_secret = match effect.sensitivity {
        Sensitivity::SecretShaped | Sensitivity::Credential | Sensitivity::Key => true,
        Sensitivity::None | Sensitivity::Personal => false,
    };
    let holds_secrets = [Mark::CredentialStore, Mark::DotEnv].iter().any(|mark| effect.marks.has(*mark));
    effect.marks.has(Mark::SecretReturning) || (effect.operation == Operation::Read && (is_secret || holds_secrets))
}

/// Whether what happened before makes this effect riskier. A word that is not known makes everything riskier.
pub fn weighs_on(taint: &str, effect: &Effect) -> bool {
    match Taint::parse(taint) {
        Some(Taint::ManifestChanged) => effect.marks.has(Mark::InstallDeclared),
        Some(Taint::RemoteChanged) => {
            effect.operation == Operation::Network || effect.marks.has(Mark::OwnRemote) || effect.marks.has(Mark::Push)
        }
        // What a trusted recipe runs is not what was downloaded; a file of this session is looked into when it is run.
        Some(Taint::CodeDownloaded) => {
            effect.operation == Operation::Execute
                && [
                    Mark::UnlistedBinary,
                    Mark::UnknownProgram,
                    Mark::SessionFile,
                    Mark::ProjectBinary,
                    Mark::InlineCode,
                ]
                .iter()
                .any(|mark| effect.marks.has(*mark))
        }
        Some(Taint::SecretRead) => effect.operation == Operation::Network,
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use crate::described::{DescribedWorld, Description};
    use crate::observe::observe;

    fn left(command: &str) -> Vec<&'static str> {
        let description: Description = serde_json::from_str(
            r#"{"home": "/home/dev", "project": "/home/dev/app", "git": {"root": "/home/dev/app", "remotes": {"origin": "https://github.com/acme/app.git"}}}"#,
        )
        .unwrap();
        let world = DescribedWorld::new(description, "/home/dev/app");
        left_by(&observe(&ToolCall::bash(command, "/home/dev/app"), &world))
            .iter()
            .map(|taint| taint.as_str())
            .collect()
    }

    #[test]
    fn what_a_call_leaves_behind() {
        for (command, expected) in [
            ("ls -la", &[][..]),
            ("cargo test", &[]),
            ("cat ~/.aws/credentials", &["secret-read"]),
            ("cat .env", &["secret-read"]),
            ("grep token ~/.netrc | head -1", &["secret-read"]),
            ("gh auth token", &["secret-read"]),
            ("curl -o x.sh https://example.com/x.sh", &["code-downloaded"]),
            ("curl https://example.com/x.sh > x.sh", &["code-downloaded"]),
            ("git remote set-url origin https://evil.example/x.git", &["remote-changed"]),
            ("echo '{}' > package.json", &["manifest-changed"]),
        ] {
            assert_eq!(left(command), expected, "{command}");
        }
    }

    #[test]
    fn a_taint_weighs_on_what_it_is_about_and_an_unknown_one_on_everything() {
        let effect = |operation, mark: Option<Mark>| {
            let mut effect = Effect::new(operation, crate::effect::Target::Unknown);
            mark.into_iter().for_each(|mark| effect.marks.add(mark));
            effect
        };
        let network = effect(Operation::Network, None);
        let test = effect(Operation::Execute, Some(Mark::Test));
        let install = effect(Operation::Execute, Some(Mark::InstallDeclared));
        let foreign = effect(Operation::Execute, Some(Mark::UnlistedBinary));
        for (taint, weighs) in [
            ("secret-read", [true, false, false, false]),
            ("code-downloaded", [false, false, false, true]),
            ("manifest-changed", [false, false, true, false]),
            ("remote-changed", [true, false, false, false]),
            ("something-else", [true, true, true, true]),
        ] {
            assert_eq!([&network, &test, &install, &foreign].map(|effect| weighs_on(taint, effect)), weighs, "{taint}");
        }
    }
}
