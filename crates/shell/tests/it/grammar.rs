//! Which commands a program holds, one program a line.
use doorward_shell::{Dialect, ErrorKind, Other, command_names, parse};

/// `text` is understood and holds these commands in this order.
#[track_caller]
fn check(text: &str, names: &str) {
    let parse = parse(text, Dialect::Bash);
    assert_eq!(parse.error, None, "{text:?}");
    assert_eq!(command_names(&parse.script).join(" "), names, "{text:?}");
}

/// `text` is refused for this reason; these commands were seen before.
#[track_caller]
fn refuse(text: &str, reason: &str, names: &str) {
    let parse = parse(text, Dialect::Bash);
    assert_eq!(parse.error.map(|error| error.to_string()).as_deref(), Some(reason), "{text:?}");
    assert_eq!(command_names(&parse.script).join(" "), names, "{text:?}");
}

#[test]
fn lists_and_pipelines() {
    check("a && b || c; d & e |& f\ng", "a b c d e f g");
    check("! a | b", "a b");
    check("! ! a; time -p b; time ! c; time", "a b c");
    check("a |\n# comment\nb &&\n\nc", "a b c");
    check("ls | time id", "ls time");
    check("", "");
    check(" # only a comment", "");
}

#[test]
fn compound_commands() {
    check("if a; then b; elif c; then d; else e; fi >f", "a b c d e");
    check("if (a) then b; fi", "a b");
    check("while a; do b; done; until c; do d; done", "a b c d");
    check("for x in $(a) b; do c; done; for x; do d; done; for x do e; done; for x in a; { f; }", "a c d e f");
    check("select x in a; do b; done", "b");
    check("for ((i=$(a);i<3;i++)); do b; done", "a b");
    check("case $(a) in x|y) b;; (z) c ;& *) d ;;& esac", "a b c d");
    check("case x in esac", "");
    check("{ a; } && ( b ) && ( ( c ) )", "a b c");
    check("{ { a; } } | { (b) }", "a b");
    check("f() { a; }; function g { b; }; function h () ( c ); f", "a b c f");
    check("coproc a; coproc N { b; }; coproc (c)", "a b c");
    check("[[ $(a) == x* && ( -f y || ! -d `b` ) ]] && c", "a b c");
    check("[[ $x =~ ^(a|b c)$ ]] && d", "d");
    check("[[ a < b && c > d ]]", "");
    check("((x = $(a) + 1)); ((b) | c)", "a b c");
}

#[test]
fn substitutions_at_every_site() {
    for text in [
        "e $(a)",
        "e \"$(a)\"",
        "e `a`",
        "e \"`a`\"",
        "e ${x:-$(a)}",
        "e \"${x:-$(a)}\"",
        "e ${x#$(a)}",
        "e ${x//$(a)/b}",
        "e ${x/b/$(a)}",
        "e ${x:$(a)}",
        "e ${x:0:$(a)}",
        "e ${x[$(a)]}",
        "e ${x^$(a)}",
        "e $(( $(a) ))",
        "e $[ $(a) ]",
        "e <(a)",
        "e >(a)",
        "e >$(a)",
        "e <<<$(a)",
        "e <<E\n$(a)\nE",
        "e <<E\n${x:-$(a)}\nE",
        "e <<E\n`a`\nE",
        "e {x,$(a)}",
        "e \"${x:-\"$(a)\"}\"",
        "e x$(a)y",
        "e $\"$(a)\"",
        "e [$(a)]",
        "e ${ a; }",
        "e ${| a; }",
        "e $((a) )",
        "e $(# c\na)",
        "e $(case x in x) a;; esac)",
        "e ~$(a)",
        "e \"${x:-'$(a)'}\"",
        "e ${x?$(a)}",
        "e ${!x:-$(a)}",
        "e $(( y[$(a)] ))",
        "e {fd}>$(a)",
    ] {
        check(text, "e a");
    }
    check("x=$(a) y=`b` z[$(c)]=d w=($(e) [$(f)]=$(g))", "a b c e f g");
    check("declare x=$(a) y=($(b))", "declare b a");
}

