//! A tree as text that parses to the same tree.

use crate::{
    Assignment, Case, Command, CommandKind, Connector, Coproc, Element, Fd, For, HereDocument, If, Pipeline, Redirect,
    RedirectOperator, RedirectTarget, Script, Simple, Statement, Value, Word,
};

/// Writes `script` as a program; parsing it yields the same tree, apart from spans.
///
/// What the tree does not keep (which of `:-` and `-`, backticks or `$(…)`, the order of words and redirects) comes
/// out in one fixed form.
pub fn print(script: &Script) -> String {
    let mut printer = Printer::default();
    printer.script(script);
    printer.out
}

/// Text so far, and the here documents that start behind the next newline.
#[derive(Default)]
pub(crate) struct Printer<'a> {
    pub(crate) out: String,
    pub(crate) documents: Vec<&'a HereDocument>,
    /// Inside the body of a here document that is expanded.
    pub(crate) in_document: bool,
    /// Writes `…` for what substitutions hold.
    pub(crate) elides: bool,
}

impl<'a> Printer<'a> {
    pub(crate) fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// A newline, the documents that wait for it, and a space, so that no line can end an enclosing document.
    pub(crate) fn newline(&mut self) {
        self.put("\n");
        for document in std::mem::take(&mut self.documents) {
            self.document_body(document);
        }
        self.put(" ");
    }

