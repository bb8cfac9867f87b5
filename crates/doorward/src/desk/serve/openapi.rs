//! The API's description in OpenAPI 3.1, and a page that shows it to people.

use doorward_pages::{escaped, frame};
use serde_json::{Map, Value, json};

use super::routes::PLACES;

/// An operation of the API.
struct Operation {
    path: &'static str,
    is_post: bool,
    what: &'static str,
    /// Names of query fields, and their types.
    query: &'static [(&'static str, &'static str)],
    /// Fields of the body.
    body: &'static [&'static str],
    /// It works without a sign-in.
    is_open: bool,
}

const fn get(path: &'static str, what: &'static str, query: &'static [(&'static str, &'static str)]) -> Operation {
    Operation { path, is_post: false, what, query, body: &[], is_open: false }
}

const fn post(path: &'static str, what: &'static str, body: &'static [&'static str], is_open: bool) -> Operation {
    Operation { path, is_post: true, what, query: &[], body, is_open }
}

const PAGE: &[(&str, &str)] = &[("before", "integer"), ("limit", "limit")];
const RECORDS: &[(&str, &str)] = &[
    ("text", "string"),
    ("verdict", "verdict"),
    ("kind", "string"),
    ("agent", "string"),
    ("session", "string"),
    ("project", "string"),
    ("rule", "string"),
    ("since_ms", "integer"),
    ("until_ms", "integer"),
    ("before", "integer"),
    ("limit", "limit"),
];

const OPERATIONS: &[Operation] = &[
    get(
        "/queue",
        "Calls that wait for an answer, in the order of the queue",
        &[("after", "string"), ("limit", "limit")],
    ),
    get("/queue/{id}", "One of them", &[]),
    post("/queue/{id}/offer", "What trusting its project, or always allowing it, would change", &["verdict"], false),
    post("/queue/{id}/challenge", "The text that a paired device signs to answer", &["verdict", "word"], false),
    post("/answers", "Carry out a signed answer", &["statement", "signature"], false),
    get("/sessions", "Sessions, latest first", PAGE),
    get("/sessions/{id}/calls", "The calls of a session, latest first", PAGE),
    get("/records", "Entries of the record, latest first", RECORDS),
    get("/records/{sequence}", "One entry, with what happened next", &[]),
    get("/charts", "Figures and charts of the last 30 days", &[]),
    get("/policy", "Rules in force, open tickets and proposals", &[]),
    get("/health", "Coverage of each agent, problems, alerts, devices", &[]),
    post("/start", "Sign in with the code of a start link", &["code"], true),
    post("/login/challenge", "The text that a paired device signs to sign in", &["device"], true),
    post("/login", "Sign in with that signature", &["statement", "signature"], true),
    post("/pair", "Ask to be paired; a person decides in the terminal", &["code", "statement", "signature"], true),
    post("/pair/state", "Whether that was decided", &["device"], true),
];

const PREFIX: &str = "/api/v1";

/// Whether a path below the prefix exists, with whatever method.
pub(super) fn has_path(parts: &[&str]) -> bool {
    OPERATIONS.iter().any(|operation| {
        let own: Vec<&str> = operation.path.split('/').skip(1).collect();
        own.len() == parts.len() && own.iter().zip(parts).all(|(own, part)| own.starts_with('{') || own == part)
    })
}

/// The description.
pub(super) fn description() -> Value {
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let path = paths.entry(format!("{PREFIX}{}", operation.path)).or_insert_with(|| json!({}));
        if let Value::Object(methods) = path {
            methods.insert(if operation.is_post { "post" } else { "get" }.to_owned(), described(operation));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "doorward desk", "version": env!("CARGO_PKG_VERSION"),
            "description": "Lists are paged: `next` of a page is the `before` (or `after`) of the following one, and ids never change. \
                Answers are signed by a paired device; nothing else can change anything here.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Error": { "type": "object", "required": ["error"], "properties": { "error": { "type": "string" } } } },
        },
        "security": [{ "token": [] }],
    })
}

