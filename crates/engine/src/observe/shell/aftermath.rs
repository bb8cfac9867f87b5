//! What a part of a script leaves behind for the rest of it: files, the state of git, and the state of the shell.

use std::rc::Rc;

use doorward_vocabulary::Operation;

use super::state::{State, WrittenFile};
use crate::effect::Effect;
use crate::observe::files::note_weakening;
use crate::observe::sheet::observer::Observer;
use crate::observe::stream::Origin;
use crate::path::under;
use crate::world::Kind;

/// Files that a subshell wrote are there afterwards.
pub(crate) fn keep_files<'a>(state: &mut State<'a>, inner: &State<'a>) {
    if !Rc::ptr_eq(&state.written, &inner.written) {
        state.written = Rc::clone(&inner.written);
    }
    if !Rc::ptr_eq(&state.git, &inner.git) {
        state.git = Rc::clone(&inner.git);
    }
}

/// Files that something wrote which runs at the same time: when, nobody knows.
pub(crate) fn keep_uncertain<'a>(state: &mut State<'a>, inner: &State<'a>) {
    if !Rc::ptr_eq(&state.git, &inner.git) {
        Rc::make_mut(&mut state.git).lost();
    }
    if Rc::ptr_eq(&state.written, &inner.written) {
        return;
    }
    let files = Rc::make_mut(&mut state.written);
    for (path, file) in inner.written.iter() {
        if files.get(path) != Some(file) {
            files
                .insert(path.clone(), WrittenFile { content: None, is_built: false, is_new_directory: false, ..*file });
        }
    }
}

/// Notes what a file holds from now on.
pub(crate) fn store(
    out: &mut Observer<'_>,
    path: String,
    content: Option<String>,
    origin: Origin,
    state: &mut State<'_>,
) {
    // Whoever fills a directory may put something else in the place of what was built there.
    if state.written.keys().any(|inner| under(inner, &path)) {
        let written = Rc::make_mut(&mut state.written);
        written.iter_mut().filter(|(inner, _)| under(inner, &path)).for_each(|(_, file)| file.is_built = false);
    }
    hold(out, path, content, origin, state);
}

/// The same for what only comes to be: `mkdir` leaves what lies in the directory as it is.
pub(crate) fn hold(
    out: &mut Observer<'_>,
    path: String,
    content: Option<String>,
    origin: Origin,
    state: &mut State<'_>,
) {
    // What came from elsewhere stays so until somebody writes something that is seen.
    let was_brought = state.written.get(&path).is_some_and(|earlier| earlier.origin.brought);
    let origin = Origin { brought: origin.brought || (was_brought && content.is_none()), ..origin };
    if origin.brought {
        out.arrivals.push(path.clone());
    }
    let there = |path: &str| !matches!(out.world.look(path).kind, Kind::Missing | Kind::Unlisted);
    let over = state.written.get(&path).map_or_else(|| there(&path), |earlier| earlier.over);
    if let Some(text) = &content {
        note_weakening(out, &path, text);
    }
    let written = Rc::make_mut(&mut state.written);
    written.insert(path, WrittenFile { content, origin, over, is_built: false, is_new_directory: false });
}

/// Files are changed: where they lie then matters.
pub(crate) fn changes_files(effect: &Effect) -> bool {
    matches!(effect.operation, Operation::Write | Operation::Delete)
}

/// A command whose files cannot be opened is not run, and the shell goes on as it was.
pub(crate) fn unless_refused<'a>(before: Option<State<'a>>, state: &mut State<'a>) {
    if let Some(before) = before.filter(|before| !state.equals(before)) {
        *state = std::mem::replace(state, State::new(None)).join(&before);
    }
}
