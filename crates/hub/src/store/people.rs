//! People who may look: what each role may see, and every look at somebody's record written down.

use doorward_ledger::Hash;
use doorward_team::random_hex;
use tokio_postgres::{Client, Error};

use super::copy::signed;

/// What a person may do, each more than the one before, except that only auditors see who looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Role {
    /// Counts, machines and alerts; nothing about a single person
    Viewer,
    /// Records too, to answer questions about them
    Reviewer,
    /// The same, to decide about policy
    PolicyOwner,
    /// The same, and who looked at what
    Auditor,
}

impl Role {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Reviewer => "reviewer",
            Self::PolicyOwner => "policy-owner",
            Self::Auditor => "auditor",
        }
    }

    fn of(word: &str) -> Option<Self> {
        [Self::Viewer, Self::Reviewer, Self::PolicyOwner, Self::Auditor].into_iter().find(|role| role.word() == word)
    }
}

/// Somebody who signed in.
#[derive(Debug)]
pub(crate) struct Person {
    pub name: String,
    pub role: Role,
}

/// Makes somebody known; the secret they sign in with, which is kept nowhere.
pub(crate) async fn add(client: &Client, (name, role): (&str, Role), now_ms: u64) -> Result<Option<String>, Error> {
    let Some(secret) = random_hex(32) else { return Ok(None) };
    let hash = Hash::of(secret.as_bytes());
    let made = client
        .execute(
            "insert into person (name, role, secret_hash, made_ms) values ($1, $2, $3, $4) on conflict do nothing",
            &[&name, &role.word(), &hash.bytes().as_slice(), &signed(now_ms)],
        )
        .await?;
    Ok((made > 0).then_some(secret))
}

/// Whose secret this is.
pub(crate) async fn by_secret(client: &Client, secret: &str) -> Result<Option<Person>, Error> {
    // The digest is looked up, so how long that takes says nothing about the secret.
    let hash = Hash::of(secret.as_bytes());
    let query = "select name, role from person where secret_hash = $1 and revoked_ms is null";
    let row = client.query_opt(query, &[&hash.bytes().as_slice()]).await?;
    Ok(row.and_then(|row| Some(Person { name: row.get(0), role: Role::of(row.get(1))? })))
}

/// Writes down a look at records of people. Without it there is no answer.
pub(crate) async fn looked(
    client: &Client,
    person: &Person,
    (what, rows): (&str, usize),
    now_ms: u64,
) -> Result<(), Error> {
    client
        .execute(
            "insert into look (at_ms, person, role, what, rows) values ($1, $2, $3, $4, $5)",
            &[&signed(now_ms), &person.name, &person.role.word(), &what, &signed(rows as u64)],
        )
        .await
        .map(|_rows| ())
}
