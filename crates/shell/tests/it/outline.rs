//! How a tree is shown to a person.
use doorward_shell::{Dialect, outline, parse};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let parse = parse(text, Dialect::Bash);
    assert_eq!(parse.error, None, "{text:?}");
    let shown: Vec<String> =
        outline(&parse.script).iter().map(|line| "  ".repeat(line.depth) + line.text.as_str()).collect();
    assert_eq!(shown, expected, "{text:?}");
}

#[test]
fn lists_and_pipelines() {
    check("cd x && r\\m -rf 'a b' | cat; ls &", &["cd x", "&& rm -rf 'a b'", "| cat", "ls", "& (in the background)"]);
    check("! time a |& b || c", &["time ! a", "|& b", "|| c"]);
}

#[test]
fn substitutions_have_lines_of_their_own() {
    check(
        "a=$(b) c \"${x:-`d`}\" > $(e) <<E\n$(f)\nE",
        &[
            "a=$(…) c \"${x:-$(…)}\" > $(…) << E",
            "  (…) runs",
            "    b",
            "  (…) runs",
            "    d",
            "  (…) runs",
            "    e",
            "  (…) runs",
            "    f",
        ],
    );
}

#[test]
fn compound_commands() {
    check(
        "for f in a b; do (cd /; rm $f); done > log",
        &["for f in a b", "  subshell", "    cd /", "    rm ${f}", "  > log"],
    );
    check(
        "if a; then b; elif c; then d; else e; fi",
        &["if", "  a", "then", "  b", "else if", "  c", "then", "  d", "else", "  e"],
    );
    check("case $x in a|b) c;; esac", &["case ${x}", "  if it is a b", "    c"]);
    check("f() { a; }; while b; do c; done", &["function f", "  group", "    a", "while", "  b", "do", "  c"]);
    check(
        "[[ -n $(a) ]] && ((x = $(b)))",
        &["[[ -n $(…) ]]", "  (…) runs", "    a", "&& ((x = $(…)))", "  (…) runs", "    b"],
    );
}
