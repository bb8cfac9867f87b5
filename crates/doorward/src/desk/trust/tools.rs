//! What a tool server says of its tools, shown before a person trusts it.

use std::io::{Result, Write};

use doorward_engine::{DescribedWorld, Description, read_definition};

use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::policy::trust::tool_pins::{PinStatus, ToolPins};

/// Tools that are shown with all that they say; the others are named.
const SHOWN: usize = 200;

/// Lists the tools of one server as the relay saw them, with what a person should look at.
pub(super) fn show(dirs: &Dirs, server: &str, out: &mut impl Write) -> Result<()> {
    let pins = ToolPins::load(dirs, server);
    if pins.tools.is_empty() {
        return writeln!(out, "No relay has seen the tools of `{}` yet.", visible(server));
    }
    for (name, pin) in pins.tools.iter().take(SHOWN) {
        let status = match pins.status(name) {
            PinStatus::Accepted => "accepted".to_owned(),
            PinStatus::First | PinStatus::Unlisted => "new".to_owned(),
            PinStatus::Changed(how) => format!("CHANGED: {how}"),
            PinStatus::Shadows(other) => format!("SAME NAME as a tool of `{other}`"),
        };
        writeln!(out, "  {:<28} {}", visible(name), visible(&status))?;
        let definition = crate::policy::trust::tool_pins::read(&pin.now);
        let home = Some(dirs.home().to_owned());
        let world = DescribedWorld::new(Description { home, ..Description::default() }, "/");
        if let Some(said) = read_definition(server, name, &definition, &world) {
            writeln!(out, "      look at this: {}", visible(&said))?;
        }
    }
    Ok(())
}

/// One line for each server that a relay stands before.
pub(super) fn list(dirs: &Dirs, out: &mut dyn Write) -> Result<()> {
    for pins in ToolPins::all(dirs) {
        let changed = pins.tools.keys().filter(|name| matches!(pins.status(name), PinStatus::Changed(_))).count();
        let since = if changed == 0 { String::new() } else { format!("  {changed} changed since") };
        writeln!(out, "pinned   {} tools of {}{since}", pins.tools.len(), visible(&pins.server))?;
    }
    Ok(())
}
