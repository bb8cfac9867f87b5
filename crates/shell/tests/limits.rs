//! Hostile input ends in an error, soon, and on a small stack.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at the first surprise"
)]

use std::thread;
use std::time::{Duration, Instant};

use doorward_shell::{Dialect, ErrorKind, Parse, parse};

const STACK: usize = 448 * 1024;

/// Parses on a small stack and drops the tree there.
fn on_small_stack(text: String) -> (Option<ErrorKind>, Duration) {
    let work = move || {
        let started = Instant::now();
        let Parse { script, error } = parse(&text, Dialect::Bash);
        drop(script);
        (error.map(|error| error.kind), started.elapsed())
    };
    thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap()
}

#[track_caller]
fn check(name: &str, text: String) {
    let (error, time) = on_small_stack(text);
    assert!(error.is_some(), "{name} was understood");
    let limit = if cfg!(debug_assertions) { 2_000 } else { 50 };
    assert!(time < Duration::from_millis(limit), "{name} took {time:?}");
}

#[test]
fn deep_nesting_is_an_error() {
    let openers = [
        "$(",
        "(",
        "((",
        "$((",
        "${x:-",
        "\"$(",
        "\"${x:-",
        "{ ",
        "if ",
        "<(",
        "[[ ( ",
        "$[",
        "a[$(",
        "a=(",
        "case $(",
        "f() { ",
        "while ",
        "\"`",
        "$(( $(",
        "(($(",
        "@(",
        "${a[",
        "for ((;;)) { ",
        "`echo \\`",
        "[[ a =~ (",
        "${x:$((",
        "<<E $(",
        "$(<<E\n",
        "function f ",
        "${x/$(",
        "\"$((",
        "x=$((",
        "case x in (",
        "${",
        "$((a[$(",
        "((($((",
    ];
    for opener in openers {
        for count in [200, 5_000] {
            check(opener, opener.repeat(count));
        }
    }
}

#[test]
fn long_but_flat_text_is_read_in_time() {
    for piece in [
        "echo {a,", "[", "{", "! ", "time ", "coproc ", "~", "[[", "a|", "a&&", "}", "a{b,c}", "$x", "\"a\"", "=",
        ">f ", "$'a'",
    ] {
        let (_, time) = on_small_stack(piece.repeat(5_000));
        assert!(time < Duration::from_secs(2), "{piece:?} took {time:?}");
    }
}

#[test]
fn nested_backticks_are_bounded() {
    let mut text = "ls".to_owned();
    for _ in 0..12 {
        text = format!("echo `{}`", text.replace('\\', "\\\\").replace('`', "\\`"));
    }
    let (_, time) = on_small_stack(text);
    assert!(time < Duration::from_secs(2), "{time:?}");
}

#[test]
fn very_many_words_are_an_error() {
    check("arguments", "a ".repeat(50_000));
    check("elements", format!("x=({})", "a ".repeat(50_000)));
    check("braces", "{a,".repeat(2_000) + &"}".repeat(2_000));
    check("loop words", format!("for x in {}; do ls; done", "a ".repeat(50_000)));
}

#[test]
fn unfinished_constructs_are_errors() {
    for text in [
        "a[".repeat(50_000),
        "[".repeat(100_000) + " ]]",
        "$(( ".repeat(20_000),
        "'\"".repeat(30_000) + "'",
        "${".repeat(50_000),
    ] {
        check("unfinished", text);
    }
}

/// The sizes differ by 64: quadratic work would take 4,096 times as long.
#[test]
fn time_grows_with_the_length() {
    let seeds = [
        "echo a b c; ",
        "echo \"$x ${y:-z}\" 'q' $(date); ",
        "a=$((1+2)); ",
        "[ -f x ] && y; ",
        "x=`date`; ",
        "echo {a,b}{c,d} [a-z]* ~; ",
        "cat <<E\n$x $(ls)\nE\n",
        "((i++)); ",
        "(a; b) | { c; }; ",
        "a[1]=b; ",
        "echo [[[[ ",
        "echo $(( (1) )); ",
        "cat <<'E'\ntext\nE\n",
        "f() { ls; }; ",
        "case x in a) b;; esac; ",
        "echo $((ls) | cat); ",
        "${a[1]} ",
        "# comment\n",
        "\\\n",
        "echo \\a\\b\\c; ",
        "arr=(a b c); ",
        "a[ ",
        "x=([ ",
    ];
    for seed in seeds {
        let small = fastest(&seed.repeat(4 * 1024 / seed.len()));
        let large = fastest(&seed.repeat(124 * 1024 / seed.len()));
        let ratio = large.as_secs_f64() / small.as_secs_f64().max(20e-6);
        assert!(ratio < 1_000.0, "{seed:?}: {small:?} then {large:?}");
    }
}

fn fastest(text: &str) -> Duration {
    let time = || {
        let started = Instant::now();
        let parse = parse(text, Dialect::Bash);
        let time = started.elapsed();
        drop(parse);
        time
    };
    (0..3).map(|_| time()).min().unwrap_or_default()
}
