//! Reads programs of `awk`: which files they open and which commands they start.

/// Something that a program does beyond computing and printing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Reads(Option<String>),
    Writes(Option<String>),
    /// A shell runs this text, if it is known.
    Runs(Option<String>),
    Environment,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Number,
    Pattern,
    Sign(&'static str),
    Line,
}

// Longest first, so that `>>` is not read as two redirects and `|&` not as a pipe to a command that starts with `&`.
const SIGNS: &[&str] = &[
    ">>", "||", "&&", "|&", "==", "!=", "<=", ">=", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "{", "}", "(", ")",
    "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|", "?", ":", "~", "$", "=", "&",
];

/// The deeds of a program, or what in it cannot be read.
pub(super) fn read(program: &str) -> Result<Vec<Deed>, String> {
    let tokens = tokens(program)?;
    let mut deeds = Vec::new();
    let (mut printing, mut getting, mut depth) = (None, false, 0i32);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) => match word.as_str() {
                "print" | "printf" => printing = Some(depth),
                "getline" => getting = true,
                "system" => deeds.push(Deed::Runs(argument(&tokens, at))),
                "ENVIRON" | "PROCINFO" => deeds.push(Deed::Environment),
                "ARGV" | "ARGC" => return Err("its own list of operands".into()),
                _ => {}
            },
            Token::Sign("(" | "[") => depth += 1,
            Token::Sign(")" | "]") => depth -= 1,
            Token::Sign(";" | "}" | "{") | Token::Line => (printing, getting) = (None, false),
            Token::Sign("|" | "|&") => {
                let into_getline = matches!(tokens.get(at + 1), Some(Token::Word(word)) if word == "getline");
                deeds.push(Deed::Runs(if into_getline { alone_before(&tokens, at) } else { alone_after(&tokens, at) }));
            }
            Token::Sign(">" | ">>") if printing == Some(depth) => deeds.push(Deed::Writes(alone_after(&tokens, at))),
            Token::Sign("<") if getting => deeds.push(Deed::Reads(alone_after(&tokens, at))),
            Token::Sign(_) | Token::Text(_) | Token::Number | Token::Pattern => {}
        }
    }
    Ok(deeds)
}

/// The text of `system("…")`.
fn argument(tokens: &[Token], at: usize) -> Option<String> {
    match (tokens.get(at + 1)?, tokens.get(at + 2)?, tokens.get(at + 3)?) {
        (Token::Sign("("), Token::Text(text), Token::Sign(")")) => Some(text.clone()),
        _ => None,
    }
}

/// The text behind a sign, if nothing is joined to it.
fn alone_after(tokens: &[Token], at: usize) -> Option<String> {
    let Token::Text(text) = tokens.get(at + 1)? else { return None };
    match tokens.get(at + 2) {
        None | Some(Token::Line | Token::Sign(";" | "}" | ")" | "|")) => Some(text.clone()),
        Some(_) => None,
    }
}

/// The text before a sign, if nothing is joined to it.
fn alone_before(tokens: &[Token], at: usize) -> Option<String> {
    let Token::Text(text) = tokens.get(at.checked_sub(1)?)? else { return None };
    match at.checked_sub(2).and_then(|at| tokens.get(at)) {
        None | Some(Token::Line | Token::Sign("{" | ";" | "(" | "&&" | "||" | "!" | "}")) => Some(text.clone()),
        Some(_) => None,
    }
}

fn tokens(program: &str) -> Result<Vec<Token>, String> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = program;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '\n' => {
                tokens.push(Token::Line);
                1
            }
            ' ' | '\t' | '\r' => 1,
            '\\' if rest.starts_with("\\\n") => 2,
            '"' => {
                let end = closing(rest, '"').ok_or("a text without its end")?;
                tokens.push(Token::Text(unescape(rest.get(1..end).unwrap_or_default())?));
                end + 1
            }
            '/' if starts_pattern(tokens.last()) => {
                let end = pattern_end(rest).ok_or("a pattern that never ends")?;
                tokens.push(Token::Pattern);
                end + 1
            }
            '/' if tokens.last() == Some(&Token::Sign(")")) && hides_quote(rest) => {
                return Err("a slash that may divide or start a pattern".into());
            }
            '0'..='9' | '.' => {
                tokens.push(Token::Number);
                rest.find(|next: char| !next.is_ascii_alphanumeric() && next != '.').unwrap_or(rest.len()).max(1)
            }
            first if first.is_ascii_alphabetic() || first == '_' => {
                let end = rest.find(|next: char| !next.is_ascii_alphanumeric() && next != '_').unwrap_or(rest.len());
                tokens.push(Token::Word(rest.get(..end).unwrap_or_default().to_owned()));
                end
            }
            other => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).ok_or_else(|| format!("`{other}`"))?;
                tokens.push(Token::Sign(sign));
                sign.len()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(tokens)
}

