//! Answers people: counts for everybody who may sign in, records only for roles that need them, and each look is written down.

use std::sync::Arc;

use axum::Router;

use super::Hub;

/// Every address for people.
pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new()
}
