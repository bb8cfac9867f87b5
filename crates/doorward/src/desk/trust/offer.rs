//! A project that a person may trust, with what to look at first.

use anyhow::Result;

use crate::desk::trust::change::Change;
use crate::desk::trust::recipes;
use crate::machine::clock::now_ms;
use crate::machine::paths::Places;
use crate::machine::record::Ledger;

/// One project as it is now.
#[derive(Debug)]
pub struct ProjectOffer {
    change: Change,
    /// Recipes that doorward stops although the project is trusted.
    pub harmful: Vec<String>,
}

impl ProjectOffer {
    pub fn of(root: &str, places: &Places) -> Result<ProjectOffer> {
        let change = Change::project(std::path::Path::new(root), true, now_ms())?;
        Ok(ProjectOffer { change, harmful: recipes::harmful(root, places) })
    }

    /// What to trust it means.
    pub fn what(&self) -> String {
        self.change.question()
    }

    /// Trusts it, on record first.
    pub fn accept(self, places: &Places) -> Result<()> {
        self.change.apply(places, &mut Ledger::of(places))
    }
}
