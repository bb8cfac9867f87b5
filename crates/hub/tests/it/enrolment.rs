//! Who may become an edge, and who stays one.

use doorward_ledger::Hash;
use doorward_team::{Enrolment, Failure, Hub, Token, Transport, enrol};

use crate::support::{Edge, Postgres, RunningHub};

fn refused(failure: Failure) -> String {
    match failure {
        Failure::Refused(said) => format!("{}: {}", said.code, said.error),
        other => panic!("{other}"),
    }
}

fn key(dir: &tempfile::TempDir, name: &str) -> doorward_ledger::SigningKey {
    doorward_ledger::SigningKey::load_or_create(&dir.path().join(name)).unwrap()
}

#[test]
fn a_token_makes_one_edge_and_keys_that_sign_keep_it() {
    let postgres = Postgres::start();
    let mut hub = RunningHub::start(&postgres);
    let transport = Transport::new(&hub.url(), None).unwrap();
    let token: Token = hub.token().parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (mine, checkpoint) = (key(&dir, "edge"), key(&dir, "checkpoint"));
    let introduction = Enrolment::new(&token, (&mine, &checkpoint), ("laptop", "ada", "1")).unwrap();
    let first = enrol(&transport, &token, &introduction).unwrap();
    // The answer was lost on the way: the same edge asks again and is the same edge.
    assert_eq!(enrol(&transport, &token, &introduction).unwrap(), first);

    // Somebody else with the same token, and the same keys with another token.
    let thief = Enrolment::new(&token, (&key(&dir, "thief"), &key(&dir, "thief2")), ("laptop", "ada", "1")).unwrap();
    assert!(refused(enrol(&transport, &token, &thief).unwrap_err()).starts_with("token: "));
    let second: Token = hub.token().parse().unwrap();
    let copied = Enrolment::new(&second, (&mine, &checkpoint), ("copy", "ada", "1")).unwrap();
    assert!(refused(enrol(&transport, &second, &copied).unwrap_err()).starts_with("known-key: "));
    let mixed = Enrolment::new(&second, (&key(&dir, "fresh"), &checkpoint), ("copy", "ada", "1")).unwrap();
    assert!(refused(enrol(&transport, &second, &mixed).unwrap_err()).starts_with("known-key: "));

    // A token that nobody made, one that expired, and a hub that the token does not name.
    let invented = Token::new(token.hub).unwrap();
    let asks = Enrolment::new(&invented, (&key(&dir, "a"), &key(&dir, "b")), ("x", "y", "1")).unwrap();
    assert!(refused(enrol(&transport, &invented, &asks).unwrap_err()).starts_with("token: "));
    let late: Token = hub.token().parse().unwrap();
    postgres.sql("update token set expires_ms = 5 where used_ms is null");
    let asks = Enrolment::new(&late, (&key(&dir, "a"), &key(&dir, "b")), ("x", "y", "1")).unwrap();
    assert!(refused(enrol(&transport, &late, &asks).unwrap_err()).starts_with("token: "));
    let elsewhere = Token::new(Hash::of(b"another hub")).unwrap();
    let asks = Enrolment::new(&elsewhere, (&key(&dir, "a"), &key(&dir, "b")), ("x", "y", "1")).unwrap();
    assert!(matches!(enrol(&transport, &elsewhere, &asks), Err(Failure::Untrusted { .. })));
    assert_eq!(postgres.count("select count(*) from edge"), 1);

    // Requests: signed by the edge, by nobody known, by an edge that was revoked.
    let known = Hub::new(transport.clone(), first.edge.clone(), key(&dir, "edge"), first.hub);
    known.get("/v1/edge").unwrap();
    let forged = Hub::new(transport.clone(), first.edge.clone(), key(&dir, "thief"), first.hub);
    assert!(refused(forged.get("/v1/edge").unwrap_err()).starts_with("stranger: "));
    let stranger = Hub::new(transport.clone(), "77".to_owned(), key(&dir, "edge"), first.hub);
    assert!(refused(stranger.get("/v1/edge").unwrap_err()).starts_with("stranger: "));
    assert!(refused(known.get("/v1/nothing").unwrap_err()).starts_with("unknown: "));
    assert!(hub.say(&["revoke", &first.edge]).status.success());
    assert!(refused(known.get("/v1/edge").unwrap_err()).starts_with("revoked: "));
    assert!(!hub.say(&["revoke", &first.edge]).status.success());
    // Its log may start a history under a new number, with a new key of its own.
    let third: Token = hub.token().parse().unwrap();
    let mixed = Enrolment::new(&third, (&key(&dir, "fresh"), &checkpoint), ("copy", "ada", "1")).unwrap();
    let again = enrol(&transport, &third, &mixed).unwrap();
    assert!(again.edge != first.edge);

    // Another hub on the same address is noticed by its key.
    hub.kill();
    std::fs::remove_file(hub.state().join("hub.key")).unwrap();
    hub.run();
    let edge = Edge::enrolled(&hub);
    assert!(edge.welcome.hub != first.hub);
    assert!(matches!(known.get("/v1/edge"), Err(Failure::Untrusted { .. })));
}

#[test]
fn a_hub_that_would_show_records_to_the_network_does_not_start() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_doorward-hub"))
        .args(["serve", "--database", "host=/nowhere", "--listen", "0.0.0.0:0", "--state", "/tmp"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--behind-proxy"));
}
