//! Filters of jq and yq: pure, except for the few words that read the environment or files.

use doorward_vocabulary::{Degree, Mark, Operation, Sensitivity};

use super::super::Invocation;
use crate::knowledge::schema::Does;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;
use crate::world::{Kind, World};
use crate::{path, place};

/// Words that read the environment.
// jq's and yq's words: a filter that looks like data processing prints every secret of the environment
// (interpreters-041).
const ENVIRONMENT: &[&str] = &["env", "$ENV", "strenv", "envsubst"];

/// Words that read files or modules.
// jq's modules and yq's loaders: the operands are not all that is read.
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

/// Looks for those words in the filter, outside its strings.
pub(super) fn jq(world: &dyn World, invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let words: Vec<String> = invocation.args.operands.first().map(|filter| words(&filter.text)).unwrap_or_default();
    if words.iter().any(|word| ENVIRONMENT.contains(&word.as_str())) {
        let mut does = Does::usual(Operation::Read);
        does.marks.add(Mark::EnvironmentDump);
        invocation.does.push(does);
    }
    // `yq` takes a single word for a file if there is one of that name.
    if let ([only], true) = (invocation.args.operands.as_slice(), invocation.by.name.starts_with("yq")) {
        let path = invocation.cwd.as_deref().map(|cwd| path::lexical(&path::join(cwd, &only.text)));
        let is_secret = |path: &String| {
            let kind = world.look(path).kind;
            (matches!(kind, Kind::File | Kind::Link) || only.text.starts_with(".env"))
                && place::classify(path, world).sensitivity > Sensitivity::None
        };
        if path.as_ref().is_some_and(is_secret) {
            found.touch(Touch::Read, only.clone());
        }
    }
    if let Some(word) = words.iter().find(|word| FILES.contains(&word.as_str())) {
        found.doubt(Degree::Opaque, format!("`{word}` in a filter of `{}`", invocation.by.name));
    }
    found
}

/// A filter that reads the environment.
pub(crate) fn reads_environment(filter: &str) -> bool {
    words(filter).iter().any(|word| ENVIRONMENT.contains(&word.as_str()))
}

/// The identifiers of a filter that stand outside strings and are not keys behind a dot.
fn words(filter: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut in_string = false;
    let mut before = ' ';
    let mut escaped = false;
    let mut is_key = false;
    // How many parentheses are open in each interpolation `\(…)`, which is code inside a string.
    let mut interpolations: Vec<u32> = Vec::new();
    for character in filter.chars().chain([' ']) {
        let was_in_string = in_string;
        if in_string {
            if escaped {
                escaped = false;
                if character == '(' {
                    interpolations.push(0);
                    in_string = false;
                }
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
            match (character, interpolations.last_mut()) {
                _ if was_in_string => {}
                ('"', _) if before != '\\' => in_string = true,
                ('(', Some(open)) => *open += 1,
                (')', Some(0)) => {
                    interpolations.pop();
                    in_string = true;
                }
                (')', Some(open)) => *open -= 1,
                _ => {}
            }
        }
        before = character;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn strings_hide_words_and_interpolations_do_not() {
        assert_eq!(words(r#""env" | .a"#), Vec::<String>::new());
        assert_eq!(words(r#""x" | env"#), ["env"]);
        assert_eq!(words(r#""\(env.TOKEN) load" | .a"#), ["env"]);
        assert_eq!(words(r#""\((1) + $ENV.X) \("a" + load) z""#), ["1", "$ENV", "load"]);
    }
}
