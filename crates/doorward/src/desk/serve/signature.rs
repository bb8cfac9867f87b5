//! Signatures of devices: over which text, by which key.

use doorward_ledger::{DeviceBody, DeviceStep};
use ring::signature::{ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey, VerificationAlgorithm};
use serde::{Deserialize, Serialize};

use super::store::{Device, bytes_of};

/// The text that a device signs to answer. Every field is compared with the call as it is when the answer arrives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerStatement {
    /// What this text is; a signature under something else is no answer.
    pub doorward: String,
    pub origin: String,
    pub device: String,
    pub id: String,
    pub decision: String,
    pub call: String,
    pub cwd: String,
    pub effects: String,
    pub operands: String,
    pub policy: String,
    pub verdict: AnswerVerdict,
    /// What was typed as the second step.
    pub word: String,
    pub expires_ms: u64,
    pub nonce: String,
}

/// What an answer says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnswerVerdict {
    #[default]
    Refuse,
    Approve,
    /// Trust the project of the call.
    Trust,
    /// Never ask about exactly this call again.
    Always,
}

/// The kind of a statement; the number changes with its fields.
pub(crate) const ANSWER: &str = "answer 1";

/// Whether the key signed exactly this text.
pub(crate) fn is_signed(algorithm: &str, key: &str, statement: &str, signature: &str) -> bool {
    let Some(algorithm) = algorithm_named(algorithm) else { return false };
    let (Some(key), Some(signature)) = (bytes_of(key), bytes_of(signature)) else { return false };
    UnparsedPublicKey::new(algorithm, key).verify(statement.as_bytes(), &signature).is_ok()
}

fn algorithm_named(name: &str) -> Option<&'static dyn VerificationAlgorithm> {
    match name {
        "ed25519" => Some(&ED25519),
        // Browsers without Ed25519 sign with this curve; WebCrypto writes the two numbers one after the other.
        "p256" => Some(&ECDSA_P256_SHA256_FIXED),
        _ => None,
    }
}

/// What the devices in a record did, and whether that holds.
#[derive(Debug, Default)]
pub(crate) struct DeviceReport {
    /// Answers by device: its name, its id, how many.
    pub answers: Vec<(String, String, u64)>,
    /// What is wrong, with its place in the log.
    pub wrong: Vec<(u64, String)>,
}

impl DeviceReport {
    /// Follows what is on record: an answer counts only from a device that was paired and not revoked at that time.
    pub(crate) fn of(entries: &[(u64, DeviceBody)]) -> DeviceReport {
        let mut report = DeviceReport::default();
        let mut paired: Vec<&DeviceBody> = Vec::new();
        for (sequence, body) in entries {
            match body.step {
                DeviceStep::Paired => paired.push(body),
                DeviceStep::Revoked => paired.retain(|known| known.device != body.device),
                DeviceStep::Answered => match wrong_with(body, &paired) {
                    Some(wrong) => report.wrong.push((*sequence, wrong)),
                    None => report.count(body),
                },
            }
        }
        report
    }

    fn count(&mut self, body: &DeviceBody) {
        match self.answers.iter_mut().find(|(_, device, _)| *device == body.device) {
            Some((_, _, times)) => *times += 1,
            None => self.answers.push((body.name.clone(), body.device.clone(), 1)),
        }
    }
}

fn wrong_with(body: &DeviceBody, paired: &[&DeviceBody]) -> Option<String> {
    let known = paired.iter().rev().find(|known| known.device == body.device && known.key == body.key);
    let Some(known) = known else { return Some(format!("`{}` answered without being paired", body.name)) };
    let statement = body.statement.as_deref().unwrap_or_default();
    if !is_signed(&known.algorithm, &known.key, statement, body.signature.as_deref().unwrap_or_default()) {
        return Some(format!("the answer is not signed by `{}`", body.name));
    }
    let said: Option<AnswerStatement> = serde_json::from_str(statement).ok();
    let is_about = said.is_some_and(|said| {
        said.doorward == ANSWER
            && said.device == body.device
            && body.decision.as_deref() == Some(said.decision.as_str())
    });
    (!is_about).then(|| format!("`{}` signed something else than this answer", body.name))
}

/// The entry for a step of a device.
pub(crate) fn entry(step: DeviceStep, device: &Device) -> DeviceBody {
    DeviceBody {
        step,
        device: device.id.clone(),
        name: device.name.clone(),
        algorithm: device.algorithm.clone(),
        key: device.key.clone(),
        decision: None,
        statement: None,
        signature: None,
        user: crate::machine::user(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};

    /// A device with its key, as a browser would hold it.
    pub(crate) struct TestDevice {
        pub device: Device,
        key: Ed25519KeyPair,
    }

    impl TestDevice {
        pub(crate) fn new(name: &str) -> TestDevice {
            let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
            let key = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
            let public = key.public_key().as_ref().to_vec();
            let device = Device {
                id: Device::id_of(&public),
                name: name.into(),
                algorithm: "ed25519".into(),
                key: STANDARD.encode(&public),
                ..Device::default()
            };
            TestDevice { device, key }
        }

        pub(crate) fn sign(&self, text: &str) -> String {
            STANDARD.encode(self.key.sign(text.as_bytes()).as_ref())
        }
    }

    #[test]
    fn both_kinds_of_key_sign_and_nothing_else_does() {
        let device = TestDevice::new("phone");
        let signature = device.sign("text");
        assert!(is_signed("ed25519", &device.device.key, "text", &signature));
        assert!(!is_signed("ed25519", &device.device.key, "text ", &signature));
        assert!(!is_signed("none", &device.device.key, "text", &signature));
        assert!(!is_signed("ed25519", "", "text", "") && !is_signed("ed25519", "%", "text", "%"));
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let signature = STANDARD.encode(pair.sign(&random, b"text").unwrap().as_ref());
        assert!(is_signed("p256", &STANDARD.encode(pair.public_key().as_ref()), "text", &signature));
    }

    #[test]
    fn an_answer_counts_only_from_a_device_that_was_paired_then() {
        let phone = TestDevice::new("phone");
        let statement = AnswerStatement {
            doorward: ANSWER.into(),
            device: phone.device.id.clone(),
            decision: "d1".into(),
            ..AnswerStatement::default()
        };
        let text = serde_json::to_string(&statement).unwrap();
        let answered = DeviceBody {
            decision: Some("d1".into()),
            signature: Some(phone.sign(&text)),
            statement: Some(text),
            ..entry(DeviceStep::Answered, &phone.device)
        };
        let (paired, revoked) = (entry(DeviceStep::Paired, &phone.device), entry(DeviceStep::Revoked, &phone.device));
        let report = DeviceReport::of(&[(1, paired.clone()), (2, answered.clone())]);
        assert_eq!(report.answers, [("phone".to_owned(), phone.device.id.clone(), 1)]);
        assert!(report.wrong.is_empty());
        let other = DeviceBody { decision: Some("d2".into()), ..answered.clone() };
        for entries in [
            vec![(2, answered.clone())],
            vec![(1, paired.clone()), (2, revoked), (3, answered)],
            vec![(1, paired), (2, other)],
        ] {
            assert_eq!(DeviceReport::of(&entries).wrong.len(), 1, "{entries:?}");
        }
    }
}
