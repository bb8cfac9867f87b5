//! Where all references with a common prefix point, such as every remote branch.

use std::path::Path;

use super::{Id, Objects, Unread, listed};

/// Maximum number of branches.
// A mirror of a busy server has tens of thousands of branches; which of them hold a commit is then not known.
const TIPS: usize = 2_000;

/// How deep the names of branches go.
const DEPTH: usize = 16;

impl Objects {
    /// The objects that references with this prefix point to; `start` ends with a slash.
    pub(crate) fn tips(&self, start: &str) -> Result<Vec<Id>, Unread> {
        let mut names: Vec<String> = self.packed()?.below(start).map(|rest| format!("{start}{rest}")).collect();
        let mut waiting = vec![(start.trim_end_matches('/').to_owned(), 0)];
        while let Some((directory, depth)) = waiting.pop() {
            if depth > DEPTH || names.len() + waiting.len() > TIPS {
                return Err(Unread::OverBudget);
            }
            let place = self.common.join(&directory);
            if !listed::exists(&place)? {
                continue;
            }
            for name in listed::names(&place)? {
                let full = format!("{directory}/{name}");
                if Path::is_dir(&self.common.join(&full)) { waiting.push((full, depth + 1)) } else { names.push(full) }
            }
        }
        let mut tips = Vec::new();
        for name in names.iter().filter(|name| !name.ends_with(".lock")) {
            tips.extend(self.reference(name)?.map(|found| found.id));
        }
        tips.sort_unstable();
        tips.dedup();
        Ok(tips)
    }
}
