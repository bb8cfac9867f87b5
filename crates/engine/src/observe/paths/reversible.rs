//! Whether what an operation changes on a path can be had back: from git, from a build, or not at all.

use doorward_vocabulary::{Mark, Reach, Reversibility, Scope};

use super::touch::Touch;
use crate::effect::{Amount, Effect};
use crate::observe::sheet::observer::Observer;
use crate::path;
use crate::policy::Thresholds;
use crate::world::{Kind, Look, Tally, Tracking, World};

impl Observer<'_> {
    /// Whether what the operation changes can be had back.
    pub(crate) fn reversibility(&mut self, touch: Touch, real: &str, effect: &mut Effect) -> Reversibility {
        if touch.reads() {
            return Reversibility::NothingChanges;
        }
        if effect.marks.has(Mark::Temp) && self.made.iter().any(|made| real.starts_with(made.as_str())) {
            effect.scope = Scope::Scratch;
            effect.marks.add(Mark::SessionFile);
            return Reversibility::Rebuildable;
        }
        let look = self.world.look(real);
        if is_own_note(touch, real, &look, effect) || self.is_own_work_tree(touch, real, look.kind) {
            (effect.scope, effect.reach) = (Scope::Scratch, Reach::Workspace);
            effect.marks.remove(Mark::OutsideProject);
            effect.marks.remove(Mark::BelowHome);
            let mark = if look.kind == Kind::Missing { Mark::Creates } else { Mark::SessionFile };
            effect.marks.add(mark);
            return Reversibility::Rebuildable;
        }
        if look.hard_links > 1 && look.kind == Kind::File {
            effect.marks.add(Mark::HardLinked);
        }
        match look.kind {
            Kind::Missing => {
                effect.marks.add(Mark::Creates);
                if touch == Touch::Create && effect.scope == Scope::Scratch {
                    self.made.push(format!("{real}/"));
                }
                return if matches!(touch, Touch::Delete | Touch::DeleteTree | Touch::Move) {
                    Reversibility::NothingChanges
                } else {
                    Reversibility::Tracked
                };
            }
            Kind::Special => effect.marks.add(Mark::Device),
            Kind::File | Kind::Directory | Kind::Link | Kind::Unlisted | Kind::Unreadable => {}
        }
        if look.created_this_session || self.is_made(touch, real, look.kind, effect) {
            effect.marks.add(Mark::SessionFile);
            return Reversibility::Rebuildable;
        }
        if matches!(touch, Touch::Create) {
            return Reversibility::Tracked;
        }
        if touch == Touch::DeleteTree {
            return tree_reversibility(self.world, real, effect);
        }
        // What nobody has seen may be a directory, and only a file that is seen passes as one that git has.
        if touch == Touch::Delete && look.kind == Kind::Unlisted && effect.scope == Scope::File {
            effect.scope = Scope::Directory;
        }
        let tracking = self.world.tracking(real);
        if matches!(touch, Touch::Write | Touch::Edit)
            && tracking != Tracking::Rebuildable
            && effect.scope != Scope::Scratch
        {
            effect.marks.add(Mark::Unseen);
        }
        match (tracking, touch) {
            // What was staged and never committed is lost with the next commit.
            (Tracking::Clean, Touch::Delete) if !self.world.is_committed(real) => Reversibility::Irreversible,
            (Tracking::Clean, _) => Reversibility::Tracked,
            (Tracking::Rebuildable, _) => Reversibility::Rebuildable,
            // The change itself says what it took out, so it can be turned round.
            (Tracking::Modified | Tracking::Untracked, Touch::Edit | Touch::Append | Touch::Metadata) => {
                Reversibility::Tracked
            }
            (Tracking::Outside, Touch::Edit | Touch::Append | Touch::Metadata)
                if is_in_bare_project(self.world, real) =>
            {
                Reversibility::Tracked
            }
            (
                Tracking::Modified | Tracking::Untracked | Tracking::Ignored | Tracking::Outside | Tracking::Unknown,
                _,
            ) => {
                if matches!(touch, Touch::Write) {
                    effect.marks.add(Mark::Truncates);
                }
                if touch == Touch::Delete && look.kind == Kind::File {
                    effect.amount = Some(Amount { files: 1, bytes: look.size, at_least: false });
                }
                Reversibility::Irreversible
            }
        }
    }
}

