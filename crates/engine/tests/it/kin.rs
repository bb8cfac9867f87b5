//! What is known of one program is known of its kin: facets and senses are complete and mean something.

use doorward_engine::knowledge::built_in;
use doorward_engine::knowledge::program::ProgramFile;
use doorward_engine::knowledge::schema::{Facet, Sense};
use doorward_knowledge::sources;

fn parsed() -> Vec<(String, ProgramFile)> {
    sources::read().unwrap_or_else(|complaints| panic!("{complaints}")).programs
}

#[test]
fn a_word_with_a_meaning_is_a_flag_that_the_program_has() {
    let mut wrong = Vec::new();
    for (name, file) in parsed() {
        let has = |flag: &str| file.entries.iter().any(|entry| entry.flags.find(flag).is_some());
        for entry in &file.entries {
            let words = entry.senses.all().into_iter().flat_map(|set| set.words);
            // A question joins its words by commas, and gives a flag its value.
            let flag = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
            let parts = words.flat_map(|word| word.split(',').map(flag).collect::<Vec<_>>());
            let odd = parts.filter(|word| word.starts_with('-') && !has(word));
            wrong.extend(odd.map(|word| format!("{name}: `{word}` of `{}`", entry.key)));
        }
    }
    assert!(wrong.is_empty(), "senses of flags that are not described:\n{}", wrong.join("\n"));
}

#[test]
fn a_program_that_is_known_to_be_so_says_which_flags_change_it() {
    // What is looked at for every program of the kind, so that a new one of the kind says it as well.
    const SAYS: &[(Facet, &[Sense], &[Facet])] = &[
        (Facet::Searches, &[Sense::PrintNames], &[]),
        (Facet::SkipsIgnored, &[Sense::KeepIgnored], &[]),
        (Facet::SkipsHidden, &[Sense::KeepHidden], &[]),
        (Facet::Archives, &[Sense::Pack], &[Facet::Packs, Facet::Unpacks]),
        (Facet::Compares, &[Sense::PrintNames, Sense::LeaveOut], &[]),
        (Facet::ListsDirectory, &[Sense::KeepLines, Sense::AsGiven], &[]),
        (Facet::NamesOperands, &[Sense::PrintToken], &[]),
    ];
    let mut silent = Vec::new();
    for (name, file) in parsed() {
        let program = file.entries.first().unwrap();
        for (facet, senses, or) in SAYS.iter().filter(|(facet, _, _)| program.facets.has(*facet)) {
            let is_said = senses.iter().all(|sense| program.senses.of(*sense).is_some());
            if !is_said && !program.facets.has_any(or) {
                silent.push(format!("{name}: `{facet}`"));
            }
        }
    }
    assert!(silent.is_empty(), "these leave open which flags change it:\n{}", silent.join("\n"));
}

#[test]
fn what_is_read_alone_is_what_the_whole_entry_says() {
    let knowledge = built_in();
    let mut wrong = Vec::new();
    for key in knowledge.keys() {
        let entry = knowledge.entry(key).unwrap();
        if knowledge.tasks(key) != entry.tasks || knowledge.facets(key) != entry.facets {
            wrong.push(key);
        }
    }
    assert!(wrong.is_empty(), "tasks or facets read apart from their entry differ: {}", wrong.join(" "));
    let having: Vec<&str> = knowledge.having(Facet::JudgedClient).collect();
    assert!(having.contains(&"claude") && having.contains(&"codex") && !having.contains(&"cat"), "{having:?}");
    assert!(having.iter().all(|name| knowledge.facets(name).has(Facet::JudgedClient)));
}

#[test]
fn a_facet_counts_under_every_name_and_for_kin() {
    for (name, facet) in [
        ("sem", Facet::DoesAnything),
        ("time", Facet::DoesAnything),
        ("rgrep", Facet::Searches),
        ("zgrep", Facet::Searches),
        ("mariadb", Facet::DatabaseHosts),
        ("gunzip", Facet::PlainHelper),
    ] {
        assert!(built_in().facets(name).has(facet), "{name}");
    }
    assert!(!built_in().facets("dirname").has(Facet::StripsDirectory));
}
