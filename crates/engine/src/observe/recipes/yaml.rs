//! YAML as task files use it: one document of maps, lists and texts, with aliases and merged maps put in their places.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// A value of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Yaml {
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

/// Deeper documents are not read.
// Settings nest about ten levels. A document nests deeper only to exhaust its reader.
const DEPTH: usize = 40;

impl Yaml {
    pub(super) fn get(&self, key: &str) -> Option<&Yaml> {
        match self {
            Yaml::Map(members) => members.iter().find(|(known, _)| known == key).map(|(_, value)| value),
            Yaml::Text(_) | Yaml::List(_) => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Yaml::Text(text) => Some(text),
            Yaml::List(_) | Yaml::Map(_) => None,
        }
    }

    pub(super) fn list(&self) -> &[Yaml] {
        match self {
            Yaml::List(values) => values,
            Yaml::Text(_) | Yaml::Map(_) => &[],
        }
    }

    pub(super) fn members(&self) -> &[(String, Yaml)] {
        match self {
            Yaml::Map(members) => members,
            Yaml::Text(_) | Yaml::List(_) => &[],
        }
    }
}

/// Larger documents, counted with everything that their aliases repeat, are not read.
// A task file has some hundred values. Aliases of aliases grow without end ("billion laughs").
const VALUES: usize = 20_000;

/// Reads a document; `None` if it holds something beyond maps, lists and texts.
pub(super) fn read(text: &str) -> Option<Yaml> {
    // Some readers take a tab for indentation, and others refuse it.
    if text.lines().any(|line| line.trim_start_matches(' ').starts_with('\t')) {
        return None;
    }
    let mut reader = Reader { parser: Parser::new_from_str(text), anchors: BTreeMap::new(), values: 0 };
    let (mut value, mut ended) = (None, false);
    while !ended {
        match reader.next()? {
            Event::StreamStart | Event::DocumentEnd | Event::Nothing => {}
            Event::DocumentStart(_) if value.is_none() => {
                let first = reader.next()?;
                value = Some(reader.value(first, 0)?);
            }
            Event::StreamEnd => ended = true,
            // A second document is read by some and not by others.
            Event::DocumentStart(_)
            | Event::Alias(_)
            | Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::SequenceEnd
            | Event::MappingStart(..)
            | Event::MappingEnd => return None,
        }
    }
    Some(value.unwrap_or_else(|| Yaml::Text(String::new())))
}

struct Reader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    /// What an alias stands for, and how many values that is.
    anchors: BTreeMap<usize, (Yaml, usize)>,
    values: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<Event<'t>> {
        self.parser.next_event()?.ok().map(|(event, _)| event)
    }

    fn count(&mut self, values: usize) -> Option<()> {
        self.values = self.values.saturating_add(values);
        (self.values <= VALUES).then_some(())
    }

    fn value(&mut self, first: Event<'t>, depth: usize) -> Option<Yaml> {
        let before = self.values;
        self.count(1)?;
        if depth > DEPTH {
            return None;
        }
        let (value, anchor) = match first {
            Event::Alias(anchor) => {
                let (value, values) = self.anchors.get(&anchor)?.clone();
                self.count(values)?;
                return Some(value);
            }
            // A tag says that it is something else than it looks like.
            Event::Scalar(text, style, anchor, None) => {
                let is_empty = style == ScalarStyle::Plain && text == "~";
                (Yaml::Text(if is_empty { String::new() } else { text.into_owned() }), anchor)
            }
            Event::SequenceStart(anchor, None) => (self.list(depth)?, anchor),
            Event::MappingStart(anchor, None) => (self.map(depth)?, anchor),
            Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::MappingStart(..)
            | Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return None,
        };
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), self.values.saturating_sub(before)));
        }
        Some(value)
    }

    fn list(&mut self, depth: usize) -> Option<Yaml> {
        let mut values = Vec::new();
        loop {
            let first = self.next()?;
            if first == Event::SequenceEnd {
                return Some(Yaml::List(values));
            }
            values.push(self.value(first, depth + 1)?);
        }
    }

    fn map(&mut self, depth: usize) -> Option<Yaml> {
        let mut members: Vec<(String, Yaml)> = Vec::new();
        let mut merged: Vec<Yaml> = Vec::new();
        loop {
            let event = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let Event::Scalar(key, style, 0, None) = event else { return None };
            let key = key.into_owned();
            let first = self.next()?;
            let value = self.value(first, depth + 1)?;
            if key == "<<" {
                // In quotes it is a name like any other to some readers.
                if style != ScalarStyle::Plain || !merged.is_empty() {
                    return None;
                }
                merged.push(value);
            } else if members.iter().any(|(known, _)| *known == key) {
                return None;
            } else {
                members.push((key, value));
            }
        }
        for value in merged {
            merge(&mut members, value)?;
        }
        Some(Yaml::Map(members))
    }
}

