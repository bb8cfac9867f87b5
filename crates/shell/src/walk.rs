//! Visiting every command, wherever it stands.

use crate::{Command, CommandKind, RedirectTarget, Script, Word, scripts};

/// Calls `visit` for each command in the order of the text: in substitutions, here documents, function bodies,
/// subscripts, arithmetic and redirect targets too.
pub fn walk<'a>(script: &'a Script, visit: &mut dyn FnMut(&'a Command)) {
    for statement in &script.statements {
        let rest = statement.rest.iter().map(|(_, pipeline)| pipeline);
        for pipeline in std::iter::once(&statement.first).chain(rest) {
            for each in &pipeline.commands {
                command(each, visit);
            }
        }
    }
}

fn command<'a>(command: &'a Command, visit: &mut dyn FnMut(&'a Command)) {
    visit(command);
    kind(&command.kind, visit);
    for redirect in &command.redirects {
        match &redirect.target {
            RedirectTarget::Word(target) => word(target, visit),
            RedirectTarget::Document(document) => word(&document.body, visit),
        }
    }
}

fn kind<'a>(kind: &'a CommandKind, visit: &mut dyn FnMut(&'a Command)) {
    match kind {
        CommandKind::Simple(simple) => {
            for assignment in &simple.assignments {
                scripts::in_assignment(assignment, &mut |script| walk(script, visit));
            }
            words(&simple.words, visit);
        }
        CommandKind::Group(script) | CommandKind::Subshell(script) => walk(script, visit),
        CommandKind::If(found) => {
            for (condition, body) in &found.branches {
                walk(condition, visit);
                walk(body, visit);
            }
            found.otherwise.iter().for_each(|script| walk(script, visit));
        }
        CommandKind::Loop(found) => {
            walk(&found.condition, visit);
            walk(&found.body, visit);
        }
        CommandKind::For(found) => {
            found.words.iter().for_each(|each| words(each, visit));
            walk(&found.body, visit);
        }
        CommandKind::ArithmeticFor(found) => {
            found.parts.iter().for_each(|each| word(&each.word, visit));
            walk(&found.body, visit);
        }
        CommandKind::Case(found) => {
            word(&found.word, visit);
            for arm in &found.arms {
                words(&arm.patterns, visit);
                walk(&arm.body, visit);
            }
        }
        CommandKind::Arithmetic(found) => word(&found.word, visit),
        CommandKind::Test(found) => words(&found.words, visit),
        CommandKind::Function(found) => command(&found.body, visit),
        CommandKind::Coproc(found) => command(&found.body, visit),
    }
}

fn words<'a>(words: &'a [Word], visit: &mut dyn FnMut(&'a Command)) {
    scripts::in_words(words, &mut |script| walk(script, visit));
}

fn word<'a>(word: &'a Word, visit: &mut dyn FnMut(&'a Command)) {
    scripts::in_word(word, &mut |script| walk(script, visit));
}
