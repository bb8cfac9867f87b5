//! Everything that a person types, reads or answers.

pub mod alerts;
pub mod audit;
pub mod check;
pub mod demo;
pub mod digest;
pub mod doctor;
pub mod literate;
pub mod manual;
pub mod metrics;
pub mod model;
pub mod offers;
pub mod outcomes;
pub mod preview;
pub mod reconcile;
pub mod replay;
pub mod report;
pub mod review;
pub mod rules;
pub mod screen;
pub mod setup;
pub mod status;
pub mod transcripts;
pub mod tune;
