//! Skills and commands of a project: texts for the model, of which agents run marked parts before the model sees anything.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};
use serde_json::Value;

use super::sheet::observer::{By, Observer};
use crate::path;
use crate::world::{Content, World};

/// Longer than any text that a model is given to begin with.
const LIMIT: usize = 256 << 10;

/// More skills than a project has.
// The directory is listed on every call that loads skills.
const SKILLS: usize = 200;

/// What stands before a command that runs when the text is loaded.
// The two spellings of Claude Code for commands that run while the text is loaded, before the model sees it.
const RUNS: [&str; 2] = ["!`", "```!"];

/// A skill or command is loaded. What its text leads to is judged call by call; what runs while it is loaded is not.
pub(super) fn loads_text(out: &mut Observer<'_>, input: &Value, cwd: &str) {
    let named = ["skill", "command", "name"].iter().find_map(|key| input.get(key).and_then(Value::as_str));
    let name = named.and_then(|name| name.trim_start_matches('/').split_whitespace().next()).unwrap_or_default();
    let Some(project) = out.world.project().map(str::to_owned) else { return };
    let roots = [cwd, project.as_str()];
    let found = roots.iter().flat_map(|root| texts(out.world, &path::join(root, ".claude"), name));
    let running: Vec<String> = found.filter(|file| is_new_here(out.world, file)).collect();
    if let Some(file) = running.first() {
        out.lower(Degree::Opaque, format!("the commands that `{file}` runs when it is loaded"));
        out.unknown(Operation::Execute, &By::default(), Marks::default().with(Mark::InlineCode));
    }
}

/// The files of this name that run something.
fn texts(world: &dyn World, agent: &str, name: &str) -> Vec<String> {
    let skills = path::join(agent, "skills");
    let entries = world.entries(&skills).unwrap_or_default();
    let called = |entry: &String| (path::join(&path::join(&skills, entry), "SKILL.md"), entry == name);
    let command = path::join(&path::join(agent, "commands"), &format!("{}.md", name.replace(':', "/")));
    let named = path::join(&path::join(&skills, name), "SKILL.md");
    let files = entries.iter().take(SKILLS).map(called).chain([(command, true), (named, true)]);
    files.filter(|(file, is_named)| runs(world, file, *is_named, name)).map(|(file, _)| file).collect()
}

/// A skill may call itself something else than its directory is called.
fn runs(world: &dyn World, file: &str, is_named: bool, name: &str) -> bool {
    match world.content(file, LIMIT) {
        Content::Text(text) => {
            let is_meant = is_named || text.lines().any(|line| is_name(line, name));
            is_meant && RUNS.iter().any(|sign| text.contains(sign))
        }
        Content::TooLong | Content::NotText | Content::Unreadable => is_named,
        Content::Missing | Content::Unlisted => false,
    }
}

/// Nobody trusted it as it is.
fn is_new_here(world: &dyn World, file: &str) -> bool {
    !world.project_trusted() || world.changed_files().iter().any(|changed| changed == file)
}

fn is_name(line: &str, name: &str) -> bool {
    let value = line.trim().strip_prefix("name:").map(|value| value.trim().trim_matches(['"', '\'']));
    value.is_some_and(|value| value == name)
}
