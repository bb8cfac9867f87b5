//! What a file must hold before a search prints a line of it: the literal pieces of the expression.

/// Alternatives of an expression, each with pieces of text that whatever matches it holds. Letters are folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Required(Vec<Vec<String>>);

impl Required {
    /// Reads expressions of which one must match; `None` if some file without any known text may match.
    ///
    /// Basic, extended and fixed expressions read the same signs differently, so every sign that is special in one of them ends
    /// a piece: too little is required rather than too much.
    pub(crate) fn read<'t>(expressions: impl Iterator<Item = &'t str>) -> Option<Required> {
        let mut alternatives = Vec::new();
        for expression in expressions {
            if is_optional_group(expression) {
                return None;
            }
            for alternative in expression.replace("\\|", "|").split(['|', '\n']) {
                alternatives.push(pieces(alternative).filter(|pieces| !pieces.is_empty())?);
            }
        }
        (!alternatives.is_empty()).then_some(Required(alternatives))
    }

    /// Some alternative has all of its pieces in the text.
    pub(crate) fn may_match(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.0.iter().any(|pieces| pieces.iter().all(|piece| text.contains(piece.as_str())))
    }
}

/// A group that may be left out, or one with settings of its own.
fn is_optional_group(expression: &str) -> bool {
    [")?", ")*", "){", ")\\?", ")\\{", "(?"].iter().any(|group| expression.contains(group))
}

/// The pieces that an expression without alternatives cannot do without; `None` if that cannot be said.
fn pieces(expression: &str) -> Option<Vec<String>> {
    let mut found = Pieces::default();
    let mut signs = expression.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => match signs.next() {
                None | Some('b' | 'B' | 'w' | 'W' | 's' | 'S' | 'd' | 'D' | '<' | '>' | '(' | ')' | '*' | '+') => {
                    found.end();
                }
                Some('?') => found.without_last(),
                Some('{') => {
                    found.without_last();
                    signs.by_ref().find(|sign| *sign == '}');
                }
                // A character by its number, a reference to a group, a class of its own.
                Some(other) if other.is_alphanumeric() => return None,
                Some(literal) => found.push(literal),
            },
            '*' | '?' => found.without_last(),
            '{' => {
                found.without_last();
                signs = after_braces(signs);
            }
            '[' => {
                found.end();
                signs = after_brackets(signs)?;
            }
            '.' | '^' | '$' | '(' | ')' | '+' | ']' | '}' => found.end(),
            literal => found.push(literal),
        }
    }
    found.end();
    Some(found.done)
}

#[derive(Default)]
struct Pieces {
    done: Vec<String>,
    open: String,
}

impl Pieces {
    fn push(&mut self, sign: char) {
        self.open.extend(sign.to_lowercase());
    }

    fn end(&mut self) {
        if !self.open.is_empty() {
            self.done.push(std::mem::take(&mut self.open));
        }
    }

    /// The last sign may be missing.
    fn without_last(&mut self) {
        self.open.pop();
        self.end();
    }
}

/// Behind `{2,3}`; a brace that nothing closes stands for itself.
fn after_braces(signs: std::str::Chars<'_>) -> std::str::Chars<'_> {
    match signs.as_str().split_once('}') {
        Some((_, rest)) => rest.chars(),
        None => signs,
    }
}

/// Behind `[a-z]`; `None` for classes and escapes, whose end is not plain.
fn after_brackets(mut signs: std::str::Chars<'_>) -> Option<std::str::Chars<'_>> {
    let rest = signs.as_str();
    signs = rest.strip_prefix('^').unwrap_or(rest).chars();
    // A bracket that comes first is one of the list.
    signs.next();
    let Some((list, rest)) = signs.as_str().split_once(']') else { return Some("".chars()) };
    (!list.contains(['[', '\\'])).then(|| rest.chars())
}

#[cfg(test)]
mod tests {
    use super::Required;

    #[test]
    fn a_search_prints_only_files_that_hold_its_literal_pieces() {
        for (expression, text, wanted) in [
            ("useState", "API_KEY=abc", false),
            ("API", "API_KEY=abc", true),
            ("api_key", "API_KEY=abc", true),
            ("API.*abc", "API_KEY=abc", true),
            ("API.*xyz", "API_KEY=abc", false),
            ("foo|KEY", "API_KEY=abc", true),
            ("foo\\|bar", "API_KEY=abc", false),
            ("(foo|bar)baz", "API_KEY=abc", false),
            ("KEYS?=", "API_KEY=abc", true),
            ("KEYS*", "API_KEY=abc", true),
            ("KEYS\\?=", "API_KEY=abc", true),
            ("KEYS{0,2}=", "API_KEY=abc", true),
            ("[A-Z]+_KEY", "API_KEY=abc", true),
            ("x[A-Z]+_KEY", "API_KEY=abc", false),
            ("\\bKEY\\b", "API_KEY=abc", true),
            ("^DB", "API_KEY=abc", false),
            ("def foo(", "API_KEY=abc", false),
            ("a]b", "a]b", true),
        ] {
            let required = Required::read([expression].into_iter());
            assert_eq!(required.is_none_or(|required| required.may_match(text)), wanted, "{expression}");
        }
        for expression in ["", ".", "=\\|", "[^x]", "x*", "(foo)?", "\\x41PI", "(?i)api", "[[:alpha:]]", "\\w+", "a?"] {
            assert_eq!(Required::read([expression].into_iter()), None, "{expression}");
        }
    }
}
