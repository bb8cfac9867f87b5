//! Hostile input ends in an error, soon, and on a small stack.
use std::thread;

use doorward_shell::{Dialect, ErrorKind, Parse, parse};

const STACK: usize = 448 * 1024;

/// Parses on a small stack and drops the tree there; yields the error and the work.
fn on_small_stack(text: String) -> (Option<ErrorKind>, usize) {
    let parse_and_drop = move || {
        let Parse { script, error, work } = parse(&text, Dialect::Bash);
        drop(script);
        (error.map(|error| error.kind), work)
    };
    thread::Builder::new().stack_size(STACK).spawn(parse_and_drop).unwrap().join().unwrap()
}

/// Two passes over the text, each with what the parser grants itself.
fn most(length: usize) -> usize {
    2 * (17 * length + 65_536)
}

#[track_caller]
fn check(name: &str, text: String) {
    let length = text.len();
    let (error, work) = on_small_stack(text);
    assert!(error.is_some(), "{name} was understood");
    assert!(work <= most(length), "{name}: {work} bytes read of {length}");
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
fn long_but_flat_text_is_read_a_few_times_at_most() {
    for piece in [
        "echo {a,", "[", "{", "! ", "time ", "coproc ", "~", "[[", "a|", "a&&", "}", "a{b,c}", "$x", "\"a\"", "=",
        ">f ", "$'a'", "$x{",
    ] {
        let (_, work) = on_small_stack(piece.repeat(5_000));
        assert!(work <= most(5_000 * piece.len()), "{piece:?}: {work} bytes read");
    }
}

#[test]
fn nested_backticks_are_bounded() {
    let mut text = "ls".to_owned();
    for _ in 0..12 {
        text = format!("echo `{}`", text.replace('\\', "\\\\").replace('`', "\\`"));
    }
    let length = text.len();
    let (_, work) = on_small_stack(text);
    assert!(work <= most(length), "{work} bytes read of {length}");
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

/// The sizes differ by 31: quadratic work would be 961 times as much.
#[test]
fn work_grows_with_the_length() {
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
        let small = work(&seed.repeat(4 * 1024 / seed.len()));
        let large = work(&seed.repeat(124 * 1024 / seed.len()));
        assert!(small > 0 && large <= 40 * small, "{seed:?}: {small} then {large} bytes read");
    }
}

fn work(text: &str) -> usize {
    parse(text, Dialect::Bash).work
}
