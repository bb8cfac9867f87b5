//! What other commands read out of a list that `find` made: secrets, and files that a rule is about.

use super::hits::hits_among;
use super::words::RUNNERS;
use crate::observe::field::Field;
use crate::observe::paths::carried::carried_roots;
use crate::observe::paths::sweep::Sweep;
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::notes::{Search, Told};
use crate::observe::sheet::observer::{By, Observer};
use crate::path;
use crate::world::Kind;

/// Keeps the search: whether its hits matter is looked up only when something reads them.
pub(crate) fn note_search(out: &mut Observer<'_>, starts: &[Field], tests: &[Field], cwd: Option<&str>) {
    let Some(cwd) = cwd else { return };
    note_carried_search(out, starts, cwd);
    let search = Search { starts: starts.to_vec(), tests: with_action(tests), cwd: cwd.to_owned(), is_carried: false };
    out.searches.push(search);
}

/// A tree that this call put where it is searched now: the world knows it elsewhere, with whatever its links lead to.
fn note_carried_search(out: &mut Observer<'_>, starts: &[Field], cwd: &str) {
    let starts = starts.iter().filter_map(Field::exact).map(|start| path::lexical(&path::join(cwd, start)));
    let before: Vec<String> = starts.flat_map(|start| carried_roots(out, &start)).collect();
    for root in before {
        let starts = vec![Field::literal(root, doorward_shell::Span::default())];
        out.searches.push(Search { starts, tests: Vec::new(), cwd: cwd.to_owned(), is_carried: true });
    }
}

/// Links in such trees are hits like others, and whoever reads the hits reads what they lead to.
pub(crate) fn read_carried_links(out: &mut Observer<'_>, by: &By) -> bool {
    let starts = out.searches.iter().filter(|search| search.is_carried).flat_map(|search| search.starts.clone());
    let starts: Vec<Field> = starts.collect();
    starts.iter().fold(false, |any, start| out.links_met(Touch::Read, &start.text, by) | any)
}

/// A search for no name in particular, in a tree that was too large to be looked through.
pub(crate) fn note_cut_searches(out: &mut Observer<'_>, sweep: &Sweep) {
    // Tests on the name alone: without one the whole tree is meant.
    const NAMED: &[&str] = &["-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"];
    for search in out.searches.clone() {
        let is_named = search.tests.iter().any(|test| NAMED.contains(&test.text.as_str()));
        let starts = search.starts.iter().filter_map(Field::exact).filter(|_| !is_named);
        for start in starts {
            out.note_cut(&path::lexical(&path::join(&search.cwd, start)), sweep);
        }
    }
}

/// Files among the hits of all searches of this call that must not be shown unasked.
pub(crate) fn told_by_searches(out: &mut Observer<'_>) -> Vec<Told> {
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
