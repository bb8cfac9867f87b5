//! Words as text.
