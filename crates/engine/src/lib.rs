//! Tool call to facts to judgement. No disk, clock, network, environment, threads or async.
//!
//! As a library it is two functions: [`observe`] asks a [`World`] what a [`ToolCall`] would do, [`judge`] says what is to be
//! thought of it under a [`Policy`]. `examples/agent.rs` is a small agent on top of them.
//!
//! ```
//! use doorward_engine::{DescribedWorld, Description, Policy, ToolCall, Verdict, judge, observe};
//!
//! let world = DescribedWorld::new(Description::default(), "/home/me/project");
//! let verdict = |command: &str| {
//!     let facts = observe(&ToolCall::bash(command, "/home/me/project"), &world);
//!     judge(&facts, &Policy::built_in()).verdict
//! };
//! assert_eq!(verdict("ls -la"), Verdict::AutoApprove);
//! assert_eq!(verdict("ls -la; rm -rf /"), Verdict::Block);
//! ```
//!
//! A confirm is a question to a person and never a yes; where nobody can be asked it is a no. The engine keeps no record and
//! takes no grants: whoever calls it writes down the [`Facts`] and the [`Judgement`] before anything runs.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
#![forbid(unsafe_code)]

mod call;
mod certificate_checks;
mod clear;
mod contained;
mod coverage;
mod described_world;
mod description;
mod effect;
pub mod example;
#[doc(hidden)]
pub mod examples_check;
mod facts;
mod foreign_settings;
pub mod imports;
mod incoming;
mod intent;
mod judge;
pub mod knowledge;
mod layer1;
pub mod layer2;
mod lexical;
mod limits;
mod matrix;
mod mechanism;
mod network;
mod observe;
#[doc(hidden)]
pub mod path;
mod pattern;
mod permission_pattern;
mod permissions;
mod place;
mod policy;
mod rejudge;
mod retired;
mod review;
mod reviewed;
mod rules;
mod secret;
pub mod snapshot;
mod switched_off_tests;
mod taint;
mod unchecked_commands;
mod verdict;
mod world;

pub use call::{Change, ChangeKind, Tool, ToolCall, tool_from_json};
pub use contained::{Contained, Deed, DeedKind, Obstacle, obstacles, quoted, text as command_text, unpromised};
pub use coverage::Coverage;
pub use described_world::DescribedWorld;
pub use description::Description;
pub use doorward_vocabulary::{
    Clearance, Degree, FlowKind, Mark, Marks, Mode, Operation, Reach, Reversibility, Scope, Sensitivity, Source,
    Verdict,
};
pub use effect::{Amount, Effect, Part, Target};
pub use facts::{Built, Counts, Directory, Facts, Flow, Intent, LeftRun};
pub use incoming::{Arrival, Becomes, GitSource, GitWrite, Incoming, Rewrite, Shown, Standing};
pub use intent::{SaidBefore, addresses, boundaries, orders_of, released};
pub use judge::{demanded_by, judge, judge_timed, verdict_without_retired};
pub use knowledge::rule::{Rule, RuleFile, Stage};
pub use layer2::{Scorer, Weight, weights};
pub use limits::{restorable, size};
pub use matrix::{Floor, described, floor};
pub use mechanism::{Mechanism, orders_something, spared};
pub use observe::{hides_text, observe, observe_before, observe_deeds, read_definition};
pub use pattern::of as pattern_of;
pub use permission_pattern::Pattern;
pub use permissions::{AcceptedCall, Permissions, is_plain_word, kind, question, texts_of};
pub use place::{is_tool_cache, loads_by_itself, place_of};
pub use policy::{Policy, Thresholds};
pub use rejudge::{Comparison, Ruling, SemverBump, Shift, compare};
pub use review::{REVIEWER_LISTS, REVIEWER_POLICY};
pub use reviewed::{Answer, Review};
pub use rules::{OWN as OWN_RULES, holds};
pub use secret::{holds_encoded as holds_secret, redact};
pub use taint::{Taint, contacts, left_by, may_prompt};
pub use verdict::{Classes, Confidence, Judgement, Opinion};
pub use world::{
    AcceptedHistory, Configured, Content, Git, History, Identity, Kind, Listing, Look, Machine, McpTrust, Memory,
    REBUILDABLE, Repositories, SessionView, Settings, Shell, Stats, Tally, ToolDefinition, Tracking, World,
};
