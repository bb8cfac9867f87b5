//! `--help` and the manual pages: the commands in groups, and every page that another page refers to.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, Command};

use crate::desk::grants::show::prose;
use crate::machine::paths::Dirs;

/// The commands, grouped the way people look for them. Commands in no group are listed last.
const GROUPS: &[(&str, &[&str])] = &[
    ("Every day", &["setup", "status", "check", "run", "undo", "preview", "digest", "demo"]),
    ("Answering", &["review", "pending", "approve", "refuse", "devices", "trust", "untrust", "reset"]),
    ("Record", &["audit", "denials", "alerts", "metrics", "report", "reconcile", "snapshots"]),
    ("Team", &["ship", "bundle"]),
    ("Tuning", &["rules", "tickets", "flag", "tune", "replay", "rollout", "model", "test"]),
    (
        "Administration",
        &[
            "doctor",
            "config",
            "defaults",
            "reload",
            "hook",
            "serve",
            "mcp",
            "mcp-server",
            "acp",
            "statusline",
            "completions",
            "man",
        ],
    ),
];

/// The longest line, however wide the terminal.
// Longer lines are tiring to read, and the page must look the same in a file and in a wide terminal.
const WIDTH: usize = 100;

/// The column where command names end.
const NAME: usize = 14;

/// The command line whose help lists the commands in groups.
pub(crate) fn grouped(command: Command) -> Command {
    let list = list_options(&command);
    command.help_template(format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{list}\nOptions:\n{{options}}"))
}

fn list_options(command: &Command) -> String {
    let width = crate::desk::screen::width().min(WIDTH);
    let mut text = String::new();
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let visible: Vec<&Command> = command.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let others: Vec<&str> = visible.iter().map(|command| command.get_name()).filter(|name| !is_grouped(name)).collect();
    for (title, names) in GROUPS.iter().copied().chain([("Others", others.as_slice())]) {
        let members: Vec<&Command> = names
            .iter()
            .filter_map(|name| visible.iter().find(|command| command.get_name() == *name).copied())
            .collect();
        if !members.is_empty() {
            text.push_str(&format!("\n{title}:\n"));
            members.iter().for_each(|member| text.push_str(&entry(member, width)));
        }
    }
    text
}

/// One command: its name, and what it does next to it.
fn entry(command: &Command, width: usize) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut name = command.get_name();
    let mut text = String::new();
    for line in prose(&about, width.saturating_sub(NAME + 2)) {
        text.push_str(&format!("  {name:<NAME$}{line}\n"));
        name = "";
    }
    text
}

/// Which page to print, or where to install them.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The command, such as `check` or `audit list`; default: the page of `doorward` itself
    #[arg(value_name = "COMMAND")]
    pub names: Vec<String>,
    /// Install all pages in this directory; default: ~/.local/share/man, where `man` finds them
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with = "names")]
    pub install: Option<Option<PathBuf>>,
}

/// Prints a page, or installs all.
pub(crate) fn run(arguments: &ManArguments, mut command: Command) -> Result<ExitCode> {
    command.build();
    if let Some(directory) = &arguments.install {
        return install(command, directory.clone());
    }
    let mut found = command;
    let mut title = found.get_name().to_owned();
    for name in &arguments.names {
        let below = found.get_subcommands().find(|command| command.get_name() == name).cloned();
        let Some(below) = below else { bail!("`{title}` has no command `{name}`; `doorward --help` lists them") };
        title = format!("{title}-{name}");
        found = below;
    }
    clap_mangen::Man::new(found).render(&mut std::io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

fn install(command: Command, directory: Option<PathBuf>) -> Result<ExitCode> {
    let root = match directory {
        Some(directory) => directory,
        None => PathBuf::from(Dirs::find().map_err(anyhow::Error::msg)?.home()).join(".local/share/man"),
    };
    let pages = root.join("man1");
    std::fs::create_dir_all(&pages).with_context(|| format!("can't create `{}`", pages.display()))?;
    clap_mangen::generate_to(command, &pages).with_context(|| format!("can't write to `{}`", pages.display()))?;
    writeln!(anstream::stdout(), "Installed the manual pages in {}. Try: man doorward", pages.display())?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_in_one_group_and_every_group_names_commands() {
        let command = crate::cli::CommandLine::command();
        let mut names: Vec<&str> =
            command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        names.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(names, grouped);
    }
}
