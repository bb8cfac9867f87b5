//! What each key of `review` does, in words: for the help on the screen and for the documentation.

/// A key and what it does.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("y", "approve this call once; where the list says `typed` or `twice`, you type its target"),
    ("n", "refuse it, and every repeat folded into its line"),
    ("t", "trust this project: shows harmful recipes, then you type its name"),
    ("a", "always allow exactly this call: shows the rule and its effect, then you type `always`"),
    ("e", "explain: scope and reach of each effect, session, decision, pattern"),
    ("/", "show only calls that contain a text; Esc shows all"),
    ("↑ ↓, k j", "choose a call"),
    ("space, b", "scroll the call down, up by one screen"),
    ("g, G", "jump to its start, to its end"),
    ("?", "this help"),
    ("q, Ctrl-C", "quit"),
];

/// The keys at the foot of the screen.
pub(super) const SHORT: &str = "y approve once · n refuse · t trust · a always · e explain · / filter · ? help";
