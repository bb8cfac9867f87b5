//! What a session limit says about a call, in a sentence.

use doorward_engine::{Opinion, Source};

/// The way out after many denials.
pub(super) const RESET: &str = "`doorward reset` resets the count";

/// The breaker: after many denials doorward pauses for the user.
pub(super) fn counts_denials(opinion: &Opinion) -> bool {
    opinion.source == Source::Limit && opinion.because.contains(" denied")
}

/// What follows "because", without the names of settings, which `--explain` shows.
pub(super) fn explain_limit(because: &str) -> String {
    let plain = because.rsplit_once(" (`").map_or(because, |(plain, _)| plain);
    match plain.split_once("; ") {
        Some((denied, _)) if denied.contains(" denied") => denied.to_owned(),
        Some((reads, limit)) => format!("there were {reads}, and {limit}"),
        None => format!("this {plain}"),
    }
}

#[cfg(test)]
mod tests {
    use super::explain_limit;

    #[test]
    fn limits_are_sentences() {
        let cases = [
            (
                "5 calls were denied in a row; from 3 on, you decide (`denials_in_a_row`)",
                "5 calls were denied in a row",
            ),
            (
                "20 calls of this session were denied; from 20 on, you decide (`denials`)",
                "20 calls of this session were denied",
            ),
            (
                "61 reads in the last minute; the limit is 60 a minute (`reads_per_minute`)",
                "there were 61 reads in the last minute, and the limit is 60 a minute",
            ),
            (
                "deletes or edits 25 tracked files at once, more than the limit of 20",
                "this deletes or edits 25 tracked files at once, more than the limit of 20",
            ),
        ];
        for (because, sentence) in cases {
            assert_eq!(explain_limit(because), sentence);
        }
    }
}
