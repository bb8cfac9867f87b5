//! Random words.

/// Random bytes as hexadecimal digits; `None` if the system has none to give.
#[must_use]
pub fn random_hex(bytes: usize) -> Option<String> {
    let mut buffer = vec![0; bytes];
    getrandom::fill(&mut buffer).ok()?;
    Some(buffer.iter().map(|byte| format!("{byte:02x}")).collect())
}
