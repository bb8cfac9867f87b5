//! A project to trust, with the recipes to look at first.

use anyhow::Result;

use crate::desk::trust::change::TrustChange;
use crate::desk::trust::recipes;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::record::Ledger;

/// One project as it is now.
#[derive(Debug)]
pub(crate) struct ProjectOffer {
    change: TrustChange,
    /// Recipes doorward blocks even in a trusted project.
    pub harmful: Vec<String>,
}

impl ProjectOffer {
    pub(crate) fn of(root: &str, dirs: &Dirs) -> Result<ProjectOffer> {
        let change = TrustChange::project(std::path::Path::new(root), true, now_ms())?;
        Ok(ProjectOffer { change, harmful: recipes::harmful(root, dirs) })
    }

    /// What trusting it means.
    pub(crate) fn describe(&self) -> String {
        self.change.question()
    }

    /// Records the trust, then applies it.
    pub(crate) fn accept(self, dirs: &Dirs) -> Result<()> {
        self.change.apply(dirs, &mut Ledger::open(dirs))
    }
}
