//! Deletions by `find` whose hits are known: nothing, a few files, or what a build makes again.

use doorward_vocabulary::{Operation, Reversibility};

use super::super::Invocation;
use super::find::Expression;
use super::find_hits;
use crate::effect::{Effect, Target};
use crate::observe::shell::field::Field;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;
use crate::observe::touch::Touch;
use crate::path;
use crate::place;
use crate::world::{Kind, Tracking};

/// More files are not written down one by one.
const FEW: usize = 20;

/// More files are not even looked up.
const MANY: usize = 2_000;

/// What an action of `find` hits.
#[derive(Debug)]
pub(super) enum Found {
    Few(Vec<String>),
    /// Many files, all of which a build makes again.
    Rebuilt,
}

impl Runner<'_, '_> {
    /// What the actions reach, if the disk says so for certain and it lies in a place of one's own.
    pub(super) fn certainly_found(&self, expression: &Expression, invocation: &Invocation) -> Option<Found> {
        let cwd = invocation.cwd.as_deref()?;
        let roots: Vec<String> = expression
            .starts
            .iter()
            .map(|start| start.exact().map(|text| path::lexical(&path::join(cwd, text))))
            .collect::<Option<_>>()?;
        let is_own = |root: &String| self.out.is_own_ground(root);
        if expression.follows || !expression.trouble.is_empty() || !roots.iter().all(is_own) || !self.out.is_still() {
            return None;
        }
        let hits = find_hits::hits(&expression.tests, &expression.starts, cwd, self.out.world)?;
        let is_kept = |(hit, _): &(String, Kind)| roots.contains(hit) || hit.split('/').any(|part| part == ".git");
        if hits.len() > MANY || hits.iter().any(is_kept) {
            return None;
        }
        if hits.len() <= FEW {
            return Some(Found::Few(hits.into_iter().map(|(hit, _)| hit).collect()));
        }
        let is_rebuilt =
            |(hit, kind): &(String, Kind)| *kind == Kind::File && self.out.world.tracking(hit) == Tracking::Rebuildable;
        hits.iter().all(is_rebuilt).then_some(Found::Rebuilt)
    }

    /// `-delete`: files, and directories only once they are empty.
    pub(super) fn delete_certain(&mut self, found: &Found, expression: &Expression, invocation: &Invocation) {
        let cwd = invocation.cwd.clone();
        let pattern = expression.picks.last().cloned().unwrap_or_else(|| "*".to_owned());
        match found {
            Found::Few(hits) if hits.is_empty() => {
                for start in &expression.starts {
                    let root = path::lexical(&path::join(cwd.as_deref().unwrap_or("/"), &start.text));
                    self.out.touch_nothing(&root, &pattern, &invocation.by);
                }
            }
            Found::Few(hits) => {
                for hit in hits {
                    let field = Field::literal(hit.clone(), doorward_shell::Span::default());
                    self.out.touch(Touch::Delete, &field, cwd.as_deref(), &invocation.by);
                }
            }
            Found::Rebuilt => {
                for start in &expression.starts {
                    let root = path::lexical(&path::join(cwd.as_deref().unwrap_or("/"), &start.text));
                    let here = place::classify(&path::join(&root, &pattern), self.out.world);
                    let mut effect = Effect::new(Operation::Delete, Target::Path(path::join(&root, &pattern)));
                    (effect.scope, effect.reach) = (here.scope, here.reach);
                    effect.reversibility = Reversibility::Rebuildable;
                    effect.by.clone_from(&invocation.by.name);
                    effect.part = invocation.by.part;
                    self.out.effect(effect);
                }
            }
        }
    }

    /// `-exec rm {} +` with known hits: the command as it will run, or not at all.
    pub(super) fn deletes_certain(
        &mut self,
        words: &[Field],
        expression: &Expression,
        invocation: &mut Invocation,
        state: &mut State<'_>,
    ) -> bool {
        let is_plain = |word: &Field| word.exact().is_some_and(|text| text == "{}" || !text.contains("{}"));
        let deletes =
            words.first().and_then(Field::exact).is_some_and(|name| matches!(name, "rm" | "unlink" | "rmdir"));
        if !deletes || !words.iter().all(is_plain) {
            return false;
        }
        match self.certainly_found(expression, invocation) {
            Some(found @ Found::Few(_)) if matches!(&found, Found::Few(hits) if hits.is_empty()) => {
                self.delete_certain(&found, expression, invocation);
                true
            }
            Some(Found::Few(hits)) => {
                let fields = |word: &Field| match word.text.as_str() {
                    "{}" => hits.iter().map(|hit| Field::literal(hit.clone(), word.span)).collect(),
                    _ => vec![word.clone()],
                };
                self.inner_command(words.iter().flat_map(fields).collect(), invocation, state);
                true
            }
            Some(Found::Rebuilt) | None => false,
        }
    }
}
