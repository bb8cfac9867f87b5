//! Which request is answered by what. The table also makes the API's description.

use std::sync::Arc;

use super::exchange::{Answer, Ask, Refusal};
use super::room::Room;
use super::{answers, openapi, signin, views};
use doorward_pages::{DESK_STYLE, Place, SCRIPT, STYLE, frame};

/// The pages, in the order of the navigation.
pub(super) const PLACES: &[Place] = &[
    Place { path: "/", name: "Queue" },
    Place { path: "/sessions", name: "Sessions" },
    Place { path: "/ledger", name: "Ledger" },
    Place { path: "/charts", name: "Charts" },
    Place { path: "/policy", name: "Policy" },
    Place { path: "/health", name: "Health" },
];

/// Whether a path is one of a browser's address bar: a frame or a file that holds nothing about anyone.
pub(super) fn is_page(path: &str) -> bool {
    !path.starts_with("/api/") && !path.starts_with("/view/") && path != "/events"
}

/// Answers a request that came through the gate.
pub(super) fn answer(room: &Arc<Room>, ask: &Ask) -> Answer {
    let path = ask.path.strip_prefix('/').unwrap_or_default();
    let parts: Vec<&str> = path.split('/').collect();
    // A route does not see a path that could mean two things.
    if parts.iter().any(|part| *part == ".." || *part == ".") || path.contains(['\0', '\\']) {
        return Refusal::not_found().answer();
    }
    let answered = match parts.as_slice() {
        ["api", "v1", rest @ ..] => api(room, ask, rest),
        ["view", rest @ ..] => {
            if ask.is_post {
                Err(wrong_method())
            } else {
                signed_in(ask).and_then(|()| view(room, ask, rest))
            }
        }
        ["events"] => signed_in(ask).and_then(|()| Answer::json(&())),
        _ if ask.is_post => Err(wrong_method()),
        ["assets", "desk.css"] => Ok(file("text/css; charset=utf-8", format!("{STYLE}{DESK_STYLE}"))),
        ["assets", "desk.js"] => Ok(file("text/javascript; charset=utf-8", SCRIPT.to_owned())),
        [""] | ["queue" | "sessions" | "ledger" | "charts" | "policy" | "health" | "start" | "pair"] => {
            Ok(shell(&parts))
        }
        ["queue" | "sessions" | "ledger", _] => Ok(shell(&parts)),
        ["api"] => Ok(Answer::html(openapi::page())),
        _ => Err(Refusal::not_found()),
    };
    answered.unwrap_or_else(|refusal| refusal.answer())
}

/// Everything that anybody can read about anything needs a sign-in.
fn signed_in(ask: &Ask) -> Result<(), Refusal> {
    match ask.visitor {
        Some(_) => Ok(()),
        None => Err(Refusal::new(401, "sign in with a start link or a paired device")),
    }
}

fn wrong_method() -> Refusal {
    Refusal::new(405, "this can't be done with this method")
}

fn file(kind: &'static str, text: String) -> Answer {
    Answer { status: 200, kind, body: text.into_bytes() }
}

fn shell(parts: &[&str]) -> Answer {
    let first = parts.first().copied().unwrap_or_default();
    let current = if matches!(first, "" | "queue") { "/".to_owned() } else { format!("/{first}") };
    let name = PLACES.iter().find(|place| place.path == current).map_or("Desk", |place| place.name);
    Answer::html(frame(&format!("{name} · doorward"), PLACES, &current))
}

fn view(room: &Arc<Room>, ask: &Ask, parts: &[&str]) -> Result<Answer, Refusal> {
    match parts {
        ["queue"] => views::queue(room, ask),
        ["queue", id] => views::call(room, id),
        ["sessions"] => views::sessions(room, ask),
        ["sessions", id] => views::calls(room, ask, id),
        ["ledger"] => views::records(room, ask),
        ["ledger", sequence] => views::record(room, sequence),
        ["charts"] => views::charts(room),
        ["policy"] => views::policy(room),
        ["health"] => views::health(room),
        _ => Err(Refusal::not_found()),
    }
}

fn api(room: &Arc<Room>, ask: &Ask, parts: &[&str]) -> Result<Answer, Refusal> {
    match (ask.is_post, parts) {
        // How one signs in; these tell nothing about any call.
        (true, ["start"]) => signin::start(room, ask),
        (true, ["login"]) => signin::login(room, ask),
        (true, ["login", "challenge"]) => signin::login_challenge(room, ask),
        (true, ["pair"]) => signin::pair(room, ask),
        (true, ["pair", "state"]) => signin::pair_state(room, ask),
        (false, ["openapi.json"]) => Answer::json(&openapi::description()),
        (is_post, rest) => {
            signed_in(ask)?;
            if is_post { change(room, ask, rest) } else { read(room, ask, rest) }
        }
    }
}

fn change(room: &Room, ask: &Ask, parts: &[&str]) -> Result<Answer, Refusal> {
    match parts {
        ["queue", id, "offer"] => answers::offer(room, ask, id),
        ["queue", id, "challenge"] => answers::challenge(room, ask, id),
        ["answers"] => answers::accept(room, ask),
        _ if openapi::has_path(parts) => Err(wrong_method()),
        _ => Err(Refusal::not_found()),
    }
}

fn read(room: &Arc<Room>, ask: &Ask, parts: &[&str]) -> Result<Answer, Refusal> {
    match parts {
        ["queue"] => views::queue_json(room, ask),
        ["queue", id] => views::call_json(room, id),
        ["sessions"] => views::sessions_json(room, ask),
        ["sessions", id, "calls"] => views::calls_json(room, ask, id),
        ["records"] => views::records_json(room, ask),
        ["records", sequence] => views::record_json(room, sequence),
        ["charts"] => views::charts_json(room),
        ["policy"] => views::policy_json(room),
        ["health"] => views::health_json(room),
        _ if openapi::has_path(parts) => Err(wrong_method()),
        _ => Err(Refusal::not_found()),
    }
}
