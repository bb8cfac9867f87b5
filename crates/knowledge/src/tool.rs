//! Reads the inventory of an agent's built-in tools.

use std::borrow::Cow;

use doorward_vocabulary::words;

use crate::file::{Complaint, File};

words! {
    /// The inherent risk of a tool, before its input is looked at.
    Risk {
        None = "none" : "touches nothing outside the agent",
        Low = "low" : "reads",
        Medium = "medium" : "changes files of the project or fetches from the network",
        High = "high" : "runs commands, or acts on other systems",
    }
}

/// One built-in tool of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolEntry {
    pub agent: Cow<'static, str>,
    pub name: Cow<'static, str>,
    pub risk: Risk,
    /// Plans, to-do lists, questions to the user: no effect outside the agent.
    pub harness: bool,
    /// It may give the agent a prompt later on that nobody types.
    pub prompts: bool,
    pub what: Cow<'static, str>,
}

/// Reads a whole inventory file.
pub fn read(file: File<'_>) -> Result<Vec<ToolEntry>, Complaint> {
    let table = file.table()?;
    let mut agent = String::new();
    let mut tools = Vec::new();
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "agent" => agent = file.string(value)?.to_owned(),
            "tool" => {
                for item in file.array(value)? {
                    let (mut names, mut risk, mut what) = (Vec::new(), None, String::new());
                    let (mut harness, mut prompts) = (false, false);
                    for (key, value) in file.inner(item)?.iter() {
                        match key.get_ref().as_ref() {
                            "names" => names = file.strings(value)?,
                            "risk" => risk = Risk::parse(file.string(value)?),
                            "harness" => harness = file.boolean(value)?,
                            "prompts" => prompts = file.boolean(value)?,
                            "what" => what = file.string(value)?.to_owned(),
                            other => return Err(file.at(key, format!("`{other}` is not a key of a tool"))),
                        }
                    }
                    let risk = risk.ok_or_else(|| file.at(item, "a tool needs `risk`: none, low, medium or high"))?;
                    if names.is_empty() || what.is_empty() {
                        return Err(file.at(item, "a tool needs `names` and `what`"));
                    }
                    for name in names {
                        let entry = ToolEntry {
                            agent: Cow::Owned(agent.clone()),
                            name: Cow::Owned(name),
                            risk,
                            harness,
                            prompts,
                            what: Cow::Owned(what.clone()),
                        };
                        tools.push(entry);
                    }
                }
            }
            other => return Err(file.at(key, format!("`{other}` is not a key of an inventory"))),
        }
    }
    if agent.is_empty() {
        return Err(file.complaint(0, "`agent` is missing"));
    }
    Ok(tools)
}
