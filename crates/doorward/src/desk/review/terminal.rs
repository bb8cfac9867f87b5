//! The terminal itself: taken over at the start, restored on every exit.

use std::io::{Stdout, stdout};
use std::time::Duration;

use anyhow::{Context, Result};
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::draw;
use super::model::{Key, Model, VisiblePart};

/// User input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Key(Key),
    /// Text that arrived all at once, so it was pasted.
    Pasted,
    Resized,
}

/// The terminal while doorward controls it.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    pub(super) fn open() -> Result<Screen> {
        let given_back = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            given_back(panic);
        }));
        enable_raw_mode().context("can't use the terminal")?;
        // A paste arrives as one event, never as keys.
        let taken = execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste);
        let terminal = taken.and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        if terminal.is_err() {
            give_back();
        }
        Ok(Screen { terminal: terminal.context("can't use the terminal")? })
    }

    /// Draws; returns which part of the selected call was visible.
    pub(super) fn draw(&mut self, model: &Model) -> Result<VisiblePart> {
        let mut sight = VisiblePart::default();
        self.terminal.draw(|frame| {
            let area = frame.area();
            sight = draw::screen(frame.buffer_mut(), area, model);
        })?;
        Ok(sight)
    }

    /// Discards typed-ahead input: it was meant for the previous screen.
    pub(super) fn forget_typed(&mut self) -> Result<()> {
        while event::poll(Duration::ZERO)? {
            let _ahead = event::read()?;
        }
        Ok(())
    }

    /// Waits for input, up to a limit.
    pub(super) fn wait(&mut self, pause: Duration) -> Result<Option<Input>> {
        if !event::poll(pause)? {
            return Ok(None);
        }
        Ok(match event::read()? {
            Event::Key(key) => meant(key).map(Input::Key),
            Event::Paste(_) => Some(Input::Pasted),
            Event::Resize(_, _) => Some(Input::Resized),
            Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// If this fails, there is no one left to tell.
fn give_back() {
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

#[expect(clippy::wildcard_enum_match_arm, reason = "keys that mean nothing here do nothing")]
fn meant(key: KeyEvent) -> Option<Key> {
    if key.kind != KeyEventKind::Press {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(key.code, KeyCode::Char('c' | 'd')).then_some(Key::Leave);
    }
    Some(match key.code {
        KeyCode::Char(character) if !key.modifiers.contains(KeyModifiers::ALT) => Key::Character(character),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
