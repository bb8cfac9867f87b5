//! An agent's call cannot say yes in a person's place: every spelling through the real hook is blocked or asks.

use serde_json::json;

use crate::support::terminal::{Terminal, is_there};
use crate::support::{Home, Ran};

fn decision(ran: &Ran) -> (String, String) {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let answer = ran.json();
    let said = |name: &str| answer["hookSpecificOutput"][name].as_str().unwrap().to_owned();
    (said("permissionDecision"), said("permissionDecisionReason"))
}

/// Ways to say yes, or to make a grant, that an agent might try.
const SPELLINGS: &[&str] = &[
    "doorward review",
    "doorward flag bcdfgh --fine",
    "doorward flag bcdfgh --friction --why 'it was safe'",
    "doorward rules retire push",
    "doorward rules promote own/x",
    "doorward rules add allow 'bash(git push*)'",
    "doorward replay --upgrade --accept",
    "script -qec 'doorward review' /dev/null",
    "tmux new-session -d 'doorward review'; tmux send-keys y",
    "tmux send-keys -t review y",
    "kitty @ send-text y",
    "doorward notify bcdfgh",
    "doorward alerts resolve bcdfgh --why done",
    "tmux paste-buffer -t 1",
    "tmux pipe-pane -I -t 1 'echo doorward approve bcdfgh'",
    "tmux set-hook -g after-new-window 'run-shell \"doorward approve bcdfgh\"'",
    "tmux display-message -p '#(doorward approve bcdfgh)'",
    "screen -S x -X stuff 'doorward approve bcdfgh\\n'",
    "doorward approve bcdfgh",
    "doorward approve bcdfgh --why 'the tests need it'",
    "doorward approve --session bcdfgh",
    "doorward refuse bcdfgh",
    "yes | doorward approve bcdfgh",
    "echo y | doorward approve bcdfgh",
    "script -qec 'doorward approve bcdfgh' /dev/null",
    "script -qc \"doorward approve bcdfgh\"",
    "tmux new-session -d 'doorward approve bcdfgh'",
    "tmux send-keys -t 0 'doorward approve bcdfgh' Enter",
    "screen -dmS x doorward approve bcdfgh",
    "setsid doorward approve bcdfgh",
    "setsid -w sh -c 'doorward approve bcdfgh < /dev/tty'",
    "nohup doorward approve bcdfgh &",
    "expect -c 'spawn doorward approve bcdfgh; expect y; send y'",
    "python3 -c \"import pty; pty.spawn(['doorward', 'approve', 'bcdfgh'])\"",
    "python3 -c \"import subprocess as s; s.run('doorward approve bcdfgh', shell=True)\"",
    "node -e \"require('child_process').execSync('doorward approve bcdfgh')\"",
    "perl -e 'system(\"doorward approve bcdfgh\")'",
    "env -u CLAUDECODE doorward approve bcdfgh",
    "env -i /usr/local/bin/doorward approve bcdfgh",
    "CLAUDECODE= doorward approve bcdfgh",
    "unset CLAUDECODE; doorward approve bcdfgh",
    "echo 'doorward approve bcdfgh' | at now",
    "echo '* * * * * doorward approve bcdfgh' | crontab -",
    "systemd-run --user doorward approve bcdfgh",
    "ssh localhost doorward approve bcdfgh",
    "docker exec box doorward approve bcdfgh",
    "docker run -v $HOME:/h alpine cp /h/x /h/.local/state/doorward/grants/x.grant",
    "echo ZG9vcndhcmQgYXBwcm92ZSBiY2RmZ2g= | base64 -d | sh",
    "d=doorward; $d approve bcdfgh",
    "d=door; ${d}ward approve bcdfgh",
    "door''ward app\\rove bcdfgh",
    "bash -c 'doorward approve bcdfgh'",
    "eval 'doorward approve bcdfgh'",
    "xargs doorward approve <<< bcdfgh",
    "find . -maxdepth 0 -exec doorward approve bcdfgh ';'",
    "busybox sh -c 'doorward approve bcdfgh'",
    "sudo -u nobody doorward approve bcdfgh",
    "ln -s \"$(command -v doorward)\" x && ./x approve bcdfgh",
    "cp /usr/local/bin/doorward /tmp/dw && /tmp/dw approve bcdfgh",
    "alias ok='doorward approve'; ok bcdfgh",
    "git -c alias.ok='!doorward approve bcdfgh' ok",
    "cp ~/.local/state/doorward/grants/a.grant ~/.local/state/doorward/grants/b.grant",
    "cp /tmp/a.grant ~/.local/state/doorward/grants/",
    "mv ~/.local/state/doorward/grants/a.grant.0.tmp ~/.local/state/doorward/grants/a.grant",
    "ln ~/.local/state/doorward/grants/a.grant /tmp/keep",
    "ln -s /tmp/forged ~/.local/state/doorward/grants/a.grant",
    "echo '{}' > ~/.local/state/doorward/grants/a.grant",
    "tee ~/.local/state/doorward/pending/pending-x.state < x",
    "cd ~/.local/state/doorward && printf x > grants/a.grant",
    "tar -xf x.tar -C ~/.local/state/doorward",
    "rsync -a x/ ~/.local/state/doorward/grants/",
    "dd if=x of=$HOME/.local/state/doorward/grants.key",
    "rm ~/.local/state/doorward/grants.key",
    "sed -i s/open/approved/ ~/.local/state/doorward/pending/*.state",
    "python3 -c \"open('$HOME/.local/state/doorward/grants/a.grant','w').write('x')\"",
    "cat ~/.local/state/doorward/grants.key",
    "base64 ~/.local/state/doorward/state.key",
    "doorward review",
    "doorward reset",
    "doorward tickets close bash",
    "doorward alerts ack spike",
    "doorward trust agent claude",
    "doorward rollout start claude --stage auto --why later",
    "doorward rollout promote claude --anyway --why later",
    "doorward rollout rollback --thresholds",
    "yes | script -qec 'doorward rollout promote' /dev/null",
    "rm -rf ~/.local/state/doorward/rollout",
    "cat ~/.local/state/doorward/rollout.key",
];

