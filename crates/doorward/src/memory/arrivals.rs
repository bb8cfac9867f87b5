//! Files that came into a project through git, a patch, an archive or a download without being read, kept across sessions.

use std::collections::{BTreeSet, VecDeque};

use doorward_ledger::{State, States};
use serde::{Deserialize, Serialize};

use crate::machine::world::FileVersion;

/// Maximum number of tracked places; beyond that the whole project counts.
// A merge from a distant branch touches thousands of directories; listing them all would slow every later call.
const PLACES: usize = 4_000;

/// How many file versions are remembered.
// The oldest are forgotten first; a forgotten version counts as new, which only asks.
const HELD: usize = 6_000;

/// The arrivals of one project since it was trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Arrivals {
    /// When the project was trusted, in milliseconds since 1970.
    trusted: u64,
    /// Absolute paths of files, and of directories with everything below them.
    places: BTreeSet<String>,
    /// Content of files that did not come from elsewhere: path and git's hash of the content.
    held: VecDeque<FileVersion>,
}

impl State for Arrivals {
    const NAME: &'static str = "arrivals";
}

impl Arrivals {
    /// No arrivals yet: the user just trusted the project as it is.
    pub(crate) fn since(trusted: u64) -> Arrivals {
        Arrivals { trusted, ..Arrivals::default() }
    }

    /// They belong to the current trust.
    pub(crate) fn is_about(&self, trusted: u64) -> bool {
        self.trusted == trusted
    }

    /// The file, or a directory above it, that arrived.
    pub(crate) fn above(&self, path: &str) -> Option<&str> {
        if self.places.is_empty() {
            return None;
        }
        let ancestors = std::path::Path::new(path).ancestors().filter_map(std::path::Path::to_str);
        ancestors.filter_map(|ancestor| self.places.get(ancestor)).map(String::as_str).next()
    }

    /// The file had this content before anything arrived.
    pub(crate) fn had(&self, path: &str, bytes: &str) -> bool {
        self.held.iter().any(|known| known.path == path && known.id == bytes)
    }

    pub(crate) fn bring(&mut self, places: &[String], project: &str) {
        self.places.extend(places.iter().cloned());
        // Rounding up to the whole project asks more, never less.
        if self.places.len() > PLACES {
            self.places = BTreeSet::from([project.to_owned()]);
        }
    }

    pub(crate) fn hold(&mut self, versions: &[FileVersion]) {
        for version in versions {
            if !self.held.contains(version) {
                self.held.push_back(version.clone());
            }
        }
        while self.held.len() > HELD {
            self.held.pop_front();
        }
    }
}

/// Notes what a call may bring in, and what was there before.
pub(crate) fn note(
    states: &States,
    (project, trusted): (&str, u64),
    places: &[String],
    before: &[FileVersion],
) -> anyhow::Result<()> {
    if places.is_empty() && before.is_empty() {
        return Ok(());
    }
    let change = |arrivals: &mut Arrivals| {
        if !arrivals.is_about(trusted) {
            *arrivals = Arrivals::since(trusted);
        }
        arrivals.hold(before);
        arrivals.bring(places, project);
    };
    Ok(states.update(project, change)?)
}

#[cfg(test)]
mod tests {
    use super::Arrivals;

    #[test]
    fn a_place_covers_what_lies_below_and_a_version_is_known_by_its_bytes() {
        let mut arrivals = Arrivals::since(7);
        arrivals.bring(&["/p/vendor".to_owned(), "/p/src/a.rs".to_owned()], "/p");
        arrivals.hold(&[("/p/src/a.rs".to_owned(), "1234".to_owned()).into()]);
        assert_eq!(arrivals.above("/p/vendor/x/y.c"), Some("/p/vendor"));
        assert_eq!(arrivals.above("/p/src/a.rs"), Some("/p/src/a.rs"));
        assert_eq!(arrivals.above("/p/src/b.rs"), None);
        assert!(arrivals.had("/p/src/a.rs", "1234") && !arrivals.had("/p/src/b.rs", "1234"));
        assert!(arrivals.is_about(7) && !arrivals.is_about(8));
        let many: Vec<String> = (0..5_000).map(|number| format!("/p/{number}")).collect();
        arrivals.bring(&many, "/p");
        assert_eq!(arrivals.above("/p/anything"), Some("/p"));
    }
}
