//! A proposal: what a review would change, for which policy and from which record, in a file for the user to accept.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use doorward_engine::{Operation, Policy, Rule, Stage, Thresholds, Verdict};
use doorward_ledger::{Hash, StateKey};
use doorward_vocabulary::PatternId;
use serde::{Deserialize, Serialize};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::Review;
use crate::desk::replay::Replayed;
use crate::machine::atomic_file;
use crate::machine::checked_read;
use crate::machine::paths::Dirs;
use crate::policy::from_history;

/// The file format; other formats are not read.
// A proposal written by another version may mean something else by the same key; applying it could loosen.
const FORMAT: u32 = 1;

/// A threshold that should move.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ThresholdChange {
    pub category: String,
    pub from: f64,
    pub to: f64,
    pub why: String,
}

/// A rule that should change its stage.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleChange {
    pub id: String,
    pub from: Stage,
    pub to: Stage,
    pub why: String,
}

/// A rule that should change and stays, because that would change no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptRule {
    pub id: String,
    pub why: String,
}

/// A pattern whose history should count in layer 2.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PatternChange {
    pub pattern: PatternId,
    pub project: String,
    /// How often the user approved such calls.
    pub let_run: u32,
    pub why: String,
}

impl PatternChange {
    /// What the user accepts with it.
    pub(super) fn accepted(&self) -> from_history::AcceptedOffer {
        let PatternChange { pattern, project, let_run, .. } = self.clone();
        let id = from_history::id_of(&pattern, Some(&project));
        from_history::AcceptedOffer {
            id,
            pattern,
            project: Some(project),
            let_run,
            ..from_history::AcceptedOffer::default()
        }
    }
}

/// What a review would change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Proposal {
    format: u32,
    pub review: Review,
    /// When it was made.
    pub made: String,
    /// The hash of the policy that it was made for.
    policy: String,
    /// The last entry of the log that it was made from, and its hash.
    pub sequence: u64,
    pub ledger: String,
    #[serde(default)]
    pub threshold: Vec<ThresholdChange>,
    #[serde(default)]
    pub rule: Vec<RuleChange>,
    #[serde(default)]
    pub kept: Vec<KeptRule>,
    #[serde(default)]
    pub pattern: Vec<PatternChange>,
}

impl Proposal {
    pub(super) fn new(review: Review, made: String, policy: &Policy, (sequence, ledger): (u64, String)) -> Proposal {
        let policy = fingerprint(policy);
        let (threshold, rule, kept, pattern) = Default::default();
        Proposal { format: FORMAT, review, made, policy, sequence, ledger, threshold, rule, kept, pattern }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.threshold.is_empty() && self.rule.is_empty() && self.pattern.is_empty()
    }

    /// States the consequence of retiring each allow rule, from a replay of the whole proposal.
    pub(super) fn say_what_stays(&mut self, policy: &Policy, effect: &Replayed) {
        for change in &mut self.rule {
            let is_allow = |rule: &&Rule| rule.id == change.id && rule.verdict == Verdict::AutoApprove;
            if policy.rules.iter().any(|rule| is_allow(&rule)) {
                let asked = effect.stricter.iter().filter(|one| one.before.rule.as_deref() == Some(&change.id)).count();
                let words = match asked {
                    0 => "that alone changes no verdict: layer 2 approves the same calls, and `doorward tune monthly` weighs its threshold from then on".to_owned(),
                    asked => format!("{asked} of them would then be asked about or blocked"),
                };
                change.why = format!("{}; {words}", change.why);
            }
        }
    }

    /// Writes it next to the record. A second one of the same day and kind replaces the first.
    pub(super) fn save(&self, dirs: &Dirs) -> Result<PathBuf> {
        let day = self.made.get(..10).unwrap_or_default();
        let path = directory(dirs).join(format!("{day}-{}.toml", self.review.as_str()));
        atomic_file::replace(&path, &self.text(dirs)?)?;
        Ok(path)
    }

    fn text(&self, dirs: &Dirs) -> Result<String> {
        let body = format!("# `doorward tune accept` shows what this would change and asks you\n{}", self.document());
        Ok(format!("{}\n{body}", checksum(dirs, &body)?))
    }