#[test]
fn names_are_resolved() {
    for text in [
        "rm",
        "'rm'",
        "\"rm\"",
        "\\rm",
        "r\\m",
        "r''m",
        "$'rm'",
        "$'\\x72m'",
        "$'r\\155'",
        "$'\\u0072m'",
        "$\"rm\"",
        "r\\\nm",
        "$'\\U72m'",
    ] {
        check(text, "rm");
    }
    check("{rm,-rf,x}", "rm rm -rf x");
    check("a=1 b+=2 >f rm", "rm");
    check("2>&1 rm", "rm");
    check(">&-rm x; <& -rm", "rm rm");
}

#[test]
fn here_documents() {
    check("a <<E; b\n$(c)\nE\nd", "a c b d");
    check("a <<'E'\n$(c)\nE\nd", "a d");
    check("a <<\\E\n`c`\nE\nd", "a d");
    check("a <<-E\n\t$(c)\n\tE\nd", "a c d");
    check("a <<A <<B\n$(c)\nA\n$(d)\nB\ne", "a c d e");
    check("a <<E\nx\\\nE\nE\nb", "a b");
    check("a <<E\n\\$(c)\nE", "a");
    check("a <<E\nnever ends $(b)", "a b");
    check("a $(b <<E\n$(c)\nE\n)", "a b c");
    check("a <<A\n$(b <<B\n$(c)\nB\n)\nA\n", "a b c");
}

#[test]
fn reserved_words_are_words_elsewhere() {
    check("echo if then fi } { ! [[ time", "echo");
    check("'if' a; \\time b; >f if", "if time if");
    check("echo a#b; echo $#", "echo echo");
}

#[test]
fn errors_keep_what_came_before() {
    refuse("rm x\nls )", "this is not valid shell syntax", "rm ls");
    refuse("rm x; echo $(ls", "the text ends before `)`", "rm ls echo");
    refuse("{ rm x; ls", "the text ends before `}`", "rm ls");
    refuse("rm x\0ls", "the text contains a NUL byte", "rm");
    refuse("echo \"a", "the text ends before `\"`", "echo");
    refuse("if a; then", "this is not valid shell syntax", "a");
    refuse("cat <<$(a)\n", "the delimiter of a here document can be read in more than one way", "a cat");
    for text in [
        "e {a,${v:-{b,c}}",
        "e {a,\"${v:-\"}\"}\"}",
        "e {a,@(b,c)}",
        "e $x{a,b}",
        "e {a,$x}b",
        "e ~{a,b}",
        "e $(time { a; })",
        "e $(time a=(b) c)",
        "e $((a) | # $(case x in x) b;; esac) $(c)\nd)",
        "((a # $(case x in x) b;; esac) $(c)\n) | d)",
        "e {a,\"`b \"c\"`\"}",
        "((\"`\\\"a\\\"`\"))",
    ] {
        assert!(parse(text, Dialect::Bash).error.is_some(), "{text:?}");
    }
    refuse("!(a)", "`!(` can be read in more than one way", "");
    refuse("ls &&", "a command is missing here", "ls");
    for text in [
        ";",
        "| a",
        "a ;; b",
        "a | | b",
        "fi",
        "then a",
        "(a",
        "a (",
        "a (b)",
        "f() {",
        "[[ a",
        "((1+2)",
        "in",
        "a | ! b",
        "a=(b",
        "() { a; }",
    ] {
        assert!(parse(text, Dialect::Bash).error.is_some(), "{text:?}");
    }
}

#[test]
fn other_shells_are_named() {
    for (other, texts) in [
        (
            Other::Zsh,
            &[
                "echo ${(U)x}",
                "for f (*.log) rm $f",
                "ls &| cat",
                "ls *(e:'rm x':)",
                "ls *(+f)",
                "noglob rm x",
                "repeat 3 ls",
                "{ ls } always { rm x }",
                "diff =(a) =(b)",
            ] as &[&str],
        ),
        (
            Other::Fish,
            &[
                "if test -f x; rm x; end",
                "ls; and rm x",
                "begin; rm x; end",
                "set x (ls)",
                "function f; rm x; end",
                "while true; rm x; end",
            ],
        ),
        (
            Other::PowerShell,
            &[
                "Get-ChildItem | ForEach-Object { $_.Name }",
                "$x = 1",
                "$env:PATH = 'x'",
                "if ($a -eq 1) { rm x }",
                "foreach ($f in $x) { rm $f }",
                "[System.IO.File]::Delete('x')",
                "ls | % { rm $_ }",
                "echo `Get-Date`",
            ],
        ),
        (
            Other::Cmd,
            &[
                "@echo off\nif exist x (del x)",
                "for %f in (*) do del %f",
                "FOR /F %i IN (x) DO del %i",
                "del /q x",
                "rd /s /q x & dir",
                "rem x",
            ],
        ),
    ] {
        for text in texts {
            assert_eq!(
                parse(text, Dialect::Bash).error.map(|error| error.kind),
                Some(ErrorKind::OtherDialect(other)),
                "{text:?}"
            );
        }
    }
}

