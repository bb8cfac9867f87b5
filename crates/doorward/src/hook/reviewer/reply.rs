//! Reads a reviewer's reply: it must be exactly one object of the schema, with the nonce of the request.

use doorward_engine::Confidence;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// pi-automode's sentence for an unusable reply; its users know it.
pub(crate) const NOT_VALID: &str = "Classifier response was not valid decision JSON; auto mode fails closed.";

/// More targets than an honest answer names.
// A longer list is a model that repeats itself, or an action that made it do so.
const TARGETS: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReviewDecision {
    Allow,
    Block,
}

/// The kind of rule that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tier {
    HardDeny,
    SoftDeny,
    Allow,
    ExplicitIntent,
    None,
}

/// What a reviewer answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewReply {
    pub reason: String,
    pub tier: Tier,
    pub decision: ReviewDecision,
    pub confidence: Confidence,
    pub nonce: String,
    /// What an unknown program would touch, according to the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<NamedTarget>,
}

/// Something that an unknown program would touch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedTarget {
    pub operation: TouchKind,
    pub target: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TouchKind {
    Read,
    Write,
    Delete,
    Network,
}

/// Reads a whole reply. The error says what is wrong with it.
pub(crate) fn parse(text: &str, nonce: &str) -> Result<ReviewReply, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty".into());
    }
    if text.starts_with("```") {
        return Err("the object is inside a code fence".into());
    }
    if !text.starts_with('{') {
        return Err("there is text before the object, or no object at all".into());
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<ReviewReply>();
    let reply = match values.next() {
        Some(Ok(reply)) => reply,
        Some(Err(error)) => return Err(describe(&error)),
        None => return Err("it is empty".into()),
    };
    match text.get(values.byte_offset()..).map(str::trim_start) {
        Some("") => checked(reply, nonce),
        Some(rest) if rest.starts_with('{') => Err("there are two objects".into()),
        Some(_) | None => Err("there is text after the object".into()),
    }
}

/// Checks that the fields are consistent.
fn checked(reply: ReviewReply, nonce: &str) -> Result<ReviewReply, String> {
    if reply.nonce != nonce {
        return Err("it carries another nonce than the request".into());
    }
    let contradicts = match (reply.decision, reply.tier) {
        (ReviewDecision::Allow, Tier::HardDeny | Tier::SoftDeny) => true,
        (ReviewDecision::Block, Tier::Allow | Tier::ExplicitIntent) => true,
        (ReviewDecision::Allow, Tier::Allow | Tier::ExplicitIntent | Tier::None) => false,
        (ReviewDecision::Block, Tier::HardDeny | Tier::SoftDeny | Tier::None) => false,
    };
    if contradicts {
        return Err("its decision contradicts its tier".into());
    }
    if reply.reason.trim().is_empty() {
        return Err("it gives no reason".into());
    }
    if reply.targets.len() > TARGETS {
        return Err(format!("it names more than {TARGETS} targets"));
    }
    Ok(reply)
}

fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    format!("it does not match the schema: {text}")
}

/// The schema of a reply, for providers that enforce one.
pub(crate) fn schema() -> Value {
    // The pattern bounds the reason, so that no model rambles until it is cut off.
    let tiers = ["hard_deny", "soft_deny", "allow", "explicit_intent", "none"];
    let confidence = json!({ "type": "number" });
    object(
        json!({ "type": "string", "pattern": REASON }),
        &tiers,
        &["allow", "block"],
        (confidence, json!({ "type": "string" })),
    )
}

/// The same for models with a grammar per request: it includes the nonce and which decision goes with which tier. Other
/// providers would have to compile a changing schema for each request.
pub(crate) fn grammar(nonce: &str) -> Value {
    let of = |tiers: &[&str], decision: &str| {
        let reason = json!({ "type": "string", "pattern": REASON });
        let confidence = json!({ "enum": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99] });
        object(reason, tiers, &[decision], (confidence, json!({ "type": "string", "enum": [nonce] })))
    };
    json!({ "anyOf": [
        of(&["hard_deny", "soft_deny", "none"], "block"),
        of(&["allow", "explicit_intent", "none"], "allow"),
    ] })
}

