//! Formats of `tmux`: `#{name}` prints, `#(command)` runs, and some modifiers expand what an option holds.

use doorward_vocabulary::Degree;

use super::super::Invocation;
use crate::observe::field::Field;
use crate::observe::program::findings::Findings;

/// Takes back *opaque* from formats, and the run of code from messages, that only print.
pub(super) fn tmux(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    for given in invocation.args.given.iter_mut().filter(|given| given.name == "-F" && given.changes.opaque) {
        if given.value.as_ref().and_then(Field::exact).is_some_and(prints_only) {
            given.changes.opaque = false;
        }
    }
    let words =
        || invocation.args.operands.iter().chain(invocation.args.given.iter().filter_map(|given| given.value.as_ref()));
    if words().any(|field| field.text.ends_with(';')) {
        found.doubt(Degree::Opaque, "several tmux commands in one");
    }
    if words().any(|field| !prints_only(&field.text)) {
        found.doubt(Degree::Opaque, "a tmux format that may run a command");
    }
    let is_message =
        invocation.args.entry().is_some_and(|entry| matches!(&*entry.key, "tmux display-message" | "tmux display"));
    let prints = words().all(|field| field.exact().is_some_and(prints_only));
    if is_message && prints && !invocation.args.has("-I") {
        invocation.does.clear();
    }
    found
}

/// Variables and conditions, no command, and no modifier that expands the content of an option again.
fn prints_only(format: &str) -> bool {
    let mut inside = 0u32;
    let mut before = ' ';
    for character in format.chars() {
        match (before, character) {
            ('#', '(') => return false,
            ('#', '{') => inside += 1,
            (_, '}') => inside = inside.saturating_sub(1),
            (_, 'E' | 'T') if inside > 0 => return false,
            (_, _) => {}
        }
        before = character;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::prints_only;

    #[test]
    fn formats_print_unless_they_run_or_expand() {
        for text in ["#{session_name}:#{window_index}", "#S #W", "plain", "#{?pane_active,yes,no} #{pane_pid}"] {
            assert!(prints_only(text), "{text}");
        }
        for text in ["#(id)", "a #(id) b", "#{E:status-left}", "#{T:status-right}", "#{?x,#(id),}", "#{l;E:@x}"] {
            assert!(!prints_only(text), "{text}");
        }
    }
}
