//! Programs that print one number or another plain word.

use super::Invocation;
use super::args::{Args, Given};
use crate::observe::field::Field;
use crate::observe::stream::Shape;

/// Programs that print one number or name made of letters and digits.
pub(super) fn prints_a_token(invocation: &Invocation) -> bool {
    let args = &invocation.args;
    let key = args.entry().map(|entry| entry.key.to_string()).unwrap_or_default();
    let plain = args.unknown.is_empty() && args.unreadable.is_empty();
    match key.as_str() {
        "openssl rand" => plain && args.has("-hex") && !args.has("-out"),
        "nproc" => plain,
        "seq" => plain && args.given.is_empty() && args.operands.iter().all(is_count),
        "wc" => plain && args.operands.is_empty() && args.given.len() == 1 && args.has_any(&["-l", "-w", "-c", "-m"]),
        "date" => {
            let is_plain = |given: &Given| matches!(given.name.as_str(), "-u" | "--utc" | "+");
            let format = args.value("+").and_then(Field::exact);
            plain && args.operands.is_empty() && args.given.iter().all(is_plain) && format.is_some_and(is_stamp)
        }
        "grep" | "rg" | "egrep" => plain && args.has_any(&["-c", "--count"]) && prints_one_count(args),
        "stat" => {
            let formats = ["-c", "--format", "-f"].iter().filter_map(|flag| args.value(flag));
            let mut formats = formats.map(|field| field.exact().unwrap_or_default()).peekable();
            plain
                && formats.peek().is_some()
                && formats.all(|format| matches!(format, "%s" | "%Y" | "%a" | "%z" | "%m"))
        }
        "id" => plain && args.has_any(&["-u", "-g"]) && !args.has_any(&["-n", "-un", "-G"]),
        "pgrep" => plain && !args.has_any(&["-l", "-a", "--list-name", "--list-full", "-d"]),
        "tput" => args.operands.first().is_some_and(|word| matches!(word.text.as_str(), "cols" | "lines" | "colors")),
        "expr" => plain && args.operands.iter().all(|word| is_count(word) || "+-*/%()".contains(&*word.text)),
        "jq" => {
            let filter = args.operands.first().and_then(Field::exact).unwrap_or_default();
            plain && filter.rsplit('|').next().is_some_and(|last| last.trim() == "length")
        }
        "awk" => {
            let code = args.operands.first().and_then(Field::exact).unwrap_or_default();
            plain && args.given.is_empty() && code.replace(' ', "") == "END{printNR}"
        }
        // A word that is trimmed or passed on is still that word; with other letters taken away it may be a path.
        "tr" => {
            // Removing blanks cannot make a different path out of one word; removing letters can (shell-tricks-473).
            const BLANKS: &[&str] = &[" ", "\\n", "[:space:]", "[:blank:]", " \\n", "\\r", "\\t", " \\t", "\\r\\n"];
            let trims = args.operands.iter().all(|word| word.exact().is_some_and(|text| BLANKS.contains(&text)));
            plain && invocation.input.shape == Shape::Token && args.has("-d") && args.given.len() == 1 && trims
        }
        "cat" | "head" | "tail" | "sort" | "xargs" => {
            let whole = args.given.iter().all(|given| given.name == "-n");
            plain && invocation.input.shape == Shape::Token && args.operands.is_empty() && whole
        }
        _ => false,
    }
}

/// The lines of one file, or of what comes in, are counted.
fn prints_one_count(args: &Args) -> bool {
    // With these grep prints one number or nothing, so the output is safe to use as a word (shell-tricks-438).
    const FLAGS: &[&str] = &["-c", "--count", "-i", "-v", "-w", "-x", "-E", "-F", "-P", "-e", "-h", "-s", "-a", "-q"];
    let files = args.operands.len().saturating_sub(usize::from(!args.has("-e")));
    files <= 1
        && args.given.iter().all(|given| FLAGS.contains(&given.name.as_str()))
        && args.operands.iter().all(|field| !field.many && !field.glob)
}

fn is_count(field: &Field) -> bool {
    field.shape == Shape::Token
        || field.exact().is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A format of `date` that yields digits and what stands between them, never a name.
fn is_stamp(format: &str) -> bool {
    let Some(rest) = format.strip_prefix('%') else { return false };
    let between = ["-", "_", ":", "T", "Z", ""];
    let field = |piece: &str| {
        let mut letters = piece.chars();
        letters.next().is_some_and(|letter| "sYymdHMSjFTNVu".contains(letter)) && between.contains(&letters.as_str())
    };
    rest.split('%').all(field)
}
