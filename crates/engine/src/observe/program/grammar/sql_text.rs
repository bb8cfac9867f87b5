//! Reads SQL far enough to say whether it only reads, in whatever dialect it is.

use super::sql_words::{BACKSLASHES, CHANGING, DOTS, FUNCTIONS, KEYWORDS, PRAGMAS, READING};

/// What a text does, from harmless to grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sql {
    Nothing,
    Reads,
    Changes,
    Destroys,
    /// It leaves the database: a shell, a file, another program.
    Escapes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(char),
    Value,
}

/// The gravest thing that a text does.
pub(super) fn weigh(text: &str) -> Sql {
    let mut rest = String::new();
    let mut worst = Sql::Nothing;
    for line in text.lines() {
        let start = line.trim_start();
        if rest.trim().is_empty() && start.starts_with(['.', '\\']) {
            worst = worst.max(meta(start.trim_end()));
        } else {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    let Some(tokens) = tokens(&rest) else { return worst.max(unreadable(&rest)) };
    tokens.split(|token| *token == Token::Sign(';')).map(statement).fold(worst, Sql::max)
}

/// Every statement of the text is a query without effects.
pub(crate) fn reads_only(text: &str) -> bool {
    weigh(text) <= Sql::Reads
}

/// Text that dialects read differently is as bad as the words in it.
fn unreadable(text: &str) -> Sql {
    let lower = text.to_ascii_lowercase();
    if lower.contains('\\') {
        return Sql::Escapes;
    }
    let destroys = lower
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .any(|word| matches!(word, "drop" | "truncate" | "delete"));
    if destroys { Sql::Destroys } else { Sql::Changes }
}

/// Commands of the client itself.
fn meta(line: &str) -> Sql {
    let name = line.split_whitespace().next().unwrap_or_default().trim_end_matches(';');
    let plain = !line.contains(['|', '`', '>', '$']);
    let describes = name
        .strip_prefix("\\d")
        .is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_alphabetic() || matches!(letter, '+' | 'S')));
    let known = describes || BACKSLASHES.contains(&name.trim_end_matches('+')) || DOTS.contains(&name);
    if plain && known && !line.get(1..).unwrap_or_default().contains('\\') { Sql::Reads } else { Sql::Escapes }
}

fn statement(tokens: &[Token]) -> Sql {
    let words: Vec<&str> = tokens
        .iter()
        .filter_map(|token| if let Token::Word(word) = token { Some(word.as_str()) } else { None })
        .collect();
    let Some(first) = words.first() else { return if tokens.is_empty() { Sql::Nothing } else { Sql::Changes } };
    let has = |wanted: &str| words.contains(&wanted);
    let escapes = has("program")
        || has("outfile")
        || has("dumpfile")
        || has("load_extension")
        || has("load_file")
        || has("install")
        || words.iter().any(|word| is_escape(word));
    if escapes {
        return Sql::Escapes;
    }
    if has("drop") || has("truncate") || (has("delete") && !has("where") && *first != "select") {
        return Sql::Destroys;
    }
    let changing = words.iter().skip(1).any(|word| CHANGING.contains(word)) && !show_create(&words);
    if !READING.contains(first)
        || changing
        || (*first == "pragma" && !reading_pragma(tokens, &words))
        || !known_calls(tokens)
    {
        return Sql::Changes;
    }
    Sql::Reads
}

fn show_create(words: &[&str]) -> bool {
    matches!(words, ["show", "create", ..]) && !words.iter().skip(2).any(|word| CHANGING.contains(word))
}

/// Functions that reach files, other hosts or the server's shell.
fn is_escape(word: &str) -> bool {
    // Functions of PostgreSQL, SQLite, MySQL, SQL Server and DuckDB that read or write files, fetch addresses or
    // start programs from inside a `select` (tools-069).
    const WORDS: &[&str] = &[
        "pg_read_file",
        "pg_read_binary_file",
        "pg_ls_dir",
        "lo_export",
        "lo_import",
        "readfile",
        "writefile",
        "sys_exec",
        "sys_eval",
        "xp_cmdshell",
        "fts3_tokenizer",
        "edit",
        "read_text",
        "read_blob",
        "url",
        "s3",
    ];
    WORDS.contains(&word) || word.starts_with("dblink") || word.starts_with("xp_")
}

fn reading_pragma(tokens: &[Token], words: &[&str]) -> bool {
    let name = words.get(1).copied().unwrap_or_default();
    let value = tokens.contains(&Token::Sign('='));
    let argument = tokens.contains(&Token::Sign('('));
    PRAGMAS.contains(&name)
        && !value
        && (!argument || name.contains("_info") || name.contains("_list") || name.contains("check"))
}

