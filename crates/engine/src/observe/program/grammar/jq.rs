//! Filters of jq and yq: pure, except for the few words that read the environment or files.

use super::super::Invocation;
use crate::coverage::Degree;
use crate::effect::Operation;
use crate::knowledge::schema::Does;
use crate::marks::Mark;
use crate::observe::shell::run::Runner;

/// Words that read the environment.
const ENVIRONMENT: &[&str] = &["env", "$ENV", "strenv", "envsubst"];

/// Words that read files or modules.
const FILES: &[&str] = &[
    "import",
    "include",
    "load",
    "load_str",
    "load_xml",
    "load_base64",
    "eval",
    "modulemeta",
    "get_search_list",
    "input_filename_",
];

impl Runner<'_, '_> {
    /// Looks for those words in the filter, outside its strings.
    pub fn jq(&mut self, invocation: &mut Invocation) {
        let words: Vec<String> = invocation.args.operands.first().map(|filter| words(&filter.text)).unwrap_or_default();
        if words.iter().any(|word| ENVIRONMENT.contains(&word.as_str())) {
            let mut does = Does::usual(Operation::Read);
            does.marks.add(Mark::EnvironmentDump);
            invocation.does.push(does);
        }
        if let Some(word) = words.iter().find(|word| FILES.contains(&word.as_str())) {
            self.out.lower(Degree::Unknown, format!("`{word}` in a filter of `{}`", invocation.by.name));
        }
    }
}

/// The identifiers of a filter that stand outside strings and are not keys behind a dot.
fn words(filter: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut in_string = false;
    let mut before = ' ';
    let mut escaped = false;
    let mut is_key = false;
    for character in filter.chars().chain([' ']) {
        if in_string {
            // An interpolation `\(…)` is code again; reading its words as well errs on the strict side.
            if escaped {
                escaped = false;
            } else if character == '\\' {
                escaped = true;
            } else if character == '"' {
                in_string = false;
            }
            if !(character.is_ascii_alphanumeric() || matches!(character, '_' | '$')) {
                word.clear();
            }
        }
        if character.is_ascii_alphanumeric() || matches!(character, '_' | '$') {
            if word.is_empty() {
                is_key = before == '.';
            }
            word.push(character);
        } else {
            if !word.is_empty() && !is_key && !in_string {
                found.push(std::mem::take(&mut word));
            }
            word.clear();
            if character == '"' && !in_string && before != '\\' {
                in_string = true;
            }
        }
        before = character;
    }
    found
}
