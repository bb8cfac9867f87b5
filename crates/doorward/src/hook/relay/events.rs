//! Server-sent events: cut into whole events, kept byte for byte.

use std::io::{BufRead, Result};

use super::lines::{self, Line};

/// One event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// As it came, with the empty line that ends it.
    pub raw: Vec<u8>,
    /// Its name; empty for a message.
    pub name: String,
    /// Its data, if it has any.
    pub data: Option<String>,
}

impl Event {
    /// The client takes the data for a message of the protocol.
    pub(super) fn is_message(&self) -> bool {
        self.name.is_empty() || self.name == "message"
    }

    /// The same event with other data.
    pub(super) fn with(&self, data: &str) -> Vec<u8> {
        let raw = String::from_utf8_lossy(&self.raw);
        let kept = raw.lines().filter(|line| !line.is_empty() && !line.starts_with("data"));
        let mut text: String = kept.flat_map(|line| [line, "\n"]).collect();
        for line in data.trim_end().lines() {
            text.push_str("data: ");
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
        text.into_bytes()
    }
}

/// A message as an event of its own.
pub(super) fn message(data: &str) -> Vec<u8> {
    format!("event: message\ndata: {}\n\n", data.trim_end()).into_bytes()
}

/// Reads the next event; `None` at the end, and where an event is too long to read.
pub(super) fn next(stream: &mut impl BufRead) -> Result<Option<Event>> {
    let mut event = Event::default();
    loop {
        let Line::Whole(line) = lines::next(stream)? else { return Ok(None) };
        event.raw.extend_from_slice(&line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']).trim_start_matches('\u{feff}');
        if text.is_empty() {
            return Ok(Some(event));
        }
        // A carriage return alone ends a line, too; a field that hides behind one is not read by us.
        if text.contains('\r') {
            return Ok(None);
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut event.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => event.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut event.name),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_keep_their_bytes_and_data_of_several_lines_is_joined() {
        let text = ": hello\n\nevent: message\nid: 7\ndata: {\"a\":\ndata: 1}\n\ndata: x\r\n\r\nhalf";
        let mut stream = text.as_bytes();
        let mut events = Vec::new();
        while let Some(event) = next(&mut stream).unwrap() {
            events.push(event);
        }
        let data: Vec<Option<&str>> = events.iter().map(|event| event.data.as_deref()).collect();
        assert_eq!(data, [None, Some("{\"a\":\n1}"), Some("x")]);
        let raw: Vec<u8> = events.iter().flat_map(|event| event.raw.clone()).collect();
        assert!(text.as_bytes().starts_with(&raw));
        let other = events.get(1).map(|event| event.with("{}")).unwrap();
        assert_eq!(String::from_utf8(other).unwrap(), "event: message\nid: 7\ndata: {}\n\n");
    }
}
