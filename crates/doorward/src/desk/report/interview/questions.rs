//! The questions and their valid answers.

use crate::policy::config::profile::{AgentType, Choice, Constraint, TrustContext};

/// One question, as shown.
pub(super) struct Question {
    pub title: &'static str,
    /// The possible answers and their meaning.
    pub choices: Vec<(&'static str, &'static str)>,
    pub how: &'static str,
}

/// The word for no external rules.
const NONE: &str = "none";

pub(super) fn agents() -> Question {
    Question {
        title: "What are the agents for?",
        choices: listed::<AgentType>(),
        how: "one or more, separated by commas",
    }
}

pub(super) fn trust() -> Question {
    Question { title: "Whose work is it?", choices: listed::<TrustContext>(), how: "exactly one" }
}

pub(super) fn compliance() -> Question {
    let mut choices = listed::<Constraint>();
    choices.push((NONE, "no external rules"));
    Question {
        title: "Which external rules apply to the work?",
        choices,
        how: "`none`, or one or more, separated by commas",
    }
}

fn listed<T: Choice>() -> Vec<(&'static str, &'static str)> {
    T::ALL.iter().map(|choice| (choice.as_str(), choice.meaning())).collect()
}

/// What the agents are for.
pub(super) fn read_agents(typed: &str) -> Result<Vec<AgentType>, String> {
    several(typed)
}

/// Whose work it is.
pub(super) fn read_trust(typed: &str) -> Result<TrustContext, String> {
    match several::<TrustContext>(typed)?.as_slice() {
        [one] => Ok(*one),
        _ => Err("pick only one: the widest that applies".to_owned()),
    }
}

/// Which rules the work is under.
pub(super) fn read_compliance(typed: &str) -> Result<Vec<Constraint>, String> {
    let words = words(typed);
    if words.iter().any(|word| word == NONE) {
        let is_alone = words.len() == 1;
        return if is_alone { Ok(Vec::new()) } else { Err(format!("`{NONE}` can't be combined with anything else")) };
    }
    several(typed)
}

fn several<T: Choice>(typed: &str) -> Result<Vec<T>, String> {
    let mut chosen: Vec<T> = Vec::new();
    for word in words(typed) {
        let found = T::ALL.iter().find(|choice| choice.as_str() == word);
        let Some(choice) = found.copied() else { return Err(unknown::<T>(&word)) };
        if chosen.contains(&choice) {
            return Err(format!("`{word}` is named twice"));
        }
        chosen.push(choice);
    }
    if chosen.is_empty() {
        return Err(format!("no answer; pick from {}", named::<T>()));
    }
    Ok(chosen)
}

fn words(typed: &str) -> Vec<String> {
    let split = typed.split([',', ' ', '\t']).map(|word| word.trim().to_lowercase());
    split.filter(|word| !word.is_empty()).collect()
}

fn unknown<T: Choice>(word: &str) -> String {
    // A word that starts the same is probably meant.
    let alike = |choice: &&T| word.chars().take(2).eq(choice.as_str().chars().take(2));
    match T::ALL.iter().find(alike) {
        Some(choice) => format!("`{word}` is not a choice; did you mean `{}`?", choice.as_str()),
        None => format!("`{word}` is not a choice; pick from {}", named::<T>()),
    }
}

fn named<T: Choice>() -> String {
    T::ALL.iter().map(|choice| format!("`{}`", choice.as_str())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_make_sense_are_taken() {
        assert_eq!(read_agents("coding"), Ok(vec![AgentType::Coding]));
        assert_eq!(read_agents(" Ops,  research "), Ok(vec![AgentType::Ops, AgentType::Research]));
        assert_eq!(read_trust("TEAM"), Ok(TrustContext::Team));
        assert_eq!(read_compliance("none"), Ok(Vec::new()));
        assert_eq!(read_compliance("gdpr, pci-dss"), Ok(vec![Constraint::Gdpr, Constraint::PciDss]));
    }

    #[test]
    fn answers_that_make_no_sense_are_refused_with_a_hint() {
        for (refused, hint) in [
            (read_agents("").unwrap_err(), "no answer; pick from"),
            (read_agents("gardening").unwrap_err(), "`coding`, `research`"),
            (read_agents("codnig").unwrap_err(), "did you mean `coding`?"),
            (read_agents("coding, coding").unwrap_err(), "named twice"),
            (read_trust("personal, team").unwrap_err(), "only one"),
            (read_trust("yes").unwrap_err(), "`personal`, `team`, `enterprise`"),
            (read_compliance("none, gdpr").unwrap_err(), "can't be combined"),
            (read_compliance("hippa").unwrap_err(), "did you mean `hipaa`?"),
            (read_compliance(",").unwrap_err(), "no answer; pick from"),
        ] {
            assert!(refused.contains(hint), "{refused}");
        }
    }
}
