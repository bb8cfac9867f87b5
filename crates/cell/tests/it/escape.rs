//! Ways out of the box, each tried from inside: none may reach anything.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use doorward_cell::{Refused, Treatment};

use crate::support::{Boxed, Place, as_user, count, skip};

/// The program of attempts, built in the project; `None` without a C compiler.
fn attempts(place: &Place, source: &str, flags: &[&str], name: &str) -> Option<PathBuf> {
    let (file, program) = (place.path(&format!("home/{name}.c")), place.path(&format!("home/{name}")));
    std::fs::write(&file, source).unwrap();
    match Process::new("cc").args(flags).arg("-w").arg("-o").arg(&program).arg(&file).status() {
        Ok(status) if status.success() => Some(program),
        Ok(_) | Err(_) => {
            skip("the attempts to leave the box need a C compiler");
            None
        }
    }
}

const ATTEMPTS: &str = include_str!("attempts.c");

fn none_reached(ran: &Boxed) {
    let out = &ran.out;
    assert!(out.contains("DONE") && !out.contains("MISSING"), "status {}: {out}", ran.run.status());
    let reached: Vec<&str> = out.lines().filter(|line| line.starts_with("REACHED")).collect();
    assert!(reached.is_empty(), "{reached:#?}");
    let tried = out.lines().filter(|line| line.starts_with("refused")).count();
    println!("FIGURE escape: {tried} attempts, 0 reached");
}

/// The same program outside, to see that the attempts are real ones: these do reach something there.
fn reached_outside(program: &Path, words: &[&str], expected: &[&str]) {
    let out = Process::new(program).args(words).current_dir(program.parent().unwrap()).output().unwrap();
    let out = String::from_utf8_lossy(&out.stdout).into_owned();
    for name in expected {
        assert!(out.lines().any(|line| line.starts_with(&format!("REACHED {name} "))), "{name}: {out}");
    }
}

#[test]
fn system_calls_and_namespaces_lead_nowhere() {
    if !as_user("escape::system_calls_and_namespaces_lead_nowhere") {
        return;
    }
    let place = Place::new();
    let Some(program) = attempts(&place, ATTEMPTS, &[], "attempts") else { return };
    reached_outside(&program, &["calls"], &["unshare-user", "clone-user", "clone3-user", "ptrace-traceme"]);
    for way in ["calls", "memfd"] {
        let ran = place.run(&format!("{} {way}", program.display()));
        none_reached(&ran);
        let calls = &ran.run.usage().calls;
        assert!(calls.iter().any(|(name, times)| *name == "mount" && *times >= 3), "{calls:?}");
    }
}

