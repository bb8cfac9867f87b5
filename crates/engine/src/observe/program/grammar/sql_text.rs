//! Reads SQL far enough to say whether it only reads, in whatever dialect it is.

/// What a text does, from harmless to grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sql {
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

/// Statements that begin so may only read.
const READING: &[&str] = &[
    "select", "show", "describe", "desc", "explain", "with", "values", "pragma", "use", "begin", "commit", "rollback",
];

/// Words that no reading statement holds.
const CHANGING: &[&str] = &[
    "insert",
    "update",
    "delete",
    "drop",
    "create",
    "alter",
    "truncate",
    "merge",
    "into",
    "copy",
    "call",
    "do",
    "execute",
    "exec",
    "grant",
    "revoke",
    "lock",
    "load",
    "attach",
    "detach",
    "vacuum",
    "reindex",
    "import",
    "install",
    "outfile",
    "dumpfile",
    "upsert",
    "rename",
    "program",
    "returning",
    "handler",
    "prepare",
    "declare",
    "kill",
    "purge",
    "optimize",
    "set",
];

/// Words that may stand before a parenthesis without being a function.
const KEYWORDS: &[&str] = &[
    "in",
    "values",
    "from",
    "and",
    "or",
    "not",
    "exists",
    "any",
    "all",
    "some",
    "as",
    "over",
    "on",
    "using",
    "where",
    "select",
    "by",
    "join",
    "with",
    "then",
    "else",
    "when",
    "case",
    "between",
    "like",
    "ilike",
    "filter",
    "having",
    "union",
    "except",
    "intersect",
    "lateral",
    "distinct",
    "limit",
    "offset",
    "explain",
    "table",
    "interval",
    "partition",
    "materialized",
    "recursive",
    "group",
    "order",
];

/// Functions that only compute.
const FUNCTIONS: &[&str] = &[
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "coalesce",
    "nullif",
    "ifnull",
    "nvl",
    "lower",
    "upper",
    "length",
    "char_length",
    "octet_length",
    "substr",
    "substring",
    "trim",
    "ltrim",
    "rtrim",
    "replace",
    "concat",
    "concat_ws",
    "group_concat",
    "string_agg",
    "array_agg",
    "json_agg",
    "jsonb_agg",
    "json_object_agg",
    "json_group_array",
    "json_extract",
    "json_array_length",
    "jsonb_array_length",
    "json_build_object",
    "jsonb_build_object",
    "json_each",
    "jsonb_each",
    "jsonb_array_elements",
    "json_array_elements",
    "jsonb_pretty",
    "to_json",
    "to_jsonb",
    "row_to_json",
    "json_object",
    "json_valid",
    "round",
    "floor",
    "ceil",
    "ceiling",
    "abs",
    "power",
    "sqrt",
    "mod",
    "sign",
    "random",
    "rand",
    "now",
    "date",
    "time",
    "datetime",
    "strftime",
    "julianday",
    "unixepoch",
    "current_date",
    "curdate",
    "date_trunc",
    "date_part",
    "date_format",
    "date_add",
    "date_sub",
    "datediff",
    "timestampdiff",
    "extract",
    "age",
    "to_char",
    "to_date",
    "to_timestamp",
    "from_unixtime",
    "unix_timestamp",
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "cast",
    "convert",
    "typeof",
    "pg_typeof",
    "row_number",
    "rank",
    "dense_rank",
    "lag",
    "lead",
    "first_value",
    "last_value",
    "ntile",
    "percentile_cont",
    "greatest",
    "least",
    "if",
    "iif",
    "instr",
    "position",
    "strpos",
    "left",
    "right",
    "lpad",
    "rpad",
    "reverse",
    "repeat",
    "split_part",
    "regexp_replace",
    "regexp_matches",
    "regexp_match",
    "md5",
    "hex",
    "quote",
    "printf",
    "format",
    "unnest",
    "generate_series",
    "array_length",
    "cardinality",
    "bool_or",
    "bool_and",
    "every",
    "stddev",
    "variance",
    "version",
    "database",
    "schema",
    "user",
    "current_user",
    "current_database",
    "current_schema",
    "current_setting",
    "pg_size_pretty",
    "pg_relation_size",
    "pg_total_relation_size",
    "pg_table_size",
    "pg_indexes_size",
    "pg_database_size",
    "pg_get_viewdef",
    "pg_get_functiondef",
    "pg_get_constraintdef",
    "pg_get_indexdef",
    "pg_sleep",
    "total",
    "changes",
    "last_insert_rowid",
    "sqlite_version",
    "glob",
    "unicode",
    "uniq",
    "countif",
    "sumif",
    "todate",
    "tostring",
    "toyyyymm",
    "formatreadablesize",
    "toint64",
    "toint32",
    "touint64",
    "tofloat64",
    "todatetime",
    "varchar",
    "char",
    "decimal",
    "numeric",
    "int",
    "integer",
    "pragma_table_info",
    "obj_description",
    "col_description",
];

/// Pragmas that tell something when they are given no value.
const PRAGMAS: &[&str] = &[
    "table_info",
    "table_xinfo",
    "index_list",
    "index_info",
    "foreign_key_list",
    "database_list",
    "integrity_check",
    "quick_check",
    "user_version",
    "schema_version",
    "page_count",
    "page_size",
    "journal_mode",
    "encoding",
    "compile_options",
    "table_list",
    "foreign_keys",
    "freelist_count",
    "function_list",
    "collation_list",
];

const BACKSLASHES: &[&str] =
    &["\\l", "\\x", "\\timing", "\\conninfo", "\\z", "\\sf", "\\sv", "\\encoding", "\\q", "\\echo", "\\?", "\\h"];

const DOTS: &[&str] = &[
    ".tables",
    ".schema",
    ".indexes",
    ".indices",
    ".databases",
    ".headers",
    ".header",
    ".mode",
    ".width",
    ".dbinfo",
    ".fullschema",
    ".stats",
    ".show",
    ".help",
    ".echo",
    ".nullvalue",
    ".separator",
    ".timer",
    ".quit",
    ".exit",
    ".dump",
    ".eqp",
    ".explain",
    ".changes",
    ".version",
    ".bail",
];

/// The gravest thing that a text does.
pub fn weigh(text: &str) -> Sql {
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
pub fn reads_only(text: &str) -> bool {
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
