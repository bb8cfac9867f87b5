//! Any text: no panic, spans on characters of the text, and an understood tree survives printing.
#![no_main]

use doorward_shell::{Command, Dialect, Script, Span, hidden, lookalike, parse, print, walk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let first = parse(text, Dialect::Bash);
    let _ = parse(text, Dialect::Sh);
    spans(text, &first.script);
    if let Some(error) = first.error {
        within(text, error.span);
    } else {
        let printed = print(&first.script);
        let second = parse(&printed, Dialect::Bash);
        // A printed text is longer, so it may meet a limit that the first one did not.
        if second.error.is_none_or(|error| !error.to_string().contains("too ")) {
            assert_eq!(second.error, None, "printed as {printed:?}");
            assert_eq!(shape(&second.script), shape(&first.script), "printed as {printed:?}");
        }
    }
    if let Some(found) = hidden(text) {
        within(text, found.span);
    }
    let _ = lookalike(text);
});

fn within(text: &str, span: Span) {
    assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} in {text:?}");
}

fn spans(text: &str, script: &Script) {
    walk(script, &mut |command: &Command| {
        within(text, command.span);
        command.redirects.iter().for_each(|redirect| within(text, redirect.span));
    });
}

/// A tree as text, without the spans.
fn shape(script: &Script) -> String {
    let text = format!("{script:?}");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("Span { start: ") {
        out.push_str(&rest[..at]);
        rest = rest[at..].split_once('}').map_or("", |(_, after)| after);
    }
    out + rest
}