fn described(operation: &Operation) -> Value {
    let refused = json!({ "description": "Refused, with the reason", "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } } });
    let mut responses = Map::new();
    let fine = json!({ "description": "Done", "content": { "application/json": { "schema": { "type": "object" } } } });
    responses.insert("200".into(), fine);
    for status in ["400", "401", "403", "404", "405", "408", "409", "413", "421"] {
        responses.insert(status.into(), refused.clone());
    }
    let mut all = json!({ "summary": operation.what, "parameters": parameters(operation), "responses": responses });
    if let Value::Object(fields) = &mut all {
        if operation.is_open {
            fields.insert("security".into(), json!([]));
        }
        if !operation.body.is_empty() {
            fields.insert("requestBody".into(), body(operation));
        }
    }
    all
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let inside = operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let inside = inside.map(
        |name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } }),
    );
    let asked =
        operation.query.iter().map(|(name, kind)| json!({ "name": name, "in": "query", "schema": schema(kind) }));
    inside.chain(asked).collect()
}

fn schema(kind: &str) -> Value {
    match kind {
        "integer" => json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX }),
        "limit" => json!({ "type": "integer", "minimum": 1, "maximum": 1000 }),
        "verdict" => json!({ "enum": ["approve", "confirm", "block"] }),
        _ => json!({ "type": "string" }),
    }
}

fn body(operation: &Operation) -> Value {
    let field = |name: &&str| {
        let kind = match *name {
            "verdict" => json!({ "enum": ["approve", "refuse", "trust", "always"] }),
            _ => json!({ "type": "string" }),
        };
        ((*name).to_owned(), kind)
    };
    let properties: Map<String, Value> = operation.body.iter().map(field).collect();
    let required: Vec<&&str> = operation.body.iter().filter(|name| **name != "word").collect();
    let schema =
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    json!({ "required": true, "content": { "application/json": { "schema": schema } } })
}

/// The same for people. It needs no sign-in: it is the same on every machine.
pub(super) fn page() -> String {
    let row = |operation: &Operation| {
        let method = if operation.is_post { "POST" } else { "GET" };
        let query: Vec<&str> =
            operation.query.iter().map(|(name, _)| *name).chain(operation.body.iter().copied()).collect();
        format!(
            "<tr><td data-label=\"method\"><div>{method}</div></td><td data-label=\"path\"><div><code>{PREFIX}{}</code></div></td>\
             <td data-label=\"what\"><div>{}</div></td><td data-label=\"fields\"><div>{}</div></td></tr>\n",
            escaped(operation.path),
            escaped(operation.what),
            escaped(&query.join(", "))
        )
    };
    let rows: String = OPERATIONS.iter().map(row).collect();
    let table = format!(
        "<h1>API</h1>\n<p>The description in OpenAPI 3.1 is at <a href=\"{PREFIX}/openapi.json\">{PREFIX}/openapi.json</a>. Send the token \
         of a sign-in as <code>Authorization: Bearer</code>, and an <code>Origin</code> with every POST.</p>\n\
         <table class=\"cards\"><thead><tr><th scope=\"col\">method</th><th scope=\"col\">path</th><th scope=\"col\">what</th>\
         <th scope=\"col\">fields</th></tr></thead><tbody>\n{rows}</tbody></table>\n"
    );
    // The frame's script would ask for a view of this page; there is none, so it comes without.
    let page = frame("API · doorward", PLACES, "/api");
    page.replace("<p class=\"empty\">Loading …</p>", &table)
        .replace("<script src=\"/assets/desk.js\" defer></script>\n", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_described_and_known() {
        let description = description();
        assert_eq!(description["paths"].as_object().unwrap().len(), OPERATIONS.len());
        assert!(has_path(&["queue", "abc", "offer"]) && !has_path(&["queue", "abc", "other"]) && !has_path(&[""]));
        assert!(page().contains("/api/v1/records/{sequence}") && !page().contains("<script"));
    }
}