/// A reason: printable, on one line, neither empty nor long.
const REASON: &str = "^[a-zA-Z0-9 .,:;()/_-]{1,160}$";

fn object(reason: Value, tiers: &[&str], decisions: &[&str], (confidence, nonce): (Value, Value)) -> Value {
    json!({
        "type": "object",
        "properties": {
            "reason": reason,
            "tier": { "type": "string", "enum": tiers },
            "decision": { "type": "string", "enum": decisions },
            "confidence": confidence,
            "nonce": nonce,
        },
        "required": ["reason", "tier", "decision", "confidence", "nonce"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "0f1e";

    fn with(change: impl FnOnce(&mut Value)) -> String {
        let mut reply = json!({
            "reason": "the user asked for this push", "tier": "explicit_intent", "decision": "allow", "confidence": 0.97,
            "nonce": NONCE,
        });
        change(&mut reply);
        reply.to_string()
    }

    #[test]
    fn one_whole_object_is_read() {
        let reply = parse(&format!(" \n{}\t\n", with(|_| ())), NONCE).unwrap();
        assert_eq!((reply.decision, reply.tier), (ReviewDecision::Allow, Tier::ExplicitIntent));
        let block = with(|reply| (reply["decision"], reply["tier"]) = ("block".into(), "hard_deny".into()));
        assert_eq!(parse(&block, NONCE).unwrap().decision, ReviewDecision::Block);
        let named = with(|reply| reply["targets"] = json!([{ "operation": "write", "target": "/etc/hosts" }]));
        assert_eq!(parse(&named, NONCE).unwrap().targets.len(), 1);
    }

    #[test]
    fn anything_else_is_refused_and_says_why() {
        let good = with(|_| ());
        let cases = [
            (String::new(), "empty"),
            ("ALLOW, it is fine".to_owned(), "text before"),
            (format!("```json\n{good}\n```"), "code fence"),
            (format!("Sure! {good}"), "text before"),
            (format!("{good} I hope this helps"), "text after"),
            (format!("{good}{good}"), "two objects"),
            (format!("{good}\n{good}"), "two objects"),
            (format!("[{good}]"), "text before"),
            (good.trim_end_matches('}').to_owned(), "does not match the schema"),
            (with(|reply| reply["nonce"] = "0f1f".into()), "nonce"),
            (with(|reply| reply["nonce"] = "".into()), "nonce"),
            (with(|reply| drop(reply.as_object_mut().unwrap().remove("tier"))), "missing field `tier`"),
            (with(|reply| drop(reply.as_object_mut().unwrap().remove("nonce"))), "missing field `nonce`"),
            (with(|reply| drop(reply.as_object_mut().unwrap().remove("confidence"))), "missing field `confidence`"),
            (with(|reply| reply["tier"] = "invented".into()), "unknown variant `invented`"),
            (with(|reply| reply["tier"] = Value::Null), "does not match the schema"),
            (with(|reply| reply["decision"] = "ALLOW".into()), "unknown variant"),
            (with(|reply| reply["decision"] = true.into()), "does not match the schema"),
            (with(|reply| reply["also"] = 1.into()), "unknown field `also`"),
            (with(|reply| reply["confidence"] = 1.5.into()), "between 0 and 1"),
            (with(|reply| reply["confidence"] = "0.9".into()), "does not match the schema"),
            (with(|reply| reply["reason"] = " ".into()), "no reason"),
            (with(|reply| reply["tier"] = "hard_deny".into()), "contradicts"),
            (with(|reply| reply["tier"] = "soft_deny".into()), "contradicts"),
            (with(|reply| reply["decision"] = "block".into()), "contradicts"),
            (good.replacen('{', r#"{"decision":"block","#, 1), "duplicate field"),
            ("0".to_owned(), "text before"),
        ];
        for (text, why) in cases {
            let said = parse(&text, NONCE).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