    pub(crate) fn script(&mut self, script: &'a Script) {
        for statement in &script.statements {
            self.statement(statement);
            self.newline();
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
        self.pipeline(&statement.first);
        for (connector, pipeline) in &statement.rest {
            self.put(match connector {
                Connector::And => " && ",
                Connector::Or => " || ",
            });
            self.pipeline(pipeline);
        }
        if statement.background {
            self.put(" &");
        }
    }

    fn pipeline(&mut self, pipeline: &'a Pipeline) {
        if pipeline.timed {
            self.put("time -- ");
        }
        if pipeline.negated {
            self.put("! ");
        }
        if !pipeline.timed && !pipeline.negated && pipeline.commands.iter().all(is_empty) {
            self.put("! ! ");
        }
        let mut joints = pipeline.with_stderr.iter();
        for (index, command) in pipeline.commands.iter().enumerate() {
            if index > 0 {
                self.put(if joints.next() == Some(&true) { " |& " } else { " | " });
            }
            self.command(command);
        }
    }

    fn command(&mut self, command: &'a Command) {
        if let CommandKind::Simple(simple) = &command.kind {
            // First, because a reserved word behind a redirect is an ordinary one.
            command.redirects.iter().for_each(|redirect| self.redirect(redirect));
            self.simple(simple);
            return;
        }
        self.kind(&command.kind);
        self.put(" ");
        command.redirects.iter().for_each(|redirect| self.redirect(redirect));
    }

    pub(crate) fn kind(&mut self, kind: &'a CommandKind) {
        match kind {
            CommandKind::Simple(simple) => self.simple(simple),
            CommandKind::Group(script) => self.block("{", script, "}"),
            CommandKind::Subshell(script) => self.block("(", script, ")"),
            CommandKind::If(command) => self.if_command(command),
            CommandKind::Loop(command) => {
                self.block(if command.until { "until" } else { "while" }, &command.condition, "");
                self.block("do", &command.body, "done");
            }
            CommandKind::For(command) => self.for_command(command),
            CommandKind::ArithmeticFor(command) => {
                self.put("for ((");
                for (index, part) in command.parts.iter().enumerate() {
                    self.put(if index > 0 { ";" } else { "" });
                    self.arithmetic(part);
                }
                self.put("))");
                self.newline();
                self.block("do", &command.body, "done");
            }
            CommandKind::Case(command) => self.case_command(command),
            CommandKind::Arithmetic(arithmetic) => {
                self.put("((");
                self.arithmetic(arithmetic);
                self.put("))");
            }
            CommandKind::Test(test) => {
                self.put("[[");
                self.words(&test.words);
                self.put(" ]]");
            }
            CommandKind::Function(function) => {
                self.put("function ");
                self.put(&function.name);
                self.put(" ()");
                self.newline();
                self.command(&function.body);
            }
            CommandKind::Coproc(coproc) => self.coproc(coproc),
        }
    }

    fn block(&mut self, open: &str, script: &'a Script, close: &str) {
        self.put(open);
        self.newline();
        self.script(script);
        self.put(close);
    }

    fn if_command(&mut self, command: &'a If) {
        for (index, (condition, body)) in command.branches.iter().enumerate() {
            self.block(if index > 0 { "elif" } else { "if" }, condition, "");
            self.block("then", body, "");
        }
        if let Some(body) = &command.otherwise {
            self.block("else", body, "");
        }
        self.put("fi");
    }

    fn for_command(&mut self, command: &'a For) {
        self.put(if command.select { "select " } else { "for " });
        self.put(&command.name);
        if let Some(words) = &command.words {
            self.put(" in");
            self.words(words);
        }
        self.newline();
        self.block("do", &command.body, "done");
    }

    fn case_command(&mut self, command: &'a Case) {
        self.put("case ");
        self.word(&command.word);
        self.put(" in");
        self.newline();
        for arm in &command.arms {
            for (index, pattern) in arm.patterns.iter().enumerate() {
                self.put(if index > 0 { "|" } else { "(" });
                self.word(pattern);
            }
            self.block(")", &arm.body, ";;");
            self.newline();
        }
        self.put("esac");
    }

    fn coproc(&mut self, coproc: &'a Coproc) {
        self.put("coproc ");
        if let Some(name) = &coproc.name
            && !matches!(coproc.body.kind, CommandKind::Simple(_))
        {
            self.put(name);
            self.put(" ");
        }
        self.command(&coproc.body);
    }

    pub(crate) fn simple(&mut self, simple: &'a Simple) {
        let (arrays, scalars): (Vec<_>, Vec<_>) =
            simple.assignments.iter().partition(|assignment| matches!(assignment.value, Value::Array(_)));
        let declares = simple.words.first().is_some_and(crate::assign::declares);
        let (before, after) = match declares && scalars.is_empty() {
            true => (Vec::new(), arrays),
            false => (simple.assignments.iter().collect(), Vec::new()),
        };
        for assignment in before {
            self.assignment(assignment);
            self.put(" ");
        }
        for (index, word) in simple.words.iter().enumerate() {
            self.put(if index > 0 { " " } else { "" });
            self.word(word);
        }
        for assignment in after {
            self.put(" ");
            self.assignment(assignment);
        }
    }

    fn assignment(&mut self, assignment: &'a Assignment) {
        self.put(&assignment.name);
        if let Some(subscript) = &assignment.subscript {
            self.subscript(subscript);
        }
        self.put(if assignment.append { "+=" } else { "=" });
        match &assignment.value {
            Value::Scalar(word) => self.word(word),
            Value::Array(elements) => {
                self.put("(");
                elements.iter().for_each(|element| self.element(element));
                self.put(")");
            }
        }
    }

    fn element(&mut self, element: &'a Element) {
        self.put(" ");
        if let Some(subscript) = &element.subscript {
            self.subscript(subscript);
            self.put("=");
        }
        self.word(&element.value);
    }

    pub(crate) fn words(&mut self, words: &'a [Word]) {
        for word in words {
            self.put(" ");
            self.word(word);
        }
    }

    pub(crate) fn redirect(&mut self, redirect: &'a Redirect) {
        match &redirect.fd {
            None => {}
            Some(Fd::Number(number)) => self.put(&number.to_string()),
            Some(Fd::Variable(name)) => {
                self.put("{");
                self.put(name);
                self.put("}");
            }
        }
        self.put(symbol(redirect.operator));
        match &redirect.target {
            RedirectTarget::Word(word) => self.word(word),
            RedirectTarget::Document(document) => {
                self.document_delimiter(document);
                self.documents.push(document);
            }
        }
        self.put(" ");
    }
}

fn is_empty(command: &Command) -> bool {
    command.redirects.is_empty()
        && matches!(&command.kind, CommandKind::Simple(simple) if simple.words.is_empty() && simple.assignments.is_empty())
}

fn symbol(operator: RedirectOperator) -> &'static str {
    match operator {
        RedirectOperator::Read => "< ",
        RedirectOperator::Write => "> ",
        RedirectOperator::Clobber => ">| ",
        RedirectOperator::Append => ">> ",
        RedirectOperator::ReadWrite => "<> ",
        RedirectOperator::DuplicateInput => "<& ",
        RedirectOperator::DuplicateOutput => ">& ",
        RedirectOperator::WriteBoth => "&> ",
        RedirectOperator::AppendBoth => "&>> ",
        RedirectOperator::HereDocument => "<< ",
        RedirectOperator::HereString => "<<< ",
    }
}
