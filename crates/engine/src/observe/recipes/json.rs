//! JSON with comments, as some tools write their settings.

/// The text without comments that stand on lines of their own.
pub(super) fn plain(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}
