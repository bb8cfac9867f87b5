//! File tools: reads, searches, writes and edits, judged like their shell counterparts, plus what enters a file.

use doorward_vocabulary::{Degree, Marks, Operation};

use super::observer::{By, Observer};
use super::shell::field::Field;
use super::touch::Touch;
use crate::call::{Change, ChangeKind};

impl Observer<'_> {
    /// The read tool.
    pub fn read_tool(&mut self, path: &str, cwd: &str) {
        let ((), mut caused) = self.collect(|out| out.tool_path(Touch::Read, path, cwd));
        caused.read_whole(self.world);
        self.write(caused);
    }

    /// The search tool: everything below the path is read.
    pub fn search_tool(&mut self, path: Option<&str>, files: Option<&str>, cwd: &str) {
        self.tool_path(Touch::ReadTree, path.filter(|path| !path.is_empty()).unwrap_or(cwd), cwd);
        if files.is_some_and(|files| crate::observe::wild::picks_sensitive(files, cwd, self.world)) {
            self.lower(Degree::Opaque, "a search in files whose names are those of secrets");
        }
    }

    /// The write tool.
    pub fn write_tool(&mut self, path: &str, text: &str, cwd: &str) {
        let ((), mut caused) = self.collect(|out| out.tool_path(Touch::Write, path, cwd));
        caused.enter(path, text);
        self.write(caused);
    }

    /// The edit tools.
    pub fn edit_tool(&mut self, changes: &[Change], cwd: &str) {
        if changes.is_empty() {
            self.lower(Degree::Opaque, "an edit that names no file");
        }
        for change in changes {
            let touch = match change.kind {
                ChangeKind::Create => Touch::Write,
                ChangeKind::Update => Touch::Edit,
                ChangeKind::Delete => Touch::Delete,
                ChangeKind::Move => Touch::Move,
            };
            let ((), mut caused) = self.collect(|out| out.tool_path(touch, &change.path, cwd));
            caused.enter(&change.path, &change.new);
            self.write(caused);
        }
    }

    /// A path as file tools give it: a tilde stands for the home directory although no shell expands it.
    fn tool_path(&mut self, touch: Touch, path: &str, cwd: &str) {
        let by = By::default();
        if path.is_empty() {
            self.lower(Degree::Opaque, "no path is given");
            self.unknown(Operation::Write, &by, Marks::default());
            return;
        }
        self.note_hidden(path);
        let text = match (path.strip_prefix('~'), self.world.home()) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                if touch != Touch::Read && touch != Touch::ReadTree {
                    self.lower(Degree::Opaque, "a tilde that the tool may not expand");
                }
                format!("{home}{rest}")
            }
            (Some(_) | None, Some(_) | None) => path.to_owned(),
        };
        let field = Field::literal(text, doorward_shell::Span::default());
        self.touch(touch, &field, cwd.starts_with('/').then_some(cwd), &by);
    }
}
