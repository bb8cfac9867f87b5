//! Answers people: counts for everybody who may sign in, records only for roles that need them, and each look is written down.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use super::Hub;
use super::refused::Refused;
use crate::clock::now_ms;
use crate::store::fleet::{self, By, Wanted};
use crate::store::people::{self, Person, Role};
use crate::store::pool::Lease;

/// Every address for people.
pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new()
        .route("/api/metrics", get(metrics))
        .route("/api/edges", get(edges))
        .route("/api/alerts", get(alerts))
        .route("/api/records", get(records))
        .route("/api/records/{edge}/{sequence}", get(record))
        .route("/api/looks", get(looks))
        .route("/metrics", get(prometheus))
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        (self.status, [("content-type", "application/json")], body).into_response()
    }
}

/// Whoever asks, and a connection to look for the answer.
async fn signed_in(hub: &Hub, headers: &HeaderMap, least: Role) -> Result<(Person, Lease), Refused> {
    let stranger = || {
        Refused::new(
            StatusCode::UNAUTHORIZED,
            "stranger",
            "sign in: `doorward-hub person NAME --role ROLE` makes a secret",
        )
    };
    let secret = headers.get("authorization").and_then(|value| value.to_str().ok());
    let secret = secret.and_then(|value| value.strip_prefix("Bearer ")).ok_or_else(stranger)?;
    let client = hub.pool.get().await?;
    let person = people::by_secret(&client, secret).await?.ok_or_else(stranger)?;
    if person.role < least {
        let error = format!("this needs the role {}, and `{}` has {}", least.word(), person.name, person.role.word());
        return Err(Refused::new(StatusCode::FORBIDDEN, "role", error));
    }
    Ok((person, client))
}

/// Rows that are JSON already, as one array.
fn array(rows: &[String]) -> Response {
    ([("content-type", "application/json"), ("cache-control", "no-store")], format!("[{}]\n", rows.join(",")))
        .into_response()
}

#[derive(Debug, Deserialize)]
struct Counted {
    by: By,
    #[serde(default = "a_month")]
    days: u64,
}

const fn a_month() -> u64 {
    30
}

async fn metrics(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    Query(asked): Query<Counted>,
) -> Result<Response, Refused> {
    // A count per person is about a person.
    let is_personal = asked.by == By::User;
    let least = if is_personal { Role::Reviewer } else { Role::Viewer };
    let (person, client) = signed_in(&hub, &headers, least).await?;
    let rows = fleet::counts(&client, asked.by, (now_ms(), asked.days.min(4000))).await?;
    if is_personal {
        people::looked(&client, &person, ("counts by user", rows.len()), now_ms()).await?;
    }
    Ok(array(&rows))
}

async fn edges(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, Refused> {
    let (_, client) = signed_in(&hub, &headers, Role::Viewer).await?;
    Ok(array(&fleet::list(&client, fleet::EDGES).await?))
}

async fn alerts(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, Refused> {
    let (_, client) = signed_in(&hub, &headers, Role::Viewer).await?;
    Ok(array(&fleet::list(&client, fleet::ALERTS).await?))
}

async fn records(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Refused> {
    let (person, client) = signed_in(&hub, &headers, Role::Reviewer).await?;
    let rows = fleet::search(&client, &wanted, now_ms()).await?;
    let what = format!("search {}", serde_json::to_string(&wanted).unwrap_or_default());
    people::looked(&client, &person, (&what, rows.len()), now_ms()).await?;
    Ok(array(&rows))
}

async fn record(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    Path((edge, sequence)): Path<(i32, u64)>,
) -> Result<Response, Refused> {
    let (person, client) = signed_in(&hub, &headers, Role::Reviewer).await?;
    let found = fleet::record(&client, edge, sequence).await?;
    let found = found.ok_or_else(|| Refused::new(StatusCode::NOT_FOUND, "unknown", "there is no such record"))?;
    people::looked(&client, &person, (&format!("record {edge}/{sequence}"), 1), now_ms()).await?;
    Ok(([("content-type", "application/json"), ("cache-control", "no-store")], found).into_response())
}

async fn looks(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, Refused> {
    let (_, client) = signed_in(&hub, &headers, Role::Auditor).await?;
    Ok(array(&fleet::list(&client, fleet::LOOKS).await?))
}

async fn prometheus(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, Refused> {
    let (_, client) = signed_in(&hub, &headers, Role::Viewer).await?;
    let text = fleet::figures(&client).await?;
    Ok(([("content-type", "text/plain; version=0.0.4")], text).into_response())
}
