//! Searches for the shapes of tokens in what lies outside the project: settings, notes and transcripts of agents.

use doorward_vocabulary::{Mark, Operation, Sensitivity};

use super::sheet::observer::Observer;
use crate::effect::Effect;
use crate::knowledge::schema::Facet;

/// How tokens begin. A search for one finds nothing but secrets.
// Prefixes that the issuers publish for secret scanning. Searching for them in a tree finds live tokens, wherever
// they are (tools-033).
const BEGINNINGS: &[&str] = &[
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "ghr_",
    "gh[",
    "github_pat",
    "glpat",
    "sk-",
    "sk_live",
    "rk_live",
    "xox",
    "akia",
    "asia",
    "aiza",
    "npm_",
    "pypi-",
    "eyj",
    "hf_",
    "dop_v1",
    "sg\\.",
    "sg.",
    "ya29",
    "private key",
    "begin rsa",
    "begin openssh",
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "access_token",
    "bearer",
    "authorization:",
];

/// A search through something outside the project whose pattern is the beginning of a token.
pub(super) fn note_token_search(out: &mut Observer<'_>, pattern: Option<&str>) {
    // Others that search, such as editors and databases, are unknown here and ask by themselves.
    let knowledge = out.knowledge;
    let searches = |command: &&String| {
        let program = command.split_whitespace().next().map(crate::path::name).unwrap_or_default();
        knowledge.facets(program).has_any(&[Facet::Searches, Facet::Picks])
    };
    let hunts = pattern.is_some_and(is_token_shape)
        || out.commands().iter().filter(searches).any(|command| is_token_shape(command));
    if !hunts {
        return;
    }
    out.revise(|effect| {
        if is_searched(effect) {
            effect.sensitivity = effect.sensitivity.max(Sensitivity::SecretShaped);
        }
    });
}

/// A tree in somebody's home, or what agents wrote down.
fn is_searched(effect: &Effect) -> bool {
    effect.operation == Operation::Read && effect.marks.has_any(&[Mark::AgentNotes, Mark::AgentSettings])
}

fn is_token_shape(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    BEGINNINGS.iter().any(|beginning| {
        text.match_indices(beginning).any(|(at, _)| {
            !text.get(..at).and_then(|before| before.chars().next_back()).is_some_and(char::is_alphanumeric)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::is_token_shape;

    #[test]
    fn shapes() {
        for text in ["rg ghp_ x", "grep -rE 'sk-[a-z]+' x", "AKIA[0-9A-Z]{16}", "grep -r \"BEGIN RSA\" x", "xoxb-"] {
            assert!(is_token_shape(text), "{text}");
        }
        for text in ["grep -r task-runner x", "rg 'fn main' src", "rg keys_of x"] {
            assert!(!is_token_shape(text), "{text}");
        }
    }
}
