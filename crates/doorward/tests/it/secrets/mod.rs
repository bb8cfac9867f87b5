//! Secrets planted in calls of every kind never come out again: not in an answer, not on the screen, not on the disk.

mod shapes;

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use shapes::{Dice, NAMED, WRITTEN, key_blocks, look_alikes, tokens};

use crate::support::Home;

/// A call with a secret in it.
struct Planted {
    tool: &'static str,
    input: Value,
    secret: String,
}

impl Planted {
    fn line(&self, id: usize, cwd: &Path) -> Value {
        json!({ "id": id, "tool": self.tool, "input": self.input, "cwd": cwd })
    }
}

fn bash(command: String) -> (&'static str, Value) {
    ("bash", json!({ "command": command }))
}

/// Every way in which a token stands in a call.
fn carried(secret: &str) -> Vec<(&'static str, Value)> {
    let mcp = |args: Value| ("mcp", json!({ "server": "tracker", "name": "create_item", "args": args }));
    vec![
        bash(format!("curl -H 'Authorization: Bearer {secret}' https://api.example.com/v1")),
        bash(format!("export SOME_NAME={secret}")),
        bash(format!("echo {secret} > out.txt")),
        bash(format!("git commit -m 'try {secret} again'")),
        bash(format!("cat > conf <<'END'\nkey: {secret}\nEND")),
        bash(format!("git push https://x:{secret}@git.example.com/a/b.git main")),
        bash(format!("python3 -c 'connect(\"{secret}\")'")),
        bash(format!("rm -rf ~/{secret}/ && unknown-tool {secret}")),
        ("write", json!({ "path": "src/client.rs", "content": format!("let c = Client::new(\"{secret}\");\n") })),
        ("write", json!({ "path": format!("notes/{secret}.txt"), "content": "x" })),
        ("edit", json!({ "path": "src/client.rs", "old": "a", "new": format!("a(\"{secret}\")") })),
        ("fetch", json!({ "url": format!("https://x.example.com/path?sig={secret}&y=1") })),
        ("fetch", json!({ "url": format!("https://user:{secret}@x.example.com/") })),
        ("websearch", json!({ "query": format!("what is {secret}") })),
        mcp(json!({ "headers": { "X-Custom": secret }, "list": [1, { "deep": secret }] })),
        mcp(json!({ "url": format!("https://x.example.com/?q={secret}"), "path": format!("/tmp/{secret}") })),
        ("task", json!({ "agent": "helper", "description": format!("log in with {secret} and look around") })),
        ("python", json!({ "code": format!("import requests\nrequests.get(u, headers={{'k': '{secret}'}})") })),
        ("read", json!({ "path": format!("/tmp/{secret}") })),
        ("search", json!({ "path": "src", "pattern": secret })),
    ]
}

/// One call for each secret, so that each goes through every output; the ways take turns.
fn one_each(dice: &mut Dice) -> Vec<Planted> {
    let mut all = Vec::new();
    for round in 0..3 {
        for (at, secret) in tokens(dice).into_iter().enumerate() {
            let mut ways = carried(&secret);
            let (tool, input) = ways.swap_remove((at * 7 + round * 5) % ways.len());
            all.push(Planted { tool, input, secret });
        }
    }
    all.extend(named(dice));
    all
}

/// Secrets that only the words around them give away, and key blocks.
fn named(dice: &mut Dice) -> Vec<Planted> {
    const LETTERS: &str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
    let mut all = Vec::new();
    for line in NAMED {
        let secret = format!("{}7{}", dice.text(LETTERS, 11), dice.text(LETTERS, 12));
        let (tool, input) = bash(line.replacen("{}", &secret, 1));
        all.push(Planted { tool, input, secret });
    }
    for line in WRITTEN {
        let secret = format!("{}7{}", dice.text(LETTERS, 15), dice.text(LETTERS, 12));
        let input = json!({ "path": "settings.txt", "content": line.replacen("{}", &secret, 1) });
        all.push(Planted { tool: "write", input, secret });
    }
    for (block, secret) in key_blocks(dice) {
        let input = json!({ "path": "deploy/notes.txt", "content": format!("k:\n{block}\n") });
        all.push(Planted { tool: "write", input, secret: secret.clone() });
        let (tool, input) = bash(format!("cat > k <<'END'\n{block}\nEND"));
        all.push(Planted { tool, input, secret });
    }
    all
}

/// Fails with the calls whose secret stands in a text. Eight letters near the end of each are looked for at once.
fn none_in(text: &str, planted: &[Planted], place: &str) {
    let mut marks: HashMap<&[u8], Vec<&Planted>> = HashMap::new();
    for one in planted {
        let bytes = one.secret.as_bytes();
        marks.entry(&bytes[bytes.len() - 9..bytes.len() - 1]).or_default().push(one);
    }
    let seen: HashSet<&[u8]> = text.as_bytes().windows(8).filter(|window| marks.contains_key(window)).collect();
    let leaked: Vec<String> = seen
        .iter()
        .flat_map(|mark| &marks[mark])
        .map(|planted| format!("{} {}", planted.tool, planted.input))
        .collect();
    assert!(leaked.is_empty(), "{place} shows {} of {} secrets:\n{}", leaked.len(), planted.len(), leaked.join("\n"));
}

fn lines(planted: &[Planted], cwd: &Path) -> String {
    planted.iter().enumerate().map(|(id, planted)| format!("{}\n", planted.line(id, cwd))).collect()
}

