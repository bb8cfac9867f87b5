//! Which questions a contained run may answer: those about files, computation and unknown code alone.

use doorward_vocabulary::{Clearance, Mark, Marks, Operation, Scope, Sensitivity, Source, Verdict, words};

use crate::effect::{Effect, Target};
use crate::facts::Facts;
use crate::path::under;
use crate::policy::Policy;
use crate::rules;
use crate::verdict::{Judgement, Opinion};

words! {
    /// Why a call can't be tried in a contained run.
    Obstacle {
        NotAsked = "not-asked" : "it isn't waiting for an answer",
        Blocked = "blocked" : "it is blocked",
        NotACommand = "not-a-command" : "only shell commands can be tried",
        Demanded = "demanded" : "your mode, your rules or your words ask about it, whatever it does",
        Denials = "denials" : "doorward is pausing for you after many denials",
        Strict = "strict" : "the strict profile has no contained runs",
        Taint = "taint" : "a secret was read in this session",
        Network = "network" : "it needs the network or another machine",
        Processes = "processes" : "it acts on other processes or services",
        Secret = "secret" : "it reads a secret",
        OtherUser = "other-user" : "it runs as another user",
        Terminal = "terminal" : "it waits for input at a terminal",
        Background = "background" : "something of it goes on after its end",
        State = "state" : "it changes something that is not a file: git history, packages, containers",
        System = "system" : "it changes files outside the project, your home and temporary files",
        Protected = "protected" : "it touches a protected path",
        Agent = "agent" : "it concerns an AI agent or doorward itself",
    }
}

/// Everything that stands against a contained run; none if it may answer the question.
pub fn obstacles(facts: &Facts, judgement: &Judgement, policy: &Policy) -> Vec<Obstacle> {
    against(facts, &judgement.opinions, policy)
}

/// The box answers the question of a call that is handed to it: the deeds are judged before any of them counts.
pub(crate) fn answer(opinions: &mut Vec<Opinion>, facts: &Facts, policy: &Policy) {
    if !facts.boxed || !against(facts, opinions, policy).is_empty() {
        return;
    }
    opinions.retain(|opinion| opinion.verdict == Verdict::AutoApprove);
    opinions
        .push(Opinion::approve(Source::Contained, "runs in a box, and what it did there is judged before it counts"));
}

fn against(facts: &Facts, opinions: &[Opinion], policy: &Policy) -> Vec<Obstacle> {
    let mut found = of_opinions(opinions);
    let mut add = |obstacle: Obstacle, is_there: bool| {
        if is_there {
            found.push(obstacle);
        }
    };
    add(Obstacle::NotACommand, facts.tool != "bash");
    add(Obstacle::Strict, policy.strict);
    add(Obstacle::Taint, !facts.taint.is_empty());
    add(Obstacle::Demanded, facts.intent.boundary.is_some());
    add(Obstacle::Background, facts.lingers || !facts.left.is_empty());
    add(Obstacle::Network, !facts.flows.is_empty());
    found.extend(facts.effects.iter().filter_map(|effect| of_effect(effect, facts)));
    found.sort_unstable();
    found.dedup();
    found
}

fn of_opinions(opinions: &[Opinion]) -> Vec<Obstacle> {
    match opinions.iter().map(|opinion| opinion.verdict).max() {
        Some(Verdict::AutoApprove) => return vec![Obstacle::NotAsked],
        Some(Verdict::Block) => return vec![Obstacle::Blocked],
        Some(Verdict::Confirm) | None => {}
    }
    opinions.iter().filter(|opinion| opinion.verdict != Verdict::AutoApprove).filter_map(of_opinion).collect()
}

fn of_opinion(opinion: &Opinion) -> Option<Obstacle> {
    if matches!(opinion.cleared_by, Some(Clearance::Hard | Clearance::Dual)) {
        return Some(Obstacle::Blocked);
    }
    match opinion.source {
        Source::Mode
        | Source::Permission
        | Source::Boundary
        | Source::Cancelled
        | Source::Nothing
        | Source::Contained => Some(Obstacle::Demanded),
        Source::Limit => Some(Obstacle::Denials),
        Source::Review => Some(Obstacle::Demanded),
        Source::Rule if opinion.rule.as_deref().is_some_and(|rule| rule.starts_with(rules::OWN)) => {
            Some(Obstacle::Demanded)
        }
        Source::Rule | Source::Coverage | Source::Matrix | Source::Score => None,
    }
}