#[test]
fn what_follows_a_command_for_another_shell_is_read() {
    for text in ["Get-Date; rm x", "end; rm x", "ls *(e:y:); rm x", "echo `and`; rm x"] {
        let parse = parse(text, Dialect::Bash);
        assert!(parse.error.is_some(), "{text:?}");
        assert!(command_names(&parse.script).contains(&"rm".to_owned()), "{text:?}");
    }
    for text in ["ls *(a|e:b)", "ls +(e)", "del x", "end() { ls; }", "echo and or end", "x=1 y"] {
        assert_eq!(parse(text, Dialect::Bash).error, None, "{text:?}");
    }
}

#[test]
fn plain_sh_refuses_what_only_bash_reads() {
    for text in
        ["a=(b)", "echo <(a)", "a |& b", "a <<<b", "echo @(a|b)", "for ((;;)); do a; done", "a >&f", "f-g() { a; }"]
    {
        assert_eq!(parse(text, Dialect::Sh).error.map(|error| error.kind), Some(ErrorKind::Refused), "{text:?}");
    }
    for text in [
        "a && b | c",
        "if a; then b; fi 2>&1",
        "x=$(a) b ${x:-y}",
        "cat <<E\n$x\nE",
        "f() { a; }",
        "time a",
        "find . -exec a {} +",
    ] {
        assert_eq!(parse(text, Dialect::Sh).error, None, "{text:?}");
        assert_eq!(parse(text, Dialect::Zsh).error, None, "{text:?}");
    }
}

/// The commands that each shell finds in a text that they do not read alike.
#[test]
fn each_shell_finds_its_own_commands() {
    for (text, dialect, expected) in [
        ("((a b))", Dialect::Bash, &[][..]),
        ("((a b))", Dialect::Sh, &["a"]),
        ("[[ a > b ]]", Dialect::Bash, &[]),
        ("[[ a > b ]]", Dialect::Sh, &["[["]),
        ("a $'\\'; b #'", Dialect::Bash, &["a"]),
        ("a $'\\'; b #'", Dialect::Sh, &["a", "b"]),
        ("a &> b c", Dialect::Bash, &["a"]),
        ("a &> b c", Dialect::Sh, &["a", "c"]),
        ("function f {\na\n}", Dialect::Sh, &["function", "a"]),
        ("a+=b c", Dialect::Sh, &["a+=b"]),
        ("a {b,c}", Dialect::Sh, &["a"]),
        ("a >! b", Dialect::Zsh, &["a"]),
    ] {
        assert_eq!(command_names(&parse(text, dialect).script), expected, "{text:?} {dialect:?}");
    }
}

#[test]
fn zsh_writes_where_it_says_and_refuses_what_bash_reads_otherwise() {
    let parsed = parse("a >! b", Dialect::Zsh);
    let target = format!("{:?}", parsed.script);
    assert!(parsed.error.is_none() && target.contains("\"b\"") && !target.contains("\"!\""), "{target}");
    for text in ["=a b", "a $=b", "a <1-5>c", "a ~[b]", "a *(e:b:)", "a @(b)", "a ${b::=c}", "a $'\\q'", "a $12"] {
        assert!(parse(text, Dialect::Zsh).error.is_some(), "{text:?}");
    }
    for text in ["a *(.N)", "[ a == b ]", "a $b:c", "a \"$b[1]\"", "a {b,c} <(d) &>e", "[[ a == b ]]", "((a++))"] {
        assert_eq!(parse(text, Dialect::Zsh).error, None, "{text:?}");
    }
}
