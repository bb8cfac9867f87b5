//! How well a call was understood.

use crate::words;

words! {
    /// From understood to not understood.
    Degree {
        Full = "full" : "every word was understood",
        Delegated = "delegated" : "runs a recipe of a trusted project that is unchanged since it was trusted",
        Unknown = "unknown" : "literal words, but a program, subcommand or flag that is not known",
        Opaque = "opaque" : "dynamic, obfuscated, unparsable or cut off",
    }
}
