//! Any text as a shell command on the example machine: no panic, the same facts twice, and nothing that was not
//! understood is approved.
#![no_main]

use std::sync::LazyLock;

use doorward_engine::{Degree, DescribedWorld, Policy, Tool, ToolCall, Verdict, example, judge, observe};
use libfuzzer_sys::fuzz_target;

static POLICY: LazyLock<Policy> = LazyLock::new(Policy::built_in);

thread_local! {
    static WORLD: DescribedWorld = example::world();
}

fuzz_target!(|text: &str| {
    let call = ToolCall::new(Tool::Bash { command: text.to_owned(), background: false, unsandboxed: false }, example::CWD.to_owned());
    WORLD.with(|world| {
        let facts = observe(&call, world);
        assert_eq!(observe(&call, world), facts, "two observations differ");
        let judgement = judge(&facts, &POLICY);
        if judgement.verdict == Verdict::AutoApprove {
            assert!(facts.coverage.degree <= Degree::Delegated, "approved without being understood");
            assert!(doorward_shell::parse(text, doorward_shell::Dialect::Bash).error.is_none());
        }
        for effect in &facts.effects {
            let (start, end) = (effect.part.start as usize, effect.part.end as usize);
            assert!(facts.subject.get(start..end).is_some(), "{effect:?} points outside the text");
        }
    });
});
