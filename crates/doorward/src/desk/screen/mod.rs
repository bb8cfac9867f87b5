//! Terminal output: colors, the judged text, and nothing hidden in it.

mod change;
mod judgement;
mod progress;
mod understood;
mod who;
mod width;

pub(crate) use change::{DiffLine, change, differing};
pub(crate) use judgement::{effect_line, explanation, judgement, verdict_style};
pub(crate) use progress::bar;
pub(crate) use who::user;
pub(crate) use width::width;
