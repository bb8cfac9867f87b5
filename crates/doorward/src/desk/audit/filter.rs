//! Turns the arguments into a filter over the record.

use anyhow::{Context, Result};
use doorward_ledger::Filter;
use doorward_vocabulary::Verdict;

use super::arguments::{FilterArguments, VerdictWord};
use crate::machine::clock;

impl FilterArguments {
    pub(crate) fn filter(&self) -> Result<Filter> {
        let now = clock::now_ms();
        let moment = |text: &Option<String>| {
            text.as_deref().map(|text| clock::parse(text, now)).transpose().map_err(anyhow::Error::msg)
        };
        let project = match &self.project {
            Some(path) => {
                let absolute = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
                Some(
                    absolute.with_context(|| format!("`{}` is not a directory", path.display()))?.display().to_string(),
                )
            }
            None => None,
        };
        Ok(Filter {
            kind: self.kind,
            verdict: self.verdict.map(Verdict::from),
            agent: self.agent.clone(),
            session: self.session.clone(),
            project,
            rule: self.rule.clone(),
            category: self.category.clone(),
            since_ms: moment(&self.since)?,
            until_ms: moment(&self.until)?,
            text: self.text.clone(),
            violations: self.violations,
            ..Filter::default()
        })
    }
}

impl From<VerdictWord> for Verdict {
    fn from(word: VerdictWord) -> Verdict {
        match word {
            VerdictWord::Approve => Verdict::AutoApprove,
            VerdictWord::Confirm => Verdict::Confirm,
            VerdictWord::Block => Verdict::Block,
        }
    }
}
