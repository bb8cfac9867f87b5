//! The subset of Markdown that expectations use: tables of calls and fenced machine descriptions.

/// The relevant parts of a file, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SpecBlock {
    /// A fenced block opened with "json world": the machine for the rows that follow.
    World {
        line: usize,
        json: String,
    },
    Row(SpecRow),
}

/// One row of a table with the columns `call` and `verdict`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SpecRow {
    pub line: usize,
    /// `bash` unless a word precedes the code.
    pub tool: String,
    pub argument: String,
    pub verdict: String,
    pub because: String,
}

/// Where the columns of the current table are.
#[derive(Clone, Copy, Debug)]
struct Columns {
    call: usize,
    verdict: usize,
    because: Option<usize>,
}

/// Finds all relevant blocks.
pub(super) fn blocks(text: &str) -> Vec<SpecBlock> {
    let mut found = Vec::new();
    let mut columns = None;
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let trimmed = line.trim();
        if let Some(fence) = trimmed.strip_prefix("```") {
            let mut body = String::new();
            for (line, _) in lines.by_ref().take_while(|(line, _)| !line.trim().starts_with("```")) {
                body.push_str(line);
                body.push('\n');
            }
            if fence.split_whitespace().any(|word| word == "world") {
                found.push(SpecBlock::World { line: number, json: body });
            }
            columns = None;
        } else if !trimmed.starts_with('|') {
            columns = None;
        } else if let Some(columns) = columns {
            found.extend(row(&cells(trimmed), columns, number).map(SpecBlock::Row));
        } else {
            columns = header(&cells(trimmed));
        }
    }
    found
}

fn header(cells: &[String]) -> Option<Columns> {
    let at = |name: &str| cells.iter().position(|cell| cell.eq_ignore_ascii_case(name));
    Some(Columns { call: at("call")?, verdict: at("verdict")?, because: at("because") })
}

fn row(cells: &[String], columns: Columns, line: usize) -> Option<SpecRow> {
    let call = cells.get(columns.call)?;
    if call.chars().all(|character| matches!(character, '-' | ':')) {
        return None;
    }
    let (tool, argument) = call.split_once('`').map_or(("", call.as_str()), |(tool, _)| (tool.trim(), code(call)));
    let plain = |column: usize| cells.get(column).map(|cell| cell.trim_matches('`').to_owned()).unwrap_or_default();
    Some(SpecRow {
        line,
        tool: if tool.is_empty() { "bash".into() } else { tool.to_ascii_lowercase() },
        argument: argument.to_owned(),
        verdict: plain(columns.verdict).to_ascii_lowercase(),
        because: columns.because.map(plain).unwrap_or_default(),
    })
}

/// The text between the first run of backticks and the last run of the same length.
fn code(cell: &str) -> &str {
    let start = cell.find('`').unwrap_or_default();
    let rest = cell.get(start..).unwrap_or_default();
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    let inner = rest.get(ticks..).unwrap_or_default();
    let end = inner.rfind(&"`".repeat(ticks)).unwrap_or(inner.len());
    let inner = inner.get(..end).unwrap_or_default();
    if ticks > 1 { inner.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' ')).unwrap_or(inner) } else { inner }
}

/// The cells of a row; `\|` is a bar that does not end one.
fn cells(line: &str) -> Vec<String> {
    let inner = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut characters = inner.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek(), cells.last_mut()) {
            ('\\', Some('|'), Some(cell)) => {
                characters.next();
                cell.push('|');
            }
            ('|', _, _) => cells.push(String::new()),
            (other, _, Some(cell)) => cell.push(other),
            (_, _, None) => {}
        }
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_worlds_are_found() {
        let text = "\
text | no table

```json world
{\"home\": \"/h\"}
```

| Call | why | Verdict | because |
|---|---|:--|---|
| `ls \\| wc` | x | approve | |
| write `~/.bashrc` | y | `block` | persistence |
| `` echo `x` `` | z | confirm | |

| other | table |
|---|---|
| `rm` | block |
";
        let row = |line, tool: &str, argument: &str, verdict: &str, because: &str| {
            SpecBlock::Row(SpecRow {
                line,
                tool: tool.into(),
                argument: argument.into(),
                verdict: verdict.into(),
                because: because.into(),
            })
        };
        assert_eq!(
            blocks(text),
            [
                SpecBlock::World { line: 3, json: "{\"home\": \"/h\"}\n".into() },
                row(9, "bash", "ls | wc", "approve", ""),
                row(10, "write", "~/.bashrc", "block", "persistence"),
                row(11, "bash", "echo `x`", "confirm", ""),
            ]
        );
    }
}
