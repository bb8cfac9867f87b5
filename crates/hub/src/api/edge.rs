//! Answers edges: every request but the first is signed by a known key, and every answer by the hub's.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Response, StatusCode};
use doorward_ledger::LONGEST_SHIPMENT;
use doorward_team::{EDGE, Enrolment, NONCE, Reply, Request as Signed, SIGNATURE, TIME, Welcome};

use super::Hub;
use super::refused::Refused;
use crate::clock::now_ms;
use crate::store::bundles;
use crate::store::edges::{self, Edge, Enrolled};
use crate::store::ingest::ingest;

/// How long a body may take to arrive: somebody who sends a byte a minute holds up no memory for long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The path behind which stands the version that the edge has.
const BUNDLES: &str = "/v1/bundles/after/";

/// A request, read to its end.
struct Asked {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Asked {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Answers one request, whatever it is, with a signature.
pub(super) async fn answer(State(hub): State<Arc<Hub>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or_else(String::new, ToString::to_string);
    // The semaphore is never closed.
    let _permit = hub.at_once.acquire().await.ok();
    let mut asked = Asked { method: parts.method, path, headers: parts.headers, body: Bytes::new() };
    let read = tokio::time::timeout(PATIENCE, to_bytes(body, LONGEST_SHIPMENT)).await;
    let outcome = match read {
        Ok(Ok(body)) => {
            asked.body = body;
            dispatch(&hub, &asked).await
        }
        Ok(Err(_)) => {
            let error = format!("no more than {LONGEST_SHIPMENT} bytes are taken at once");
            Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "too-long", error))
        }
        Err(_) => Err(Refused::new(StatusCode::REQUEST_TIMEOUT, "late", "the request took too long to arrive")),
    };
    let (status, body) = match outcome {
        Ok(body) => (StatusCode::OK, body),
        Err(refused) => (refused.status, serde_json::to_vec(&refused).unwrap_or_default()),
    };
    signed(&hub, asked.header(NONCE), status, body)
}

fn signed(hub: &Hub, nonce: &str, status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let signature = Reply { nonce, status: status.as_u16(), body: &body }.signature(&hub.key);
    let response =
        Response::builder().status(status).header(SIGNATURE, signature).header("content-type", "application/json");
    response.body(Body::from(body)).unwrap_or_default()
}

async fn dispatch(hub: &Arc<Hub>, asked: &Asked) -> Result<Vec<u8>, Refused> {
    if (&asked.method, asked.path.as_str()) == (&Method::POST, "/v1/enrol") {
        return enrol(hub, asked)
            .await
            .map_err(|refused| Refused { hub: Some(hub.key.public_key().to_string()), ..refused });
    }
    let edge = known(hub, asked).await?;
    match (&asked.method, asked.path.as_str()) {
        (&Method::GET, "/v1/edge") => json(&edge.head),
        (&Method::POST, "/v1/shipments") => json(&ingest(&hub.pool, edge.id, asked.body.clone()).await?),
        (&Method::GET, path) if path.starts_with(BUNDLES) => {
            let version = path.trim_start_matches(BUNDLES).parse().map_err(|_| unknown())?;
            Ok(bundles::after(&*hub.pool.get().await?, version).await?)
        }
        _ => Err(unknown()),
    }
}

fn unknown() -> Refused {
    Refused::new(StatusCode::NOT_FOUND, "unknown", "this hub knows no such request; is it older than the edge?")
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>, Refused> {
    serde_json::to_vec(value)
        .map_err(|error| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", error.to_string()))
}

/// The edge that signed a request.
async fn known(hub: &Hub, asked: &Asked) -> Result<Edge, Refused> {
    // One sentence for every way to fail: whoever guesses learns nothing about which edges there are.
    let stranger =
        || Refused::new(StatusCode::UNAUTHORIZED, "stranger", "the request isn't signed by an edge of this hub");
    let id: i32 = asked.header(EDGE).parse().map_err(|_| stranger())?;
    let time_ms: u64 = asked.header(TIME).parse().map_err(|_| stranger())?;
    let client = hub.pool.get().await?;
    let edge = edges::find(&client, id).await?.ok_or_else(stranger)?;
    let key = edge.key.ok_or_else(stranger)?;
    let request = Signed {
        method: asked.method.as_str(),
        path: &asked.path,
        edge: asked.header(EDGE),
        time_ms,
        nonce: asked.header(NONCE),
        body: &asked.body,
    };
    if !request.is_signed(&key, asked.header(SIGNATURE)) {
        return Err(stranger());
    }
    if edge.is_revoked {
        return Err(Refused::new(
            StatusCode::FORBIDDEN,
            "revoked",
            "this edge was revoked; its records are not taken any more",
        ));
    }
    edges::seen(&client, id, (now_ms(), time_ms)).await?;
    Ok(edge)
}

async fn enrol(hub: &Hub, asked: &Asked) -> Result<Vec<u8>, Refused> {
    let enrolment: Enrolment = serde_json::from_slice(&asked.body)
        .map_err(|_| Refused::new(StatusCode::BAD_REQUEST, "malformed", "the enrolment can't be read"))?;
    if !enrolment.is_signed(hub.key.fingerprint()) {
        return Err(Refused::new(
            StatusCode::FORBIDDEN,
            "forged",
            "the enrolment isn't signed by the keys it names, for this hub",
        ));
    }
    let mut client = hub.pool.get().await?;
    let edge = match edges::enrol(&mut client, &enrolment, now_ms()).await? {
        Enrolled::As(edge) => edge,
        Enrolled::BadToken => {
            let error = "the token is unknown, expired or used; `doorward-hub token` makes one";
            return Err(Refused::new(StatusCode::FORBIDDEN, "token", error));
        }
        Enrolled::KnownKey => {
            let error = "another edge of this hub has one of these keys: a copied machine needs keys of its own";
            return Err(Refused::new(StatusCode::CONFLICT, "known-key", error));
        }
    };
    json(&Welcome { edge: edge.to_string(), hub: hub.key.public_key(), team: hub.team.clone() })
}
