//! Long and deep commands: the answer never gets laxer with the length, and what is too deep to follow asks.
use doorward_engine::{Degree, DescribedWorld, Facts, Policy, ToolCall, Verdict, example, judge, observe};

fn judged(command: String) -> (Facts, Verdict) {
    let facts = observe(&ToolCall::bash(command, example::CWD), &example::world());
    let verdict = judge(&facts, &Policy::built_in()).verdict;
    (facts, verdict)
}

#[test]
fn longer_commands_are_never_judged_more_laxly() {
    let shapes = [
        ("true", " && git status -s", ""),
        ("ls -la", " file.txt", ""),
        ("echo ", "a", ""),
        ("cat x", " | grep -v foo", ""),
        ("rm", " -r -f", " ./src"),
        ("echo", " 'it'\\''s'", ""),
        ("cat > notes.md <<'EOF'\n", "- a line about rm -rf in a text\n", "EOF\n"),
    ];
    for (head, unit, tail) in shapes {
        let mut before = None;
        for size in [100, 1_000, 10_000, 100_000, 1 << 20] {
            let (facts, verdict) = judged(format!("{head}{}{tail}", unit.repeat(size / unit.len())));
            assert!(Some(verdict) >= before, "{head:?} with {size} bytes of {unit:?}: {verdict:?} after {before:?}");
            assert!(facts.effects.len() <= 2_000 && facts.commands.len() <= 20_000, "{head:?}: too many facts");
            assert!(verdict != Verdict::AutoApprove || facts.coverage.degree == Degree::Full);
            before = Some(verdict);
        }
    }
}

#[test]
fn what_is_too_deep_or_too_long_to_follow_asks() {
    let nested = |open: &str, close: &str, count: usize| format!("{}ls{}", open.repeat(count), close.repeat(count));
    for (name, command) in [
        ("substitutions that end", nested("echo $(", ")", 5_000)),
        ("substitutions that never end", "$(".repeat(5_000)),
        ("subshells", nested("( ", " )", 5_000)),
        ("parentheses", "(".repeat(5_000)),
        ("wrappers", "env nohup timeout 5 nice ".repeat(256) + "git status"),
        ("conditions", "if true; then ".repeat(5_000) + "ls" + &"; fi".repeat(5_000)),
        ("arguments", "ls".to_owned() + &" file.txt".repeat(100_000 / 9)),
        ("evaluations", "eval ".repeat(5_000) + "ls"),
        ("braces", nested("echo {a,", "}", 5_000)),
    ] {
        let (facts, verdict) = judged(command);
        assert_eq!(verdict, Verdict::Confirm, "{name}: {:?}", facts.coverage);
        assert_eq!(facts.coverage.degree, Degree::Opaque, "{name}: {:?}", facts.coverage);
    }
}

/// A project of thousands of files in `lib`, a few in `a`, and links.
fn large_project(links: &[(&str, &str)]) -> DescribedWorld {
    let project = "/home/dev/project";
    let many = (0..60).flat_map(|module| (0..60).map(move |file| format!("{project}/lib/m{module}/f{file}.js")));
    let few = ["a/b/c/f.txt", "src/x.js"].map(|file| format!("{project}/{file}"));
    let outside = ["/home/dev/.aws/credentials".to_owned()];
    let files: serde_json::Map<String, serde_json::Value> =
        many.chain(few).chain(outside).map(|file| (file, serde_json::json!({ "exists": true }))).collect();
    let symlinks: serde_json::Map<String, serde_json::Value> =
        links.iter().map(|(link, to)| (format!("{project}/{link}"), (*to).into())).collect();
    let description = serde_json::json!({
        "home": "/home/dev", "project": project, "git": { "root": project }, "files": files, "symlinks": symlinks,
    });
    DescribedWorld::new(serde_json::from_value(description).unwrap(), project)
}

