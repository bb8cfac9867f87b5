//! As much of YAML as task files need: maps, lists and texts by indentation. What else there is stays unread.

/// A value of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Yaml {
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

/// Deeper documents are not read.
// Settings nest about ten levels. A document nests deeper only to exhaust its reader.
const DEPTH: usize = 40;

impl Yaml {
    pub(super) fn get(&self, key: &str) -> Option<&Yaml> {
        match self {
            Yaml::Map(members) => members.iter().find(|(known, _)| known == key).map(|(_, value)| value),
            Yaml::Text(_) | Yaml::List(_) => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Yaml::Text(text) => Some(text),
            Yaml::List(_) | Yaml::Map(_) => None,
        }
    }

    pub(super) fn list(&self) -> &[Yaml] {
        match self {
            Yaml::List(values) => values,
            Yaml::Text(_) | Yaml::Map(_) => &[],
        }
    }

    pub(super) fn members(&self) -> &[(String, Yaml)] {
        match self {
            Yaml::Map(members) => members,
            Yaml::Text(_) | Yaml::List(_) => &[],
        }
    }
}

/// Reads a document; `None` if it holds something beyond maps, lists and texts.
pub(super) fn read(text: &str) -> Option<Yaml> {
    let lines: Vec<&str> = text.lines().filter(|line| *line != "---").collect();
    let mut reader = Reader { lines, at: 0 };
    let value = reader.block(0, 0)?;
    reader.skip_empty();
    (reader.at >= reader.lines.len()).then_some(value)
}

struct Reader<'t> {
    lines: Vec<&'t str>,
    at: usize,
}

impl<'t> Reader<'t> {
    fn skip_empty(&mut self) {
        while self.lines.get(self.at).is_some_and(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            self.at += 1;
        }
    }

    fn line(&mut self) -> Option<(usize, &'t str)> {
        self.skip_empty();
        let line = self.lines.get(self.at)?;
        let inner = line.trim_start_matches(' ');
        (!inner.starts_with('\t')).then_some((line.len() - inner.len(), inner))
    }

    fn block(&mut self, least: usize, depth: usize) -> Option<Yaml> {
        let Some((indent, first)) = self.line() else { return Some(Yaml::Text(String::new())) };
        if depth > DEPTH {
            return None;
        }
        if indent < least {
            return Some(Yaml::Text(String::new()));
        }
        if is_item(first) { self.items(indent, depth) } else { self.map(indent, depth) }
    }

    fn items(&mut self, indent: usize, depth: usize) -> Option<Yaml> {
        let mut values = Vec::new();
        while let Some((here, line)) = self.line() {
            if here < indent || (here == indent && !is_item(line)) {
                break;
            }
            if here > indent {
                return None;
            }
            let rest = line.get(1..)?.trim_start();
            let inner = here + (line.len() - rest.len());
            if rest.is_empty() {
                self.at += 1;
                values.push(self.block(indent + 1, depth + 1)?);
            } else if key_of(rest).is_some() || is_item(rest) {
                values.push(self.item_block(inner, depth)?);
            } else {
                self.at += 1;
                values.push(self.scalar(rest, indent)?);
            }
        }
        Some(Yaml::List(values))
    }

    /// `- key: value`: a map that begins behind the dash.
    fn item_block(&mut self, inner: usize, depth: usize) -> Option<Yaml> {
        let line = self.lines.get(self.at)?;
        let rest = line.get(inner..)?;
        if is_item(rest) {
            return None;
        }
        self.map_from(inner, Some(rest), depth + 1)
    }

    fn map(&mut self, indent: usize, depth: usize) -> Option<Yaml> {
        self.map_from(indent, None, depth)
    }

    fn map_from(&mut self, indent: usize, mut first: Option<&'t str>, depth: usize) -> Option<Yaml> {
        let mut members: Vec<(String, Yaml)> = Vec::new();
        loop {
            let (here, line) = match first.take() {
                Some(line) => (indent, line),
                None => match self.line() {
                    Some(line) => line,
                    None => break,
                },
            };
            if here < indent || (here == indent && is_item(line)) {
                break;
            }
            if here > indent {
                return None;
            }
            let (key, rest) = key_of(line)?;
            if members.iter().any(|(known, _)| *known == key) || key == "<<" {
                return None;
            }
            self.at += 1;
            let value = if rest.is_empty() {
                // A list may stand as far left as its key.
                let list = self.line().is_some_and(|(at, line)| at == indent && is_item(line));
                self.block(if list { indent } else { indent + 1 }, depth + 1)?
            } else {
                self.scalar(rest, indent)?
            };
            members.push((key, value));
        }
        Some(Yaml::Map(members))
    }

    fn scalar(&mut self, text: &str, indent: usize) -> Option<Yaml> {
        let text = without_comment(text);
        match text.chars().next()? {
            '|' | '>' => self.lines_below(indent, text.starts_with('>')),
            '&' | '*' | '!' | '%' | '@' | '`' => None,
            '[' | '{' => flow(text),
            '"' | '\'' => quoted(text).map(Yaml::Text),
            _ => {
                let mut all = text.to_owned();
                // A plain text goes on where the next lines are further in.
                while let Some((here, line)) = self.line() {
                    if here <= indent {
                        break;
                    }
                    if key_of(line).is_some() {
                        return None;
                    }
                    all.push(' ');
                    all.push_str(without_comment(line));
                    self.at += 1;
                }
                Some(Yaml::Text(all))
            }
        }
    }

