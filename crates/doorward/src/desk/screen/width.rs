//! How wide lines may be.

use rustix::termios::tcgetwinsize;

/// If standard output is not a terminal or its width is unknown.
const USUAL: usize = 100;

/// Narrower than this, lines are left to the terminal to break.
const LEAST: usize = 40;

/// The columns of the terminal that standard output goes to.
pub(crate) fn width() -> usize {
    let columns = tcgetwinsize(std::io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    if columns < LEAST { USUAL } else { columns }
}