#[test]
fn sockets_of_the_host_are_out_of_reach() {
    if !as_user("escape::sockets_of_the_host_are_out_of_reach") {
        return;
    }
    let place = Place::new();
    let Some(program) = attempts(&place, ATTEMPTS, &[], "attempts") else { return };
    let path = place.path("home/agent.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let outside = place.path("outside/agent.sock");
    let other = UnixListener::bind(&outside).unwrap();
    let datagrams = UnixDatagram::bind(place.path("outside/log.sock")).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let name = format!("doorward-cell-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    for listener in [&listener, &other, &hidden] {
        listener.set_nonblocking(true).unwrap();
    }
    tcp.set_nonblocking(true).unwrap();
    let port = tcp.local_addr().unwrap().port();
    for path in [&path, &outside, &place.path("outside/log.sock")] {
        let ran = place.run(&format!("{} sockets {} {name} {port}", program.display(), path.display()));
        none_reached(&ran);
        assert!(ran.run.usage().calls.iter().any(|(name, _)| *name == "connect"), "{:?}", ran.run.usage());
    }
    let words = ["sockets", path.to_str().unwrap(), &name, &port.to_string()];
    let nothing_came = tcp.accept().is_err();
    assert!(nothing_came && datagrams.recv(&mut [0]).is_err());
    assert!([&listener, &other, &hidden].iter().all(|listener| listener.accept().is_err()));
    reached_outside(&program, &words, &["socket-path", "socket-abstract", "socket-tcp", "pair-dgram"]);
}

#[test]
fn files_of_the_host_are_out_of_reach() {
    if !as_user("escape::files_of_the_host_are_out_of_reach") {
        return;
    }
    let place = Place::new();
    let Some(program) = attempts(&place, ATTEMPTS, &[], "attempts") else { return };
    std::fs::create_dir(place.path("home/.ssh")).unwrap();
    let secret = place.path("home/.ssh/id");
    std::fs::write(&secret, "secret").unwrap();
    let file = place.path("outside/file");
    std::fs::write(&file, "mine").unwrap();
    let state = place.path("state/key");
    std::fs::write(&state, "key").unwrap();
    // A file that the caller has open and forgot to close on exec.
    let leaked = rustix::fs::open(&file, rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty()).unwrap();
    let mut host = Process::new("sleep").arg("60").spawn().unwrap();
    let text = format!(
        "{} files {} {} {} {}",
        program.display(),
        place.path("outside").display(),
        secret.display(),
        state.display(),
        host.id()
    );
    let mut plan = place.plan(&text);
    plan.masks.push(place.path("home/.ssh"));
    let ran = place.run_plan(plan);
    none_reached(&ran);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(place.path("outside")).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret");
    let words: Vec<&str> = text.split(' ').skip(1).collect();
    let real = [
        "outside-create",
        "outside-write",
        "outside-unlink",
        "masked-read",
        "state-read",
        "host-signal",
        "inherited-file",
    ];
    reached_outside(&program, &words, &real);
    host.kill().unwrap();
    host.wait().unwrap();
    drop(leaked);
}

#[test]
fn signals_end_at_the_wall() {
    if !as_user("escape::signals_end_at_the_wall") {
        return;
    }
    let place = Place::new();
    let mut host = Process::new("sleep").arg("60").spawn().unwrap();
    let ran =
        place.run(&format!("kill -9 {}; kill -9 1; kill -9 -1; python3 -c 'import os; os.kill(-1, 9)'", host.id()));
    assert_ne!(ran.run.status(), 0);
    assert!(host.try_wait().unwrap().is_none(), "the host's process lives");
    host.kill().unwrap();
    host.wait().unwrap();
}

#[test]
fn a_preloaded_library_is_in_the_box_too() {
    if !as_user("escape::a_preloaded_library_is_in_the_box_too") {
        return;
    }
    let place = Place::new();
    let out = place.path("outside/loaded");
    let source = format!(
        "#include <stdio.h>\n__attribute__((constructor)) void f(void) {{ puts(\"LOADED\"); fclose(fopen(\"here\", \"w\")); \
         FILE *out = fopen(\"{}\", \"w\"); if (out) puts(\"REACHED\"); }}",
        out.display()
    );
    let Some(library) = attempts(&place, &source, &["-shared", "-fPIC"], "library.so") else { return };
    let mut plan = place.plan("");
    plan.command = doorward_cell::Command::Argv(vec!["/bin/true".into()]);
    plan.env.push(("LD_PRELOAD".into(), library.into()));
    let ran = place.run_plan(plan);
    assert!(ran.out.contains("LOADED") && !ran.out.contains("REACHED"), "{}", ran.out);
    assert!(!out.exists() && !place.project().join("here").exists());
}

#[test]
fn a_box_ends_with_its_caller() {
    if !as_user("escape::a_box_ends_with_its_caller") {
        return;
    }
    if let Ok(base) = std::env::var("DOORWARD_CELL_CALLER") {
        let project = PathBuf::from(&base).join("home/project");
        let shell =
            doorward_cell::Command::Shell { shell: "/bin/sh".into(), text: "touch started; exec sleep 31.337".into() };
        let mut plan = doorward_cell::Plan::new(shell, project);
        plan.env = crate::support::environment(&PathBuf::from(&base).join("home"));
        let _ = doorward_cell::Cell::at(PathBuf::from(base).join("state")).run(plan);
        return;
    }
    let place = Place::new();
    let mut caller: Child = Process::new(std::env::current_exe().unwrap())
        .args(["escape::a_box_ends_with_its_caller", "--exact"])
        .env("DOORWARD_CELL_CALLER", place.base.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let runs = |place: &Place| {
        std::fs::read_dir(place.path("state")).unwrap().flatten().any(|run| run.path().join("upper-0/started").exists())
    };
    for _ in 0..200 {
        if runs(&place) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(runs(&place), "the command has begun");
    caller.kill().unwrap();
    caller.wait().unwrap();
    let sleeps = || {
        let numbers = std::fs::read_dir("/proc").unwrap().flatten();
        numbers
            .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
            .any(|line| line == b"sleep\x0031.337\0")
    };
    for _ in 0..40 {
        if !sleeps() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!sleeps());
    doorward_cell::recover(&place.path("state")).unwrap();
    assert_eq!(std::fs::read_dir(place.path("state")).unwrap().count(), 0, "recovery removes what is left");
}

#[test]
fn a_tree_whose_directories_turn_into_links_leads_nowhere() {
    if !as_user("escape::a_tree_whose_directories_turn_into_links_leads_nowhere") {
        return;
    }
    let place = Place::new();
    let outside = place.path("outside");
    std::fs::write(outside.join("file"), "mine").unwrap();
    std::fs::write(outside.join("gone"), "mine").unwrap();
    let (real, away) = (place.project().join("d"), place.project().join("away"));
    let mut committed = 0;
    let rounds = count("DOORWARD_CELL_SWAPS", 25);
    for round in 0..rounds {
        let _ = std::fs::remove_file(&real);
        let _ = std::fs::remove_dir_all(&real);
        let _ = std::fs::remove_dir_all(&away);
        std::fs::create_dir(&real).unwrap();
        for name in ["file", "gone"] {
            std::fs::write(real.join(name), "lower").unwrap();
        }
        let stop = Arc::new(AtomicBool::new(false));
        let swap = |stop: Arc<AtomicBool>| {
            let (real, away, outside) = (real.clone(), away.clone(), outside.clone());
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    if std::fs::rename(&real, &away).is_ok() && std::os::unix::fs::symlink(&outside, &real).is_ok() {
                        std::thread::sleep(Duration::from_micros(300));
                        let _ = std::fs::remove_file(&real);
                    }
                    let _ = std::fs::rename(&away, &real);
                    std::thread::sleep(Duration::from_micros(700));
                }
            })
        };
        // During the run as well, or only during the commit.
        let early = (round % 2 == 0).then(|| swap(Arc::clone(&stop)));
        let ran = place.run("for i in 1 2 3; do echo x > d/file; echo y > d/new; rm -f d/gone; mkdir -p d/e; chmod 700 d; done 2>/dev/null");
        let swapper = early.unwrap_or_else(|| swap(Arc::clone(&stop)));
        if let Ok(deeds) = ran.run.deeds() {
            match ran.run.commit(&deeds, &|_| Treatment::Commit) {
                Ok(_) => committed += 1,
                Err(Refused::Interrupted { .. } | Refused::ChangedMeanwhile(_) | Refused::Failed { .. }) => {}
                Err(other) => println!("{other:?}"),
            }
        }
        drop(ran);
        let _ = doorward_cell::recover(&place.path("state"));
        stop.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
        doorward_cell::recover(&place.path("state")).unwrap();
        let found: Vec<_> = std::fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        for name in ["file", "gone"] {
            assert_eq!(std::fs::read_to_string(outside.join(name)).unwrap(), "mine");
        }
    }
    println!("FIGURE swaps: {rounds} rounds, {committed} committed, 0 outside");
}
