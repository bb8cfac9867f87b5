//! `doorward replay`: recorded decisions judged again, under the policy in force and another one.

mod aftermath;
mod compare;
mod policies;
mod stream;

pub use aftermath::Aftermath;
pub use compare::{Change, Recorded, Replayed, Sums, Verdicts, Worth, replay};
pub use policies::{Pair, Policies, Setting};
pub use stream::{Passed, Past, each, others};
