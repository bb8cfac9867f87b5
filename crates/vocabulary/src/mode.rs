//! How an agent is run.

use crate::words;

words! {
    /// How an agent is run.
    Mode {
        Auto = "auto" : "judge every call",
        Shadow = "shadow" : "record what would have been decided, leave the client's own flow",
        ConfirmAll = "confirm-all" : "approve nothing",
        Off = "off" : "the client's own flow",
    }
}

impl Mode {
    /// A call may be asked about or blocked.
    pub const fn stops(self) -> bool {
        match self {
            Mode::Auto | Mode::ConfirmAll => true,
            Mode::Shadow | Mode::Off => false,
        }
    }
}
