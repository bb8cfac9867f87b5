//! Patches that a command applies: the files that they name are changed as if they were written out.

use super::Invocation;
use crate::call::{ChangeKind, patched};
use crate::coverage::Degree;
use crate::marks::Marks;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;
use crate::observe::through::files;
use crate::observe::touch::Touch;
use crate::path;

/// More files than a person would read are left to the effect of the command itself.
const FILES: usize = 200;

impl Runner<'_, '_> {
    /// `git apply`, `git am`, `patch`: every file that the patch names, as far as its text is known.
    pub fn note_patches(&mut self, invocation: &Invocation, state: &State<'_>) {
        let (Some(entry), Some(cwd)) = (invocation.args.entry(), invocation.cwd.as_deref()) else { return };
        let args = &invocation.args;
        let inert = ["--stat", "--numstat", "--summary", "--check", "--dry-run", "-C"];
        let strips: &[usize] = match &*entry.key {
            "git apply" | "git am" => &[1],
            "patch" => &[0, 1, usize::MAX],
            _ => return,
        };
        if &*entry.key != "git am" && args.has_any(&inert) && !args.has("--apply") {
            return;
        }
        let given = args.value("-p").or_else(|| args.value("--strip")).and_then(|value| value.exact()?.parse().ok());
        let directory = args.value("--directory").and_then(|value| value.exact()).unwrap_or_default();
        let base = path::join(cwd, directory);
        self.patch_elsewhere(&base, invocation);
        for text in self.patch_texts(invocation, state, cwd) {
            let found = patched(&text);
            if found.len() > FILES {
                self.out.lower(Degree::Unknown, "a patch with more files than are looked at");
            }
            for (file, kind) in found.into_iter().take(FILES) {
                for strip in given.as_ref().map_or(strips, std::slice::from_ref) {
                    self.patch_file(&path::join(&base, &stripped(file, *strip)), kind, &text, invocation);
                }
            }
        }
    }

    /// Whatever the patch names lies below a directory, and that one is none of the project's.
    fn patch_elsewhere(&mut self, base: &str, invocation: &Invocation) {
        let is_inside = self.out.world.project().is_some_and(|project| path::under(&path::lexical(base), project));
        if !is_inside {
            self.out.touch_path(Touch::Create, base, &invocation.by, Marks::default());
        }
    }

    fn patch_texts(&self, invocation: &Invocation, state: &State<'_>, cwd: &str) -> Vec<String> {
        let named =
            invocation.args.operands.iter().chain(invocation.args.value("-i")).chain(invocation.args.value("--input"));
        let named = named.filter_map(|field| field.exact()).filter(|text| *text != "-");
        let mut texts: Vec<String> = named
            .filter_map(|text| files::text(&path::lexical(&path::join(cwd, text)), self.out.world, state))
            .collect();
        texts.extend(invocation.input.text.clone());
        texts
    }

    fn patch_file(&mut self, absolute: &str, kind: ChangeKind, text: &str, invocation: &Invocation) {
        let touch = match kind {
            ChangeKind::Create => Touch::Write,
            ChangeKind::Update => Touch::Edit,
            ChangeKind::Delete => Touch::Delete,
            ChangeKind::Move => Touch::Move,
        };
        let at = self.out.effects.len();
        self.out.touch_path(touch, absolute, &invocation.by, Marks::default());
        self.out.enters(at, absolute, text);
    }
}

/// The path as it stands in the patch without its first components; all but the last for a number that is too large.
fn stripped(path: &str, components: usize) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let skipped = components.min(parts.len().saturating_sub(1));
    parts.get(skipped..).unwrap_or_default().join("/")
}
