//! What a table entry says about a place: its marks, how far it reaches, what it holds, and where it counts.

/// Where an entry counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Everywhere,
    /// Not among temporary files: nobody builds from them.
    OutsideTemp,
    /// In the project it is a copy that runs only once it is installed.
    Live,
    /// Among the project's test data it is only shaped like one.
    OutsideFixtures,
}

/// What is true of the places that an entry names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub marks: &'static [Mark],
    pub reach: Reach,
    pub sensitivity: Sensitivity,
    pub holds: Holds,
}

impl super::table::HoldsSecrets for Class {
    fn holds_secrets(&self) -> bool {
        self.sensitivity > Sensitivity::None
    }
}

const fn class(marks: &'static [Mark], reach: Reach, sensitivity: Sensitivity, holds: Holds) -> Class {
    Class { marks, reach, sensitivity, holds }
}

const fn plain(marks: &'static [Mark], reach: Reach, holds: Holds) -> Class {
    class(marks, reach, Sensitivity::None, holds)
}

use Holds::{Everywhere, Live, OutsideFixtures, OutsideTemp};
use Reach::{Identity, Machine, Project, Shared, Workspace};
use doorward_vocabulary::{Mark, Reach, Sensitivity};

// Reading asks, changing blocks: see the rules `credential-read` and `credential-store`.
pub(super) static CREDENTIAL: Class = class(&[Mark::CredentialStore], Identity, Sensitivity::Credential, Everywhere);
pub(super) static KEY: Class = class(&[Mark::CredentialStore], Identity, Sensitivity::Key, Everywhere);
// Known by the look of the name only, so test fixtures are excepted.
pub(super) static SHAPED_CREDENTIAL: Class =
    class(&[Mark::CredentialStore], Identity, Sensitivity::Credential, OutsideFixtures);
pub(super) static SHAPED_KEY: Class = class(&[Mark::CredentialStore], Identity, Sensitivity::Key, OutsideFixtures);
pub(super) static FIXTURE: Class = class(&[], Workspace, Sensitivity::SecretShaped, Everywhere);
/// Only a word says so: reading it asks, and writing it is judged as any other file there.
pub(super) static CALLED_SECRET: Class = class(&[], Workspace, Sensitivity::Credential, Everywhere);
// Projects edit these all day: reach *project*, but as sensitive as a credential.
pub(super) static DOT_ENV: Class = class(&[Mark::DotEnv], Project, Sensitivity::Credential, Everywhere);
pub(super) static PERSONAL: Class = class(&[], Machine, Sensitivity::Personal, Everywhere);
/// A list of people, by its name.
pub(super) static PEOPLE: Class = class(&[], Workspace, Sensitivity::Personal, Everywhere);
pub(super) static SSH: Class = plain(&[Mark::SshMaterial], Identity, Everywhere);
pub(super) static SSH_KEY: Class =
    class(&[Mark::SshMaterial, Mark::CredentialStore], Identity, Sensitivity::Key, Everywhere);
pub(super) static AUTHORIZED_KEYS: Class = plain(&[Mark::SshMaterial, Mark::AuthorizedKeys], Identity, Everywhere);
// Only where a shell would really run it. A copy in a repository of dotfiles is `COPY`.
pub(super) static PROFILE: Class = plain(&[Mark::ShellProfile], Machine, Live);
pub(super) static PERSISTENCE: Class = plain(&[Mark::Persistence], Machine, Live);
pub(super) static STARTED: Class = plain(&[Mark::Persistence, Mark::ShellProfile], Machine, Live);
// Whoever writes here becomes root, and stays it: a credential and persistence at once (files-081).
pub(super) static SUDO: Class =
    class(&[Mark::CredentialStore, Mark::Persistence], Identity, Sensitivity::Credential, Everywhere);
pub(super) static GUARD: Class = plain(&[Mark::GuardOwn], Machine, Everywhere);
pub(super) static AGENT: Class = plain(&[Mark::AgentSettings], Machine, Everywhere);
pub(super) static AGENT_AUTH: Class =
    class(&[Mark::AgentSettings, Mark::CredentialStore], Identity, Sensitivity::Credential, Everywhere);
// Plans and logs that an agent writes for itself; asking about them would only teach people to say yes.
pub(super) static AGENT_NOTES: Class = plain(&[Mark::AgentNotes], Workspace, Everywhere);
/// What a person said, as agents wrote it down: whoever can change it can put words into that person's mouth.
pub(super) static TRANSCRIPT: Class = plain(&[Mark::AgentNotes], Machine, Everywhere);
pub(super) static INSTRUCTION: Class = plain(&[Mark::InstructionFile], Shared, Everywhere);
pub(super) static GIT: Class = plain(&[Mark::GitInternals], Project, Everywhere);
pub(super) static GIT_CONFIG: Class = plain(&[Mark::GitInternals, Mark::GitConfig], Project, Everywhere);
pub(super) static GIT_HOOK: Class = plain(&[Mark::GitHook], Shared, Everywhere);
// Unlike hooks in the repository these never show up in a diff (git-070).
pub(super) static GIT_OWN_HOOK: Class = plain(&[Mark::GitInternals, Mark::GitHook], Shared, Everywhere);
pub(super) static USER_GIT_CONFIG: Class = plain(&[Mark::GitConfig], Machine, Live);
pub(super) static SUBMODULES: Class = plain(&[Mark::GitConfig], Shared, OutsideTemp);
// Reach *shared*: everyone who builds the project runs what it names.
pub(super) static MANIFEST: Class = plain(&[Mark::Manifest], Shared, OutsideTemp);
pub(super) static RECIPE: Class = plain(&[Mark::Manifest, Mark::RunsOnLoad], Shared, OutsideTemp);
pub(super) static RUNS_ON_LOAD: Class = plain(&[Mark::RunsOnLoad], Project, OutsideTemp);
// Apart from the manifest, because tools rewrite it by themselves.
pub(super) static LOCKFILE: Class = plain(&[Mark::Lockfile], Shared, OutsideTemp);
pub(super) static CI: Class = plain(&[Mark::Ci], Shared, OutsideTemp);
pub(super) static INFRASTRUCTURE: Class = plain(&[Mark::Infrastructure], Shared, OutsideTemp);
pub(super) static INFRASTRUCTURE_SECRET: Class =
    class(&[Mark::Infrastructure, Mark::CredentialStore], Identity, Sensitivity::Credential, OutsideFixtures);
pub(super) static INFRASTRUCTURE_LOCK: Class = plain(&[Mark::Infrastructure, Mark::Lockfile], Shared, OutsideTemp);
pub(super) static CONTAINER: Class = plain(&[Mark::Container], Shared, OutsideTemp);
pub(super) static EDITOR: Class = plain(&[Mark::EditorConfig], Shared, OutsideTemp);
pub(super) static PROGRAMS: Class = plain(&[Mark::OnProgramPath], Machine, Live);
pub(super) static LOOKED_UP: Class = plain(&[Mark::OnProgramPath], Machine, Everywhere);
pub(super) static PROJECT_PROGRAMS: Class = plain(&[Mark::OnProgramPath], Project, OutsideTemp);
pub(super) static SPECIAL: Class = plain(&[Mark::Device], Machine, Everywhere);
/// A file of the project that would run somewhere else: dotfiles kept in a repository.
pub(super) static COPY: Class = plain(&[Mark::RunsOnLoad], Shared, OutsideTemp);