    fn document(&self) -> DocumentMut {
        let mut document = DocumentMut::new();
        document.insert("format", value(i64::from(self.format)));
        document.insert("review", value(self.review.as_str()));
        document.insert("made", value(&self.made));
        document.insert("policy", value(&self.policy));
        document.insert("sequence", value(i64::try_from(self.sequence).unwrap_or(i64::MAX)));
        document.insert("ledger", value(&self.ledger));
        let threshold = |one: &ThresholdChange| {
            table([
                ("category", value(&one.category)),
                ("from", value(one.from)),
                ("to", value(one.to)),
                ("why", value(&one.why)),
            ])
        };
        let rule = |one: &RuleChange| {
            let (from, to) = (value(one.from.as_str()), value(one.to.as_str()));
            table([("id", value(&one.id)), ("from", from), ("to", to), ("why", value(&one.why))])
        };
        let thresholds: ArrayOfTables = self.threshold.iter().map(threshold).collect();
        let rules: ArrayOfTables = self.rule.iter().map(rule).collect();
        let kept = |one: &KeptRule| table([("id", value(&one.id)), ("why", value(&one.why))]);
        let kept: ArrayOfTables = self.kept.iter().map(kept).collect();
        let pattern = |one: &PatternChange| {
            table([
                ("pattern", value(one.pattern.as_str())),
                ("project", value(&one.project)),
                ("let_run", value(i64::from(one.let_run))),
                ("why", value(&one.why)),
            ])
        };
        let patterns: ArrayOfTables = self.pattern.iter().map(pattern).collect();
        for (key, tables) in [("threshold", thresholds), ("rule", rules), ("kept", kept), ("pattern", patterns)] {
            if !tables.is_empty() {
                document.insert(key, Item::ArrayOfTables(tables));
            }
        }
        document
    }

    /// Reads an unedited proposal.
    pub(super) fn load(dirs: &Dirs, path: &Path) -> Result<Proposal> {
        let shown = path.display();
        let again = "run `doorward tune monthly` or `doorward tune quarterly` for a new one; nothing was changed";
        let text = checked_read::read(path).map_err(anyhow::Error::msg)?;
        let text =
            text.with_context(|| format!("`{shown}` does not exist; `doorward tune list` lists all proposals"))?;
        let (first, body) = text.split_once('\n').unwrap_or_default();
        if first != checksum(dirs, body)? {
            bail!("`{shown}` is damaged or was edited: its checksum does not match; {again}");
        }
        let proposal: Proposal =
            toml::from_str(body).with_context(|| format!("`{shown}` is not a proposal of this version; {again}"))?;
        if proposal.format != FORMAT {
            bail!("`{shown}` has format {} instead of {FORMAT}; {again}", proposal.format);
        }
        Ok(proposal)
    }

    /// The reverse: everything back to what it was.
    pub(super) fn reversed(&self, policy: &Policy) -> Proposal {
        let threshold = self.threshold.iter().cloned();
        let rule = self.rule.iter().cloned();
        Proposal {
            policy: fingerprint(policy),
            threshold: threshold.map(|one| ThresholdChange { from: one.to, to: one.from, ..one }).collect(),
            rule: rule.map(|one| RuleChange { from: one.to, to: one.from, ..one }).collect(),
            kept: Vec::new(),
            ..self.clone()
        }
    }

    /// The resulting policy. Fails if the proposal was made for another policy.
    pub(super) fn applied_to(&self, policy: &Policy) -> Result<Policy> {
        if self.policy != fingerprint(policy) {
            bail!(
                "the proposal was made for another policy: rules, thresholds or the model changed since {}",
                self.made
            );
        }
        let mut changed = policy.clone();
        for change in &self.threshold {
            change.apply(&mut changed.thresholds)?;
        }
        for RuleChange { id, from, to, .. } in &self.rule {
            let rule = changed.rules.iter_mut().find(|rule| rule.id == *id && rule.stage == *from);
            rule.with_context(|| format!("no rule `{id}` is {from}"))?.stage = *to;
        }
        changed.version.push_str("+tuned");
        Ok(changed)
    }
}

impl ThresholdChange {
    pub(super) fn operation(&self) -> Result<Operation> {
        Operation::parse(&self.category).with_context(|| format!("`{}` is not a category", self.category))
    }

    fn apply(&self, thresholds: &mut Thresholds) -> Result<()> {
        let ThresholdChange { category, from, to, .. } = self;
        let operation = self.operation()?;
        let floor = Thresholds::default().wanted(Some(operation), false);
        if !(floor..1.0).contains(to) {
            bail!("the threshold of `{category}` would be {to}, below its floor {floor}");
        }
        if (thresholds.wanted(Some(operation), false) - from).abs() > 1e-9 {
            bail!("the threshold of `{category}` is no longer {from}");
        }
        thresholds.by_operation.get_mut(operation as usize).into_iter().for_each(|value| *value = *to);
        Ok(())
    }
}

