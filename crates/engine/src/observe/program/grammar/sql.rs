//! SQL on the command line: whether a text only reads.

/// Every statement of the text is a query without effects.
pub fn reads_only(text: &str) -> bool {
    let statements: Vec<&str> = text.split(';').map(str::trim).filter(|statement| !statement.is_empty()).collect();
    !statements.is_empty() && statements.iter().all(|statement| {
        let first = statement.split(|character: char| !character.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
        matches!(first.as_str(), "select" | "show" | "describe" | "desc" | "explain") && !statement.to_ascii_lowercase().contains("into")
    })
}