#[test]
fn every_token_in_every_way_is_kept_out_of_answers() {
    let home = Home::new();
    let mut dice = Dice(0x5eed_0101);
    let all = |secret: String| {
        let ways = carried(&secret).into_iter();
        ways.map(move |(tool, input)| Planted { tool, input, secret: secret.clone() })
    };
    let planted: Vec<Planted> = tokens(&mut dice).into_iter().flat_map(all).collect();
    assert!(planted.len() > 2000, "{}", planted.len());
    let ran = home.run(&["check", "--jsonl", "-"], lines(&planted, &home.project()).as_bytes());
    assert_eq!(ran.lines().len(), planted.len(), "{}", ran.stderr);
    none_in(&ran.stdout, &planted, "check --jsonl");
    none_in(&ran.stderr, &planted, "standard error");
}

#[test]
fn no_secret_leaves_the_hook_or_stays_on_the_disk() {
    let home = Home::new();
    let planted = one_each(&mut Dice(0x5eed_0102));
    assert!(planted.len() >= 500, "{}", planted.len());
    none_in(&asked(&home, &planted), &planted, "the answer of the hook");
    none_in(&on_disk(&home.path("")), &planted, "a file below the home directory");
    for words in [
        &["audit", "list", "--json", "--limit", "100000"][..],
        &["audit", "export", "--format", "jsonl"],
        &["audit", "export", "--format", "csv"],
        &["denials", "--limit", "100000"],
        &["denials", "--json", "--limit", "100000"],
        &["status", "--json"],
        &["pending"],
        &["pending", "--json"],
        &["tickets"],
    ] {
        let ran = home.run(words, b"");
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.stderr);
        none_in(&ran.stdout, &planted, &words.join(" "));
        none_in(&ran.stderr, &planted, &words.join(" "));
    }
    let rows: Vec<Value> =
        serde_json::from_str(&home.run(&["audit", "list", "--json", "--limit", "100000"], b"").stdout).unwrap();
    assert!(rows.len() >= planted.len(), "{}", rows.len());
    for row in rows.iter().step_by(9) {
        let shown = home.run(&["audit", "show", row["id"].as_str().unwrap_or_default()], b"");
        none_in(&shown.stdout, &planted, "audit show");
    }
}

#[test]
fn no_secret_is_shown_to_the_person_who_checks_a_call() {
    let home = Home::new();
    let planted = one_each(&mut Dice(0x5eed_0103));
    for (at, one) in planted.iter().enumerate() {
        let input = one.input.to_string();
        let how = if at % 2 == 0 { "--explain" } else { "--json" };
        let ran = home.run(&["check", how, "--tool", one.tool, "--input", &input], b"");
        assert!(matches!(ran.code, 0 | 10 | 20), "{input}: {}", ran.stderr);
        none_in(&format!("{}{}", ran.stdout, ran.stderr), std::slice::from_ref(one), how);
    }
}

#[test]
fn what_only_looks_like_a_secret_stays_readable() {
    let home = Home::new();
    let mut dice = Dice(0x5eed_0104);
    let commands: Vec<String> = (0..25).flat_map(|_| look_alikes(&mut dice)).collect();
    let lines: String = commands
        .iter()
        .enumerate()
        .map(|(id, command)| {
            format!("{}\n", json!({ "id": id, "tool": "bash", "input": { "command": command }, "cwd": home.project() }))
        })
        .collect();
    assert_eq!(home.run(&["check", "--jsonl", "-", "--record"], lines.as_bytes()).lines().len(), commands.len());
    let exported = home.run(&["audit", "export", "--format", "jsonl"], b"").stdout;
    let kept: Vec<String> = exported.lines().filter_map(|line| text_of(&serde_json::from_str(line).unwrap())).collect();
    assert_eq!(kept.len(), commands.len());
    let redacted: Vec<&String> = commands.iter().filter(|command| !kept.contains(command)).collect();
    println!("{} of {} look-alikes redacted", redacted.len(), commands.len());
    assert!(redacted.len() * 100 <= commands.len(), "{} of {}: {redacted:#?}", redacted.len(), commands.len());
}

/// The text of the call in an exported record.
fn text_of(record: &Value) -> Option<String> {
    record.pointer("/body/call")?.as_str().map(str::to_owned)
}

/// Puts every call to the server, which answers as the hook does, and gives back everything it said.
fn asked(home: &Home, planted: &[Planted]) -> String {
    let ran = home.run(&["setup", "generic", "--yes", "--mode", "auto", "--without-hooks"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let socket = home.path("run/doorward.sock");
    let mut child =
        home.command(&["serve", "--socket", socket.to_str().unwrap()]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let mut stream = UnixStream::connect(&socket).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut said = String::new();
    for (id, one) in planted.iter().enumerate() {
        let call = json!({ "event": "call", "id": format!("c{id}"), "session": format!("s{}", id / 7),
            "cwd": home.project(), "tool": one.tool, "input": one.input, "attended": true });
        writeln!(stream, "{call}").unwrap();
        let before = said.len();
        answers.read_line(&mut said).unwrap();
        assert!(said[before..].contains("\"verdict\""), "{call}: {}", &said[before..]);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    said
}

/// Every byte that was written below a directory, as text.
fn on_disk(directory: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.push_str(&on_disk(&path));
        } else if path.is_file() {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        }
    }
    all
}
