//! What a call leaves behind for the rest of its session, and which later effects that makes riskier.

use doorward_vocabulary::{FlowKind, Mark, Operation, Sensitivity, words};

use crate::effect::{Effect, Target};
use crate::facts::Facts;
use crate::world::History;

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

/// The call may give the agent a prompt that nobody types: a wake-up, a schedule, or a tool that is not known.
pub fn may_prompt(facts: &Facts) -> bool {
    let is_listed = |name: &str| {
        let tools = crate::knowledge::built_in().tools();
        // An inventory that cannot be read knows nothing.
        tools.is_none_or(|tools| tools.iter().any(|tool| tool.name == name && tool.prompts))
    };
    facts.effects.iter().any(|effect| {
        let own = effect.marks.has(Mark::HarnessOnly).then_some(&effect.target);
        if let Some(Target::Resource(name)) = own { is_listed(name) } else { effect.marks.has(Mark::UnknownTool) }
    })
}

/// What happened before in the session makes this call riskier than those that a person got used to: a secret was read, or an
/// effect of the call is one that a taint weighs on. A word that is not known counts for everything.
pub(crate) fn is_void(facts: &Facts) -> bool {
    facts.taint.iter().any(|taint| {
        Taint::parse(taint).is_none_or(|known| known == Taint::SecretRead)
            || facts.effects.iter().any(|effect| weighs_on(taint, effect))
    })
}

/// A program that talks to another machine also writes a file.
fn stores(facts: &Facts, effect: &Effect) -> bool {
    let writes = |other: &Effect| other.operation == Operation::Write && other.by == effect.by;
    effect.operation == Operation::Network
        && !effect.by.is_empty()
        && facts.effects.iter().any(writes)
        && !installs_declared(facts, effect)
}