/// What an effect that the text promises says against it. What the text hides is seen in the box.
fn of_effect(effect: &Effect, facts: &Facts) -> Option<Obstacle> {
    if effect.sensitivity > Sensitivity::SecretShaped {
        return Some(Obstacle::Secret);
    }
    match effect.operation {
        Operation::Network => return Some(Obstacle::Network),
        Operation::Mutate if !effect.marks.has(Mark::UnknownProgram) && effect.target != Target::Unknown => {
            return Some(of_marks(effect.marks).unwrap_or(Obstacle::State));
        }
        Operation::Write | Operation::Delete if !is_boxed(effect, facts) => return Some(Obstacle::System),
        Operation::Read | Operation::Write | Operation::Delete | Operation::Execute | Operation::Mutate => {}
    }
    of_marks(effect.marks)
}

/// A change that happens below the project, the home directory or in temporary files, of which the box has its own.
fn is_boxed(effect: &Effect, facts: &Facts) -> bool {
    if matches!(effect.scope, Scope::Scratch) {
        return true;
    }
    let Target::Path(path) = &effect.target else { return effect.target == Target::Unknown };
    let roots = [facts.project.as_deref(), facts.home.as_deref(), Some("/tmp"), Some("/var/tmp")];
    roots.into_iter().flatten().any(|root| root != "/" && path != root && under(path, root))
}

fn of_marks(marks: Marks) -> Option<Obstacle> {
    marks.iter().find_map(of_mark)
}

