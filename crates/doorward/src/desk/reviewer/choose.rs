//! `doorward model use`: the user chooses the reviewer and thereby accepts the current configuration.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use toml_edit::{DocumentMut, Item, Table, value};

use crate::desk::person;
use crate::machine::atomic_file as files;
use crate::machine::paths::Dirs;
use crate::machine::record::Ledger;
use crate::machine::visible;
use crate::policy::approved_config;
use crate::policy::load;

/// The word for no reviewer at all.
const NONE: &str = "none";

pub(super) fn choose(out: &mut dyn Write, model: &str, dirs: &Dirs) -> Result<ExitCode> {
    person::required()?;
    let path = dirs.config_file();
    let before = files::text(&path)?;
    let text = changed(before.as_deref().unwrap_or_default(), model)?;
    files::replace(&path, &text)?;
    let taken_back = || match &before {
        Some(before) => files::replace(&path, before),
        None => files::remove(&path),
    };
    // Pi reads all files there are.
    let loaded = load::load(dirs, None, "pi");
    for sentence in loaded.unaccepted_sentences().iter().chain(&loaded.problems) {
        writeln!(out, "{}", visible(sentence))?;
    }
    let question = match model {
        NONE => "Stop using a reviewer, and accept the configuration as it is now?".to_owned(),
        _ => format!("Let `{model}` clear soft questions, and accept the configuration as it is now?"),
    };
    if !loaded.problems.is_empty() || !person::agrees(&question)? {
        taken_back()?;
        bail!("nothing was changed");
    }
    approved_config::accept(dirs, &loaded, &mut Ledger::open(dirs))?;
    crate::policy::session_policy::forget(dirs).context("can't reset the policy of running sessions")?;
    writeln!(out, "Done. It applies from the next call on; try it with `doorward model test`.")?;
    Ok(ExitCode::SUCCESS)
}

/// The configuration with the model, everything else unchanged.
fn changed(text: &str, model: &str) -> Result<String> {
    let mut document: DocumentMut = text.parse().context("the configuration is not TOML")?;
    let reviewer = document.as_table_mut().entry("reviewer").or_insert_with(|| Item::Table(Table::new()));
    let table = reviewer.as_table_mut().context("`reviewer` is not a separate table in the configuration")?;
    if model == NONE {
        table.remove("model");
    } else {
        table.insert("model", value(model));
    }
    let text = document.to_string();
    crate::policy::config::Config::parse(&text).map_err(anyhow::Error::msg)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_changed_and_everything_else_stays() {
        let text = "# mine\nstrict = true\n\n[reviewer]\nallow = [\"$defaults\"] # as before\n";
        let with = changed(text, "a/one").unwrap();
        assert!(with.starts_with(text) && with.contains("model = \"a/one\""), "{with}");
        assert_eq!(changed(&with, "none").unwrap(), text);
        assert!(changed(text, "one").is_err());
        assert!(changed("", "a/one").unwrap().contains("[reviewer]"));
    }
}
