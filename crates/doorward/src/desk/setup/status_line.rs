//! doorward's line in Claude Code's status line: alone, or below the lines that the user already has there.

use serde_json::{Value, json};

use super::edit::{Container, Piece, replaced, skip_space};

/// The key in Claude Code's settings.
const KEY: &str = "statusLine";

/// The settings with our line. A command that is already there goes on, run by ours.
pub(super) fn with_ours(settings: &str, program: &str) -> Result<String, String> {
    let own = own_command(program);
    let text = if settings.trim().is_empty() { "{}\n" } else { settings };
    let top = Container::read(text, skip_space(text, 0))?;
    let Some(line) = top.member(KEY) else {
        return Ok(top.with(text, KEY, &json!({ "type": "command", "command": own })));
    };
    let (piece, command) = command_in(text, line).ok_or("its `statusLine` is not a command")?;
    let wrapped = match parse_own(&command) {
        // The program may have moved.
        Some(None) => own,
        Some(Some(theirs)) => wrapping(&own, &theirs),
        None => wrapping(&own, &command),
    };
    Ok(match wrapped == command {
        true => settings.to_owned(),
        false => replaced(text, piece.value.clone(), &Value::from(wrapped).to_string()),
    })
}

/// The settings without our line; what it wrapped is there again, in the spelling of `saved` if it is the same command.
pub(super) fn without_ours(settings: &str, saved: Option<&str>) -> Result<String, String> {
    if settings.trim().is_empty() {
        return Ok(settings.to_owned());
    }
    let top = Container::read(settings, skip_space(settings, 0))?;
    let Some(at) = top.pieces.iter().position(|piece| piece.key == KEY) else { return Ok(settings.to_owned()) };
    let found = top.pieces.get(at).and_then(|line| command_in(settings, line));
    let Some((piece, command)) = found else { return Ok(settings.to_owned()) };
    Ok(match parse_own(&command) {
        None => settings.to_owned(),
        Some(None) => top.without(settings, at),
        Some(Some(theirs)) => {
            let spelled = saved.and_then(|saved| spelling(saved, &theirs));
            replaced(settings, piece.value.clone(), &spelled.unwrap_or_else(|| Value::from(theirs).to_string()))
        }
    })
}

/// Our line is in the settings.
pub(super) fn is_ours(settings: &str) -> bool {
    let parsed: Option<Value> = serde_json::from_str(settings).ok();
    let command = parsed.as_ref().and_then(|parsed| parsed.pointer("/statusLine/command")).and_then(Value::as_str);
    command.is_some_and(|command| parse_own(command).is_some())
}

/// The settings have a status line, ours or another.
pub(super) fn has_any(settings: &str) -> bool {
    serde_json::from_str::<Value>(settings).is_ok_and(|parsed| parsed.get(KEY).is_some())
}

fn own_command(program: &str) -> String {
    format!("{} statusline", quoted(program))
}

fn wrapping(own: &str, theirs: &str) -> String {
    format!("{own} --then {}", quoted(theirs))
}

/// One word for a shell.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The command that our line wraps, if any; `None` if the line is not ours.
fn parse_own(command: &str) -> Option<Option<String>> {
    let (program, rest) = unquoted(command)?;
    if program.rsplit('/').next() != Some("doorward") {
        return None;
    }
    let rest = rest.strip_prefix(" statusline")?;
    if rest.is_empty() {
        return Some(None);
    }
    let (theirs, rest) = unquoted(rest.strip_prefix(" --then ")?)?;
    // Whatever else stands there, the user wrote it.
    rest.is_empty().then_some(Some(theirs))
}

/// The first word as `quoted` writes it, and what follows.
pub(super) fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut rest = text.strip_prefix('\'')?;
    loop {
        let (part, behind) = rest.split_once('\'')?;
        word.push_str(part);
        match behind.strip_prefix("\\''") {
            Some(more) => {
                word.push('\'');
                rest = more;
            }
            None => return Some((word, behind)),
        }
    }
}

/// The command of a status line, and where it is.
fn command_in(text: &str, line: &Piece) -> Option<(Piece, String)> {
    let line = Container::read(text, line.value.start).ok()?;
    let piece = line.member("command")?.clone();
    let command: String = serde_json::from_str(text.get(piece.value.clone())?).ok()?;
    Some((piece, command))
}

/// How other settings spell the same command in JSON.
fn spelling(settings: &str, wanted: &str) -> Option<String> {
    let top = Container::read(settings, skip_space(settings, 0)).ok()?;
    let (piece, command) = command_in(settings, top.member(KEY)?)?;
    (command == wanted).then(|| settings.get(piece.value).map(str::to_owned)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/opt/it's/doorward";

    #[test]
    fn a_line_comes_and_goes_without_a_trace() {
        for settings in [
            "{\n  \"model\": \"x\"\n}\n",
            "{\"statusLine\":{\"type\":\"command\",\"command\":\"~/.claude/line.sh\",\"padding\":0}}",
            "{\n  \"statusLine\": { \"type\": \"command\", \"command\": \"echo 'it'\\\\''s \\u0041 $(cat)'\" },\n  \"a\": 1\n}",
        ] {
            let with = with_ours(settings, PROGRAM).unwrap();
            assert!(is_ours(&with) && !is_ours(settings));
            serde_json::from_str::<Value>(&with).unwrap();
            assert_eq!(with_ours(&with, PROGRAM).unwrap(), with);
            assert_eq!(without_ours(&with, Some(settings)).unwrap(), settings);
            let moved = with_ours(&with, "/new/doorward").unwrap();
            assert!(!moved.contains("/opt/"), "{moved}");
            assert_eq!(without_ours(&moved, Some(settings)).unwrap(), settings);
        }
    }

    #[test]
    fn what_was_there_is_run_with_the_very_same_words() {
        let theirs = "printf '%s\\n' \"it's\" && cat";
        let settings = json!({ "statusLine": { "type": "command", "command": theirs } }).to_string();
        let with = with_ours(&settings, PROGRAM).unwrap();
        let parsed: Value = serde_json::from_str(&with).unwrap();
        let command = parsed.pointer("/statusLine/command").and_then(Value::as_str).unwrap();
        assert_eq!(parse_own(command), Some(Some(theirs.to_owned())));
        let words = command.strip_prefix("'/opt/it'\\''s/doorward' statusline --then ").unwrap();
        let output = std::process::Command::new("sh").args(["-c", &format!("printf %s {words}")]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), theirs);
    }

    #[test]
    fn lines_that_are_not_ours_stay() {
        for command in ["doorward statusline", "'/opt/other' statusline", "'/opt/doorward' statusline --then 'a' && b"]
        {
            let settings = json!({ "statusLine": { "type": "command", "command": command } }).to_string();
            assert_eq!(without_ours(&settings, None).unwrap(), settings);
        }
        assert!(with_ours("{\"statusLine\": 3}", PROGRAM).is_err());
    }
}
