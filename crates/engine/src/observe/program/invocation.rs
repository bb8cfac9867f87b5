//! One run of a program while it is being judged.

use doorward_vocabulary::Marks;

use super::args::Args;
use crate::effect::Part;
use crate::knowledge::schema::{Does, Entry, Role};
use crate::observe::field::Field;
use crate::observe::recipes::TaskLookup;
use crate::observe::sheet::observer::By;
use crate::observe::stream::Stream;

/// What a program is started with.
#[derive(Debug)]
pub(crate) struct Start<'w> {
    pub words: &'w [Field],
    pub input: Stream,
    pub part: Part,
}

/// A program that has a file, under the name by which it was called.
#[derive(Debug)]
pub(crate) struct Known {
    pub entry: Entry,
    pub name: String,
}

/// One run of a program while it is being judged.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub args: Args,
    pub by: By,
    /// The role of each operand.
    pub roles: Vec<Role>,
    pub does: Vec<Does>,
    pub input: Stream,
    /// What it prints, as far as it is known.
    pub output: Stream,
    /// Its own working directory.
    pub cwd: Option<String>,
    /// Standard input is the program's material, so what arrives there goes out again.
    pub passes_input: bool,
    /// Variables that it sets for the command it starts.
    pub environment: Vec<(String, Stream)>,
    /// Files that it wrote so far.
    pub stored: Vec<String>,
    /// The work tree whose changes it throws away, if it does.
    pub work_tree: Option<String>,
    /// The task that it names, once somebody has looked it up.
    pub task: Option<TaskLookup>,
    /// The grammar has dealt with everything.
    pub done: bool,
}

impl Invocation {
    /// A run in this directory of which nothing is known but its words.
    pub(crate) fn new(by: By, args: Args, input: Stream, cwd: Option<&str>) -> Invocation {
        Invocation {
            args,
            by,
            roles: Vec::new(),
            does: Vec::new(),
            input,
            output: Stream::default(),
            cwd: cwd.map(str::to_owned),
            passes_input: false,
            environment: Vec::new(),
            stored: Vec::new(),
            work_tree: None,
            task: None,
            done: false,
        }
    }

    pub(crate) fn operand(&self, at: usize) -> Option<&Field> {
        self.args.operands.get(at)
    }

    /// The marks that its flags give to whatever it does.
    pub(crate) fn flag_marks(&self) -> Marks {
        self.args.given.iter().fold(Marks::default(), |mut all, given| {
            all.union(given.changes.marks);
            all
        })
    }
}
