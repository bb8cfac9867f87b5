//! Makes chains: from known ways in that are changed and mixed, and from calls that were approved before.

use std::collections::BTreeMap;

use super::chance::Chance;
use super::disguise::disguised;
use super::grammar::Grammar;

/// Longest chain.
const LONGEST: usize = 8;

/// One call of a chain, and the line of the grammar it came from.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub text: String,
    origin: String,
}

/// Whether a line is no call of the agent's, but what happened before the chain.
pub(super) fn is_prelude(call: &str) -> bool {
    ["@Dirty", "@Hook ", "@Program "].iter().any(|name| call.starts_with(name))
}

#[derive(Debug)]
pub(super) struct Generator<'a> {
    pub grammar: &'a Grammar,
    pub chance: Chance,
    /// How often a line was proposed and approved.
    lines: BTreeMap<String, (usize, usize)>,
    /// How often a verb was drawn, so that each gets its turn.
    drawn: BTreeMap<String, usize>,
    /// The next known way in; each gets its turn.
    turn: usize,
}

impl<'a> Generator<'a> {
    pub(super) fn new(grammar: &'a Grammar, seed: u64) -> Generator<'a> {
        let mut chance = Chance::new(seed);
        let turn = chance.below(grammar.skeletons.len());
        Generator { grammar, chance, lines: BTreeMap::new(), drawn: BTreeMap::new(), turn }
    }

    pub(super) fn chain(&mut self) -> Vec<Call> {
        let mut calls = if self.chance.percent(55) { self.known() } else { self.mixed() };
        while calls.len() < 2 {
            calls.push(self.any());
        }
        calls.truncate(LONGEST);
        for call in &mut calls {
            if !call.text.starts_with('@') && self.chance.percent(15) {
                call.text = disguised(&call.text, &mut self.chance);
            }
        }
        // What others did before comes first.
        calls.sort_by_key(|call| !is_prelude(&call.text));
        if self.chance.percent(35) {
            calls.insert(0, Call { text: "@Dirty".to_owned(), origin: String::new() });
        }
        calls
    }

    /// Remembers what became of a call: approved lines are drawn more often, so that chains get far.
    pub(super) fn learn(&mut self, call: &Call, is_approved: bool) {
        let (proposed, approved) = self.lines.entry(call.origin.clone()).or_default();
        *proposed += 1;
        *approved += usize::from(is_approved);
    }

    /// A known way in, with calls dropped, put between, exchanged and joined.
    fn known(&mut self) -> Vec<Call> {
        self.turn = (self.turn + 1) % self.grammar.skeletons.len();
        let lines = &self.grammar.skeletons[self.turn];
        let mut calls: Vec<Call> = Vec::new();
        for line in lines {
            if self.chance.percent(15) {
                calls.push(self.any());
            }
            match self.chance.below(100) {
                0..6 => continue,
                6..12 => calls.push(self.any()),
                _ => calls.push(self.call(line)),
            }
        }
        if self.chance.percent(30) {
            calls.push(self.from("run"));
        }
        if self.chance.percent(20) {
            calls.push(self.any());
        }
        self.joined(calls)
    }

    fn mixed(&mut self) -> Vec<Call> {
        let length = 2 + self.chance.below(LONGEST - 1);
        let calls = (0..length).map(|_| self.any()).collect();
        self.joined(calls)
    }

    /// Some neighbours become one call.
    fn joined(&mut self, calls: Vec<Call>) -> Vec<Call> {
        let mut joined: Vec<Call> = Vec::new();
        for call in calls {
            let is_open = |call: &Call| !call.text.starts_with('@') && !call.text.contains("<<");
            match joined.last_mut() {
                Some(last) if is_open(last) && is_open(&call) && self.chance.percent(12) => {
                    let between = self.chance.pick(&[" && ", "; ", "\n", " || "]);
                    last.text = format!("{}{between}{}", last.text, call.text);
                    last.origin.push_str(&call.origin);
                }
                Some(_) | None => joined.push(call),
            }
        }
        joined
    }

    fn any(&mut self) -> Call {
        match self.chance.below(100) {
            0..52 => self.verb(),
            52..66 => self.from("run"),
            66..75 => self.from("archive"),
            75..86 => self.from("file"),
            86..89 => self.from("single"),
            _ => self.from("tool"),
        }
    }

    /// A call of the verb that was drawn least.
    fn verb(&mut self) -> Call {
        let drawn = |verb: &String| self.drawn.get(verb).copied().unwrap_or_default();
        let least = self.grammar.verbs.iter().map(drawn).min().unwrap_or_default();
        let rare: Vec<&String> = self.grammar.verbs.iter().filter(|verb| drawn(verb) == least).collect();
        let verb = (*self.chance.pick(&rare)).clone();
        let calls = self.grammar.calls(&verb);
        *self.drawn.entry(verb).or_default() += 1;
        self.drawn_from(&calls)
    }

    fn from(&mut self, list: &str) -> Call {
        let lines = self.grammar.list(list).to_vec();
        self.drawn_from(&lines)
    }

    fn drawn_from(&mut self, lines: &[String]) -> Call {
        let weight = |line: &String| match self.lines.get(line) {
            Some((proposed, approved)) if *proposed > 1 => 10 + 60 * approved / proposed,
            Some(_) | None => 40,
        };
        let weights: Vec<usize> = lines.iter().map(weight).collect();
        let index = self.chance.weighted(&weights);
        self.call(&lines[index])
    }

    fn call(&mut self, line: &str) -> Call {
        Call { text: self.grammar.fill(line, &mut self.chance), origin: line.to_owned() }
    }
}
