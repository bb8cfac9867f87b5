//! How well a call was understood.

use crate::words;

words! {
    /// From understood to not understood.
    Degree {
        Full = "full" : "every word was understood",
        Delegated = "delegated" : "runs a recipe of a trusted project, unchanged since you trusted it",
        Unknown = "unknown" : "plain words, but a program, subcommand or flag doorward doesn't know",
        Opaque = "opaque" : "dynamic, obfuscated, cut off, or impossible to parse",
    }
}
