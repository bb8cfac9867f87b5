//! A tree as indented lines, so that a person can see how a text was read.

use crate::print::Printer;
use crate::{Case, Command, CommandKind, Connector, For, Pipeline, RedirectTarget, Script, Simple, Word, scripts};

/// One line of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineLine {
    /// How many levels stand around it.
    pub depth: usize,
    /// Quotes and escapes are resolved; what a substitution runs stands on lines of its own.
    pub text: String,
}

/// The commands of `script` and what joins them, each on a line.
pub fn outline(script: &Script) -> Vec<OutlineLine> {
    let mut outline = Outline::default();
    outline.script(script);
    outline.lines
}

#[derive(Default)]
struct Outline {
    lines: Vec<OutlineLine>,
    depth: usize,
    /// What stands before the next line: `&& `, `| `.
    joint: String,
}

impl Outline {
    fn line(&mut self, text: &str) {
        let text = std::mem::take(&mut self.joint) + text.trim_end();
        self.lines.push(OutlineLine { depth: self.depth, text });
    }

    fn inside(&mut self, show: impl FnOnce(&mut Self)) {
        self.depth += 1;
        show(self);
        self.depth -= 1;
    }

    fn script(&mut self, script: &Script) {
        for statement in &script.statements {
            self.pipeline(&statement.first);
            for (connector, pipeline) in &statement.rest {
                self.joint.push_str(match connector {
                    Connector::And => "&& ",
                    Connector::Or => "|| ",
                });
                self.pipeline(pipeline);
            }
            if statement.background {
                self.line("& (in the background)");
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        self.joint.push_str(if pipeline.timed { "time " } else { "" });
        self.joint.push_str(if pipeline.negated { "! " } else { "" });
        let mut joints = pipeline.with_stderr.iter();
        for (index, command) in pipeline.commands.iter().enumerate() {
            if index > 0 {
                self.joint.push_str(if joints.next() == Some(&true) { "|& " } else { "| " });
            }
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(command, simple),
            CommandKind::Group(script) => self.block("group", script),
            CommandKind::Subshell(script) => self.block("subshell", script),
            CommandKind::If(found) => {
                for (index, (condition, body)) in found.branches.iter().enumerate() {
                    self.block(if index > 0 { "else if" } else { "if" }, condition);
                    self.block("then", body);
                }
                found.otherwise.iter().for_each(|body| self.block("else", body));
            }
            CommandKind::Loop(found) => {
                self.block(if found.until { "until" } else { "while" }, &found.condition);
                self.block("do", &found.body);
            }
            CommandKind::For(found) => self.for_command(found),
            CommandKind::ArithmeticFor(found) => {
                self.line("for ((…))");
                found.parts.iter().for_each(|part| self.substitutions(std::slice::from_ref(&part.word)));
                self.inside(|outline| outline.script(&found.body));
            }
            CommandKind::Case(found) => self.case_command(found),
            CommandKind::Arithmetic(found) => {
                self.line(&elided(|printer| printer.kind(&command.kind)));
                self.substitutions(std::slice::from_ref(&found.word));
            }
            CommandKind::Test(found) => {
                self.line(&elided(|printer| printer.kind(&command.kind)));
                self.substitutions(&found.words);
            }
            CommandKind::Function(found) => {
                self.line(&format!("function {}", found.name));
                self.inside(|outline| outline.command(&found.body));
            }
            CommandKind::Coproc(found) => {
                self.line("coproc");
                self.inside(|outline| outline.command(&found.body));
            }
        }
        if !matches!(command.kind, CommandKind::Simple(_)) {
            self.redirects(command);
        }
    }

    /// The redirects of a compound command.
    fn redirects(&mut self, command: &Command) {
        for redirect in &command.redirects {
            self.inside(|outline| outline.line(&elided(|printer| printer.redirect(redirect))));
        }
        self.redirected(command);
    }

    fn simple(&mut self, command: &Command, simple: &Simple) {
        self.line(&elided(|printer| {
            printer.simple(simple);
            printer.put(" ");
            command.redirects.iter().for_each(|redirect| printer.redirect(redirect));
        }));
        let mut found = Vec::new();
        simple.assignments.iter().for_each(|each| scripts::in_assignment(each, &mut |script| found.push(script)));
        found.into_iter().for_each(|script| self.substitution(script));
        self.substitutions(&simple.words);
        self.redirected(command);
    }

    /// Substitutions in redirect targets and here documents.
    fn redirected(&mut self, command: &Command) {
        for redirect in &command.redirects {
            self.substitutions(std::slice::from_ref(match &redirect.target {
                RedirectTarget::Word(word) => word,
                RedirectTarget::Document(document) => &document.body,
            }));
        }
    }

    fn for_command(&mut self, found: &For) {
        let head = if found.select { "select" } else { "for" };
        let words = found.words.as_deref().unwrap_or_default();
        let list = elided(|printer| printer.words(words));
        self.line(&format!("{head} {} in{list}", found.name));
        self.substitutions(words);
        self.inside(|outline| outline.script(&found.body));
    }

    fn case_command(&mut self, found: &Case) {
        let word = elided(|printer| printer.word(&found.word));
        self.line(&format!("case {word}"));
        self.substitutions(std::slice::from_ref(&found.word));
        for arm in &found.arms {
            self.inside(|outline| {
                outline.line(&format!("if it is{}", elided(|printer| printer.words(&arm.patterns))));
                outline.substitutions(&arm.patterns);
                outline.inside(|outline| outline.script(&arm.body));
            });
        }
    }

    fn block(&mut self, head: &str, script: &Script) {
        self.line(head);
        self.inside(|outline| outline.script(script));
    }

    fn substitutions(&mut self, words: &[Word]) {
        let mut found = Vec::new();
        scripts::in_words(words, &mut |script| found.push(script));
        found.into_iter().for_each(|script| self.substitution(script));
    }

    fn substitution(&mut self, script: &Script) {
        self.inside(|outline| outline.block("(…) runs", script));
    }
}

/// What is printed, with `…` for what substitutions hold.
fn elided<'a>(print: impl FnOnce(&mut Printer<'a>)) -> String {
    let mut printer = Printer { elides: true, ..Printer::default() };
    print(&mut printer);
    printer.out
}