#[test]
fn in_a_large_project_loops_ask_only_where_a_link_may_lead_out() {
    let verdict = |command: &str, world: &DescribedWorld| {
        judge(&observe(&ToolCall::bash(command, "/home/dev/project"), world), &Policy::built_in()).verdict
    };
    let (leading_out, inside) =
        (large_project(&[("a/b/c/l", "/home/dev/.aws")]), large_project(&[("zz/in", "/home/dev/project/src")]));
    for command in [
        "for d in a/*; do for e in $d/*; do cat \"$e\"/*; done; done",
        "for d in a/*; do for e in $d/*; do for f in $e/*/*; do cat $f; done; done; done",
        "for d in a/*; do grep x $d/*/*/*; done",
        "for d in a/*; do for e in $d/*; do grep -r x $e/*; done; done",
        "for d in a/*; do for e in $d/*; do for f in $e/*; do grep -r x $f; done; done; done",
        "for d in a/*; do (cd $d && cat c/l/*); done",
        "for d in a/*; do (cd $d; for e in *; do (cd $e; cat l/*); done); done",
        "for d in a/*; do head $d/*/l/*; done",
    ] {
        assert!(verdict(command, &leading_out) > Verdict::AutoApprove, "{command}");
    }
    for command in [
        "for f in src/*.js; do cat $f; done",
        "for f in x y; do cat src/$f.js; done",
        "for d in lib/*; do ls $d; done",
        "for d in lib/*; do for e in $d/*; do cat $e; done; done",
        "for d in lib/*; do grep foo $d/f1.js; done",
        "for d in lib/*; do grep foo $d/*.js; done",
        "for d in lib/*; do (cd $d && cat f1.js); done",
        "find . -type f | xargs grep foo",
        "grep -rn foo .",
    ] {
        assert_eq!(verdict(command, &leading_out), Verdict::AutoApprove, "{command}");
        assert_eq!(verdict(command, &inside), Verdict::AutoApprove, "{command}");
    }
}

/// A project with one directory of so many files, and an environment file in another one of as many directories.
fn wide_project(files: usize, directories: usize) -> DescribedWorld {
    let names = (0..files).map(|at| format!("many/f{at}.txt"));
    let names = names.chain((0..directories).map(|at| format!("big/d{at}/f.txt"))).chain(["big/d7/.env".to_owned()]);
    let file = serde_json::json!({ "content": "STRIPE=abc" });
    let files: serde_json::Map<String, serde_json::Value> = names.map(|name| (name, file.clone())).collect();
    let description = serde_json::json!({
        "home": "/home/dev", "project": "/home/dev/project", "complete": true, "files": files,
        "git": { "root": "/home/dev/project", "ignored": [".env"] },
    });
    DescribedWorld::new(serde_json::from_value(description).unwrap(), "/home/dev/project")
}

#[test]
fn a_secret_among_thousands_of_files_is_found_and_a_tree_too_large_for_that_asks() {
    let judged = |command: &str, world: &DescribedWorld| {
        let facts = observe(&ToolCall::bash(command, "/home/dev/project"), world);
        let said = facts.coverage.because.iter().any(|because| because.contains("too many files to check"));
        (judge(&facts, &Policy::built_in()).verdict, said)
    };
    let found = wide_project(0, 1_500);
    for command in
        ["grep -rn STRIPE big", "grep -rh . big", "tar cf /tmp/q.tar big && tar xOf /tmp/q.tar", "rg -uu . big"]
    {
        assert_eq!(judged(command, &found), (Verdict::Confirm, false), "{command}");
    }
    for command in ["grep -rn useState big", "rg STRIPE big", "grep -rln STRIPE big", "grep -rn STRIPE big/d8"] {
        assert_eq!(judged(command, &found), (Verdict::AutoApprove, false), "{command}");
    }
    let cut = wide_project(50_001, 8);
    for command in ["grep -rn STRIPE many", "grep -rh . many", "tar cf /tmp/q.tar many", "cp -r many /tmp/q"] {
        assert_eq!(judged(command, &cut), (Verdict::Confirm, true), "{command}");
    }
    for command in
        ["rg STRIPE many", "git grep STRIPE -- many", "grep -rn --include=*.js STRIPE many", "grep -rc STRIPE many"]
    {
        assert_eq!(judged(command, &cut), (Verdict::AutoApprove, false), "{command}");
    }
}
