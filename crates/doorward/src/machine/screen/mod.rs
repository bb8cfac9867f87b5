//! What a person reads on the terminal: colours, the judged text, and nothing hidden in it.

mod change;
mod count;
mod judgement;
mod progress;
pub mod time;
mod understood;
mod visible;
mod who;
mod width;

pub use change::{Changed, change, differing};
pub use count::counted;
pub use judgement::{effect_line, explanation, judgement, verdict_style};
pub use progress::bar;
pub use visible::visible;
pub use who::user;
pub use width::width;
