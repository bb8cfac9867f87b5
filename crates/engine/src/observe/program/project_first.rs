//! Programs that run code of the project before they answer anything, be it only their version.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::Invocation;
use crate::knowledge::schema::Facet;
use crate::observe::sheet::observer::Observer;
use crate::path;

/// Such a program asks where the project is not trusted, or where it stands in another one.
pub(super) fn note_project_first(out: &mut Observer<'_>, invocation: &Invocation) {
    if !invocation.args.chain.iter().any(|entry| entry.facets.has(Facet::LoadsProjectFirst)) {
        return;
    }
    let name = &invocation.by.name;
    let inside = match (invocation.cwd.as_deref(), out.world.project()) {
        (Some(cwd), Some(project)) => path::under(cwd, project),
        (Some(_) | None, Some(_) | None) => false,
    };
    if !inside || out.world.project_trusted() {
        return;
    }
    out.lower(
        Degree::Opaque,
        format!("`{name}` loads code of the project before it answers, and the project isn't trusted yet"),
    );
    out.unknown(Operation::Execute, &invocation.by, Marks::default().with(Mark::UntrustedProject));
}