/// A slash here begins a pattern, because nothing stands before it that could be divided.
fn starts_pattern(before: Option<&Token>) -> bool {
    match before {
        Some(Token::Word(word)) => {
            matches!(word.as_str(), "print" | "printf" | "return" | "in" | "case" | "getline" | "else" | "do")
        }
        Some(Token::Text(_) | Token::Number | Token::Pattern) => false,
        Some(Token::Sign(sign)) => !matches!(*sign, ")" | "]" | "$" | "++" | "--"),
        Some(Token::Line) | None => true,
    }
}

/// Behind `if (x)` a slash begins a pattern, behind `(x)` it divides; it matters if quotes stand before the next slash.
fn hides_quote(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    closing(line, '/').and_then(|end| line.get(..end)).is_some_and(|between| between.contains(['"', '#']))
}

fn closing(text: &str, quote: char) -> Option<usize> {
    let mut hidden = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if hidden => hidden = false,
            '\\' => hidden = true,
            '\n' => return None,
            _ if character == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// Versions differ on a slash inside brackets, so a pattern with one there has no certain end.
fn pattern_end(text: &str) -> Option<usize> {
    let end = closing(text, '/')?;
    let inner = text.get(1..end)?.replace("\\[", "").replace("\\]", "");
    let opened = inner.matches('[').count();
    (opened == 0 || inner.rfind(']').is_some_and(|close| inner.rfind('[').is_some_and(|open| open < close)))
        .then_some(end)
}

fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(next @ ('"' | '\\' | '/')) => plain.push(next),
                // Octal and other escapes matter only in names of files and commands.
                Some(_) | None => plain.push(crate::observe::field::UNKNOWN),
            },
            _ => plain.push(character),
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::Deed::{Environment, Reads, Runs, Writes};
    use super::read;

    #[test]
    fn computing_does_nothing_else() {
        for program in [
            "{print $1}",
            "NR==1",
            "{s += $1} END {print s/NR}",
            "/foo|bar/ {printf \"%s\\n\", $2}",
            "{gsub(/a\\/b/, \"x\"); print substr($0, 1, 3)}",
            "$3 > 5",
            "{print ($1 > 2)}",
            "BEGIN { FS=\":\" } { n = split($0, a, /,/); for (i = 1; i <= n; i++) if (a[i] > m) m = a[i] } END { print m }",
            "!seen[$0]++",
            "# system(\"x\")\n{print}",
            "{print \"system(1) | sh > x\"}",
            "a || b",
            "{ if ($1 > max) max = $1 } END { print max }",
            "{ close(\"x\"); fflush() }",
            "NR > 1 { print $1 / 2 }",
            "{getline; print}",
            "{print (a + b) / c}",
            "{if (x) y = (a) / 2; else /z/}",
        ] {
            assert_eq!(read(program), Ok(Vec::new()), "{program}");
        }
    }

    #[test]
    fn files_and_commands_are_found() {
        let known = |text: &str| Some(text.to_owned());
        for (program, deeds) in [
            ("BEGIN{system(\"id\")}", vec![Runs(known("id"))]),
            ("{system($0)}", vec![Runs(None)]),
            ("{system(\"rm \" $1)}", vec![Runs(None)]),
            ("BEGIN { \"date\" | getline d }", vec![Runs(known("date"))]),
            ("BEGIN { \"rm \" \"x\" | getline }", vec![Runs(None)]),
            ("{print | \"sort\"}", vec![Runs(known("sort"))]),
            ("{print $1 | \"sh -c \" $2}", vec![Runs(None)]),
            ("{print > \"out.txt\"}", vec![Writes(known("out.txt"))]),
            ("{print $1, $2 >> $3}", vec![Writes(None)]),
            ("{printf \"%s\", $1 > \"/etc/x\"; y = 1}", vec![Writes(known("/etc/x"))]),
            ("{while ((getline line < \"f\") > 0) n++}", vec![Reads(known("f"))]),
            ("BEGIN{getline x < f}", vec![Reads(None)]),
            ("BEGIN{print ENVIRON[\"HOME\"]}", vec![Environment]),
            ("BEGIN{print \"x\" |& \"cmd\"}", vec![Runs(known("cmd"))]),
            ("{a = b / c; system(\"id\") / 2}", vec![Runs(known("id"))]),
        ] {
            assert_eq!(read(program), Ok(deeds), "{program}");
        }
    }

    #[test]
    fn odd_programs_are_refused() {
        for program in [
            "@load \"x\"",
            "BEGIN{f=\"g\"; @f()}",
            "{print \"a}",
            "/a",
            "BEGIN{ARGV[1]=\"x\"}",
            "{print /[/]/}",
            "`",
            "{if (x) /\"/; system(\"id\") #\"\n}",
        ] {
            assert!(read(program).is_err(), "{program}");
        }
    }
}
