//! What the server says: answers to what was passed on, lists that the model reads, and requests of its own.

use std::time::Duration;

use serde_json::value::RawValue;

use super::{ASKED, Back, Exchange, OWN_IDS, UnderWay, lock};
use crate::hook::agents::CallResult;
use crate::hook::relay::answers;
use crate::hook::relay::ends::End;
use crate::hook::relay::envelope::{Envelope, Kind, Read, read};
use crate::hook::relay::judge::{Judged, Means, Ruling};
use crate::hook::relay::listing::{self, Listing};
use crate::hook::relay::results;

impl Exchange {
    pub(super) fn one_back(&self, envelope: &Envelope<'_>) -> Back {
        match envelope.kind() {
            Kind::Notification if ASKED.contains(&envelope.method()) => Back::Drop("a request without an id"),
            Kind::Notification => Back::Forward,
            Kind::Request => self.asked_by_server(envelope),
            Kind::Response => self.answered(envelope),
        }
    }

    pub(super) fn batch_back(&self, all: &[(&RawValue, Envelope<'_>)]) -> Back {
        let steps: Vec<Back> = all.iter().map(|(_, envelope)| self.one_back(envelope)).collect();
        if steps.iter().all(|step| matches!(step, Back::Forward)) {
            return Back::Forward;
        }
        let kept: Vec<String> = steps
            .iter()
            .zip(all)
            .filter_map(|(step, (raw, _))| match step {
                Back::Forward => Some(raw.get().to_owned()),
                Back::Replace(text) => Some(text.trim_end().to_owned()),
                Back::Drop(_) | Back::Return(_) | Back::Later(_) => None,
            })
            .collect();
        if kept.is_empty() {
            Back::Drop("a batch of which nothing may pass")
        } else {
            Back::Replace(format!("[{}]\n", kept.join(",")))
        }
    }

    /// A server asks the client's model or its user.
    fn asked_by_server(&self, envelope: &Envelope<'_>) -> Back {
        let (Some(id), method) = (envelope.id, envelope.method()) else { return Back::Drop("a request without an id") };
        if envelope.key().is_none_or(|key| key.trim_start_matches('"').starts_with(OWN_IDS)) {
            return Back::Return(answers::invalid(Some(id), "this id is in use"));
        }
        let params = match envelope.params() {
            Ok(params) => params,
            Err(problem) => return Back::Return(answers::invalid(Some(id), &problem)),
        };
        match method {
            "sampling/createMessage" => {
                let identity = lock(&self.identity).clone();
                let means = Means { elicits: false, patience: Duration::ZERO };
                match self.judge.tool(method, &params).map(|tool| self.judge.judge((tool, None), &identity, means)) {
                    Ok((_, Ruling::Pass | Ruling::Silent)) => Back::Forward,
                    Ok((_, Ruling::Ask(reason) | Ruling::Wait(reason, _) | Ruling::Refuse(reason))) => {
                        Back::Return(answers::refusal(id, method, &reason))
                    }
                    Err(problem) => Back::Return(answers::invalid(Some(id), &problem)),
                }
            }
            "elicitation/create" => match listing::asks_for(&params, &self.judge.server) {
                Some(reason) => Back::Return(answers::refusal(id, method, &reason)),
                None => Back::Forward,
            },
            _ => Back::Forward,
        }
    }

    /// The answer to a request that was passed on.
    fn answered(&self, envelope: &Envelope<'_>) -> Back {
        let Some(key) = envelope.key() else {
            // An error about a message that the server could not read has no id.
            return if envelope.error.is_some() { Back::Forward } else { Back::Drop("an answer without an id") };
        };
        let Some(one) = ({
            let mut state = lock(&self.state);
            match state.under_way.get(&key) {
                Some(Some(_)) => state.under_way.remove(&key).flatten(),
                // Nothing was passed on under this id, so nothing can be answered.
                Some(None) | None => None,
            }
        }) else {
            return Back::Drop("an answer to nothing that was asked");
        };
        match (one.judged, envelope.result) {
            (Some(judged), Some(result)) => {
                self.finished(judged, result);
                Back::Forward
            }
            (Some(judged), None) => {
                self.end(judged, CallResult::Failed, None);
                Back::Forward
            }
            (None, Some(result)) => {
                let listing = Listing { dirs: &self.judge.dirs, server: &self.judge.server };
                match listing.checked(&one.method, result) {
                    Some(text) => Back::Replace(answers::result(&one.id, &text)),
                    None => Back::Forward,
                }
            }
            (None, None) => Back::Forward,
        }
    }

    pub(super) fn end(&self, judged: Judged, result: CallResult, detail: Option<&'static str>) {
        self.ends.add(End { judged, result, detail });
    }

    fn finished(&self, judged: Judged, result: &RawValue) {
        let seen = results::look(result.get());
        if seen.holds_secret {
            self.judge.saw_secret(&judged.identity);
        }
        let became = if seen.is_error { CallResult::Failed } else { CallResult::Ran };
        self.end(judged, became, seen.detail());
    }

    /// The connection that carried this message broke before an answer came.
    pub(in crate::hook::relay) fn lost(&self, line: &[u8]) -> Vec<String> {
        let envelopes = match read(line) {
            Read::One(envelope) => vec![envelope],
            Read::Many(all) => all.into_iter().map(|(_, envelope)| envelope).collect(),
            Read::Nothing | Read::Unreadable(_) => Vec::new(),
        };
        let keys: Vec<String> = envelopes.iter().filter_map(Envelope::key).collect();
        keys.iter().filter_map(|key| self.forget(key)).filter_map(|one| self.unanswered(one)).collect()
    }

    /// What the client is told about a request that nobody will answer.
    pub(super) fn unanswered(&self, one: UnderWay) -> Option<String> {
        if one.is_cancelled {
            return None;
        }
        let Some(judged) = one.judged else {
            return Some(answers::refusal(&one.id, &one.method, "the server ended before it answered"));
        };
        self.end(judged, CallResult::Failed, Some("ambiguous: the server ended after the call was passed on"));
        let said = "The server ended after this call was passed on to it, so it is not known whether it took effect. \
                    Look at what it would have changed before you try again.";
        Some(answers::refusal(&one.id, &one.method, said))
    }
}
