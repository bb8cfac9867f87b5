//! Authenticated JSON: a value, a line end, and a code over the name and the value.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

use crate::hash::{hex, unhex};
use crate::key::StateKey;
use crate::private::{self, FileError};

/// The bytes of a file that only the holder of the key can have written under this name.
pub(crate) fn encode<T: Serialize>(key: &StateKey, path: &Path, name: &str, value: &T) -> Result<Vec<u8>, FileError> {
    let mut bytes = serde_json::to_vec(value).map_err(|_| private::damaged(path, "it cannot be written as JSON"))?;
    let code = hex(&key.code(name, &bytes));
    bytes.extend_from_slice(b"\n");
    bytes.extend_from_slice(code.as_bytes());
    Ok(bytes)
}

/// The value in such a file.
pub(crate) fn decode<T: DeserializeOwned>(
    key: &StateKey,
    path: &Path,
    name: &str,
    bytes: &[u8],
) -> Result<T, FileError> {
    let damaged = |why| private::damaged(path, why);
    // The last line end: the JSON itself is written without any.
    let cut = bytes.iter().rposition(|byte| *byte == b'\n').ok_or_else(|| damaged("it has no authentication code"))?;
    let (body, code) = bytes.split_at_checked(cut).ok_or_else(|| damaged("it has no authentication code"))?;
    let code = code.strip_prefix(b"\n").and_then(|code| std::str::from_utf8(code).ok());
    let code = code.and_then(unhex::<32>).ok_or_else(|| damaged("it has no authentication code"))?;
    if !key.accepts(name, body, &code) {
        return Err(damaged("it was not written with this key"));
    }
    serde_json::from_slice(body).map_err(|_| damaged("it doesn't have the expected fields"))
}
