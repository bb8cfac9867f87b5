//! `doorward check` as its callers see it: exit codes, lines in order, nothing that breaks it.

use serde_json::{Value, json};

use crate::support::Home;

const WORLD: &str = r#"{"home":"/home/me","project":"/home/me/p","git":{"root":"/home/me/p"}}"#;

#[test]
fn the_exit_code_is_the_verdict() {
    let home = Home::new();
    let check = |command: &str| home.run(&["check", command], b"");
    for (command, code) in [("ls", 0), ("ls; frobnicate", 10), ("ls; rm -rf ~", 20)] {
        let ran = check(command);
        assert_eq!(ran.code, code, "{command}: {}", ran.stdout);
        assert!(!ran.stdout.contains('\u{1b}'), "no colour where nobody looks");
    }
    for (arguments, code) in [
        (&["check"][..], 2),
        (&["check", "--jsonl", "/no/such/file"], 2),
        (&["check", "--frob", "ls"], 2),
        (&["check", "--cwd", "rel", "ls"], 2),
    ] {
        assert_eq!(home.run(arguments, b"").code, code, "{arguments:?}");
    }
}

#[test]
fn a_check_can_be_printed_as_json_and_explained() {
    let home = Home::new();
    home.write("world.json", WORLD);
    let world = home.path("world.json");
    let ran = home.run(&["check", "--json", "--explain", "--world", world.to_str().unwrap(), "ls"], b"");
    let answer = ran.json();
    assert_eq!(answer["verdict"], "approve");
    assert!(answer["facts"]["effects"].is_array() && answer["judgement"]["opinions"].is_array());
    let ran = home.run(&["check", "--explain", "--world", world.to_str().unwrap(), "rm -rf ~"], b"");
    for part in ["understood", "effects", "opinions", "what would change it"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let input = r#"{"path": "/home/me/.ssh/id_rsa"}"#;
    let ran =
        home.run(&["check", "--json", "--tool", "read", "--input", input, "--world", world.to_str().unwrap()], b"");
    assert_ne!(ran.json()["verdict"], "approve");
}

#[test]
fn deceiving_characters_are_shown() {
    let home = Home::new();
    let ran = home.run(&["check", "rm -rf ~ \u{202e} \u{1b}[2J"], b"");
    assert!(!ran.stdout.contains('\u{202e}') && !ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[test]
fn every_line_is_answered_in_order_whatever_it_holds() {
    let home = Home::new();
    let world: Value = serde_json::from_str(WORLD).unwrap();
    let good = json!({"id": "good", "tool": "bash", "input": {"command": "ls"}, "world": world}).to_string();
    let deep = format!("{{\"id\":\"deep\",\"tool\":\"bash\",\"input\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let lines: Vec<(&[u8], Value, &str)> = vec![
        (good.as_bytes(), json!("good"), "approve"),
        (b"", Value::Null, "skipped"),
        (b"   \t", Value::Null, "skipped"),
        (b"not json", Value::Null, "confirm"),
        (b"{\"id\":\"utf\",\"tool\":\"bash\",\"input\":{\"command\":\"\xff\"}}", json!("utf"), "confirm"),
        (br#"{"id":"twice","tool":"bash","input":{"command":"ls","command":"rm -rf /"}}"#, json!("twice"), "confirm"),
        (br#"{"id":"type","tool":7,"input":{}}"#, json!("type"), "confirm"),
        (br#"{"id":"cwd","tool":"bash","input":{"command":"ls"},"cwd":"relative"}"#, json!("cwd"), "confirm"),
        (br#"{"id":"mode","tool":"bash","input":{"command":"ls"},"mode":"yolo"}"#, json!("mode"), "confirm"),
        (br#"{"id":"world","tool":"bash","input":{"command":"ls"},"world":{"hom":"/x"}}"#, json!("world"), "confirm"),
        (br#"{"id":"cut","tool":"bash","input":{"comm"#, json!("cut"), "confirm"),
        (br#"[{"id":1}]"#, Value::Null, "confirm"),
        (br#"{"id":"\ud800","tool":"bash","input":{"command":"ls"}}"#, Value::Null, "confirm"),
        (deep.as_bytes(), json!("deep"), "confirm"),
        (good.as_bytes(), json!("good"), "approve"),
    ];
    let input: Vec<u8> = lines.iter().flat_map(|(line, _, _)| [line, &b"\n"[..]].concat()).collect();
    let ran = home.run(&["check", "--jsonl", "-"], &input);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let expected: Vec<_> = lines.iter().filter(|(_, _, verdict)| *verdict != "skipped").collect();
    let answers = ran.lines();
    assert_eq!(answers.len(), expected.len());
    for (answer, (_, id, verdict)) in answers.iter().zip(expected) {
        assert_eq!((&answer["id"], &answer["verdict"]), (id, &json!(verdict)), "{answer}");
    }
    assert_eq!(answers[1]["settled_by"], "malformed");
    assert_eq!(answers[1]["coverage"], "opaque");
    assert!(answers[1]["reasons"][0].as_str().unwrap().starts_with("line 4 is not "));
}

#[test]
fn a_line_beyond_the_limit_is_skipped_and_answered() {
    let home = Home::new();
    let mut input = b"{\"id\":\"long\",\"tool\":\"bash\",\"input\":{\"command\":\"".to_vec();
    input.resize(65 << 20, b'a');
    input.extend_from_slice(b"\"}}\n{\"id\":\"next\",\"tool\":\"bash\",\"input\":{\"command\":\"ls\"},\"world\":{}}\n");
    let answers = home.run(&["check", "--jsonl", "-"], &input).lines();
    assert_eq!(answers.iter().map(|answer| answer["id"].as_str().unwrap()).collect::<Vec<_>>(), ["long", "next"]);
    assert!(answers[0]["reasons"][0].as_str().unwrap().contains("longer than 64 MiB"));
}

#[test]
fn a_configuration_in_the_line_counts_for_the_line() {
    let home = Home::new();
    let line =
        |config: Value| json!({"tool": "bash", "input": {"command": "ls"}, "world": {}, "config": config}).to_string();
    let input = [
        line(json!({"permissions": {"deny": ["bash(ls*)"]}})),
        line(json!({})),
        line(json!({"permissions": {"deny": ["("]}})),
    ]
    .join("\n");
    let verdicts: Vec<String> = home
        .run(&["check", "--jsonl", "-"], input.as_bytes())
        .lines()
        .iter()
        .map(|answer| answer["verdict"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(verdicts, ["block", "approve", "confirm"]);
}

#[test]
fn statistics_count_everything_once() {
    let home = Home::new();
    let input = b"{\"tool\":\"bash\",\"input\":{\"command\":\"ls\"},\"world\":{}}\nx\n{\"tool\":\"bash\",\"input\":{\"command\":\"frobnicate --now\"},\"world\":{}}\n";
    let stats = home.run(&["check", "--jsonl", "-", "--stats", "--json"], input).json();
    assert_eq!(
        (&stats["calls"], &stats["malformed"], &stats["verdicts"]["approve"]),
        (&json!(3), &json!(1), &json!(1))
    );
    assert!(stats["unknown"][0]["what"].as_str().unwrap().contains("frobnicate"), "{stats}");
    assert!(home.run(&["check", "--jsonl", "-", "--stats"], input).stdout.contains("frobnicate"));
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    let home = Home::new();
    home.run(&["check", "ls"], b"");
    assert!(!home.path(".local/state/doorward/log").exists());
    home.run(&["check", "--record", "ls"], b"");
    assert!(home.path(".local/state/doorward/log").exists());
}

#[test]
fn whoever_sends_one_call_at_a_time_gets_one_answer_at_a_time() {
    use std::io::{BufRead, BufReader, Write};
    let home = Home::new();
    let mut child = home
        .command(&["check", "--jsonl", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for id in 0..3 {
        writeln!(input, "{}", json!({"id": id, "tool": "bash", "input": {"command": "ls"}, "world": {}})).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], id);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    use std::process::{Command, Stdio};
    let home = Home::new();
    let input = "{\"tool\":\"bash\",\"input\":{\"command\":\"ls\"},\"world\":{}}\n".repeat(5_000);
    home.write("calls.jsonl", &input);
    let mut child = home
        .command(&["check", "--jsonl", home.path("calls.jsonl").to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let head = Command::new("head").arg("-1").stdin(child.stdout.take().unwrap()).output().unwrap();
    assert!(head.status.success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
}
