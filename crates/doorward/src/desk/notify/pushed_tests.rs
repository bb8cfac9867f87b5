//! What is told of an alert, how often, and by which way.

use super::*;

const NOTIFY: &str = "[notify]\ndesktop = true\nwebhook = \"http://127.0.0.1:1/\"";

fn notify() -> Notify {
    toml::from_str::<crate::policy::config::Config>(NOTIFY).unwrap().notify
}

fn alert(kind: AlertKind, about: &str) -> Alert {
    Alert::new(kind, about, format!("{about}: something happened"), 1000)
}

fn names(channels: Vec<Channel>) -> Vec<&'static str> {
    channels.into_iter().map(Channel::name).collect()
}

#[test]
fn each_way_is_taken_once_and_one_that_failed_again() {
    let (mut pushed, notify, spike) = (PushedAlerts::default(), notify(), alert(AlertKind::Spike, "s"));
    assert_eq!(names(pushed.due(&spike, &notify)), ["desktop", "webhook"]);
    pushed.went(&spike, Channel::Desktop, &Ok(()));
    pushed.went(&spike, Channel::Webhook, &Err("refused".to_owned()));
    assert_eq!(names(pushed.due(&spike, &notify)), ["webhook"]);
    pushed.went(&spike, Channel::Webhook, &Ok(()));
    assert!(pushed.due(&spike, &notify).is_empty());
    assert!(pushed.alerts.values().all(|delivery| delivery.failed.is_empty()));
}

#[test]
fn what_a_person_has_seen_is_told_again_only_when_it_goes_off_anew() {
    let (mut pushed, notify, spike) = (PushedAlerts::default(), notify(), alert(AlertKind::Spike, "s"));
    Channel::configured(&notify).into_iter().for_each(|channel| pushed.went(&spike, channel, &Ok(())));
    let seen = Alert { state: AlertState::Acknowledged, ..spike.clone() };
    assert!(pushed.due(&seen, &notify).is_empty());
    pushed.forget(std::slice::from_ref(&seen), true);
    assert_eq!(names(pushed.due(&spike, &notify)), ["desktop", "webhook"], "it is open again");
    pushed.went(&spike, Channel::Desktop, &Ok(()));
    assert_eq!(names(pushed.due(&spike, &notify)), ["webhook"]);
}

#[test]
fn what_was_resolved_is_forgotten_and_a_rate_only_after_a_day() {
    let (mut pushed, notify) = (PushedAlerts::default(), notify());
    let all = [AlertKind::Spike, AlertKind::Drop, AlertKind::Chain].map(|kind| alert(kind, "x"));
    for alert in &all {
        Channel::configured(&notify).into_iter().for_each(|channel| pushed.went(alert, channel, &Ok(())));
    }
    let due = |pushed: &PushedAlerts| all.each_ref().map(|alert| !pushed.due(alert, &notify).is_empty());
    pushed.forget(&[], false);
    assert_eq!(due(&pushed), [true, false, false], "nobody has verified the record");
    pushed.forget(&[], true);
    assert_eq!(due(&pushed), [true, false, true]);
    pushed.alerts.values_mut().for_each(|delivery| delivery.stood_ms = now_ms() - DAY_MS);
    pushed.forget(&[], true);
    assert_eq!(due(&pushed), [true, true, true]);
    assert!(pushed.alerts.is_empty(), "nothing is kept of what does not stand");
}

#[test]
fn a_way_that_fails_is_not_told_of_its_own_failure() {
    let failing = alert(AlertKind::Notifier, "webhook");
    assert_eq!(names(PushedAlerts::default().due(&failing, &notify())), ["desktop"]);
}

#[test]
fn an_alert_is_told_in_one_line_and_bounded() {
    let long = alert(AlertKind::Exchanged, &format!("/home/me/{}\n\u{1b}[31m", "x".repeat(400)));
    let note = worded(&long);
    let json: serde_json::Value = serde_json::from_str(&note.json).unwrap();
    assert_eq!((json["event"].as_str(), json["kind"].as_str()), (Some("alert"), Some("exchanged")));
    for key in ["about", "text"] {
        let text = json[key].as_str().unwrap();
        assert!(text.chars().count() <= SHOWN && !text.contains(['\n', '\u{1b}']), "{text}");
    }
}
