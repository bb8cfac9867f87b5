//! Whether an agent may be driving a browser right now: then a click on this machine is not known to be a person's.

use doorward_ledger::{Filter, Kind, Row};

use super::exchange::Refusal;
use super::room::Room;
use crate::machine::clock::now_ms;

/// How long after an agent's browser call a click is still not trusted.
// The tool acts within a second of its approval; scripts that wait longer keep their call open, which is looked at apart.
const QUIET_MS: u64 = 15 * 1000;

/// A call that has no outcome may still be running for this long.
const RUNNING_MS: u64 = 5 * 60 * 1000;

/// More calls than an agent makes in that time.
const LOOKED_AT: u32 = 400;

/// Words in the names of tools that click and type: in a browser, or on the whole screen.
// Playwright's, Chrome DevTools', Puppeteer's and Selenium's servers, and computer use. A name that is missing leaves the
// other checks: a program that drives the browser by itself is seen by the page's script.
const DRIVING: &[&str] = &[
    "browser",
    "click",
    "press_key",
    "keyboard",
    "mouse",
    "type_text",
    "fill",
    "page",
    "tab",
    "screen",
    "computer",
    "playwright",
    "puppeteer",
    "selenium",
    "chrome",
    "devtools",
];

/// Programs and switches that do the same from a command.
const DRIVERS: &[&str] = &[
    "xdotool",
    "ydotool",
    "dotool",
    "wtype",
    "xte",
    "cliclick",
    "osascript",
    "autohotkey",
    "pyautogui",
    "pynput",
    "playwright",
    "puppeteer",
    "selenium",
    "chromedriver",
    "geckodriver",
    "webdriver",
    "remote-debugging",
    "devtools",
    "uinput",
];

/// Fails while an agent's browser tool is at work, or was a moment ago.
pub(super) fn check(room: &Room) -> Result<(), Refusal> {
    let (_, index) = room.record()?;
    let now = now_ms();
    let recent = Filter {
        kind: Some(Kind::Decision),
        since_ms: Some(now.saturating_sub(RUNNING_MS)),
        limit: Some(LOOKED_AT),
        ..Filter::default()
    };
    let rows = index.list(&recent).map_err(anyhow::Error::from)?;
    for row in rows.iter().filter(|row| drives(row)) {
        let is_recent = now.saturating_sub(row.time_ms) < QUIET_MS;
        if is_recent || !has_ended(&index, row.id.as_deref())? {
            return Err(Refusal::new(
                409,
                "an agent is using a browser or screen tool, so this click may not be yours; answer from another device or with `doorward review`",
            ));
        }
    }
    Ok(())
}

fn drives(row: &Row) -> bool {
    let call = row.text.as_deref().unwrap_or_default();
    match row.tool.as_deref() {
        Some("mcp" | "other") => is_driving(call),
        Some("bash" | "powershell" | "python") => is_driver(call),
        Some(_) | None => false,
    }
}

/// A command that presses keys, moves the pointer, or holds the strings of a browser.
fn is_driver(command: &str) -> bool {
    let command = command.to_ascii_lowercase();
    DRIVERS.iter().any(|name| command.contains(name))
}

fn is_driving(call: &str) -> bool {
    // The name of the tool comes before its arguments.
    let name = call.split(['(', '{', ' ']).next().unwrap_or_default().to_ascii_lowercase();
    DRIVING.iter().any(|word| name.contains(word))
}

/// A call that ran has an outcome; one that was refused never began.
fn has_ended(index: &doorward_ledger::Index, id: Option<&str>) -> Result<bool, Refusal> {
    let Some(id) = id else { return Ok(true) };
    let about = Filter { about: Some(id.to_owned()), ..Filter::default() };
    let rows = index.list(&about).map_err(anyhow::Error::from)?;
    let was_let_run =
        rows.iter().any(|row| row.verdict.as_deref() == Some("approve") || row.step.as_deref() == Some("approved"));
    Ok(!was_let_run || rows.iter().any(|row| row.kind == "outcome"))
}

#[cfg(test)]
mod tests {
    use super::{is_driver, is_driving};

    #[test]
    fn tools_that_click_are_known_by_their_names() {
        for call in
            ["mcp__playwright__browser_click {\"ref\":1}", "mcp__devtools__click", "computer", "chrome.press_key(x)"]
        {
            assert!(is_driving(call), "{call}");
        }
        for call in ["mcp__notes__search_notes {\"q\":\"browser\"}", "github/get_issue", ""] {
            assert!(!is_driving(call), "{call}");
        }
        assert!(is_driver("DISPLAY=:0 xdotool key y") && is_driver("chromium --remote-debugging-port=9222"));
        assert!(!is_driver("cargo test && git push"));
    }
}
