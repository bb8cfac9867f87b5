//! The pages of the desk and of the report: view models, and the HTML made of them.
//!
//! Start at `document.rs`: what a page says, as data. Nothing here reads a file, a clock or the network, so every server that shows
//! decisions can use it.

mod blocks;
mod card;
mod chart;
mod document;
mod escape;
mod frame;
mod visible;

pub use blocks::{class, rendered, scroll_region, text};
pub use card::{Bound, Card, CardLine, LineKind, queue, single};
pub use document::{Chart, Content, Series, Shape, Span, Table, Text, Tile, TimelineCall, Tone};
pub use escape::{escaped, escaped_lines};
pub use frame::{CONTENT_POLICY, DESK_STYLE, Place, SCRIPT, frame};
pub use visible::visible;

/// The stylesheet of the report, and the base of every other page.
pub const STYLE: &str = include_str!("style.css");
