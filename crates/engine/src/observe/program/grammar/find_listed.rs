//! What other commands read out of a list that `find` made: secrets, and files that a rule is about.

use super::super::Invocation;
use super::find::Expression;
use super::find_hits::hits_among;
use super::find_words::RUNNERS;
use crate::observe::observer::Observer;
use crate::observe::shell::field::Field;
use crate::observe::trees::{Search, Told};
use crate::path;
use crate::world::Kind;

/// Keeps the search: whether its hits matter is looked up only when something reads them.
pub(super) fn note_search(out: &mut Observer<'_>, expression: &Expression, invocation: &Invocation) {
    let Some(cwd) = invocation.cwd.clone() else { return };
    let search = Search { starts: expression.starts.clone(), tests: with_action(&expression.tests), cwd };
    out.searches.push(search);
}

/// Files among the hits of all searches of this call that must not be shown unasked.
pub fn told_by_searches(out: &mut Observer<'_>) -> Vec<Told> {
    let searches = out.searches.clone();
    searches.iter().flat_map(|search| told_by(out, search)).collect()
}

fn told_by(out: &mut Observer<'_>, search: &Search) -> Vec<Told> {
    let roots =
        search.starts.iter().filter_map(Field::exact).map(|start| path::lexical(&path::join(&search.cwd, start)));
    let told: Vec<Told> = roots.collect::<Vec<_>>().iter().flat_map(|root| out.told_below(root).to_vec()).collect();
    if told.is_empty() {
        return told;
    }
    let entries = |root: &str| -> Option<Vec<(String, Kind)>> {
        Some(
            told.iter()
                .filter(|told| path::under(&told.path, root))
                .map(|told| (told.path.clone(), told.kind))
                .collect(),
        )
    };
    match hits_among(&search.tests, &search.starts, &search.cwd, out.world, &entries) {
        Some(hits) => {
            let is_hit = |told: &Told| hits.paths.iter().any(|(path, _)| *path == told.path);
            told.into_iter().filter(is_hit).collect()
        }
        None => told,
    }
}

/// Without an action of its own an expression prints what it finds, which hands it on all the same.
fn with_action(tests: &[Field]) -> Vec<Field> {
    let acts = |word: &Field| word.exact().is_some_and(|text| text == "-delete" || RUNNERS.contains(&text));
    let prints = |word: &Field| word.exact().is_some_and(|text| text.contains("print") || text == "-ls");
    let word = |text: &str| Field::literal(text, doorward_shell::Span::default());
    match (tests.iter().any(acts), tests.iter().any(prints)) {
        (true, false) => return tests.to_vec(),
        // Which of both hands on a file is not told apart: all of them count.
        (true, true) => return vec![word("-delete")],
        (false, _) => {}
    }
    let grouped = if tests.is_empty() { Vec::new() } else { [&[word("(")], tests, &[word(")")]].concat() };
    [grouped, vec![word("-delete")]].concat()
}
