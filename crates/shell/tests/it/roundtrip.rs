//! Printing a tree and parsing it again yields the same tree.

use doorward_shell::{Command, Dialect, parse, print, walk};

use crate::support::{Generator, shape};

#[track_caller]
fn check(text: &str) {
    let first = parse(text, Dialect::Bash);
    walk(&first.script, &mut |command: &Command| {
        let span = command.span.start as usize..command.span.end as usize;
        assert!(text.get(span).is_some(), "{:?} in {text:?}", command.span);
    });
    if first.error.is_some() {
        return;
    }
    let printed = print(&first.script);
    let second = parse(&printed, Dialect::Bash);
    assert_eq!(second.error, None, "{text:?} printed as {printed:?}");
    assert_eq!(shape(&second.script), shape(&first.script), "{text:?} printed as {printed:?}");
}

#[test]
fn generated_programs_survive_printing() {
    let mut generator = Generator::new(7);
    for _ in 0..5_000 {
        check(&generator.program());
    }
}

#[test]
fn token_soup_survives_printing() {
    let mut generator = Generator::new(11);
    for _ in 0..20_000 {
        check(&generator.soup());
    }
}

#[test]
#[ignore = "takes some minutes"]
fn a_million_programs_survive_printing() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1_000);
    let mut generator = Generator::new(seed);
    for _ in 0..500_000 {
        check(&generator.program());
        check(&generator.soup());
    }
}

#[test]
fn odd_spellings_survive_printing() {
    for text in [
        "! ! ",
        "time",
        ">f if",
        "a=1 then",
        "cat <<-E\n\tx\n\tE\n",
        "cat <<'it''s'\nx\nits\n",
        "echo a$\\b",
        "echo \"$\"'x'",
        "echo ${x:-'}'}",
        "echo \"${x:-it\\'s}\"",
        "echo \"${x/\\}/z}\"",
        "echo ${x///a}",
        "echo ${x/#a/b}",
        "echo ${x###}",
        "$((ls) | cat)",
        "echo $[ 1+2 ]",
        "echo ~a\\\nb",
        "echo {a},b}",
        "f() (ls)",
        "[[ a =~ (x y|z)$ ]]",
        "coproc x { ls; }",
        "echo $(coproc ls)",
        "declare -a x=(1 2) y",
        "a[1 + 2]=(x)",
        "cat <<A <<B\na\nA\nb\nB",
        "echo ${a[@]} ${#a[*]} ${!p*}",
        "cat <<E\n$(\nE x\n)\nE",
        "echo $'\\n\\'' \\",
        "case x in (esac) a;; esac",
        "echo ${x: -3}",
        "echo \"${x:-\"a b\"c}\"",
        "e {\"a\"@f\"${v:-a b}\"",
        "e {a,${v:-$x}}",
        "e {a,\"${v:-<}\"}",
        "e {a,\"${v:-it\\'s}\"}",
        "e {a,\"${v[-1]}\"}",
        "e {a,\"${v:(-1)}\"}",
        "e $f{,.bak}",
        "e \"$(a $} \"b\")\"{c}",
        "time a=(b) c",
        "echo $(((a \"\\$v\\\"\")0] ))",
    ] {
        check(text);
    }
}