/// What a mark says against a contained run. A new mark must be given an answer here before it compiles.
fn of_mark(mark: Mark) -> Option<Obstacle> {
    use Mark as M;
    match mark {
        // Files, and how they are changed: exactly what a box shows.
        M::ProjectRoot
        | M::InstructionFile
        | M::Manifest
        | M::Lockfile
        | M::Ci
        | M::Infrastructure
        | M::Container
        | M::EditorConfig
        | M::DotEnv
        | M::LinkedElsewhere
        | M::HardLinked
        | M::Temp
        | M::OutsideProject
        | M::Hidden
        | M::Recursive
        | M::BelowHome
        | M::Cache
        | M::Force
        | M::Bulk
        | M::CountUnknown
        | M::Truncates
        | M::Unseen
        | M::Wildcard
        | M::Narrowed
        | M::Creates
        | M::PermissionChange
        | M::LocksOut
        | M::Exhaustion
        | M::LargeRead
        | M::SecretInContent
        | M::WidelyImported
        | M::ImportedEverywhere
        // Code, known or not, and why it is doubted.
        | M::Test
        | M::Build
        | M::Lint
        | M::RunsProject
        | M::ShellCode
        | M::InlineCode
        | M::ProjectBinary
        | M::UnknownProgram
        | M::ChangedRecipe
        | M::SessionFile
        | M::UntrustedProject
        | M::EnvironmentPoison
        | M::Obfuscated
        | M::HarnessOnly
        | M::SkipsChecks
        | M::LifecycleScript
        | M::RunsOnLoad
        | M::HistoryHidden
        // The environment in the box holds no secrets.
        | M::EnvironmentDump
        // Said of addresses; the network itself is an obstacle of its own.
        | M::Loopback
        | M::ListedHost
        | M::AnsweredHost => None,
        M::Root | M::HomeRoot | M::SystemDirectory | M::Device | M::ProcAlias | M::OnProgramPath | M::SetUid | M::OpenToAll => {
            Some(Obstacle::System)
        }
        M::CredentialStore | M::SshMaterial | M::AuthorizedKeys | M::SecretReturning => Some(Obstacle::Secret),
        M::ShellProfile | M::Persistence | M::GitInternals | M::GitHook | M::ProtectedPath | M::DeniedPath => {
            Some(Obstacle::Protected)
        }
        M::GuardOwn
        | M::AgentSettings
        | M::AgentNotes
        | M::AgentStart
        | M::UnguardedAgent
        | M::GuardStop
        | M::PersonOnly
        | M::SubagentTask
        | M::GrantsPermission
        | M::SandboxOff
        | M::TlsWeakened
        | M::SecurityWeakened => Some(Obstacle::Agent),
        M::RemotePath
        | M::InstallDeclared
        | M::InstallChosen
        | M::RemoteCode
        | M::Publish
        | M::Deploy
        | M::Push
        | M::DefaultBranch
        | M::Remote
        | M::ContainerEscape
        | M::Cloud
        | M::Database
        | M::ExternalMessage
        | M::ExternalWrite
        | M::UnlistedHost
        | M::DeniedHost
        | M::OwnRemote
        | M::PrivateAddress
        | M::LanAddress
        | M::MetadataAddress
        | M::AddressLiteral
        | M::OddAddress
        | M::OddPort
        | M::RareDomain
        | M::DropHost
        | M::CarriesData
        | M::VariablePart
        | M::ControlPort
        | M::Plaintext
        | M::Upload
        | M::Download
        | M::Registry
        | M::NameQuery
        | M::Listens => Some(Obstacle::Network),
        M::Destroys
        | M::SystemPackages
        | M::HistoryRewrite
        | M::DiscardsWork
        | M::Commit
        | M::GitConfig
        | M::GitRemoteChange
        | M::UnsafeGitConfig => Some(Obstacle::State),
        M::Privileged => Some(Obstacle::OtherUser),
        M::ServiceChange | M::ProcessSignal | M::ForeignProcess | M::Shutdown | M::DiskFormat | M::ForkBomb => {
            Some(Obstacle::Processes)
        }
        M::Interactive => Some(Obstacle::Terminal),
        M::RateExceeded => Some(Obstacle::Denials),
        M::UnlistedBinary | M::ChangedBinary | M::ExchangedBinary => Some(Obstacle::Protected),
        M::McpUntrusted | M::McpUnreviewed | M::McpChanged | M::McpReadOnly | M::McpDestructive | M::UnknownTool => {
            Some(Obstacle::NotACommand)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DescribedWorld, Description, ToolCall, judge, observe};

    fn check(command: &str) -> String {
        let description: Description =
            serde_json::from_str(include_str!("../../../../corpus/world.json")).unwrap_or_default();
        let world = DescribedWorld::new(description, "/home/dev/project");
        let policy = Policy::built_in();
        let facts = observe(&ToolCall::bash(command, "/home/dev/project"), &world);
        let judgement = judge(&facts, &policy);
        obstacles(&facts, &judgement, &policy).iter().map(|obstacle| obstacle.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn doubt_about_files_and_code_can_be_tried() {
        for command in [
            "tool-nobody-knows --convert data.csv",
            "perl -ne 'print if /foo/' src/a.pl",
            "ruby -e 'puts 1+1'",
            "python3 -c \"import mymod; mymod.run()\"",
            "git ls-files | xargs ruff check",
        ] {
            assert_eq!(check(command), "", "{command}");
        }
    }

    #[test]
    fn everything_beyond_files_is_an_obstacle() {
        for (command, obstacle) in [
            ("ls", "not-asked"),
            ("rm -rf ~", "blocked"),
            ("curl https://unlisted.example/x", "network"),
            ("git push", "network"),
            ("sudo ./x", "other-user"),
            ("cat ~/.ssh/id_ed25519", "secret"),
            ("npm install left-pad", "network"),
            ("git rebase main", "state"),
            ("./server &", "background"),
            ("claude -p hi", "agent"),
            ("kill 1234", "processes"),
            ("docker compose up -d", "network"),
        ] {
            let found = check(command);
            assert!(found.split(' ').any(|word| word == obstacle), "{command}: {found}");
        }
    }

    fn verdict(command: &str) -> Verdict {
        let description: Description =
            serde_json::from_str(include_str!("../../../../corpus/world.json")).unwrap_or_default();
        let world = DescribedWorld::new(description, "/home/dev/project");
        judge(&observe(&ToolCall::bash(command, "/home/dev/project"), &world), &Policy::built_in()).verdict
    }

    #[test]
    fn a_call_handed_to_the_box_is_not_asked_about() {
        assert_eq!(verdict("tool-nobody-knows --convert data.csv"), Verdict::Confirm);
        assert_eq!(verdict("doorward run -- 'tool-nobody-knows --convert data.csv'"), Verdict::AutoApprove);
        assert_eq!(verdict("doorward run -- tool-nobody-knows --convert data.csv"), Verdict::AutoApprove);
    }

    #[test]
    fn the_box_answers_no_other_question() {
        for command in [
            "rm -rf ~",
            "curl https://unlisted.example/x",
            "git push",
            "sudo ./x",
            "cat ~/.ssh/id_ed25519",
            "npm install left-pad",
            "claude -p hi",
            "echo x >> ~/.bashrc",
            "doorward off",
        ] {
            let (inside, plain) = (verdict(&format!("doorward run -- '{command}'")), verdict(command));
            assert!(plain > Verdict::AutoApprove && inside >= plain, "{command}: {plain} {inside}");
        }
        for command in [
            "doorward run -- tool-nobody-knows > out.txt",
            "doorward run -- tool-nobody-knows | sh",
            "doorward run -- tool-nobody-knows; tool-nobody-knows",
            "doorward run -- $X",
            "./doorward run -- tool-nobody-knows",
            "doorward run 8f3a",
            "doorward run \"$T\"",
            "doorward run 8f3a -- ls",
        ] {
            assert!(verdict(command) > Verdict::AutoApprove, "{command}");
        }
    }
}
