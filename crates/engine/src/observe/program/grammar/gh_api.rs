//! `gh api`: whether a request writes depends on its method, its fields and, for GraphQL, on its query.

use doorward_vocabulary::Degree;

use super::super::Invocation;
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::program::findings::Findings;

/// Takes the write back where the request only reads, and follows fields that are files.
pub(super) fn gh_api(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let endpoint = invocation.args.operands.first().cloned();
    match endpoint.as_ref().map(|field| (field.exact(), field.prefix())) {
        Some((Some(text), _)) if text.contains("://") => {
            if let Some(role) = invocation.roles.first_mut() {
                *role = Role::Url;
            }
        }
        Some((None, "" | "http" | "https")) => {
            found.doubt(Degree::Unknown, "which address `gh api` asks");
        }
        Some(_) | None => {}
    }
    for file in fields(invocation).filter_map(file_of) {
        found.role(file, Role::Upload);
    }
    let graphql = endpoint.as_ref().and_then(Field::exact) == Some("graphql");
    let reads = if graphql { reads_by_query(invocation) } else { reads_by_method(invocation) };
    if reads {
        invocation.does = invocation.args.entry().map(|entry| entry.does.clone()).unwrap_or_default();
    }
    found
}

/// The values of `-f` and `-F`.
fn fields(invocation: &Invocation) -> impl Iterator<Item = &Field> {
    let is_field = |name: &str| matches!(name, "-f" | "--raw-field" | "-F" | "--field");
    invocation.args.given.iter().filter(move |given| is_field(&given.name)).filter_map(|given| given.value.as_ref())
}

/// `name=@file` sends the content of the file; with `-f` it would be text, which errs on the strict side.
fn file_of(field: &Field) -> Option<Field> {
    let (_, file) = field.text.split_once("=@")?;
    (file != "-").then(|| field.with_text(file))
}

/// Every method that is given only reads; fields are then part of the address.
fn reads_by_method(invocation: &Invocation) -> bool {
    let mut methods =
        invocation.args.given.iter().filter(|given| matches!(given.name.as_str(), "-X" | "--method")).peekable();
    methods.peek().is_some()
        && methods.all(|given| matches!(given.value.as_ref().and_then(Field::exact), Some("GET" | "HEAD")))
        && !invocation.args.has("--input")
}

/// The query is written out and has no other operation than `query`.
fn reads_by_query(invocation: &Invocation) -> bool {
    if invocation.args.has_any(&["--input", "-X", "--method"]) {
        return false;
    }
    let mut queries = fields(invocation).filter(|field| field.prefix().starts_with("query=")).peekable();
    let certain = fields(invocation).all(|field| field.prefix().contains('='));
    queries.peek().is_some()
        && certain
        && queries.all(|field| field.known().and_then(|text| text.strip_prefix("query=")).is_some_and(only_queries))
}

/// No `mutation` and no `subscription`, outside strings and comments or inside: both are rare in what only reads.
fn only_queries(text: &str) -> bool {
    let text = text.trim_start();
    let starts = ["query", "{", "fragment", "#"].iter().any(|start| text.starts_with(start));
    let mut words = text.split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
    starts && words.all(|word| !matches!(word, "mutation" | "subscription"))
}

#[cfg(test)]
mod tests {
    use super::super::check::{Row, check};

    const GH: &str = r#"
name = "gh"
what = "x"
[sub.api]
grammar = "gh-api"
operands = ["text"]
does = ["network"]
[sub.api.flags]
plain = "--paginate"
"-q --jq" = "text"
"-X --method -f --raw-field -F --field" = "text !write"
"--input" = "upload !write"
[sub.api.extra]
write = "network external irreversible beyond +external-write"
"#;

    #[test]
    fn a_request_writes_unless_method_and_query_say_otherwise() {
        const READ: &str = "network gh api";
        const WRITE: &str = "network gh api; network gh api +external-write";
        let rows: &[Row] = &[
            ("gh api repos/a/b --jq .id", "full", READ),
            ("gh api -X GET search/issues -f q=bug", "full", READ),
            ("gh api -XGET repos/a/b", "full", READ),
            ("gh api --method=HEAD repos/a/b", "full", READ),
            ("gh api -X get repos/a/b", "full", WRITE),
            ("gh api -X GET -X DELETE repos/a/b", "full", WRITE),
            ("gh api -X $M repos/a/b", "opaque", WRITE),
            ("gh api repos/a/b/issues -f title=x", "full", WRITE),
            ("gh api graphql -f query='query { viewer { login } }'", "full", READ),
            ("gh api graphql -F n=3 -f query='{ viewer { login } }'", "full", READ),
            ("gh api graphql -f query='mutation { addStar(input: {}) { id } }'", "full", WRITE),
            ("gh api graphql -f query='query A { a } mutation B { b }'", "full", WRITE),
            ("gh api graphql -f query=\"$Q\"", "full", WRITE),
            ("gh api graphql -f query='{ a }' -f query='mutation { b }'", "full", WRITE),
            (
                "gh api graphql -F query=@q.graphql",
                "full",
                "read q.graphql; network gh api; network gh api +external-write",
            ),
            ("gh api -X GET search/code -F q=@notes.md", "full", "read notes.md; network gh api"),
        ];
        check(&[GH], rows);
    }
}
