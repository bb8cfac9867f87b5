//! Settings that switch a protection off, however they are handed over: `config set KEY VALUE`, `-c KEY=VALUE`, `-DKEY=VALUE`.

use doorward_vocabulary::{Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::Invocation;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::Facet;
use crate::observe::field::Field;
use crate::observe::sheet::caused::Caused;
use crate::observe::sheet::observer::Observer;

/// Names of settings without their separators, and the values that weaken; `*` stands for any.
// Compared without dashes, dots and case, because every tool spells the key differently.
const WEAKENING: &[(&str, &[&str])] = &[
    ("strictssl", OFF),
    ("enablestrictssl", OFF),
    ("sslverify", OFF),
    ("sslverifymode", &["0", "none", "verify_none"]),
    ("verifyssl", OFF),
    ("tlsverify", OFF),
    ("verifypeer", OFF),
    ("verifyhost", OFF),
    ("securehttp", OFF),
    ("disabletls", ON),
    ("disablesslvalidation", ON),
    ("mavenwagonhttpsslinsecure", ON),
    ("mavenwagonhttpsslallowall", ON),
    ("httpcheckrevoke", OFF),
    ("trustedhost", ANY),
    ("globaltrustedhost", ANY),
    ("installtrustedhost", ANY),
    ("insecurehost", ANY),
    ("allowinsecurehost", ANY),
    ("goinsecure", ANY),
    ("goproxyinsecure", ANY),
    ("httpproxystrictssl", OFF),
    ("trustservercert", ANY),
    ("webcacerts", &["!", ""]),
];

// Words that the parsers of these tools accept for false.
const OFF: &[&str] = &["false", "0", "no", "off", "null", "none", "disabled"];
// Words that they accept for true.
const ON: &[&str] = &["true", "1", "yes", "on"];
// For keys where any value weakens: a host that is listed as trusted is no longer checked.
const ANY: &[&str] = &["*"];

/// Settings that leave an agent without its checks.
// Codex takes settings on the command line, which no settings file shows (protections-033, protections-034).
const UNGUARDING: &[(&str, &[&str])] = &[
    ("approvalpolicy", &["never", "onfailure"]),
    ("sandboxmode", &["dangerfullaccess"]),
    ("featureshooks", OFF),
    ("featurescodexhooks", OFF),
    ("hooks", OFF),
    ("disable", &["hooks", "codexhooks"]),
    ("bypasshooktrust", ON),
];

/// Packages that are agents.
// `npx @openai/codex` starts the agent without its program being installed (protections-040, protections-041).
const AGENT_PACKAGES: &[&str] = &[
    "@anthropic-ai/claude-code",
    "@openai/codex",
    "@google/gemini-cli",
    "@qwen-code/qwen-code",
    "opencode-ai",
    "@github/copilot",
    "@sourcegraph/amp",
    "@charmland/crush",
    "@augmentcode/auggie",
    "cline",
    "@mariozechner/pi-coding-agent",
];

/// Parts of flags by which an agent does without its checks.
// Parts instead of whole flags: agents rename them with every release (machine-037, machine-038).
const UNGUARDED_FLAGS: &[&str] = &[
    "dangerously",
    "skip-permissions",
    "bypass-approvals",
    "yolo",
    "full-auto",
    "trust-all-tools",
    "always-approve",
    "auto-approve",
    "allow-all",
    "no-confirm",
    "permission-mode",
    "approval-mode",
    "ask-for-approval",
];

/// Flags that nothing but an agent has.
// For wrappers and unknown programs: whoever gives such a flag starts an agent, whatever the program is called.
const UNMISTAKABLE: &[&str] = &[
    "--dangerously-skip-permissions",
    "--allow-dangerously-skip-permissions",
    "--skip-permissions-unsafe",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-allow-all",
    "--trust-all-tools",
];

/// Marks what the program did if one of its words switches a protection off.
pub(super) fn note_switches(out: &mut Observer<'_>, caused: &mut Caused, invocation: &Invocation) {
    let Some(program) = invocation.args.chain.first().map(|entry| entry.key.to_string()) else { return };
    let words = words(invocation);
    let mut marks = Marks::default();
    // The setting outlives the call where the program keeps it (protections-001, protections-007).
    if invocation.args.is(Facet::KeepsTlsSettings) && holds(&words, WEAKENING) {
        marks.add(Mark::TlsWeakened);
    }
    if invocation.args.is(Facet::AgentBySettings) && holds(&words, UNGUARDING) {
        marks.add(Mark::UnguardedAgent);
    }
    if starts_agent_package(&words) {
        marks.add(Mark::UnguardedAgent);
    }
    if marks.is_empty() {
        return;
    }
    if caused.is_empty() {
        let mut effect = Effect::new(Operation::Mutate, Target::Program(program));
        (effect.scope, effect.reach) = (Scope::OtherRepo, Reach::Machine);
        effect.reversibility = Reversibility::Irreversible;
        effect.part = invocation.by.part;
        *caused = out.collect(|out| out.effect(effect)).1;
    }
    caused.mark(marks);
}

/// A program that nobody has described is started with a flag that only agents have.
pub(super) fn is_unguarded_agent(words: &[Field]) -> bool {
    words.iter().any(|word| UNMISTAKABLE.iter().any(|flag| word.text == *flag))
}

/// Every word of the call in order: operands, and flags with their values.
fn words(invocation: &Invocation) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = "";
    for given in &invocation.args.given {
        // A flag that takes two words is given twice.
        if given.name != before {
            words.push(given.name.clone());
        }
        before = &given.name;
        words.extend(given.value.iter().flat_map(|value| value.text.split_whitespace()).map(str::to_owned));
    }
    words.extend(invocation.args.unknown.iter().cloned());
    words.extend(invocation.args.rest.iter().map(|field| field.text.clone()));
    words.extend(invocation.args.operands.iter().map(|field| field.text.clone()));
    words
}

fn holds(words: &[String], table: &[(&str, &[&str])]) -> bool {
    let is_listed = |key: &str, value: &str| {
        let (key, value) = (plain(key), value.trim_matches(['"', '\'']).to_ascii_lowercase());
        let joined = plain(&value);
        let fits = |known: &str| known == "*" && !value.is_empty() || known == value || known == joined;
        table.iter().any(|(known, values)| key.ends_with(known) && values.iter().any(|known| fits(known)))
    };
    // A flag that stands alone switches on.
    let alone = |word: &String| word.starts_with('-') && !word.contains('=') && is_listed(word, "true");
    if words.iter().any(alone) {
        return true;
    }
    let pairs = words.windows(2).any(|pair| matches!(pair, [key, value] if is_listed(key, value)));
    pairs || words.iter().filter_map(|word| word.split_once('=')).any(|(key, value)| is_listed(key, value))
}

/// The letters and digits of a name.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// `npx @openai/codex --yolo`.
fn starts_agent_package(words: &[String]) -> bool {
    let is_agent = |word: &String| {
        AGENT_PACKAGES.iter().any(|package| {
            word.strip_prefix(package).is_some_and(|version| version.is_empty() || version.starts_with('@'))
        })
    };
    let is_unguarded = |word: &String| word.starts_with('-') && UNGUARDED_FLAGS.iter().any(|part| word.contains(part));
    words.iter().any(is_agent) && words.iter().any(is_unguarded)
}