    fn lines_below(&mut self, indent: usize, folded: bool) -> Option<Yaml> {
        let mut found: Vec<&str> = Vec::new();
        let mut own: Option<usize> = None;
        while let Some(line) = self.lines.get(self.at) {
            let inner = line.trim_start_matches(' ');
            let here = line.len() - inner.len();
            if !inner.is_empty() && here <= indent {
                break;
            }
            if own.is_none() && !inner.is_empty() {
                own = Some(here);
            }
            found.push(line.get(own.unwrap_or(here).min(line.len())..)?);
            self.at += 1;
        }
        Some(Yaml::Text(found.join(if folded { " " } else { "\n" })))
    }
}

fn is_item(line: &str) -> bool {
    line == "-" || line.starts_with("- ")
}

/// `key: rest`.
fn key_of(line: &str) -> Option<(String, &str)> {
    let (key, rest) = if let Some(quote) = line.chars().next().filter(|letter| matches!(letter, '"' | '\'')) {
        let end = line.get(1..)?.find(quote)? + 1;
        let rest = line.get(end + 1..)?.strip_prefix(':')?;
        (line.get(1..end)?.to_owned(), rest)
    } else {
        let at = line.find(": ").or_else(|| line.ends_with(':').then(|| line.len() - 1))?;
        (line.get(..at)?.to_owned(), line.get(at + 1..)?)
    };
    let plain = !key.starts_with(['&', '*', '!', '?', '[', '{', '|', '>']) && !key.contains('#');
    let rest = rest.trim();
    plain.then_some((key.trim().to_owned(), if rest.starts_with('#') { "" } else { rest }))
}

fn without_comment(text: &str) -> &str {
    if text.starts_with(['"', '\'']) {
        return text.trim_end();
    }
    text.find(" #").map_or(text, |at| text.get(..at).unwrap_or(text)).trim_end()
}

fn quoted(text: &str) -> Option<String> {
    let quote = text.chars().next()?;
    let inner = text.get(1..)?;
    let end = inner.rfind(quote)?;
    let after = inner.get(end + 1..)?.trim();
    let inner = inner.get(..end)?;
    if !(after.is_empty() || after.starts_with('#')) {
        return None;
    }
    match quote {
        '\'' => Some(inner.replace("''", "'")),
        _ if inner.contains('\\') => serde_json::from_str(&format!("\"{inner}\"")).ok(),
        _ => (!inner.contains('"')).then(|| inner.to_owned()),
    }
}

/// `[a, b]` and `{a: b}` in one line, without further brackets.
fn flow(text: &str) -> Option<Yaml> {
    let (inner, is_list) = match text.strip_prefix('[') {
        Some(rest) => (rest.strip_suffix(']')?, true),
        None => (text.strip_prefix('{')?.strip_suffix('}')?, false),
    };
    let mut parts: Vec<String> = vec![String::new()];
    let mut quote: Option<char> = None;
    for letter in inner.chars() {
        match (letter, quote) {
            ('"' | '\'', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            ('[' | ']' | '{' | '}' | '&' | '*' | '!', None) => return None,
            (',', None) => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut()?.push(letter);
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    let value = |text: &str| if text.starts_with(['"', '\'']) { quoted(text) } else { Some(text.to_owned()) };
    if is_list {
        return parts.map(|part| value(part).map(Yaml::Text)).collect::<Option<Vec<_>>>().map(Yaml::List);
    }
    let member = |part: &str| {
        let (key, rest) = key_of(part)?;
        Some((key, Yaml::Text(value(rest)?)))
    };
    parts.map(member).collect::<Option<Vec<_>>>().map(Yaml::Map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_lists_and_texts() {
        let text = "version: '3'\ntasks:\n  build:\n    deps: [a, 'b c']\n    cmds:\n      - go build ./...\n      - cmd: echo \"x\"\n        silent: true\n      - |\n        one\n        two\n  a: echo a # said\n";
        let read = read(text).unwrap();
        let build = read.get("tasks").unwrap().get("build").unwrap();
        assert_eq!(build.get("deps").unwrap().list().len(), 2);
        let commands = build.get("cmds").unwrap().list();
        assert_eq!(commands[0].text(), Some("go build ./..."));
        assert_eq!(commands[1].get("cmd").and_then(Yaml::text), Some("echo \"x\""));
        assert_eq!(commands[2].text(), Some("one\ntwo"));
        assert_eq!(read.get("tasks").unwrap().get("a").and_then(Yaml::text), Some("echo a"));
    }

    #[test]
    fn what_is_beyond_is_not_read() {
        for text in [
            "a: &x 1\nb: *x",
            "<<: {a: b}",
            "a: !!python/object x",
            "a: [[b]]",
            "a: 1\na: 2",
            "\ta: 1",
            "a: 1\n   b: 2\n  c: 3",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