/// `<<: *other`: members that the map does not have itself; of several maps the first one that has it counts.
fn merge(members: &mut Vec<(String, Yaml)>, from: Yaml) -> Option<()> {
    match from {
        Yaml::Map(others) => {
            for (key, value) in others {
                if !members.iter().any(|(known, _)| *known == key) {
                    members.push((key, value));
                }
            }
            Some(())
        }
        Yaml::List(maps) => maps.into_iter().try_for_each(|map| match map {
            Yaml::Map(_) => merge(members, map),
            Yaml::List(_) | Yaml::Text(_) => None,
        }),
        Yaml::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_lists_and_texts() {
        let text = "version: '3'\ntasks:\n  build:\n    deps: [a, 'b c']\n    cmds:\n      - go build ./...\n      - cmd: echo \"x\"\n        silent: true\n      - |\n        one\n        two\n  a: echo a # said\n";
        let read = read(text).unwrap();
        let build = read.get("tasks").unwrap().get("build").unwrap();
        assert_eq!(build.get("deps").unwrap().list().len(), 2);
        let commands = build.get("cmds").unwrap().list();
        assert_eq!(commands[0].text(), Some("go build ./..."));
        assert_eq!(commands[1].get("cmd").and_then(Yaml::text), Some("echo \"x\""));
        assert_eq!(commands[2].text(), Some("one\ntwo\n"));
        assert_eq!(read.get("tasks").unwrap().get("a").and_then(Yaml::text), Some("echo a"));
    }

    #[test]
    fn aliases_and_merged_maps_are_put_in_place() {
        let text = "x: &a {cmd: echo, dir: b}\ny: *a\nz:\n  <<: *a\n  dir: c\nw:\n  <<: [*a, {cmd: rm, q: r}]\n";
        let read = read(text).unwrap();
        assert_eq!(read.get("x"), read.get("y"));
        assert_eq!(read.get("z").unwrap().get("dir").and_then(Yaml::text), Some("c"));
        assert_eq!(read.get("z").unwrap().get("cmd").and_then(Yaml::text), Some("echo"));
        assert_eq!(read.get("w").unwrap().get("cmd").and_then(Yaml::text), Some("echo"));
        assert_eq!(read.get("w").unwrap().get("q").and_then(Yaml::text), Some("r"));
    }

    #[test]
    fn what_is_beyond_is_not_read() {
        for text in [
            "a: *x",
            "<<: a",
            "\"<<\": {a: b}",
            "a: &x [*x]",
            "a: !!python/object x",
            "a: !reset []",
            "? [a]\n: b",
            "a: 1\na: 2",
            "\ta: 1",
            "a: 1\n   b: 2\n  c: 3",
            "a: 1\n---\nb: 2",
            "a: \"",
            "a: [",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn hostile_documents_end_soon() {
        let laughs: String = std::iter::once("a0: &a0 [x, x]\n".to_owned())
            .chain((1..40).map(|at| format!("a{at}: &a{at} [*a{}, *a{}]\n", at - 1, at - 1)))
            .collect();
        let started = std::time::Instant::now();
        for text in [
            laughs,
            "[".repeat(100_000),
            "- ".repeat(100_000),
            "{a: ".repeat(50_000),
            "? ".repeat(100_000),
            "&a ".repeat(50_000),
            "!".repeat(100_000),
            "a: |\n".repeat(20_000),
            "\"".repeat(100_001),
        ] {
            assert_eq!(read(&text), None, "{:?}", text.get(..20));
        }
        assert!(started.elapsed().as_secs() < 20);
    }

    #[test]
    fn no_text_makes_it_panic() {
        let pieces = [
            "a",
            ":",
            " ",
            "\n",
            "- ",
            "? ",
            "&x ",
            "*x",
            "!t ",
            "|",
            ">",
            "[",
            "]",
            "{",
            "}",
            ",",
            "\"",
            "'",
            "#",
            "%",
            "---",
            "...",
            "\t",
            "  ",
            "<<",
            "\\",
            "\u{feff}",
            "é",
            "\r",
            "~",
            "@",
            "`",
            "2",
            "-",
            "|+1\n",
            "%TAG ! !\n",
        ];
        let mut seed = 7_u64;
        for _ in 0..60_000 {
            let mut text = String::new();
            for _ in 0..(seed >> 40) % 14 + 1 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            let _ = read(&text);
        }
    }
}
