//! A tree as text that parses to the same tree.