/// A plan that the agent's client keeps in Markdown: it is new, or this session made it. Somebody else's plan stays one.
fn is_own_note(touch: Touch, real: &str, look: &Look, effect: &Effect) -> bool {
    let (directory, name) = (path::name(path::parent(real)), path::name(real));
    let is_own = match look.kind {
        Kind::Missing => true,
        Kind::File => look.created_this_session && look.hard_links == 1,
        Kind::Directory | Kind::Link | Kind::Special | Kind::Unlisted | Kind::Unreadable => false,
    };
    // By a file tool or the shell itself: what `ln` or `cp` puts there would be taken for a plan and be something else.
    is_own
        && effect.by.is_empty()
        && matches!(touch, Touch::Write | Touch::Edit | Touch::Append)
        && effect.marks.has(Mark::AgentNotes)
        && matches!(directory, "plans" | "todos" | "tasks")
        && name.ends_with(".md")
}

impl Observer<'_> {
    /// A work tree beside the project that this session added: git takes it away only while nothing in it is new or changed.
    fn is_own_work_tree(&self, touch: Touch, real: &str, kind: Kind) -> bool {
        touch == Touch::Delete && kind == Kind::Directory && self.world.is_own_work_tree(real)
    }

    /// The session made it, and nothing goes with it that was moved there or that others made.
    fn is_made(&self, touch: Touch, real: &str, kind: Kind, effect: &mut Effect) -> bool {
        if !self.world.is_made(real) {
            return false;
        }
        let is_tree = kind == Kind::Directory || matches!(touch, Touch::DeleteTree | Touch::MetadataTree);
        let is_own = !is_tree || touch == Touch::Create || self.world.holds_only_own(real);
        if !is_own {
            effect.scope = Scope::OtherRepo;
            effect.marks.add(Mark::OutsideProject);
        }
        is_own
    }
}

/// The file lies in a project that is no repository: there is no git to say what belongs to it.
pub(crate) fn is_in_bare_project(world: &dyn World, file: &str) -> bool {
    let Some(project) = world.project() else { return false };
    // Nobody means everything on a machine, or all that a user has, by a project.
    let is_everything = project == "/" || world.home().is_some_and(|home| path::under(home, project));
    world.tracking(file) == Tracking::Outside
        && path::under(file, project)
        && !is_everything
        && world.git(project).is_none()
}

fn tree_reversibility(world: &dyn World, real: &str, effect: &mut Effect) -> Reversibility {
    // Nobody needs to count what lies below the root.
    if effect.marks.has_any(&[Mark::Root, Mark::HomeRoot, Mark::SystemDirectory]) {
        effect.marks.add(Mark::CountUnknown);
        return Reversibility::Irreversible;
    }
    match world.tally(real) {
        Tally::Counted { unrestorable: 0, files, .. } if files > 0 => match world.tracking(real) {
            Tracking::Rebuildable => Reversibility::Rebuildable,
            Tracking::Clean
            | Tracking::Modified
            | Tracking::Untracked
            | Tracking::Ignored
            | Tracking::Outside
            | Tracking::Unknown => Reversibility::Tracked,
        },
        Tally::Counted { unrestorable, unrestorable_bytes, .. } => {
            let lost = Amount { files: unrestorable, bytes: unrestorable_bytes, at_least: false };
            effect.amount = Some(lost);
            if crate::limits::is_bulk(lost, &Thresholds::default()) {
                effect.marks.add(Mark::Bulk);
            }
            Reversibility::Irreversible
        }
        // Too much to count, but a build makes it again.
        Tally::More { .. } if world.tracking(real) == Tracking::Rebuildable => Reversibility::Rebuildable,
        Tally::More { files, bytes } => {
            effect.amount = Some(Amount { files, bytes, at_least: true });
            effect.marks.add(Mark::Bulk);
            effect.marks.add(Mark::CountUnknown);
            Reversibility::Irreversible
        }
        Tally::Unknown => {
            effect.marks.add(Mark::CountUnknown);
            match world.tracking(real) {
                Tracking::Clean => Reversibility::Tracked,
                Tracking::Rebuildable => Reversibility::Rebuildable,
                Tracking::Modified
                | Tracking::Untracked
                | Tracking::Ignored
                | Tracking::Outside
                | Tracking::Unknown => Reversibility::Irreversible,
            }
        }
    }
}
