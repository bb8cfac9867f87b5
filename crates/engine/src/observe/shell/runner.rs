//! One walk over a script: what the walk keeps between commands. How it goes on is said in `run.rs` and its neighbours.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::state::{State, Variable};
use crate::effect::Part;
use crate::observe::sheet::caused::Caused;
use crate::observe::sheet::observer::Observer;

/// Functions and nested code deeper than this are not followed.
// Each level is a stack frame of the reader. Scripts nest a handful.
pub(crate) const DEPTH: u32 = 40;

/// One walk over a script, writing into an observer.
#[derive(Debug)]
pub(crate) struct Runner<'o, 'w> {
    pub out: &'o mut Observer<'w>,
    pub depth: u32,
    pub calling: Vec<String>,
    pub called: BTreeSet<String>,
    /// How much of the code of other languages has to be understood.
    pub manner: Manner,
    /// Files that tools load by themselves and that are being judged.
    pub loading: Vec<String>,
    /// Where loops and functions were left before their end.
    pub jumps: Vec<Jump>,
    pub exits: Exits,
    /// How many loops the current command stands in.
    pub looping: u32,
    pub traps: Vec<Trap>,
    /// How often the directory was changed.
    pub moves: u32,
    /// Values are split also by zsh.
    pub splits: bool,
    /// zsh kept a value whole that other shells split.
    pub kept_whole: bool,
}

impl<'o, 'w> Runner<'o, 'w> {
    pub(crate) fn new(out: &'o mut Observer<'w>) -> Runner<'o, 'w> {
        Runner {
            out,
            depth: 0,
            calling: Vec::new(),
            called: BTreeSet::new(),
            manner: Default::default(),
            loading: Vec::new(),
            jumps: Vec::new(),
            exits: Exits::default(),
            looping: 0,
            traps: Vec::new(),
            moves: 0,
            splits: false,
            kept_whole: false,
        }
    }

    /// What the run causes, by value; `Observer::write` puts it onto the sheet.
    pub(crate) fn collect<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Caused) {
        let beginning = self.out.begin();
        let done = run(self);
        (done, self.out.end(beginning))
    }
}

/// How much of a text has to be understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Manner {
    /// All of it.
    #[default]
    Strict,
    /// All of it, but the commands that it starts are what they are: the script of a file.
    Script,
    /// What a tool loads by itself: members of the usual packages are the packages' own.
    Recipe,
    /// A source of the project: what is not known is left to the project.
    Source,
}

/// The state in which a script was left before its end.
#[derive(Debug)]
pub(crate) struct Jump {
    pub state: State<'static>,
    /// The functions by name and place in the text, which outlives no script.
    pub functions: Vec<(String, usize)>,
    /// How many loops are left; `None` for a function.
    pub loops: Option<u32>,
}

/// How many ways out were met so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exits {
    /// `break`, `continue`, `return`: what follows in the loop or function may be skipped.
    pub skips: u32,
    /// `exit`: what follows in the shell may be skipped.
    pub ends: u32,
}

/// A trap in force, with the state in which it was last looked at.
#[derive(Clone, Debug)]
pub(crate) struct Trap {
    pub text: String,
    pub part: Part,
    pub variables: Rc<BTreeMap<String, Variable>>,
    pub cwd: Option<Rc<str>>,
    pub positional: Option<Rc<Vec<String>>>,
}
