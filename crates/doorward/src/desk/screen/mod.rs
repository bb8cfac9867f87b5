//! Terminal output: colors, the judged text, and nothing hidden in it.

mod change;
mod judgement;
mod progress;
mod understood;
mod who;
mod width;

pub use change::{Changed, change, differing};
pub use judgement::{effect_line, explanation, judgement, verdict_style};
pub use progress::bar;
pub use who::user;
pub use width::width;
