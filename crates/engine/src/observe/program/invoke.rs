//! One invocation of a known program, from its words to what comes out.

use doorward_vocabulary::{Degree, Mark, Operation};

use super::arriving::note_arrivals;
use super::conditions::{asks_a_subcommand, asks_anything};
use super::extra_checks::{hunted_secrets, made_by_mktemp, note_guard, note_links, picked_secrets, telling_arguments};
use super::findings::Findings;
use super::grammar::echo::listed;
use super::grammar::git_extra::git_extra_named;
use super::grammar::git_remote::gh_fetches;
use super::grammar::grammar;
use super::grammar::prepare::prepare;
use super::identity::program_named;
use super::invocation::{Known, Start};
use super::link_flags::follows;
use super::naming::shown_name;
use super::patches::note_patches;
use super::project_first::note_project_first;
use super::provenance::note_build;
use super::reading::{assign_roles, directory_flags, unknown_words};
use super::request_flags::reaching_values;
use super::sinks::displaced_sinks;
use super::stated::{effects_of, note_downloads};
use super::switches::note_switches;
use super::value_shapes::{filled_by_wildcard, foreign_code, foreign_settings, shaped_values};
use super::words::{default_operand, flag_values, operands};
use super::{Invocation, args, extra_checks, listing, places, scalar_output};
use crate::knowledge::schema::{Does, Facet};
use crate::observe::field::Field;
use crate::observe::program::carry_out::carry_out;
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::shell::runner::{DEPTH, Runner};
use crate::observe::shell::state::State;
use crate::observe::stream::{Origin, Shape, Stream};
use crate::world::World;

/// Judges a known program with its words.
pub(crate) fn invoke<'a>(
    runner: &mut Runner<'_, '_>,
    Known { entry, name }: Known,
    start: Start<'_>,
    state: &mut State<'a>,
) -> Stream {
    if let Some(extra) = git_extra_named(runner.out, &entry, start.words, state) {
        let start = Start { words: start.words.get(1..).unwrap_or_default(), ..start };
        return program_named(runner, &extra, start, state);
    }
    let Start { words, input, part } = start;
    let prepared = prepare(runner.out, &entry, words, state);
    let args = args::read(entry, prepared.as_deref().unwrap_or(words), runner.out.knowledge);
    let by = By { name: shown_name(&name, &args), part };
    let mut invocation = Invocation::new(by, args, input, state.cwd.as_deref());
    invocation.does = invocation.args.entry().map(|entry| entry.does.clone()).unwrap_or_default();
    invocation.passes_input = true;
    note_project_first(runner.out, &invocation);
    if is_information(&invocation) {
        if asks_anything(&invocation.args) {
            invocation.args.unknown_sub = None;
        }
        let found = unknown_words(&invocation);
        carry_out(runner, found, &mut invocation, state);
        return Stream::unknown(Origin::default());
    }
    let before = std::rc::Rc::clone(&state.written);
    let ((), mut caused) = runner.collect(|runner| act(runner, &mut invocation, state));
    note_guard(&mut caused, &invocation);
    if is_answered(&invocation) {
        caused.remove(Mark::Interactive);
    }
    note_switches(runner.out, &mut caused, &invocation);
    note_downloads(runner.out, &invocation, state);
    note_arrivals(runner.out, &caused, &invocation);
    runner.out.write(caused);
    note_build(runner.out, &invocation, &before, state);
    if let Some(shape) = listing::shape(&invocation, runner.out.world) {
        invocation.output.shape = shape;
    }
    if places::prints_a_place(&invocation, state, runner.out.world) {
        invocation.output.shape = Shape::Place;
    }
    if scalar_output::prints_a_token(&invocation) {
        invocation.output.shape = Shape::Token;
    }
    finish(runner.out, invocation)
}

/// `printf 'y\nn\n' | git add -p`: whatever is asked, the answers stand there, and none of them opens an editor.
fn is_answered(invocation: &Invocation) -> bool {
    let is_asked =
        invocation.args.is(Facet::AsksForHunks) && !invocation.args.has_any(&["-e", "--edit", "-i", "--interactive"]);
    let answers = invocation.input.text.as_deref().filter(|_| is_asked);
    answers.is_some_and(|text| {
        let is_plain = |line: &str| matches!(line, "y" | "n" | "q" | "a" | "d" | "j" | "J" | "k" | "K" | "s" | "");
        !text.is_empty() && text.lines().all(is_plain)
    })
}

