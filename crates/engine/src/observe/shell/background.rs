//! What is started in the background: whether it outlives the call, and whether it adds up without end.

use doorward_shell::{Command, CommandKind, Loop, Part, Script, Statement};
use doorward_vocabulary::Mark;

use super::grammar::Builtin;
use super::runner::Runner;
use super::state::State;
use crate::knowledge::packed::Packed;
use crate::knowledge::schema::Facet;
use crate::observe::field::Field;

pub(crate) fn note_background(runner: &mut Runner<'_, '_>, statement: &Statement) {
    if runner.calling.iter().any(|name| calls(statement, name)) {
        runner.out.call_mark(Mark::ForkBomb);
    }
}

/// The statement is started in the background, and the shell may end before it.
pub(crate) fn is_unwaited(statements: &[Statement], at: usize, state: &State<'_>) -> bool {
    let Some((statement, behind)) = statements.get(at..).and_then(<[Statement]>::split_first) else { return false };
    // With anything but more jobs in between, the shell may end before it waits.
    let is_waited = behind.iter().find(|statement| !statement.background).is_some_and(waits_for_all);
    let is_detached =
        has_background(&Script { statements: vec![Statement { background: false, ..statement.clone() }] });
    statement.background && (!is_waited || is_detached || state.functions.contains_key(Builtin::Wait.name()))
}

/// `wait` alone waits for every job, `wait $!` for the last one.
fn waits_for_all(statement: &Statement) -> bool {
    let is_alone = |command: &Command| matches!(&command.kind, CommandKind::Simple(simple) if simple.words.len() == 1);
    waits(statement) && statement.first.commands.iter().all(is_alone)
}

/// The program starts another and ends before it.
pub(crate) fn outlives_call(knowledge: Packed, fields: &[Field]) -> bool {
    let name = fields.first().and_then(Field::exact).map(crate::path::name);
    name.is_some_and(|name| knowledge.facets(name).has(Facet::OutlivesCall))
}

/// Something runs that nobody waits for.
pub(crate) fn unwaited<T>(
    runner: &mut Runner<'_, '_>,
    is_unwaited: bool,
    run: impl FnOnce(&mut Runner<'_, '_>) -> T,
) -> T {
    if !is_unwaited {
        return run(runner);
    }
    runner.out.lingering.enter();
    let done = run(runner);
    runner.out.lingering.leave();
    done
}

/// Runs a command that is remembered with the files that it runs, should it outlive the call.
pub(crate) fn remembered<T>(
    runner: &mut Runner<'_, '_>,
    fields: &[Field],
    cwd: Option<&str>,
    run: impl FnOnce(&mut Runner<'_, '_>) -> T,
) -> T {
    if !runner.out.lingering.is_inside() {
        return run(runner);
    }
    let outer = runner.out.lingering.begin(fields, cwd);
    let done = run(runner);
    runner.out.lingering.end(runner.out.knowledge, fields, outer);
    done
}

/// An endless loop starts things and does not wait for them.
pub(crate) fn piles_up(body: &Loop, state: &State<'_>) -> bool {
    let waits = is_paced(&body.body) && !state.functions.contains_key(Builtin::Wait.name());
    is_endless(&body.condition) && has_background(&body.body) && !waits && !leaves(&body.body, state)
}

/// The first round is the last one, come what may.
fn leaves(script: &Script, state: &State<'_>) -> bool {
    let is_alone = |statement: &Statement| {
        let [Command { kind: CommandKind::Simple(simple), redirects, .. }] = statement.first.commands.as_slice() else {
            return false;
        };
        let [word] = simple.words.as_slice() else { return false };
        let is_plain = redirects.is_empty() && simple.assignments.is_empty() && !statement.background;
        is_plain
            && matches!(word.parts.as_slice(), [Part::Text { text, .. }]
                if matches!(Builtin::named(text), Some(Builtin::Break | Builtin::Exit)))
    };
    state.functions.is_empty() && !may_go_on(script) && script.statements.iter().any(is_alone)
}

/// Something in the script could begin the next round before its end.
fn may_go_on(script: &Script) -> bool {
    let mut found = false;
    doorward_shell::walk(script, &mut |command: &Command| {
        if let CommandKind::Simple(simple) = &command.kind {
            found |= match simple.words.first().map(|word| word.parts.as_slice()) {
                Some([Part::Text { text, .. }]) => Builtin::named(text).is_some_and(Builtin::may_turn),
                Some([] | [..]) => true,
                None => false,
            };
        }
    });
    found
}

/// `while :`, `while true`.
fn is_endless(condition: &Script) -> bool {
    let [statement] = condition.statements.as_slice() else { return false };
    let [command] = statement.first.commands.as_slice() else { return false };
    matches!(&command.kind, CommandKind::Simple(simple) if matches!(simple.words.as_slice(), [word]
        if matches!(word.parts.as_slice(), [doorward_shell::Part::Text { text, .. }] if Builtin::named(text).is_some_and(Builtin::succeeds))))
}

/// Each round waits for the one thing that it starts, so that they do not add up.
fn is_paced(script: &Script) -> bool {
    let plain = |statement: &Statement| Statement { background: false, ..statement.clone() };
    let mut statements = script.statements.iter().skip_while(|statement| !statement.background);
    let Some(started) = statements.next() else { return false };
    let inner = Script { statements: vec![plain(started)] };
    let others: Vec<&Statement> = statements.collect();
    let starts_more =
        has_background(&inner) || others.iter().any(|statement| statement.background || holds_any(statement));
    !starts_more && others.iter().any(|statement| waits(statement))
}

/// Something in the statement is started in the background.
fn holds_any(statement: &Statement) -> bool {
    has_background(&Script { statements: vec![statement.clone()] })
}

/// `wait` or `wait $!`, come what may.
fn waits(statement: &Statement) -> bool {
    let [Command { kind: CommandKind::Simple(simple), .. }] = statement.first.commands.as_slice() else { return false };
    let is_word = |part: &Part, word: &str| matches!(part, Part::Text { text, .. } if text == word);
    let is_job = |part: &Part| matches!(part, Part::Parameter(parameter) if parameter.name == "!");
    let mut words = simple.words.iter().map(|word| word.parts.as_slice());
    matches!(words.next(), Some([name]) if is_word(name, Builtin::Wait.name()))
        && words.all(|word| matches!(word, [job] if is_job(job)))
}

/// Something in the script is started and not waited for.
fn has_background(script: &Script) -> bool {
    script.statements.iter().any(|statement| {
        statement.background
            || statement.first.commands.iter().any(|command| match &command.kind {
                CommandKind::Subshell(inner) | CommandKind::Group(inner) => has_background(inner),
                CommandKind::Simple(_)
                | CommandKind::If(_)
                | CommandKind::Loop(_)
                | CommandKind::For(_)
                | CommandKind::ArithmeticFor(_)
                | CommandKind::Case(_)
                | CommandKind::Arithmetic(_)
                | CommandKind::Test(_)
                | CommandKind::Function(_)
                | CommandKind::Coproc(_) => false,
            })
    })
}

fn calls(statement: &Statement, name: &str) -> bool {
    let mut found = false;
    let script = Script { statements: vec![statement.clone()] };
    doorward_shell::walk(&script, &mut |command: &Command| {
        if let CommandKind::Simple(simple) = &command.kind {
            found |= simple.words.first().is_some_and(
                |word| matches!(word.parts.as_slice(), [doorward_shell::Part::Text { text, .. }] if text == name),
            );
        }
    });
    found
}
