//! Paths as text: joined, tidied and compared without looking at any disk.

/// `path` if it is absolute, otherwise `path` inside `directory`.
pub fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let mut joined = String::with_capacity(directory.len() + path.len() + 1);
    joined.push_str(directory);
    if !directory.ends_with('/') {
        joined.push('/');
    }
    joined.push_str(path);
    joined
}

/// Resolves `.`, `..` and repeated slashes by text alone. The result has no trailing slash.
pub fn lexical(path: &str) -> String {
    let has_dots = || path.as_bytes().windows(2).any(|pair| matches!(pair, [b'/', b'/' | b'.']));
    if path.starts_with('/') && !path.ends_with('/') && !has_dots() {
        return path.to_owned();
    }
    let mut kept: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            name => kept.push(name),
        }
    }
    let mut result = String::with_capacity(path.len() + 1);
    for component in kept {
        result.push('/');
        result.push_str(component);
    }
    if result.is_empty() {
        result.push('/');
    }
    result
}

/// `path` is `directory` or lies below it, at a component boundary.
pub fn under(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    match path.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// The last component.
pub fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// The path without its last component.
pub fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rfind('/') {
        Some(0) | None => "/",
        Some(at) => path.get(..at).unwrap_or("/"),
    }
}

/// Some part of the path is a flag to whoever lists it, or becomes a flag or another path when it is split at its blanks.
pub fn looks_like_words(path: &str) -> bool {
    let blank = |character: char| character.is_whitespace();
    path.split('/').any(|part| {
        part.starts_with('-') || part.split(blank).skip(1).any(|word| word.len() > 1 && word.starts_with('-'))
    }) || path.split(blank).skip(1).any(|word| word.starts_with(['/', '~']))
}
