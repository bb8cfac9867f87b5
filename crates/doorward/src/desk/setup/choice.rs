//! Asks for the starting mode of an agent and writes it to the user's configuration.

use std::io::Write;

use anyhow::{Context, Result, bail};
use doorward_engine::Mode;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::desk::person;
use crate::machine::agent::Agent as AgentKind;
use crate::policy::config::{Agent, Questions};

/// Asks the user how to start.
pub(super) fn ask(out: &mut dyn Write, now: Mode) -> Result<Mode> {
    writeln!(out, "\nHow should it start? (now: {now}; Enter keeps that)")?;
    writeln!(out, "  c  confirm-all: doorward asks about every call")?;
    writeln!(out, "  s  shadow: doorward only records what it would have decided")?;
    writeln!(out, "  a  auto: doorward approves, asks or blocks on its own judgement")?;
    out.flush()?;
    match person::ask("choice [c/s/a]: ")?.unwrap_or_default() {
        nothing if nothing.trim().is_empty() => Ok(now),
        letter => parse_mode(&letter),
    }
}

/// Asks who answers questions of an agent whose own mode has no prompt.
pub(super) fn questions(out: &mut dyn Write, agent: AgentKind) -> Result<Questions> {
    let title = agent.title();
    writeln!(
        out,
        "\n{title} starts in its own `auto` mode, where you would not see doorward's questions. Who answers them?"
    )?;
    writeln!(out, "  1  you, in its own prompt: {title} starts in mode `default` instead (recommended)")?;
    writeln!(out, "  2  you, later: the call is refused right away and waits in `doorward review`")?;
    writeln!(out, "  3  its classifier, for soft questions; everything else is refused and waits for you")?;
    out.flush()?;
    match person::ask("choice [1/2/3]: ")?.unwrap_or_default().trim() {
        "" | "1" => Ok(Questions::Client),
        "2" => Ok(Questions::Queue),
        "3" => Ok(Questions::Classifier),
        other => bail!("`{other}` is not one of the choices; nothing was changed"),
    }
}

fn parse_mode(line: &str) -> Result<Mode> {
    match line.trim().to_ascii_lowercase().as_str() {
        "" | "c" | "confirm-all" => Ok(Mode::ConfirmAll),
        "s" | "shadow" => Ok(Mode::Shadow),
        "a" | "auto" => Ok(Mode::Auto),
        other => bail!("`{other}` is not one of the choices; nothing was changed"),
    }
}

/// The configuration with the mode, and with the toolchain directories in use when the user decided.
pub(super) fn configured(text: &str, agent: &str, choice: &Agent, directories: &[String]) -> Result<String> {
    let mut document: DocumentMut = text.parse().context("the configuration is not TOML")?;
    let entry = table(table(document.as_table_mut(), "agents")?, agent)?;
    entry.insert("mode", value(choice.mode.unwrap_or(Mode::ConfirmAll).as_str()));
    if choice.staged {
        entry.insert("staged", value(true));
    } else {
        entry.remove("staged");
    }
    if let Some(questions) = choice.questions {
        entry.insert("questions", value(questions.as_str()));
    }
    let programs = table(document.as_table_mut(), "programs")?;
    if !programs.contains_key("directories") {
        programs.insert("directories", value(directories.iter().map(String::as_str).collect::<toml_edit::Array>()));
    }
    let text = document.to_string();
    crate::policy::config::Config::parse(&text).map_err(anyhow::Error::msg)?;
    Ok(text)
}

fn table<'a>(parent: &'a mut Table, name: &str) -> Result<&'a mut Table> {
    let item = parent.entry(name).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    item.as_table_mut().with_context(|| format!("`{name}` is not a separate table in the configuration"))
}

/// Where Homebrew keeps what it installs for the user.
// Homebrew's directories belong to the user, so programs in them need the list of trusted tools.
const HOMEBREW: &[&str] = &["/opt/homebrew", "/home/linuxbrew/.linuxbrew"];

/// The directories on the search path that belong to the user: where toolchains put their programs.
pub(super) fn tool_chains(path: &str, home: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for directory in path.split(':').map(|directory| directory.trim_end_matches('/')) {
        let is_below = |parent: &str| directory.strip_prefix(parent).is_some_and(|rest| rest.starts_with('/'));
        let found_there = std::fs::metadata(directory).ok().filter(std::fs::Metadata::is_dir);
        // On some machines Homebrew has `/usr/local` to itself; elsewhere that belongs to the system.
        let is_users = || found_there.as_ref().is_some_and(|there| std::os::unix::fs::MetadataExt::uid(there) != 0);
        let is_homebrew = HOMEBREW.iter().any(|prefix| is_below(prefix)) || (is_below("/usr/local") && is_users());
        if (is_below(home) || is_homebrew) && found_there.is_some() && !found.iter().any(|known| known == directory) {
            found.push(directory.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_changed_and_everything_else_stays() {
        let text = "# mine\nstrict = true\n\n[permissions]\nask = [\"fetch\"] # why not\n";
        let with = configured(text, "claude", &Agent::fixed(Mode::Shadow), &["/home/me/.cargo/bin".into()]).unwrap();
        assert!(with.starts_with(text), "{with}");
        let staged = configured(&with, "claude", &Agent::rolled_out(), &[]).unwrap();
        assert!(crate::policy::config::Config::parse(&staged).unwrap().is_staged("claude"), "{staged}");
        let again = configured(&staged, "claude", &Agent::fixed(Mode::Auto), &[]).unwrap();
        assert_eq!(again, with.replace("shadow", "auto"));
        let config = crate::policy::config::Config::parse(&again).unwrap();
        assert_eq!((config.mode("claude"), config.programs.directories.len()), (Mode::Auto, 1));
    }

    #[test]
    fn a_person_chooses() {
        for (typed, mode) in
            [("\n", Some(Mode::ConfirmAll)), ("s\n", Some(Mode::Shadow)), ("A\n", Some(Mode::Auto)), ("x\n", None)]
        {
            assert_eq!(parse_mode(typed).ok(), mode);
        }
    }
}
