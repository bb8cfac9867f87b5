//! What is wrong with a configuration, and what to do about it, in two sentences that fit the prompt.

use super::shorten::shortened;
use super::{Explanation, REASON};

/// The problem names a file and, after a semicolon, the remedy, which always gets its room.
pub(crate) fn of_problem(problem: &str, home: Option<&str>) -> Explanation {
    // Abbreviate the home directory.
    let short = home.filter(|home| home.len() > 1).map(|home| problem.replace(&format!("{home}/"), "~/"));
    let plain = without_excerpt(short.as_deref().unwrap_or(problem));
    match plain.rsplit_once("; ") {
        Some((what, way)) => {
            let room = REASON.saturating_sub(way.chars().count());
            Explanation { reason: shortened(what, room), way: Some(way.to_owned()) }
        }
        None => Explanation { reason: plain, way: None },
    }
}

/// A TOML parser error without the quoted lines: one line of a prompt can't point at a column.
fn without_excerpt(problem: &str) -> String {
    let Some((before, error)) = problem.split_once("TOML parse error at ") else { return problem.to_owned() };
    let line = error.split_whitespace().collect::<Vec<_>>().join(" ");
    match (line.split_once(" |"), line.rsplit_once("^ ")) {
        (Some((place, _)), Some((_, message))) => format!("{before}{place}: {message}"),
        (Some(_) | None, Some(_) | None) => problem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_has_its_room() {
        let error =
            "TOML parse error at line 1, column 8\n  |\n1 | mode = = auto\n  |        ^\nextra `=`, expected nothing\n";
        let problem =
            |error: &str| format!("`/home/me/c.toml` is not a configuration: {}; fix or remove it", error.trim_end());
        let told = of_problem(&problem(error), Some("/home/me"));
        assert_eq!(told.reason, "`~/c.toml` is not a configuration: line 1, column 8: extra `=`, expected nothing");
        assert_eq!(told.way.as_deref(), Some("fix or remove it"));
        let told = of_problem(&problem(&"no ".repeat(200)), Some("/home/me"));
        assert!(told.reason.chars().count() <= REASON && told.way.is_some(), "{told:?}");
    }
}
