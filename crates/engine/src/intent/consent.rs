//! Which effects of a call the user's latest words order: plain orders that name operation and target, nothing else.

use super::order::{self, Order};
use super::{CALLS, JOIN, Subject, address, deed};
use crate::world::History;

/// The words that order something, and the effects that they cover.
pub(super) fn given(
    words: Option<&str>,
    history: &History,
    subject: &Subject<'_>,
    kept: &dyn Fn(&str) -> String,
) -> Option<(String, Vec<u32>)> {
    let orders = words.map(order::orders).unwrap_or_default();
    let fresh: Vec<&Order> = orders.iter().filter(|order| !is_used_up(&kept(&order.text()), history)).collect();
    let addresses = address::standing(words, history);
    let mut said: Vec<String> = Vec::new();
    let mut covers = Vec::new();
    for (index, effect) in (0u32..).zip(subject.effects) {
        let order = fresh.iter().find(|order| deed::is_ordered(order, effect, subject)).map(|order| order.text());
        let Some(text) = order.or_else(|| address::covering(&addresses, effect, subject)) else { continue };
        covers.push(index);
        if !said.contains(&text) {
            said.push(text);
        }
    }
    (!covers.is_empty()).then(|| (said.join(JOIN), covers))
}

/// The order covered as many calls as one order may.
fn is_used_up(order: &str, history: &History) -> bool {
    history.consented.iter().any(|(known, calls)| known == order && *calls >= CALLS)
}
