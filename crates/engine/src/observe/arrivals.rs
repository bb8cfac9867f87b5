//! What a call brings into the project unread: kept with the facts, so that later calls know.

use crate::path;

/// More places are summed up by the directory above them.
// A clone or an archive brings thousands of files; the list travels with the session and is searched on every later
// call.
const PLACES: usize = 200;

/// The places inside the project, each once and none below another, as few as a record should hold.
pub(super) fn bounded(mut places: Vec<String>, project: Option<&str>) -> Vec<String> {
    let Some(project) = project else { return Vec::new() };
    places.retain(|place| path::under(place, project));
    while places.len() > PLACES {
        let up = |place: String| if place == project { place } else { path::parent(&place).to_owned() };
        places = places.into_iter().map(up).collect();
        places.sort_unstable();
        places.dedup();
    }
    places.sort_unstable();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::bounded;

    #[test]
    fn many_places_become_their_directories() {
        let few = vec!["/p/b".to_owned(), "/p/a".to_owned(), "/q/c".to_owned(), "/p/a".to_owned()];
        assert_eq!(bounded(few, Some("/p")), ["/p/a", "/p/b"]);
        let many = (0..1_000).map(|number| format!("/p/src/{number}.rs")).collect();
        assert_eq!(bounded(many, Some("/p")), ["/p/src"]);
        assert_eq!(bounded(vec!["/p/a".to_owned()], None), Vec::<String>::new());
    }
}