/// Everything that the words of an invocation make happen.
fn act(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    // A tool of the project that runs a tool of its own name would go on for ever.
    if runner.depth >= DEPTH {
        return runner.out.lower(Degree::Opaque, "nested too deeply");
    }
    runner.depth += 1;
    act_by_tables(runner, invocation, state);
    runner.depth -= 1;
    let found = beyond_the_tables(runner.out.world, invocation);
    carry_out(runner, found, invocation, state);
    note_patches(runner.out, invocation, state);
}

/// What the tables and the grammar of the program say.
fn act_by_tables(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    assign_roles(runner.out, invocation);
    directory_flags(runner.out, invocation);
    let outer = std::mem::replace(&mut runner.out.follows, follows(invocation));
    let found = grammar(runner.out, invocation, state);
    carry_out(runner, found, invocation, state);
    let mut found = unknown_words(invocation);
    found.extend(reaching_values(runner.out.world, invocation));
    found.extend(shaped_values(runner.out.world, invocation));
    found.extend(foreign_settings(runner.out.world, invocation));
    found.extend(foreign_code(runner.out.world, invocation));
    found.extend(filled_by_wildcard(invocation));
    carry_out(runner, found, invocation, state);
    if invocation.args.is(Facet::MakesTemporary) {
        invocation.output.text = made_by_mktemp(runner.out, invocation, state);
    }
    if !invocation.done {
        let found = flag_values(invocation);
        carry_out(runner, found, invocation, state);
        words(runner, invocation, state);
        effects_of(runner, invocation, state);
    }
    runner.out.follows = outer;
}

/// What an invocation does that no table says.
fn beyond_the_tables(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = hunted_secrets(invocation);
    found.extend(picked_secrets(world, invocation));
    found.extend(telling_arguments(world, invocation));
    found.extend(displaced_sinks(world, invocation));
    found.extend(gh_fetches(world, invocation));
    found
}

/// The operands, with the marks that flags give them.
fn words(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let ((), mut caused) = runner.collect(|runner| {
        let mut found = operands(invocation);
        found.extend(default_operand(invocation));
        carry_out(runner, found, invocation, state);
        note_links(runner.out, invocation);
    });
    let marks = invocation.flag_marks();
    caused.mark(marks);
    if !marks.is_empty() && invocation.does.is_empty() && caused.is_empty() {
        invocation.does.push(Does { marks, ..Does::usual(Operation::Read) });
    }
    runner.out.write(caused);
}

/// `--help`, `--version`: nothing else happens.
fn is_information(invocation: &Invocation) -> bool {
    let args = &invocation.args;
    args.given.iter().any(|given| given.changes.info)
        && args.unknown.is_empty()
        && args.given.iter().all(|given| given.value.is_none())
        && (args.operands.is_empty() || asks_a_subcommand(args) || asks_anything(args))
}

/// What comes out: what was read, what was passed through, and where it came from.
fn finish(out: &mut Observer<'_>, invocation: Invocation) -> Stream {
    let mut output = invocation.output;
    let args = &invocation.args;
    if invocation.passes_input {
        output.origin = output.origin.and(invocation.input.origin);
        if args.is(Facet::CopiesInput) && args.given.is_empty() {
            output.text = invocation.input.text;
            output.files = invocation.input.files;
        }
    }
    if args.is(Facet::PrintsFormat) {
        output.text = extra_checks::printed(&invocation.args.operands);
        if let (Some("%s\\n"), None) = (invocation.args.operands.first().and_then(Field::known), &output.text) {
            let words = invocation.args.operands.get(1..).unwrap_or_default();
            output.shape = listed(out.world, words, invocation.cwd.as_deref());
        }
    }
    output.origin.endless |= args.is(Facet::PrintsForever);
    output.origin.endless &= !args.is(Facet::EndsStreams);
    if args.is(Facet::PrintsTime) {
        let values = invocation.args.given.iter().filter_map(|given| given.value.as_ref());
        output.origin = values.fold(output.origin, |all, value| all.and(value.origin));
    }
    for field in &invocation.args.operands {
        output.origin = output.origin.and(field.origin);
    }
    out.prints_lists |= matches!(output.shape, Shape::ProjectPaths | Shape::ProjectNames);
    output
}
