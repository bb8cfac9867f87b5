//! Characters that a person does not see: which ones make a call opaque, and how they are named.

use doorward_shell::{Hidden, HiddenKind};
use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::sheet::observer::{By, Observer};

/// Notes the first hiding character of a text.
pub(super) fn note_hidden(out: &mut Observer<'_>, text: &str) {
    let Some(Hidden { kind, .. }) = doorward_shell::hidden(text) else { return };
    let (degree, what) = match kind {
        HiddenKind::Nul => (Degree::Opaque, "a NUL character"),
        HiddenKind::CarriageReturn => (Degree::Opaque, "a carriage return that a terminal does not show"),
        HiddenKind::Control => (Degree::Opaque, "a control character"),
        HiddenKind::Bidi => (Degree::Opaque, "a character that changes the order in which text is shown"),
        HiddenKind::Invisible => (Degree::Opaque, "an invisible character"),
        HiddenKind::Tag => (Degree::Opaque, "invisible tag characters"),
        HiddenKind::Space => (Degree::Unknown, "a character that only looks like a space"),
        HiddenKind::Variation => (Degree::Unknown, "a variation selector with nothing to select"),
    };
    out.lower(degree, what);
    if degree == Degree::Opaque {
        out.unknown(Operation::Execute, &By::default(), Marks::default().with(Mark::Hidden));
    }
}
