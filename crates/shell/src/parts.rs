//! Collecting the parts of a word, with equal neighbours joined.

use crate::{Part, Quoting, Word};

/// The parts of a word under construction.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) list: Vec<Part>,
}

impl Parts {
    pub(crate) fn text(&mut self, more: &str, quoting: Quoting) {
        match self.list.last_mut() {
            Some(Part::Text { text, quoting: last }) if *last == quoting => text.push_str(more),
            Some(_) | None => self.list.push(Part::Text { text: more.to_owned(), quoting }),
        }
    }

    pub(crate) fn glob(&mut self, more: &str) {
        match self.list.last_mut() {
            Some(Part::Glob(text)) => text.push_str(more),
            Some(_) | None => self.list.push(Part::Glob(more.to_owned())),
        }
    }

    pub(crate) fn push(&mut self, part: Part) {
        self.list.push(part);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl Word {
    /// The text of a word that is one piece of unquoted text.
    pub(crate) fn literal_bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text { text, quoting: Quoting::Bare }] => Some(text),
            _ => None,
        }
    }
}