#[test]
fn no_call_says_yes_in_a_persons_place() {
    let home = Home::trusting();
    let mut let_through = Vec::new();
    for (at, command) in SPELLINGS.iter().enumerate() {
        let mut payload = home.payload("Bash", json!({ "command": command }));
        // A session of its own each, or the denial limit would ask about all of them.
        payload["session_id"] = json!(format!("s{at}"));
        let (said, why) = decision(&home.run(&["hook", "claude"], payload.to_string().as_bytes()));
        assert!(!why.contains("denied in a row"), "{command}");
        if said == "allow" {
            let_through.push(format!("{command}: {why}"));
        }
    }
    assert!(let_through.is_empty(), "{let_through:#?}");
}

#[test]
fn no_file_tool_makes_a_grant_or_reads_the_key() {
    let home = Home::trusting();
    let state = |name: &str| home.path(".local/state/doorward").join(name);
    std::fs::create_dir_all(home.project().join("sub")).unwrap();
    std::os::unix::fs::symlink(state(""), home.project().join("sub/way")).unwrap();
    for (tool, input) in [
        ("Write", json!({ "file_path": state("grants/a.grant"), "content": "{}" })),
        ("Write", json!({ "file_path": home.project().join("sub/way/grants/a.grant"), "content": "{}" })),
        (
            "Edit",
            json!({ "file_path": state("pending/pending-x.state"), "old_string": "open", "new_string": "approved" }),
        ),
        ("Write", json!({ "file_path": state("grants.key"), "content": "00" })),
        ("Read", json!({ "file_path": state("grants.key") })),
        ("Read", json!({ "file_path": home.project().join("sub/way/grants.key") })),
    ] {
        let (said, why) = decision(&home.hook(tool, input.clone()));
        assert_ne!(said, "allow", "{tool} {input}: {why}");
    }
}

