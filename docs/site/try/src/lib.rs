//! The engine in a browser: a call and a described machine in, the judgement out, both as JSON.
//!
//! JavaScript asks for room with `room`, writes the request there, calls `answer`, and reads that many bytes at `text`.

use std::cell::RefCell;

use doorward_engine::{DescribedWorld, Description, Policy, ToolCall, judge, observe, tool_from_json};
use doorward_pages::visible;
use serde_json::{Value, json};

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a request and says where it is.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *const u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(length, 0);
        request.as_ptr()
    })
}

/// Judges the request and says how long the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    let said = REQUEST.with_borrow(|request| judged(request)).unwrap_or_else(|problem| json!({ "problem": problem }));
    ANSWER.with_borrow_mut(|answer| {
        *answer = said.to_string().into_bytes();
        answer.len()
    })
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn text() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// The same as `doorward check --jsonl` with a described machine and the built-in policy.
fn judged(request: &[u8]) -> Result<Value, String> {
    let request: Value = serde_json::from_slice(request).map_err(|error| error.to_string())?;
    let of = |name: &str| request.get(name).cloned().unwrap_or_default();
    let world: Description = serde_json::from_value(of("world")).map_err(|error| error.to_string())?;
    let cwd = of("cwd").as_str().map(str::to_owned).or_else(|| world.project.clone()).ok_or("`cwd` is missing")?;
    let tool = of("tool").as_str().map(str::to_owned).ok_or("`tool` is missing")?;
    let mut call = ToolCall::new(tool_from_json(&tool, &of("input")), cwd);
    call.attended = true;
    let world = DescribedWorld::new(world, &call.cwd);
    let policy = Policy::built_in();
    let facts = observe(&call, &world);
    let judgement = judge(&facts, &policy);
    let reasons: Vec<Value> = judgement
        .reasons_to_read()
        .map(|opinion| json!({ "because": visible(&opinion.because), "instead": opinion.instead }))
        .collect();
    Ok(json!({
        "verdict": judgement.verdict.as_str(),
        "cleared_by": judgement.cleared_by.map(|clearance| clearance.as_str()),
        "settled_by": judgement.settled_by.as_str(),
        "rule": judgement.rule,
        "coverage": facts.coverage.degree.as_str(),
        "reasons": reasons,
        "effects": facts.effects,
    }))
}
