//! What a session keeps of the messages of its user: limits, the orders that ended them, and addresses.

use super::{addresses, boundaries, released};
use crate::description::Description;

/// What earlier messages left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaidBefore {
    pub boundaries: Vec<String>,
    /// A boundary, and an order that ends it for what the order names.
    pub released: Vec<(String, String)>,
    pub addresses: Vec<String>,
}

impl SaidBefore {
    /// What a described session has heard.
    pub(crate) fn of(description: &Description) -> SaidBefore {
        let mut said = SaidBefore { boundaries: description.boundaries.clone(), ..SaidBefore::default() };
        description.earlier_messages.iter().for_each(|message| said.hear(message));
        said
    }

    /// A message of the user. A limit that is stated again holds again.
    pub fn hear(&mut self, message: &str) {
        self.released.extend(released(message, &self.boundaries));
        for limit in boundaries(message) {
            self.released.retain(|(known, _)| *known != limit);
            if !self.boundaries.contains(&limit) {
                self.boundaries.push(limit);
            }
        }
        self.addresses.extend(addresses(message));
    }
}