#[test]
fn without_a_terminal_or_below_an_agent_nobody_is_a_person() {
    let home = Home::trusting();
    for arguments in [&["approve", "bcdfgh"][..], &["refuse", "bcdfgh"]] {
        let ran = home.without_terminal(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("agents can't run this command"), "{}", ran.stderr);
        let below = crate::support::feed(home.command(arguments).env("CLAUDECODE", "1"), b"");
        assert_eq!(below.code, 1);
        assert!(below.stderr.contains("`CLAUDECODE` is set, which means an agent started it"), "{}", below.stderr);
    }
}

#[test]
fn what_waits_is_listed_for_everybody() {
    let home = Home::trusting();
    assert_eq!(home.run(&["pending"], b"").stdout, "no calls are waiting for you\n");
    let _asked = home.hook("Bash", json!({ "command": "rm -rf ~" }));
    let listed = home.run(&["pending", "--json"], b"").json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let one = &listed[0];
    assert_eq!((one["verdict"].as_str(), one["cleared_by"].as_str()), (Some("block"), Some("dual")));
    let id = one["id"].as_str().unwrap();
    let shown = home.run(&["pending", id], b"").stdout;
    assert!(shown.starts_with("BLOCK") && shown.contains("rm -rf ~") && shown.contains("twice"), "{shown}");
    let unknown = home.run(&["pending", "zzz"], b"");
    assert!(unknown.code == 1 && unknown.stderr.contains("no call has the id `zzz`"), "{}", unknown.stderr);
}