/// Every function that is called is known to compute only.
fn known_calls(tokens: &[Token]) -> bool {
    let pragma = tokens.first() == Some(&Token::Word("pragma".into()));
    let after = tokens.iter().skip(1);
    tokens.iter().zip(after).all(|pair| match pair {
        (Token::Word(word), Token::Sign('(')) => {
            pragma || KEYWORDS.contains(&word.as_str()) || FUNCTIONS.contains(&word.as_str())
        }
        _ => true,
    })
}

/// The tokens, or `None` where dialects differ on what they are.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\'' | '"' | '`' => {
                quoted(&mut rest, character)?;
                tokens.push(Token::Value);
            }
            '-' if rest.peek() == Some(&'-') => while rest.next_if(|next| *next != '\n').is_some() {},
            '/' if rest.peek() == Some(&'*') => {
                rest.next();
                comment(&mut rest)?;
            }
            '#' | '$' | '\\' | '@' => return None,
            '0'..='9' => {
                while rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '.' || *next == '_').is_some() {}
                tokens.push(Token::Value);
            }
            first if first.is_alphabetic() || first == '_' => {
                let mut word: String = first.to_lowercase().collect();
                while let Some(next) = rest.next_if(|next| next.is_alphanumeric() || *next == '_') {
                    word.extend(next.to_lowercase());
                }
                tokens.push(Token::Word(word));
            }
            space if space.is_whitespace() => {}
            sign => tokens.push(Token::Sign(sign)),
        }
    }
    Some(tokens)
}

/// A quoted text. A backslash in it hides the quote in some dialects only.
fn quoted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char) -> Option<()> {
    loop {
        match rest.next()? {
            '\\' => return None,
            character if character == quote && rest.next_if_eq(&quote).is_none() => return Some(()),
            _ => {}
        }
    }
}

/// A comment. Some dialects nest them, and some run what stands in `/*! … */`.
fn comment(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<()> {
    if matches!(rest.peek(), Some('!' | '+' | 'M')) {
        return None;
    }
    loop {
        match rest.next()? {
            '*' if rest.next_if_eq(&'/').is_some() => return Some(()),
            '/' if rest.peek() == Some(&'*') => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Sql, weigh};

    #[test]
    fn texts() {
        for (text, sql) in [
            ("select 1", Sql::Reads),
            ("SELECT count(*) FROM t WHERE name = 'drop; it''s';", Sql::Reads),
            ("select 1; select 2 -- drop table x", Sql::Reads),
            ("with a as (select 1) select * from a", Sql::Reads),
            ("explain analyze select 1", Sql::Reads),
            ("show tables", Sql::Reads),
            ("SHOW CREATE TABLE t", Sql::Reads),
            ("pragma table_info(users)", Sql::Reads),
            ("\\dt+ public.*", Sql::Reads),
            (".tables\n.schema users", Sql::Reads),
            (".mode json\nselect * from t", Sql::Reads),
            ("", Sql::Nothing),
            ("select 1; insert into t values (1)", Sql::Changes),
            ("with a as (insert into t values (1) returning *) select * from a", Sql::Changes),
            ("explain analyze update t set a = 1", Sql::Changes),
            ("select * into backup from t", Sql::Changes),
            ("pragma journal_mode = wal", Sql::Changes),
            ("select my_function(1)", Sql::Changes),
            ("select set_config('a', 'b', false)", Sql::Changes),
            ("select 1 #2; drop table x", Sql::Destroys),
            ("drop table t", Sql::Destroys),
            ("delete from t", Sql::Destroys),
            ("delete from t where id = 1", Sql::Changes),
            ("select 1 /*! ; drop table t */", Sql::Destroys),
            ("select '\\'; drop table t; --'", Sql::Escapes),
            ("copy t to program 'sh'", Sql::Escapes),
            ("select * from t into outfile '/tmp/x'", Sql::Escapes),
            ("select pg_read_file('/etc/passwd')", Sql::Escapes),
            ("\\! id", Sql::Escapes),
            ("\\o | sh", Sql::Escapes),
            ("select 1 \\g | sh", Sql::Escapes),
            (".shell id", Sql::Escapes),
            (".output |sh", Sql::Escapes),
            ("select load_extension('x')", Sql::Escapes),
            ("/* /* */ drop table t */ select 1", Sql::Destroys),
        ] {
            assert_eq!(weigh(text), sql, "{text}");
        }
    }
}
