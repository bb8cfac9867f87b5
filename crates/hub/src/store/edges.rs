//! The machines that ship, and how they become known.

use doorward_ledger::{Hash, PublicKey};
use doorward_team::{Enrolment, Head};
use tokio_postgres::{Client, Error, Row};

use super::alerts::Alert;
use super::copy::signed;

/// An edge, as far as a request of it needs.
#[derive(Debug)]
pub(crate) struct Edge {
    pub id: i32,
    pub key: Option<PublicKey>,
    pub head: Head,
    pub is_revoked: bool,
}

impl Edge {
    const COLUMNS: &str = "id, key, head_sequence, head_hash, revoked_ms";

    fn of(row: &Row) -> Self {
        let sequence: i64 = row.get(2);
        let hash = row.get::<_, Option<&[u8]>>(3).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        Self {
            id: row.get(0),
            key: PublicKey::from_hex(row.get(1)),
            head: Head { sequence: u64::try_from(sequence).unwrap_or_default(), hash: hash.map(Hash::from) },
            is_revoked: row.get::<_, Option<i64>>(4).is_some(),
        }
    }
}

/// The edge with a number.
pub(crate) async fn find(client: &Client, id: i32) -> Result<Option<Edge>, Error> {
    let query = format!("select {} from edge where id = $1", Edge::COLUMNS);
    Ok(client.query_opt(&query, &[&id]).await?.as_ref().map(Edge::of))
}

/// Further off than this, an edge's clock is worth an alert. Nothing is refused for it: what orders records is the chain.
const SKEW_MS: i64 = 5 * 60 * 1000;

/// Notes that an edge asked for something, and how far its clock is off.
pub(crate) async fn seen(client: &Client, id: i32, (now_ms, theirs_ms): (u64, u64)) -> Result<(), Error> {
    let skew = signed(theirs_ms).saturating_sub(signed(now_ms));
    // A request that was listened to and is sent again is answered, since that changes nothing, but it is no sign of life: it
    // would hide that the machine itself fell silent.
    let is_new = client
        .execute(
            "update edge set seen_ms = $2, skew_ms = $3, asked_ms = $4 where id = $1 and asked_ms < $4",
            &[&id, &signed(now_ms), &skew, &signed(theirs_ms)],
        )
        .await?;
    if is_new == 0 {
        return Ok(());
    }
    // One that is back is not silent any more.
    client
        .execute(
            "update alert set resolved_ms = $2, resolved_by = 'the edge' where edge = $1 and name = 'silent' and resolved_ms is null",
            &[&id, &signed(now_ms)],
        )
        .await?;
    if skew.abs() > SKEW_MS {
        let detail =
            format!("its clock is {} seconds off; records keep their order, their times are wrong", skew / 1000);
        Alert { name: "clock", edge: Some(id), subject: "", detail: &detail }.raise(client, now_ms).await?;
    }
    Ok(())
}

/// What became of an enrolment.
#[derive(Debug)]
pub(crate) enum Enrolled {
    /// The edge's number.
    As(i32),
    /// The token is unknown, expired or used by another edge.
    BadToken,
    /// One of the keys belongs to another edge.
    KnownKey,
}

/// Takes up an edge whose introduction was verified. A token makes one edge; asked again by the same one, the answer is the same.
pub(crate) async fn enrol(client: &mut Client, enrolment: &Enrolment, now_ms: u64) -> Result<Enrolled, Error> {
    let step = client.transaction().await?;
    let (token, now) = (enrolment.token.to_string(), signed(now_ms));
    let (key, checkpoint_key) = (enrolment.key.to_string(), enrolment.checkpoint_key.to_string());
    let Some(row) =
        step.query_opt("select expires_ms, edge, team from token where key = $1 for update", &[&token]).await?
    else {
        return Ok(Enrolled::BadToken);
    };
    let (expires, used_by): (i64, Option<i32>) = (row.get(0), row.get(1));
    let team: String = row.get(2);
    if let Some(edge) = used_by {
        let same = step
            .query_opt(
                "select 1 from edge where id = $1 and key = $2 and checkpoint_key = $3 and revoked_ms is null",
                &[&edge, &key, &checkpoint_key],
            )
            .await?;
        return Ok(same.map_or(Enrolled::BadToken, |_row| Enrolled::As(edge)));
    }
    if expires < now {
        return Ok(Enrolled::BadToken);
    }
    let made = step
        .query_opt(
            "insert into edge (name, user_name, team, version, key, checkpoint_key, enrolled_ms, seen_ms) \
             values ($1, $2, $3, $4, $5, $6, $7, $7) on conflict do nothing returning id",
            &[&enrolment.name, &enrolment.user, &team, &enrolment.version, &key, &checkpoint_key, &now],
        )
        .await?;
    let Some(made) = made else { return Ok(Enrolled::KnownKey) };
    let edge: i32 = made.get(0);
    step.execute("update token set used_ms = $2, edge = $3 where key = $1", &[&token, &now, &edge]).await?;
    step.commit().await?;
    Ok(Enrolled::As(edge))
}

/// Remembers a token by its public half.
pub(crate) async fn add_token(
    client: &Client,
    (key, team): (&PublicKey, &str),
    (now_ms, expires_ms): (u64, u64),
) -> Result<(), Error> {
    client
        .execute(
            "insert into token (key, team, made_ms, expires_ms) values ($1, $2, $3, $4)",
            &[&key.to_string(), &team, &signed(now_ms), &signed(expires_ms)],
        )
        .await
        .map(|_rows| ())
}

/// Refuses an edge from now on; what it sent stays.
pub(crate) async fn revoke(client: &Client, id: i32, now_ms: u64) -> Result<bool, Error> {
    let changed = client
        .execute("update edge set revoked_ms = $2 where id = $1 and revoked_ms is null", &[&id, &signed(now_ms)])
        .await?;
    Ok(changed > 0)
}
