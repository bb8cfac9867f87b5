//! Keys and what they do, without a terminal.

use super::*;
use crate::memory::grants::CallState;

fn call(id: &str, needs: Clearance) -> Pending {
    Pending { id: id.into(), call: format!("run {id}"), needs: Some(needs), target: "t".into(), ..Pending::default() }
}

/// The whole call is on the screen.
fn whole(model: &Model) -> VisiblePart {
    VisiblePart { id: model.selected.clone(), height: 10, lines: 5, is_too_small: false }
}

fn rows(calls: Vec<Pending>) -> Vec<QueueRow> {
    let row = |pending: Pending| QueueRow { state: CallState::of(&pending, 0), pending, folded: Vec::new(), times: 1 };
    calls.into_iter().map(row).collect()
}

fn showing(calls: Vec<Pending>) -> Model {
    let mut model = Model::default();
    model.take(rows(calls), 0);
    model.note_visible(whole(&model), 0);
    model
}

fn approved(id: &str) -> Option<Action> {
    Some(Action::Approve { id: id.into(), typed: None, why: None })
}

fn typed(model: &mut Model, text: &str) -> Option<Action> {
    text.chars().for_each(|character| assert_eq!(model.press(Key::Character(character), 9999), None));
    model.press(Key::Enter, 9999)
}

#[test]
fn one_key_answers_what_one_key_may_answer() {
    for needs in [Clearance::Soft, Clearance::Firm] {
        let mut model = showing(vec![call("a", needs)]);
        assert_eq!(model.press(Key::Character('y'), SHOWN_MS), approved("a"));
        assert_eq!(model.press(Key::Character('n'), SHOWN_MS), Some(Action::Refuse { ids: vec!["a".into()] }));
    }
    for needs in [Clearance::Hard, Clearance::Dual] {
        let mut model = showing(vec![call("a", needs)]);
        assert_eq!(model.press(Key::Character('y'), SHOWN_MS), None);
        assert!(model.typing.is_some());
    }
}

#[test]
fn a_key_counts_only_for_a_call_that_was_there_to_be_seen() {
    let mut model = showing(vec![call("a", Clearance::Soft), call("b", Clearance::Soft)]);
    assert_eq!(model.press(Key::Character('y'), SHOWN_MS - 1), None);
    assert!(model.message.contains("too soon"), "{}", model.message);
    assert_eq!(model.press(Key::Character('y'), SHOWN_MS), approved("a"));
    // The next one slips under the cursor, and the same key is pressed again.
    model.take(rows(vec![call("b", Clearance::Soft)]), 0);
    assert_eq!(model.press(Key::Character('y'), 1000), None, "not painted yet");
    model.note_visible(whole(&model), 1000);
    assert_eq!(model.press(Key::Character('y'), 1000 + SHOWN_MS - 1), None);
    assert_eq!(model.press(Key::Character('n'), 1000 + SHOWN_MS - 1), None);
    assert_eq!(model.press(Key::Character('y'), 1000 + SHOWN_MS), approved("b"));
}

#[test]
fn a_new_call_does_not_move_the_selection_and_a_changed_one_is_looked_at_again() {
    let mut model = showing(vec![call("a", Clearance::Soft)]);
    model.take(rows(vec![call("new", Clearance::Soft), call("a", Clearance::Soft)]), 0);
    assert_eq!(model.press(Key::Character('y'), SHOWN_MS), approved("a"));
    let graver = Pending { reasons: vec!["it reads a key".into()], ..call("a", Clearance::Firm) };
    model.take(rows(vec![graver]), 0);
    assert_eq!(model.press(Key::Character('y'), 2 * SHOWN_MS), None);
}

#[test]
fn what_does_not_fit_on_the_screen_is_not_approved_unread() {
    let mut model = showing(vec![call("a", Clearance::Soft)]);
    model.unread();
    let long = VisiblePart { id: Some("a".into()), height: 4, lines: 9, is_too_small: false };
    model.note_visible(long.clone(), 0);
    assert_eq!(model.press(Key::Character('y'), 5000), None);
    assert!(model.message.contains("below"), "{}", model.message);
    for _ in 0..2 {
        assert_eq!(model.press(Key::Character(' '), 5000), None);
        model.note_visible(long.clone(), 5000);
    }
    assert_eq!(model.press(Key::Character('y'), 5000), approved("a"));
    model.note_visible(VisiblePart { is_too_small: true, ..long }, 6000);
    assert_eq!(model.press(Key::Character('y'), 9000), None);
    assert!(model.message.contains("too small"), "{}", model.message);
}

#[test]
fn a_hard_override_wants_the_target_and_a_reason() {
    let mut model = showing(vec![call("a", Clearance::Hard)]);
    let open = |model: &mut Model| assert_eq!(model.press(Key::Character('y'), SHOWN_MS), None);
    open(&mut model);
    assert_eq!(typed(&mut model, "y"), None);
    assert!(model.typing.is_none() && model.message.contains("not approved"));
    open(&mut model);
    assert_eq!(typed(&mut model, "t"), None);
    assert_eq!(typed(&mut model, " "), None);
    assert!(model.typing.is_none() && model.message.contains("needs a reason"));
    open(&mut model);
    assert_eq!((model.pasted(), model.message.contains("type it")), (None, true));
    assert_eq!(typed(&mut model, "t"), None);
    let done = Some(Action::Approve { id: "a".into(), typed: Some("t".into()), why: Some("tests".into()) });
    assert_eq!(typed(&mut model, "tests"), done);
    open(&mut model);
    assert_eq!(model.press(Key::Escape, SHOWN_MS), None);
    assert!(model.typing.is_none());
}

