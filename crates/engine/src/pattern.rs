//! What "similar" means: the class of a call, for override rates, tickets and session grants.

use doorward_vocabulary::{Mark, Reversibility};

use crate::effect::{Effect, Target};

/// Marks that make one target class differ from another.
// People answer alike for files of one class and differently between classes, so answers are counted by class.
const CLASSES: &[Mark] = &[
    Mark::Manifest,
    Mark::Lockfile,
    Mark::Ci,
    Mark::Infrastructure,
    Mark::Container,
    Mark::GitInternals,
    Mark::GitHook,
    Mark::AgentSettings,
    Mark::InstructionFile,
    Mark::DotEnv,
    Mark::CredentialStore,
    Mark::SystemDirectory,
    Mark::ListedHost,
    Mark::UnlistedHost,
    Mark::Loopback,
    Mark::OwnRemote,
    Mark::Test,
    Mark::Build,
    Mark::Lint,
    Mark::InstallDeclared,
    Mark::InstallChosen,
    Mark::UnknownProgram,
    Mark::InlineCode,
];

/// `bash · delete · rm · directory · rebuildable · project`, of the gravest effect.
pub fn of(tool: &str, effects: &[Effect]) -> String {
    let gravest = effects.iter().max_by_key(|effect| {
        (effect.reversibility == Reversibility::Irreversible, effect.reach, effect.operation, effect.scope)
    });
    let Some(effect) = gravest else { return format!("{tool} · no effect") };
    let mut text = format!("{tool} · {}", effect.operation);
    if !effect.by.is_empty() {
        text.push_str(" · ");
        text.push_str(&effect.by);
    }
    text.push_str(&format!(" · {} · {} · {}", effect.scope, effect.reversibility, effect.reach));
    let class = CLASSES.iter().find(|mark| effect.marks.has(**mark)).map(|mark| mark.as_str());
    let class = class.or(match &effect.target {
        Target::Unknown => Some("unknown"),
        Target::Path(_) | Target::Host(_) | Target::Program(_) | Target::Resource(_) => None,
    });
    if let Some(class) = class {
        text.push_str(" · ");
        text.push_str(class);
    }
    text
}
