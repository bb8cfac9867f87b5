//! What a word is made of, in a short notation.
use doorward_shell::{CommandKind, Dialect, Part, Quoting, Word, parse};

/// The words behind `e`: bare text as it is, quoted text in `'…'`, everything else by its name.
#[track_caller]
fn check(arguments: &str, expected: &str) {
    let text = format!("e {arguments}");
    let parse = parse(&text, Dialect::Bash);
    assert_eq!(parse.error, None, "{text:?}");
    let CommandKind::Simple(simple) = &parse.script.statements[0].first.commands[0].kind else {
        panic!("{text:?} is no simple command");
    };
    let words: Vec<String> = simple.words[1..].iter().map(show).collect();
    assert_eq!(words.join(" "), expected, "{text:?}");
}

fn show(word: &Word) -> String {
    word.parts.iter().map(show_part).collect()
}

fn show_part(part: &Part) -> String {
    let mark = |quoting: &Quoting| {
        if *quoting == Quoting::Quoted { "\"" } else { "" }
    };
    match part {
        Part::Text { text, quoting: Quoting::Bare } => text.clone(),
        Part::Text { text, quoting: Quoting::Quoted } => format!("'{text}'"),
        Part::Glob(glob) => format!("glob({glob})"),
        Part::Tilde(user) => format!("tilde({user})"),
        Part::Alternatives(words) => format!("{{{}}}", words.iter().map(show).collect::<Vec<_>>().join("|")),
        Part::Range(range) => format!("range({range})"),
        Part::Parameter(parameter) => {
            format!("{0}${1}{0}", mark(&parameter.quoting), parameter.name)
        }
        Part::Substitution { quoting, .. } => format!("{0}$(){0}", mark(quoting)),
        Part::Process { writes, .. } => (if *writes { ">()" } else { "<()" }).to_owned(),
        Part::Arithmetic { arithmetic, .. } => format!("$(({}))", show(&arithmetic.word)),
    }
}

#[test]
fn quotes_and_escapes() {
    check("a\\ b 'c d' \"e f\" g''h", "a' 'b 'c d' 'e f' g''h");
    check("\"a\\$b\\\"c\\\\d\\e\\`f\"", "'a$b\"c\\d\\e`f'");
    check("'it'\\''s' \"\" \"a\"'b'", "'it's' '' 'ab'");
    check("$'a\\n\\t\\x41\\101\\u00e9\\e\\'\\cA' $'a\\0b'c", "'a\n\tAA\u{e9}\u{1b}'\u{1}' 'a'c");
    check("a\\\nb \"c\\\nd\" 'e\\\nf'", "ab 'cd' 'e\\\nf'");
    check("$ a$ \"$\" $'\\q'", "'$' a'$' '$' '\\q'");
    check("\\", "'\\'");
}

#[test]
fn expansions() {
    check("$x ${y} \"$z\" $1$@ \"a$x\"b", "$x $y \"$z\" $1$@ 'a'\"$x\"b");
    check("$(ls) \"$(ls)\" `ls` <(ls) >(ls)", "$() \"$()\" $() <() >()");
    check("$((1 + x)) $[2]", "$(('1 + x')) $(('2'))");
}

#[test]
fn globs() {
    check("*.rs a? [a-z]x [!a]* '*' \\* \"?\"", "glob(*).rs aglob(?) glob([a-z])x glob([!a]*) '*' '*' '?'");
    check("[ ] a[ [a @(a|b)c !(x)", "[ ] a[ [a glob(@(a|b))c glob(!(x))");
    check("[\"a\"b]", "glob([)'a'b]");
}

#[test]
fn braces() {
    check("{a,b} x{a,b}y {1..3} {a..e..2} {a,{b,c}}", "{a|b} x{a|b}y range(1..3) range(a..e..2) {a|{b|c}}");
    check("{} {a} {a,b '{a,b}' \\{a,b} {{.Name}} {a..} ${x}", "{} {a} {a,b '{a,b}' '{'a,b} {{.Name}} {a..} $x");
    check("{a},b} {x,{a},b} x{},a} {a,{b,c} {{a,b}}", "{a}|b} {x|{a}|b} x{}|a} {a,{b|c} {{a|b}}");
    check("{$x,\"a b\"} {,a} {1..$x}", "{$x|'a b'} {|a} {1..$x}");
}

#[test]
fn tildes() {
    check(
        "~ ~/x ~u/y a~ '~' \\~ ~+ x=~/a --y=~/a x=a:~/b",
        "tilde() tilde()/x tilde(u)/y a~ '~' '~' tilde(+) x=tilde()/a --y=~/a x=a:tilde()/b",
    );
    check("{~,a} ~\"x\" ~$x", "{tilde()|a} ~'x' ~$x");
}

#[test]
fn spans_lie_within_the_text() {
    let text = "echo é $(ls \"ü\") >ñ";
    let parse = parse(text, Dialect::Bash);
    let command = &parse.script.statements[0].first.commands[0];
    assert_eq!(&text[command.span.start as usize..command.span.end as usize], text);
    assert_eq!(&text[command.redirects[0].span.start as usize..command.redirects[0].span.end as usize], ">ñ");
}
