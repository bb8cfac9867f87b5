//! What gives way in a long text, tried on sentences that are put together by chance.

use super::*;
use crate::hook::grant_check::{way_around, way_to_yes};
use crate::memory::wording::{MessageParts, PROMPT, REFUSAL};

/// A small generator, so that every run tries the same sentences.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    /// A path, host or command: of short and long parts, with and without numbers.
    fn name(&mut self) -> String {
        let parts = [
            "src",
            "internationalization",
            "2026-11-18",
            "v12.4.1",
            "node_modules",
            "10.0.0.17:8080",
            "名前",
            "a b",
            "3f9a2b7c1d8e4f6a9b0c2d3e4f5a6b7c8d9e0f1a",
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "report_28",
            "🎉",
        ];
        let count = 1 + self.below(12);
        (0..count).map(|_| self.of(&parts)).collect::<Vec<_>>().join("/")
    }

    fn details(&mut self) -> String {
        let (files, size) = (self.below(100_000), self.below(9000));
        match self.below(4) {
            0 => String::new(),
            1 => format!(" ({})", self.name()),
            2 => format!(" ({}: {files} files, {size}.5 KiB, limit 10 files, 20 MiB)", self.name()),
            _ => format!(" (`{}`, 1,{:03} rows, {})", self.name(), files % 1000, self.name()),
        }
    }

    fn behind(&mut self) -> &'static str {
        self.of(&[
            "",
            ", and that cannot be undone",
            ". It was refused 12 times before",
            "; fix or remove it",
            " at 10:30",
        ])
    }
}

const WHATS: &[&str] = &[
    "doorward asks because this deletes many files that nothing restores",
    "doorward asks because this sends data to a host that is not on the list",
    "doorward blocks this because it moves or deletes a branch whose commits may be nowhere else",
    "doorward asks because it is only 71 % sure that this is safe, and 85 % is needed",
    "doorward asks because `git push` makes a change outside this machine",
];

/// The parts of a text that are words or numbers, each as a whole.
fn parts(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut parts = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let (before, after) = letters.split_at(at);
        let goes_on = before.last().is_some_and(|last| last.is_alphanumeric()) && letter.is_alphanumeric();
        if !goes_on && !splits_number(before, after) {
            parts.push(String::new());
        }
        parts.last_mut().unwrap().push(*letter);
    }
    parts.into_iter().filter(|part| part.contains(char::is_alphanumeric)).collect()
}

/// A part of the result is one of the text, or a piece of one that is too long for a word, with its numbers whole.
fn is_whole(part: &str, whole: &[String]) -> bool {
    let is_piece = |of: &String| {
        let letters: Vec<char> = of.chars().collect();
        let cuts = |at: usize| !splits_number(&letters[..at], &letters[at..]);
        letters.len() > WORD
            && ((of.starts_with(part) && cuts(part.chars().count()))
                || (of.ends_with(part) && cuts(letters.len() - part.chars().count())))
    };
    whole.iter().any(|word| word == part || is_piece(word))
}

#[test]
fn whatever_is_said_fits_and_no_word_or_number_is_cut() {
    let mut chance = Chance(24);
    for _ in 0..20_000 {
        let what = chance.of(WHATS);
        let reason = format!("{what}{}{}", chance.details(), chance.behind());
        let ways = [
            (None, None, PROMPT),
            (Some(way_to_yes("w9mgwt")), None, REFUSAL),
            (None, Some(way_around("w9mgwt")), REFUSAL),
        ];
        let (first, needed, room) = ways[chance.below(ways.len())].clone();
        let said =
            MessageParts { first: first.clone(), reason: reason.clone(), needed: needed.clone(), wanted: Vec::new() };
        let said = said.fitted(room);
        assert!(said.chars().count() <= room && said.ends_with('.'), "{said}\n{reason}");
        // What to type is never touched, and the decisive words are whole wherever they have room.
        assert!(first.iter().chain(&needed).all(|way| said.contains(way.as_str())), "{said}");
        let left = room - first.iter().chain(&needed).map(|way| way.chars().count() + 2).sum::<usize>();
        let start: String = what.chars().take(40).collect();
        assert!(said.contains(start.as_str()), "{said}\n{reason}");
        assert!(what.chars().count() + 3 > left || said.contains(what), "{said}\n{reason}");
        let whole: Vec<String> =
            parts(&reason).into_iter().chain(first.iter().chain(&needed).flat_map(|way| parts(way))).collect();
        let cut: Vec<String> = parts(&said)
            .into_iter()
            .filter(|part| !is_whole(part, &whole) && !is_whole(&part.to_lowercase(), &whole))
            .collect();
        assert!(cut.is_empty(), "{cut:?}\n{said}\n{reason}");
        assert!(
            said.matches('`').count().is_multiple_of(2) && said.matches('(').count() == said.matches(')').count(),
            "{said}"
        );
        assert!(!said.contains("……") && !said.contains("()") && !said.contains("  "), "{said}");
    }
}

#[test]
fn names_give_way_before_numbers_and_words() {
    let text = "this deletes many files (build/very/long/directory/name/of/output: 28 files, 3 KiB, limit 10 files)";
    assert_eq!(
        shortened(text, 90),
        "this deletes many files (build/very/…/name/of/output: 28 files, 3 KiB, limit 10 files)"
    );
    // The details go before a word of the sentence does.
    assert_eq!(shortened(text, 63), "this deletes many files (build/…/output: 28 files, 3 KiB)");
    assert_eq!(shortened(text, 30), "this deletes many files");
    assert_eq!(shortened(text, 20), "this deletes many…");
}

#[test]
fn what_follows_the_first_sentence_goes_first() {
    let text = "The reviewer refuses `src/generated/schema.rs`. It would be written twice. Nobody asked for it.";
    assert_eq!(shortened(text, 80), "The reviewer refuses `src/generated/schema.rs`. It would be written twice.");
    assert_eq!(shortened(text, 50), "The reviewer refuses `src/generated/schema.rs`.");
}

#[test]
fn the_last_part_of_a_path_stays() {
    assert_eq!(short_name("`~/.config/agents/shared/rules/broken.rules`", 20), "`~/…/broken.rules`");
    assert_eq!(short_name("/srv/app/releases/2026/current/settings.local.json", 30), "/srv/app/…/settings.local.json");
    let text = "doorward asks because `~/.codex/rules/broken.rules` cannot be read; fix or remove it.";
    assert_eq!(shortened(text, 80), "doorward asks because `~/.codex/rules/broken.rules` cannot be read.");
}

#[test]
fn a_number_inside_a_long_name_is_whole_or_gone() {
    let name = format!("/srv/{}/20261118/10.0.0.17:8080/{}", "a".repeat(40), "b".repeat(40));
    for room in 1..name.len() {
        let short = short_name(&name, room);
        assert!(short.chars().count() <= room, "{room}: {short}");
        let numbers = parts(&short).into_iter().filter(|part| part.contains(|letter: char| letter.is_ascii_digit()));
        assert!(numbers.into_iter().all(|part| ["20261118", "10.0.0.17:8080"].contains(&part.as_str())), "{short}");
    }
    assert_eq!(short_name(&"7".repeat(50), 20), "…");
}
