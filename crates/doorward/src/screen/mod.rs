//! What a person reads on the terminal: colours, the judged text, and nothing hidden in it.

mod change;
mod judgement;
mod understood;
mod visible;

pub use change::change;
pub use judgement::{explanation, judgement, verdict_style};
pub use visible::visible;
