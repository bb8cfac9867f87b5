//! The effects of one part of a call, by value: whoever caused them marks them before they go onto the sheet.

use doorward_vocabulary::{Mark, Marks, Operation, Reach, Scope};

use crate::effect::{Amount, Effect, Target};
use crate::observe::content;
use crate::world::World;

/// Effects that are not on the sheet yet. `Observer::collect` yields them, `Observer::write` takes them back.
#[must_use = "effects that are not written down are lost"]
#[derive(Debug, Default)]
pub(crate) struct Caused(Vec<Effect>);

impl Caused {
    pub(crate) fn of(effects: Vec<Effect>) -> Caused {
        Caused(effects)
    }

    pub(crate) fn into_effects(self) -> Vec<Effect> {
        self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Effect> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Effect> {
        self.0.iter_mut()
    }

    /// Keeps only the effects that count.
    pub(crate) fn retain(&mut self, counts: impl FnMut(&Effect) -> bool) {
        self.0.retain(counts);
    }

    pub(crate) fn add(&mut self, mark: Mark) {
        self.0.iter_mut().for_each(|effect| effect.marks.add(mark));
    }

    pub(crate) fn remove(&mut self, mark: Mark) {
        self.0.iter_mut().for_each(|effect| effect.marks.remove(mark));
    }

    /// A wrapper's marks (privileged, remote) hold for everything it starts.
    pub(crate) fn mark(&mut self, marks: Marks) {
        for effect in &mut self.0 {
            effect.marks.union(marks);
            if marks.has(Mark::Privileged) && effect.operation != Operation::Read {
                effect.reach = effect.reach.max(Reach::Machine);
            }
        }
    }

    /// Marks what the text brings into the file that these effects are about.
    pub(crate) fn enter(&mut self, path: &str, text: &str) {
        let found = content::marks(path, text);
        self.remove(Mark::Unseen);
        if found.is_empty() {
            return;
        }
        for effect in &mut self.0 {
            effect.marks.union(found);
            if found.has(Mark::LifecycleScript) || found.has(Mark::GrantsPermission) {
                effect.reach = effect.reach.max(Reach::Shared);
            }
        }
    }

    /// Marks what a text weakens that takes the place of another.
    pub(crate) fn replace(&mut self, path: &str, new: &str, world: &dyn World, old: impl Fn() -> Option<String>) {
        let found = content::weakens(path, new, world, old);
        self.0.iter_mut().for_each(|effect| effect.marks.union(found));
    }

    /// The files that are read are handed to the agent from beginning to end. Most programs return little of what they
    /// read (`grep`, `wc`, `tail`), so only these are held against the limit of one read.
    pub(crate) fn read_whole(&mut self, world: &dyn World) {
        for effect in &mut self.0 {
            if let (Operation::Read, Target::Path(path)) = (effect.operation, &effect.target) {
                let size = world.look(path).size;
                hand_over(effect, size);
            }
        }
    }

    /// What is read goes to another program and not to the agent.
    pub(crate) fn hand_on(&mut self) {
        for effect in self.0.iter_mut().filter(|effect| effect.operation == Operation::Read) {
            effect.amount = None;
            effect.marks.remove(Mark::LargeRead);
        }
    }

    /// Some of what lies there goes, and nobody can say how much: a person is asked, and told no number that is wrong.
    pub(crate) fn leave_open(&mut self) {
        for effect in self.0.iter_mut().filter(|effect| effect.operation == Operation::Delete) {
            effect.marks.remove(Mark::Bulk);
            effect.marks.add(Mark::CountUnknown);
            effect.amount = None;
        }
    }

    /// Something inside a directory is meant, so the directory that is named is not itself the target.
    pub(crate) fn only_inside(&mut self) {
        for effect in &mut self.0 {
            effect.marks.remove(Mark::ProjectRoot);
            if effect.scope == Scope::Project {
                effect.scope = Scope::Directory;
            }
        }
    }
}

/// So many bytes of a file are read.
pub(crate) fn hand_over(effect: &mut Effect, bytes: u64) {
    if bytes == 0 {
        return;
    }
    let read = Amount { files: 1, bytes, at_least: false };
    effect.amount = Some(read);
    if crate::limits::is_large_read(read, &crate::policy::Thresholds::default()) {
        effect.marks.add(Mark::LargeRead);
    }
}
