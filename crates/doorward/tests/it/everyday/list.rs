//! The lists of everyday calls, as they are written in the text files.
//!
//! `$ command` (lines that follow with `>` belong to it), `& command` in the background, `Read`, `Write`, `Edit`, `Glob`, `Grep`
//! and `WebFetch` with what they are about; `<` is the old text of an edit, `>` the new one. `? words | why` below a call says
//! that it is asked about in these words, `! words | why` that it is blocked. `## heading` begins another task.

use std::path::Path;

use serde_json::{Value, json};

const TOOLS: &[&str] = &["Read", "Write", "Edit", "Glob", "Grep", "WebFetch"];

/// What the hook is to answer; `says` is a part of the reason, `because` why that is right.
pub(super) enum Expected<'a> {
    Silent,
    Asks { says: &'a str, because: &'a str },
    Blocks { says: &'a str, because: &'a str },
}

/// One call of a list.
pub(super) struct Call<'a> {
    pub section: &'a str,
    pub tool: &'a str,
    pub text: String,
    pub expected: Expected<'a>,
    in_background: bool,
    old: String,
    new: String,
}

impl<'a> Call<'a> {
    fn new(section: &'a str, tool: &'a str, text: &str) -> Call<'a> {
        let (old, new) = (String::new(), String::new());
        Call { section, tool, text: text.to_owned(), expected: Expected::Silent, in_background: false, old, new }
    }

    /// The input of the tool, as Claude Code writes it.
    pub(super) fn input(&self, project: &Path) -> Value {
        let file = project.join(&self.text);
        match self.tool {
            "Bash" if self.in_background => json!({ "command": self.text, "run_in_background": true }),
            "Bash" => json!({ "command": self.text }),
            "Read" => json!({ "file_path": file }),
            "Write" => json!({ "file_path": file, "content": self.new }),
            "Edit" => {
                json!({ "file_path": file, "old_string": self.old, "new_string": self.new, "replace_all": false })
            }
            "Glob" => json!({ "pattern": self.text }),
            "Grep" => {
                let (pattern, path) = self.text.split_once(' ').unwrap();
                json!({ "pattern": pattern, "path": project.join(path) })
            }
            "WebFetch" => json!({ "url": self.text, "prompt": "what does it say" }),
            other => panic!("{other}"),
        }
    }

    /// Edits and new files are made, so that later calls find them; commands are only judged.
    pub(super) fn perform(&self, project: &Path) {
        let file = project.join(&self.text);
        match self.tool {
            "Write" => {
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, &self.new).unwrap();
            }
            "Edit" => {
                let text = std::fs::read_to_string(&file).unwrap();
                assert!(text.contains(&self.old), "{}: nothing to edit", self.text);
                std::fs::write(file, text.replacen(&self.old, &self.new, 1)).unwrap();
            }
            _ => {}
        }
    }

    /// A line of the table.
    pub(super) fn row(&self) -> String {
        let cell = |text: &str| text.replace('|', "\\|");
        let name = if self.tool == "Bash" { String::new() } else { format!("{} ", self.tool) };
        let text = self.text.replace('\n', " ⏎ ");
        let fence = if text.contains('`') { "``" } else { "`" };
        let (answer, because) = match &self.expected {
            Expected::Silent => ("runs", ""),
            Expected::Asks { because, .. } => ("asks", *because),
            Expected::Blocks { because, .. } => ("blocked", *because),
        };
        format!("| {name}{fence}{}{fence} | {answer} | {} |\n", cell(&text), cell(because))
    }

    fn goes_on(&mut self, line: &str) {
        if self.tool == "Bash" {
            self.text.push('\n');
            self.text.push_str(line);
            return;
        }
        if !self.new.is_empty() {
            self.new.push('\n');
        }
        self.new.push_str(line);
    }
}

/// Reads a list; a line that means nothing is an error.
pub(super) fn read(text: &str) -> Vec<Call<'_>> {
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut section = "";
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (sign, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (sign, calls.last_mut()) {
            ("##", _) => section = rest,
            ("$", _) => calls.push(Call::new(section, "Bash", rest)),
            ("&", _) => calls.push(Call { in_background: true, ..Call::new(section, "Bash", rest) }),
            (">", Some(call)) => call.goes_on(rest),
            ("<", Some(call)) => call.old = rest.to_owned(),
            ("?" | "!", Some(call)) => {
                let (says, because) = rest.split_once(" | ").unwrap_or_else(|| panic!("no reason: {line}"));
                call.expected = match sign {
                    "?" => Expected::Asks { says, because },
                    _ => Expected::Blocks { says, because },
                };
            }
            (tool, _) if TOOLS.contains(&tool) => calls.push(Call::new(section, tool, rest)),
            _ => panic!("no call: {line}"),
        }
    }
    calls
}