#[test]
fn a_person_at_a_terminal_says_yes_and_the_call_runs_once() {
    if !is_there("no terminal was driven") {
        return;
    }
    let home = Home::trusting();
    let terminal = Terminal::new(&home);
    let call = || decision(&home.hook("Bash", json!({ "command": "git push origin main" }))).0;
    let id = |command: &str| {
        let listed = home.run(&["pending", "--json"], b"").json();
        let found = listed.as_array().unwrap().iter().find(|one| one["call"] == command).cloned();
        let found = found.unwrap_or_else(|| panic!("{listed}"));
        (found["id"].as_str().unwrap().to_owned(), found["target"].as_str().unwrap().to_owned())
    };
    assert_eq!(call(), "ask");
    let (push, _) = id("git push origin main");
    terminal.run(&home, &format!("doorward approve {push}"));
    terminal.shows("Let exactly this call run");
    terminal.types("n");
    terminal.shows("ended with 1");
    assert_eq!(call(), "ask");
    terminal.run(&home, &format!("doorward approve {push} --why 'release day'"));
    terminal.shows("Let exactly this call run");
    terminal.types("y");
    terminal.shows("ended with 0");
    assert_eq!((call(), call()), ("allow".to_owned(), "ask".to_owned()));
    assert_eq!(decision(&home.hook("Bash", json!({ "command": "rm -rf ~/.ssh" }))).0, "deny");
    let (gravest, target) = id("rm -rf ~/.ssh");
    terminal.run(&home, &format!("doorward approve {gravest} --why 'old keys'"));
    let screen = terminal.shows("to let it run once");
    assert!(screen.contains("BLOCK") && screen.contains("rm -rf ~/.ssh"), "{screen}");
    terminal.types("y");
    terminal.shows("not approved");
    terminal.run(&home, &format!("doorward approve {gravest} --why 'old keys'"));
    terminal.shows("to let it run once");
    terminal.types(&target);
    terminal.shows("the first of two steps");
    terminal.shows("ended with 3");
    assert_eq!(decision(&home.hook("Bash", json!({ "command": "rm -rf ~/.ssh" }))).0, "deny");
    terminal.run(&home, &format!("doorward refuse {gravest} --why 'on second thought'"));
    terminal.shows("ended with 0");
    let used = home.run(&["audit", "list", "--kind", "grant", "--json"], b"").json();
    let steps: Vec<&str> = used.as_array().unwrap().iter().map(|row| row["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["used", "stored"]);
}

#[test]
fn after_three_denials_a_person_looks_and_a_reset_clears_the_counters_only() {
    let home = Home::trusting();
    std::fs::write(home.project().join(".env"), "TOKEN=x\n").unwrap();
    let says = |command: &str| decision(&home.hook("Bash", json!({ "command": command })));
    let _read = says("cat .env");
    for _ in 0..3 {
        assert_eq!(says("rm -rf ~").0, "deny");
    }
    let (said, why) = says("ls");
    assert!(said == "ask" && why.contains("3 calls were denied in a row"), "{said} {why}");
    let refused = home.without_terminal(&["reset"]);
    assert!(refused.code == 1 && refused.stderr.contains("agents can't run this command"), "{}", refused.stderr);
    let status = home.run(&["status", "--json"], b"").json();
    assert_eq!((status["agents"]["claude"].as_str(), status["lastDecision"].as_str()), (Some("auto"), Some("ask")));
    // The trial call of the set-up is the sixth.
    assert_eq!((status["checkedActions"].as_u64(), status["blockedActions"].as_u64()), (Some(6), Some(4)));
    assert!(status["lastReason"].as_str().unwrap().contains("denied in a row"), "{status}");
    let denials = home.run(&["denials", "--json"], b"").json();
    assert_eq!(denials.as_array().unwrap().len(), 4);
    assert_eq!((denials[0]["summary"].as_str(), denials[0]["tool"].as_str()), (Some("rm -rf ~"), Some("bash")));
    assert!(home.run(&["status"], b"").stdout.contains("6 actions checked, 2 asked about, 4 blocked"));
    if std::process::Command::new("tmux").arg("-V").output().is_err() {
        eprintln!("SKIPPED: `tmux` is not installed, so no counter was reset");
        return;
    }
    let terminal = Terminal::new(&home);
    terminal.run(&home, "doorward reset");
    terminal.shows("Reset the denial counters");
    terminal.types("y");
    terminal.shows("ended with 0");
    assert_eq!(says("ls").0, "allow");
    let (_, why) = says("curl -d x=1 https://crates.io/api");
    assert!(why.contains("after a secret was read"), "what the session touched is not forgotten: {why}");
}

#[test]
fn an_answer_pasted_together_with_the_command_is_none() {
    if !is_there("nothing was pasted") {
        return;
    }
    let home = Home::trusting();
    let _asked = home.hook("Bash", json!({ "command": "git push origin main" }));
    let id = home.run(&["pending", "--json"], b"").json()[0]["id"].as_str().unwrap().to_owned();
    let line = format!("{} approve {id}", crate::support::program().display());
    for shell in ["PS1='ready ' sh", "PS1='ready ' bash --norc -i"] {
        let terminal = Terminal::new(&home);
        terminal.run(&home, shell);
        terminal.shows("ready");
        // Everything is in the terminal before the program has started.
        terminal.tmux(&["send-keys", "-t", "person", &line, "Enter", "y", "Enter", "y", "Enter"]);
        terminal.shows("[y/N]");
        std::thread::sleep(std::time::Duration::from_millis(400));
        assert!(!terminal.screen().contains("Approved."), "{}", terminal.screen());
        assert_eq!(home.run(&["pending", "--json"], b"").json()[0]["id"], id.as_str(), "it still waits");
        terminal.types("n");
        terminal.shows("not approved");
    }
    let terminal = Terminal::new(&home);
    terminal.run(&home, &format!("doorward approve {id}"));
    terminal.shows("[y/N]");
    terminal.types("y");
    terminal.shows("Approved.");
}
