//! Characters that a reader does not see, or that change what a reader sees.