/// The packages that an unchanged manifest declares belong to the project, and its tests run them anyway.
fn installs_declared(facts: &Facts, effect: &Effect) -> bool {
    // With one of these marks the same command installs more than the manifest declared.
    const OTHERS: &[Mark] =
        &[Mark::InstallChosen, Mark::ChangedRecipe, Mark::UntrustedProject, Mark::OutsideProject, Mark::RemoteCode];
    let mut same = facts.effects.iter().filter(|other| other.by == effect.by);
    effect.marks.has(Mark::Registry)
        && same.clone().any(|other| other.marks.has(Mark::InstallDeclared))
        && !same.any(|other| other.marks.has_any(OTHERS))
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

/// Marks requests to other machines in a session that has read a secret: those that may carry it, and those that a person
/// has let pass before.
pub(crate) fn mark_contacts(effects: &mut [Effect], commands: &[String], history: &History) {
    if !history.taint.iter().any(|taint| taint == Taint::SecretRead.as_str()) {
        return;
    }
    let declares = |effect: &&Effect| effect.marks.has(Mark::InstallDeclared) && !effect.by.is_empty();
    let declared: Vec<String> = effects.iter().filter(declares).map(|effect| effect.by.clone()).collect();
    let is_host = |effect: &Effect| matches!(effect.target, Target::Host(_));
    for effect in effects.iter_mut().filter(|effect| leaves_machine(effect)) {
        // What a manifest declares, or a bare command of a package manager, says nothing that the agent chose.
        let is_plain = || declared.contains(&effect.by) || is_bare(&effect.by, commands);
        if !is_host(effect) && effect.marks.has(Mark::Registry) && is_plain() {
            continue;
        }
        match contact(effect) {
            Some(contact) if history.answered.contains(&contact) => effect.marks.add(Mark::AnsweredHost),
            Some(_) => {}
            None => effect.marks.add(Mark::VariablePart),
        }
    }
}

/// The command was given nothing but flags.
fn is_bare(by: &str, commands: &[String]) -> bool {
    let mut given = commands.iter().filter_map(|command| command.strip_prefix(by)).peekable();
    given.peek().is_some()
        && given.all(|rest| rest.split_whitespace().all(|word| word.starts_with('-') && !word.contains('=')))
}

/// The plain requests of a call that a person who lets it run lets pass for the rest of the session.
pub fn contacts(facts: &Facts) -> Vec<String> {
    let is_tainted = facts.taint.iter().any(|taint| taint == Taint::SecretRead.as_str());
    facts.effects.iter().filter(|effect| is_tainted && leaves_machine(effect)).filter_map(contact).collect()
}

fn leaves_machine(effect: &Effect) -> bool {
    effect.operation == Operation::Network && !effect.marks.has_any(&[Mark::Loopback, Mark::InstallDeclared])
}

/// What a request is asked about once: its kind and where it goes. `None` if it may say something else every time.
fn contact(effect: &Effect) -> Option<String> {
    if effect.marks.has_any(&[Mark::VariablePart, Mark::Upload, Mark::Push, Mark::ExternalWrite, Mark::NameQuery]) {
        return None;
    }
    match &effect.target {
        Target::Host(host) => Some(format!("get {host}")),
        Target::Path(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown => {
            let is_remote = FROM_REMOTE.iter().any(|command| effect.by == *command);
            is_remote.then(|| format!("remote {}", effect.by))
        }
    }
}

/// Commands of git that ask the repository's own remote and send nothing but which commits there are.
// After a secret was read any request may carry it out; these send only hashes of commits, to a remote the user
// chose.
const FROM_REMOTE: &[&str] =
    &["git fetch", "git pull", "git ls-remote", "git remote update", "git remote show", "git submodule update"];

/// Whether what happened before makes this effect riskier. A word that is not known makes everything riskier.
pub(crate) fn weighs_on(taint: &str, effect: &Effect) -> bool {
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
        Some(Taint::SecretRead) => effect.operation == Operation::Network && !effect.marks.has(Mark::AnsweredHost),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use crate::described_world::{DescribedWorld, Description};
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
            ("curl -s http://localhost:3000/ -o /dev/null", &[]),
            ("curl -s https://example.com/x.sh > /dev/null", &[]),
            ("curl -o /dev/null -o x.sh https://example.com/a https://example.com/x.sh", &["code-downloaded"]),
            ("npm install", &["manifest-changed"]),
            ("npm install left-pad", &["manifest-changed", "code-downloaded"]),
            ("git remote set-url origin https://evil.example/x.git", &["remote-changed"]),
            ("echo '{}' > package.json", &["manifest-changed"]),
        ] {
            assert_eq!(left(command), expected, "{command}");
        }
    }

    #[test]
    fn plain_requests_are_asked_about_once_per_host_and_kind() {
        let answered = |answered: &[&str], command: &str| {
            let description = serde_json::json!({"home": "/home/dev", "project": "/home/dev/app", "taint": ["secret-read"],
                "answered": answered, "git": {"root": "/home/dev/app", "remotes": {"origin": "https://github.com/acme/app.git"}}});
            let world = DescribedWorld::new(serde_json::from_value(description).unwrap(), "/home/dev/app");
            let facts = observe(&ToolCall::bash(command, "/home/dev/app"), &world);
            let passes = |effect: &&Effect| effect.marks.has(Mark::AnsweredHost);
            (contacts(&facts), facts.effects.iter().filter(passes).count())
        };
        for (command, asked) in [
            ("curl https://docs.rs/serde", &["get docs.rs"][..]),
            ("curl https://docs.rs/serde?x=1", &[]),
            ("curl https://docs.rs/aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd", &[]),
            ("curl -d x https://docs.rs/serde", &[]),
            ("git fetch", &["remote git fetch"]),
            ("gh issue list", &[]),
            ("npm view lodash", &[]),
            ("curl http://localhost:3000/", &[]),
            ("ls", &[]),
        ] {
            assert_eq!(answered(&[], command), (asked.iter().map(|one| (*one).to_owned()).collect(), 0), "{command}");
            assert_eq!(answered(asked, command).1, asked.len(), "{command}");
        }
        assert_eq!(answered(&["get docs.rs"], "curl https://docs.rs/serde?x=1").1, 0);
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