#[test]
fn two_steps_are_half_a_minute_apart_and_count_down() {
    let mut model = showing(vec![call("a", Clearance::Dual)]);
    assert_eq!(model.press(Key::Character('y'), SHOWN_MS), None);
    let first = Some(Action::Approve { id: "a".into(), typed: Some("t".into()), why: None });
    assert_eq!(typed(&mut model, "t"), first);
    let begun = Pending { first_step_ms: Some(1000), ..call("a", Clearance::Dual) };
    model.take(rows(vec![begun.clone()]), 1000 + 12_500);
    assert_eq!(model.countdown(&begun), Some(18));
    assert_eq!(model.press(Key::Character('y'), 5000), None);
    assert!(model.typing.is_none() && model.message.contains("18 s"), "{}", model.message);
    model.take(rows(vec![begun.clone()]), 1000 + APART_MS);
    assert_eq!(model.countdown(&begun), None);
    assert_eq!(model.press(Key::Character('y'), 5000), None);
    assert_eq!(typed(&mut model, "t"), None, "the last step wants a reason");
    assert!(matches!(typed(&mut model, "old keys"), Some(Action::Approve { why: Some(_), .. })));
}

#[test]
fn what_is_answered_elsewhere_ends_the_typing() {
    let mut model = showing(vec![call("a", Clearance::Hard), call("b", Clearance::Hard)]);
    assert_eq!(model.press(Key::Character('y'), SHOWN_MS), None);
    model.take(rows(vec![call("b", Clearance::Hard)]), 0);
    assert!(model.typing.is_none() && model.message.contains("is no longer waiting"));
}

fn waiting(id: &str) -> Pending {
    Pending { waits_until_ms: Some(90_000), ..call(id, Clearance::Soft) }
}

#[test]
fn the_selection_stays_with_a_call_that_waits_and_leaves_one_that_is_over_only_for_whoever_is_idle() {
    let mut model = showing(vec![waiting("a"), call("over", Clearance::Soft)]);
    model.take(rows(vec![waiting("new"), waiting("a"), call("over", Clearance::Soft)]), IDLE_MS);
    assert_eq!(model.selected.as_deref(), Some("a"), "it waits as well");
    assert_eq!(model.press(Key::Down, IDLE_MS), None);
    assert_eq!(model.selected.as_deref(), Some("over"));
    model.take(rows(vec![waiting("new"), call("over", Clearance::Soft)]), IDLE_MS + 100);
    assert_eq!(model.selected.as_deref(), Some("over"), "somebody has just pressed a key");
    model.take(rows(vec![waiting("new"), call("over", Clearance::Soft)]), 2 * IDLE_MS);
    assert_eq!(model.selected.as_deref(), Some("new"));
    // Whoever was about to answer the other one has time to notice.
    model.note_visible(whole(&model), 0);
    assert_eq!(model.press(Key::Character('y'), SHOWN_MS), None);
    assert_eq!(model.press(Key::Character('y'), CAME_MS), approved("new"));
}

#[test]
fn a_no_answers_every_repeat_and_a_filter_hides_what_does_not_contain_it() {
    let mut model = showing(vec![call("a", Clearance::Soft), call("b", Clearance::Soft)]);
    let folded =
        QueueRow { folded: vec!["older".into()], times: 5, ..rows(vec![call("a", Clearance::Soft)]).remove(0) };
    model.take(vec![folded, rows(vec![call("b", Clearance::Soft)]).remove(0)], 0);
    let both = Some(Action::Refuse { ids: vec!["a".into(), "older".into()] });
    assert_eq!(model.press(Key::Character('n'), SHOWN_MS), both);
    assert_eq!(model.press(Key::Character('/'), SHOWN_MS), None);
    assert_eq!(typed(&mut model, "run b"), None);
    assert_eq!((model.rows.len(), model.selected.as_deref()), (1, Some("b")));
    assert_eq!(model.press(Key::Character('y'), SHOWN_MS), None, "another call is under the cursor now");
    assert_eq!(model.press(Key::Escape, SHOWN_MS), None);
    assert_eq!((model.rows.len(), model.counts()), (2, (0, 2)));
}

#[test]
fn what_goes_beyond_one_call_wants_its_word() {
    for (key, wish) in [('t', OfferKind::Trust), ('a', OfferKind::Always)] {
        let mut model = showing(vec![call("a", Clearance::Soft)]);
        assert_eq!(model.press(Key::Character(key), SHOWN_MS - 1), None, "not seen yet");
        assert_eq!(model.press(Key::Character(key), SHOWN_MS), Some(Action::Prepare { id: "a".into(), wish }));
        let offer = ShownOffer::example(wish, "word");
        for (text, deed) in [("y", None), ("", None), ("word", Some(Action::Accept(offer.clone())))] {
            model.offered(offer.clone());
            assert_eq!(typed(&mut model, text), deed, "{text}");
        }
        model.offered(offer);
        assert_eq!(model.press(Key::Escape, SHOWN_MS), None);
        assert!(model.typing.is_none() && model.message.contains("nothing was changed"));
    }
}

#[test]
fn help_answers_nothing_and_explaining_wants_the_call_read_again() {
    let mut model = showing(vec![call("a", Clearance::Soft)]);
    assert_eq!(model.press(Key::Character('?'), SHOWN_MS), None);
    assert!(model.helps);
    assert_eq!(model.press(Key::Character('y'), SHOWN_MS), None, "it only goes back");
    assert!(!model.helps);
    assert_eq!(model.press(Key::Character('e'), SHOWN_MS), None);
    assert!(model.explains);
    assert_eq!(model.press(Key::Character('y'), SHOWN_MS), None, "not painted yet");
}