fn table<const N: usize>(rows: [(&str, Item); N]) -> Table {
    rows.into_iter().collect()
}

/// One name for everything that a proposal depends on.
fn fingerprint(policy: &Policy) -> String {
    let Policy { rules, thresholds, scorer, .. } = policy;
    Hash::of(format!("{rules:?} {thresholds:?} {scorer:?}").as_bytes()).to_string()
}

/// The directory of proposals.
pub(super) fn directory(dirs: &Dirs) -> PathBuf {
    dirs.state().join("proposals")
}

/// The first line of a proposal. It is keyed: otherwise anyone who can write a file could pass it off as a review's proposal.
fn checksum(dirs: &Dirs, body: &str) -> Result<String> {
    let key = StateKey::load_or_create(&dirs.state().join("proposals.key"))?;
    Ok(format!("checksum = \"{}\"", Hash::of(&key.code("proposal", body.as_bytes()))))
}

/// The file of a proposal: a path, or the bare name of an existing proposal. A file of that name in the current directory,
/// which may belong to a project, is ignored.
pub(super) fn resolve(dirs: &Dirs, file: &Path) -> PathBuf {
    if file.components().count() > 1 {
        return file.to_owned();
    }
    directory(dirs).join(file).with_extension("toml")
}

/// All proposals, newest last.
pub(super) fn all(dirs: &Dirs) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory(dirs)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(policy: &Policy) -> Proposal {
        let mut proposal = Proposal::new(Review::Monthly, "2026-11-17 09:00:00".into(), policy, (7, "ab".into()));
        let why = "people regretted \"much\"".to_owned();
        proposal.threshold =
            vec![ThresholdChange { category: "execute".into(), from: 0.85, to: 0.9, why: why.clone() }];
        proposal.kept = vec![KeptRule { id: "service".into(), why: why.clone() }];
        proposal.rule = vec![RuleChange { id: "unseen-change".into(), from: Stage::Active, to: Stage::Retired, why }];
        proposal
    }

    #[test]
    fn what_is_written_is_read_back_and_what_was_touched_is_not() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(home.path().to_str().unwrap());
        let wanted = proposal(&Policy::built_in());
        let path = wanted.save(&dirs).unwrap();
        assert!(path.ends_with("proposals/2026-11-17-monthly.toml"), "{path:?}");
        assert_eq!(Proposal::load(&dirs, &path).unwrap(), wanted);
        assert_eq!(all(&dirs), std::slice::from_ref(&path));
        let text = std::fs::read_to_string(&path).unwrap();
        let body = text.split_once('\n').unwrap().1;
        let unkeyed = format!("checksum = \"{}\"\n{body}", Hash::of(body.as_bytes()));
        for damaged in
            [text.replace("0.9", "0.1"), String::new(), "x".into(), text[..text.len() - 9].to_owned(), unkeyed]
        {
            std::fs::write(&path, damaged).unwrap();
            let problem = Proposal::load(&dirs, &path).unwrap_err().to_string();
            assert!(problem.contains("checksum") && problem.contains("nothing was changed"), "{problem}");
        }
    }

    #[test]
    fn a_bare_name_is_never_a_file_of_the_current_directory() {
        let dirs = Dirs::at("/home/dev");
        let made = directory(&dirs);
        for (file, expected) in [
            ("Cargo", made.join("Cargo.toml")),
            ("Cargo.toml", made.join("Cargo.toml")),
            ("./Cargo.toml", PathBuf::from("./Cargo.toml")),
            ("/x/a.toml", PathBuf::from("/x/a.toml")),
        ] {
            assert_eq!(resolve(&dirs, Path::new(file)), expected, "{file}");
        }
    }

    #[test]
    fn a_proposal_fits_only_the_policy_that_it_was_made_for_and_can_be_taken_back() {
        let policy = Policy::built_in();
        let made = proposal(&policy);
        let changed = made.applied_to(&policy).unwrap();
        assert!((changed.thresholds.wanted(Some(Operation::Execute), false) - 0.9).abs() < 1e-9);
        assert!(made.applied_to(&changed).is_err(), "it is stale");
        let back = made.reversed(&changed).applied_to(&changed).unwrap();
        assert_eq!((back.thresholds, back.rules), (policy.thresholds, policy.rules));
    }

    #[test]
    fn no_proposal_goes_below_a_floor() {
        let policy = Policy::built_in();
        for to in [0.5, 1.0, f64::NAN] {
            let mut made = proposal(&policy);
            made.threshold.iter_mut().for_each(|change| change.to = to);
            assert!(made.applied_to(&policy).is_err(), "{to}");
        }
    }
}
