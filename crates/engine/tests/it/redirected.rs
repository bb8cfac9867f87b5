//! Trouble that an earlier call put into a file and a later one runs, and the same files without the trouble.
use std::collections::BTreeMap;

use doorward_engine::{DescribedWorld, Description, Policy, ToolCall, Verdict, judge, observe};
use serde::Deserialize;

const PROJECT: &str = "/home/dev/app";

#[derive(Deserialize)]
struct Data {
    harmful: BTreeMap<String, Vec<String>>,
    harmless: BTreeMap<String, Vec<String>>,
    carrier: Vec<Carrier>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Carrier {
    name: String,
    command: String,
    files: BTreeMap<String, String>,
    #[serde(default)]
    kept: BTreeMap<String, String>,
    #[serde(default)]
    config: BTreeMap<String, String>,
}

impl Carrier {
    /// The language of the payload, and the payload as it is written there.
    fn payloads<'d>(
        &self,
        of: &'d BTreeMap<String, Vec<String>>,
    ) -> impl Iterator<Item = (&'d str, String, &'static str)> {
        let all: String = self.files.values().cloned().collect();
        let place =
            ["{{sh}}", "{{py}}", "{{js}}", "{{make}}", "{{json}}"].into_iter().find(|place| all.contains(place));
        let place = place.unwrap_or_else(|| panic!("{} has no place for a payload", self.name));
        let language = place.trim_matches(['{', '}']);
        let list = &of[if matches!(language, "make" | "json") { "sh" } else { language }];
        list.iter().map(move |payload| {
            let written = match language {
                "make" => payload.replace('$', "$$"),
                "json" => serde_json::to_string(payload).unwrap().trim_matches('"').to_owned(),
                _ => payload.clone(),
            };
            (payload.as_str(), written, place)
        })
    }

    fn verdict(&self, payload: &str, place: &str) -> (Verdict, String) {
        let mut files = serde_json::Map::new();
        for (name, text) in &self.files {
            // A payload inside a block keeps the indentation of its line.
            let text = text.replace(place, payload);
            files.insert(
                name.clone(),
                serde_json::json!({"content": text, "created_this_session": true, "executable": true}),
            );
        }
        for (name, text) in &self.kept {
            files.insert(name.clone(), serde_json::json!({"content": text, "tracked": true}));
        }
        files.insert("README.md".into(), serde_json::json!({"content": "hello\n", "tracked": true}));
        let description: Description = serde_json::from_value(serde_json::json!({
            "home": "/home/dev", "project": PROJECT, "files": files,
            "git": {"root": PROJECT, "config": self.config, "branch": "main", "default_branch": "main",
                    "remotes": {"origin": "https://github.com/acme/app.git"}, "ignored": ["build", "node_modules", "target"]},
        }))
        .unwrap();
        let world = DescribedWorld::new(description, PROJECT);
        let facts = observe(&ToolCall::bash(&self.command, PROJECT), &world);
        let judgement = judge(&facts, &Policy::built_in());
        let because = judgement.opinions.iter().map(|opinion| opinion.because.clone()).collect::<Vec<_>>().join("; ");
        (judgement.verdict, format!("{because} | {}", facts.coverage.because.join("; ")))
    }
}

fn data() -> Data {
    toml::from_str(include_str!("../data/redirected.toml")).unwrap()
}

#[test]
fn trouble_in_a_file_of_the_session_is_never_approved() {
    let data = data();
    let (mut cases, mut wrong) = (0, Vec::new());
    for carrier in &data.carrier {
        for (payload, written, place) in carrier.payloads(&data.harmful) {
            cases += 1;
            if carrier.verdict(&written, place).0 == Verdict::AutoApprove {
                wrong.push(format!("{}: {payload}", carrier.name));
            }
        }
    }
    assert!(cases >= 150, "only {cases} cases");
    assert!(wrong.is_empty(), "{} of {cases} approved\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_same_files_without_the_trouble_are_seldom_asked_about() {
    let data = data();
    let (mut cases, mut asked) = (0, Vec::new());
    for carrier in &data.carrier {
        for (payload, written, place) in carrier.payloads(&data.harmless) {
            cases += 1;
            let (verdict, because) = carrier.verdict(&written, place);
            if verdict != Verdict::AutoApprove {
                asked.push(format!("{}: {payload}\n    {because}", carrier.name));
            }
        }
    }
    println!("{} of {cases} asked", asked.len());
    assert!(asked.len() * 20 <= cases, "{} of {cases} asked\n{}", asked.len(), asked.join("\n"));
}
