//! What an edge and the team's hub say to each other. Both link it, and neither links the other.
//!
//! `signed.rs` says what a request and its reply sign, `enrol.rs` how an edge becomes known, `hub.rs` talks to a hub, `ship.rs`
//! sends the log, `bundle/` is policy on its way back.
#![forbid(unsafe_code)]

mod backoff;
mod bundle;
mod enrol;
mod hub;
mod random;
mod ship;
mod signed;

pub use backoff::Backoff;
pub use bundle::{Bundle, Known, LONGEST_BUNDLE, Listed, Manifest, Refused, Root, Signed, Standing};
pub use enrol::{Enrolment, Token, Welcome};
pub use hub::{Failure, Hub, Said, Transport, enrol};
pub use random::random_hex;
pub use ship::{Head, ShipFailure, Shipped, ship};
pub use signed::{EDGE, NONCE, Reply, Request, SIGNATURE, TIME};
