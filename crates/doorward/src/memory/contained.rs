//! What is remembered of calls on their way to the box: those that agents were told to run there, tokens that stand for calls,
//! and the agents that were tested with tokens.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use doorward_ledger::{Grants, Hash, State, StateKey, States};
use serde::{Deserialize, Serialize};

use crate::machine::agent::Agent;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;

/// The directory below the state directory.
const DIRECTORY: &str = "contained";

/// How long a token is good for.
// The client runs it as soon as all hooks have answered, and waits a minute for each of them.
const TOKEN_MS: u64 = 2 * 60 * 1000;

/// How long a call that was steered is expected back as a contained run.
// An agent reacts within seconds. Much later the same words mean another attempt.
const STEERED_MS: u64 = 10 * 60 * 1000;

/// More than any agent has open at once; the oldest are forgotten first.
const STEERED: usize = 64;

/// How far a clock may be set back without ending a token.
const CORRECTED_MS: u64 = 2_000;

/// The one name in files that exist once.
const ALL: &str = "all";

/// What is kept for the box.
#[derive(Debug)]
pub(crate) struct BoxMemory {
    states: States,
    tokens: Grants,
    now_ms: u64,
}

/// The call that a token stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticket {
    /// The call's id on record.
    pub call: String,
    pub agent: String,
    pub session: String,
    pub subagent: String,
    pub cwd: String,
    pub command: String,
    /// The rules that it was judged by.
    pub policy: String,
    pub stored_ms: u64,
}

/// A call that was replaced by a contained run, until its client says that it has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Replaced {
    /// What the client was told to run instead.
    command: String,
    /// The name of the token's file.
    token: String,
    has_run: bool,
}

impl State for Replaced {
    const NAME: &'static str = "replaced";
}

/// Calls that an agent was told to run in the box, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Steered {
    calls: BTreeMap<String, u64>,
}

impl State for Steered {
    const NAME: &'static str = "steered";
}

/// The agents that ran a token in a test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Proofs {
    agents: BTreeMap<String, Proof>,
}

impl State for Proofs {
    const NAME: &'static str = "proofs";
}

/// What was tested: this file, and no other version of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Proof {
    pub program: String,
    pub version: String,
    pub size: u64,
    pub changed_ns: i128,
    pub inode: u64,
    pub tested_ms: u64,
    /// Since then a call ran that was to be replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

impl Proof {
    /// The file as it is now.
    pub(crate) fn of(program: &Path, version: String) -> Result<Proof> {
        let program = program.canonicalize().context("can't find the agent's program")?;
        let found = program.metadata().context("can't read the agent's program")?;
        Ok(Proof {
            program: program.to_str().context("the agent's program has a name that is not text")?.to_owned(),
            version,
            size: found.size(),
            changed_ns: i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec()),
            inode: found.ino(),
            tested_ms: now_ms(),
            broken: None,
        })
    }

    /// A test that is under way, in a home that goes with it: the hook fills in what it works for.
    pub(crate) fn open(version: String) -> Proof {
        Proof { program: String::new(), version, size: 0, changed_ns: 0, inode: 0, tested_ms: now_ms(), broken: None }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.program.is_empty()
    }

    /// The file is still the one that was tested.
    pub(crate) fn is_current(&self) -> bool {
        let now = Proof::of(Path::new(&self.program), self.version.clone());
        now.is_ok_and(|now| {
            (now.size, now.changed_ns, now.inode, now.program)
                == (self.size, self.changed_ns, self.inode, self.program.clone())
        })
    }
}

/// How a replaced call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplacedCall {
    /// The contained run took its place.
    Contained,
    /// Something else ran.
    Mismatched(String),
}

/// There was never anything to remember.
pub(crate) fn is_unused(dirs: &Dirs) -> bool {
    !dirs.state().join(DIRECTORY).exists()
}

impl BoxMemory {
    pub(crate) fn open(dirs: &Dirs) -> Result<BoxMemory> {
        let directory = dirs.state().join(DIRECTORY);
        let key = StateKey::load_or_create(&dirs.state().join("state.key")).context("can't read the state key")?;
        let tokens = Grants::at(&directory, key.clone());
        Ok(BoxMemory { states: States::at(&directory, key), tokens, now_ms: now_ms() })
    }

    /// Whether the agent may be told to run the command in the box. It is told once: if the same call comes again without a
    /// contained run that was kept, the box was no answer, and a person is asked.
    pub(crate) fn may_steer(&self, cwd: &str, command: &str) -> bool {
        let (name, now_ms) = (name_of(&(cwd, command)), self.now_ms);
        let note = |steered: &mut Steered| {
            steered.calls.retain(|_, at| now_ms.saturating_sub(*at) <= STEERED_MS);
            if steered.calls.remove(&name).is_some() {
                return false;
            }
            while steered.calls.len() >= STEERED {
                let oldest = steered.calls.iter().min_by_key(|(_, at)| **at).map(|(name, _)| name.clone());
                oldest.map(|name| steered.calls.remove(&name));
            }
            steered.calls.insert(name, now_ms);
            true
        };
        self.states.update(ALL, note).unwrap_or(false)
    }

    /// A contained run of the command was kept, so the same call may be steered again.
    pub(crate) fn ran_contained(&self, cwd: &str, command: &str) {
        let name = name_of(&(cwd, command));
        // If this fails, a person is asked once.
        let _ = self.states.update(ALL, |steered: &mut Steered| steered.calls.remove(&name));
    }

    /// A token for a call; durable when it returns. `command` makes the line for the client from it.
    pub(crate) fn issue(&self, mut ticket: Ticket, command: impl Fn(&str) -> String) -> Result<String> {
        self.sweep();
        ticket.stored_ms = self.now_ms;
        let token = Grants::draw()?;
        let line = command(&token);
        let replaced = Replaced { command: line.clone(), token: name_of(&token), has_run: false };
        self.states.replace(&call_name(&ticket.session, &ticket.call), &replaced)?;
        // The name says nothing about the token: a list of the directory gives none away.
        self.tokens.store(&name_of(&token), &ticket)?;
        Ok(line)
    }

    /// Takes the token away: of any number of callers exactly one gets the call.
    pub(crate) fn redeem(&self, token: &str, cwd: &str) -> Result<Ticket> {
        let is_token = token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
        let found = if is_token { self.tokens.take::<Ticket>(&name_of(&token)).unwrap_or_default() } else { None };
        let Some(ticket) = found else {
            bail!("this token stands for no call, or was used already; tokens come from doorward's hook and work once");
        };
        let is_current = self.now_ms.saturating_add(CORRECTED_MS) >= ticket.stored_ms
            && self.now_ms.saturating_sub(ticket.stored_ms) <= TOKEN_MS;
        if !is_current {
            bail!("the token is older than two minutes; the agent has to make the call again");
        }
        if ticket.cwd != cwd {
            bail!("the token is for a call in `{}`", ticket.cwd);
        }
        let name = call_name(&ticket.session, &ticket.call);
        self.states.update(&name, |replaced: &mut Replaced| replaced.has_run = true)?;
        Ok(ticket)
    }

    /// The call has ended or will never run; `None` if it was not replaced. `shown` is what the client says it ran.
    pub(crate) fn ended(&self, session: &str, call: &str, shown: Option<&str>) -> Option<ReplacedCall> {
        let name = call_name(session, call);
        let replaced = match self.states.find::<Replaced>(&name) {
            Ok(found) => found?,
            // Forged or damaged: whatever stood there, nothing shows that the contained run took place.
            Err(_) => Replaced::default(),
        };
        self.states.forget::<Replaced>(&name);
        if !replaced.token.is_empty() {
            let _unused = self.tokens.take::<Ticket>(&replaced.token);
        }
        let differs = shown.is_some_and(|shown| shown != replaced.command);
        Some(match (replaced.has_run, differs) {
            (true, false) => ReplacedCall::Contained,
            (true, true) => {
                ReplacedCall::Mismatched("its client shows another command than the contained run".to_owned())
            }
            (false, _) => ReplacedCall::Mismatched("the contained run never began".to_owned()),
        })
    }

    /// The test of an agent, unless there was none.
    pub(crate) fn proof(&self, agent: Agent) -> Option<Proof> {
        self.states.find::<Proofs>(ALL).ok()??.agents.get(agent.name()).cloned()
    }

    /// Keeps how an agent was tested, or forgets it.
    pub(crate) fn note_proof(&self, agent: Agent, proof: Option<Proof>) -> Result<()> {
        let change = |proofs: &mut Proofs| match proof {
            Some(proof) => proofs.agents.insert(agent.name().to_owned(), proof),
            None => proofs.agents.remove(agent.name()),
        };
        self.states.update(ALL, change)?;
        Ok(())
    }

    /// A call ran that was to be replaced: the agent counts as untested until a person tests it again.
    pub(crate) fn break_proof(&self, agent: &str, why: &str) {
        let change = |proofs: &mut Proofs| {
            if let Some(proof) = proofs.agents.get_mut(agent) {
                proof.broken = Some(why.to_owned());
            }
        };
        if self.states.update(ALL, change).is_err() {
            // Without the file no agent counts as tested.
            self.states.forget::<Proofs>(ALL);
        }
    }

    /// Tokens that were never used.
    fn sweep(&self) {
        for name in self.tokens.names() {
            let is_old = match self.tokens.look::<Ticket>(&name) {
                Ok(Some(ticket)) => self.now_ms.saturating_sub(ticket.stored_ms) > TOKEN_MS,
                Ok(None) => false,
                Err(_) => true,
            };
            if is_old {
                let _expired = self.tokens.take::<Ticket>(&name);
            }
        }
    }
}

fn call_name(session: &str, call: &str) -> String {
    name_of(&(session, call))
}

/// A file name for anything.
fn name_of(what: &impl Serialize) -> String {
    Hash::of(&serde_json::to_vec(what).unwrap_or_default()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::test_home::TestHome;

    fn ticket(call: &str) -> Ticket {
        let text = str::to_owned;
        Ticket {
            call: text(call),
            agent: text("claude"),
            session: text("s"),
            subagent: String::new(),
            cwd: text("/p"),
            command: text("./tool"),
            policy: text("v1"),
            stored_ms: 0,
        }
    }

    fn token_of(line: &str) -> &str {
        line.rsplit(' ').next().unwrap()
    }

    fn issued(memory: &BoxMemory, call: &str) -> String {
        memory.issue(ticket(call), |token| format!("doorward run {token}")).unwrap()
    }

    #[test]
    fn a_token_works_once_and_only_where_it_belongs() {
        let home = TestHome::begun();
        let memory = BoxMemory::open(&home.dirs()).unwrap();
        let line = issued(&memory, "c1");
        let mut guesses = vec![String::new(), "8f3a".into(), "0".repeat(32), "../".repeat(10) + "ab"];
        guesses.push(token_of(&line).to_uppercase() + "0");
        for guess in guesses {
            assert!(memory.redeem(&guess, "/p").is_err(), "{guess}");
        }
        assert!(memory.redeem(token_of(&line), "/p").is_ok_and(|ticket| ticket.command == "./tool"));
        assert!(memory.redeem(token_of(&line), "/p").is_err());
        let other = issued(&memory, "c2");
        assert!(memory.redeem(token_of(&other), "/elsewhere").is_err());
        assert!(memory.redeem(token_of(&other), "/p").is_err(), "tried in the wrong place, it is used up");
        let mut late = BoxMemory::open(&home.dirs()).unwrap();
        let third = issued(&memory, "c3");
        late.now_ms += TOKEN_MS + 1;
        assert!(late.redeem(token_of(&third), "/p").is_err());
    }

    #[test]
    fn of_many_that_use_a_token_one_gets_the_call() {
        let home = TestHome::begun();
        let line = issued(&BoxMemory::open(&home.dirs()).unwrap(), "c1");
        let tries: Vec<bool> = std::thread::scope(|scope| {
            let one = || BoxMemory::open(&home.dirs()).unwrap().redeem(token_of(&line), "/p").is_ok();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(tries.iter().filter(|got| **got).count(), 1);
    }

    #[test]
    fn the_end_of_a_call_shows_whether_the_contained_run_took_its_place() {
        let home = TestHome::begun();
        let memory = BoxMemory::open(&home.dirs()).unwrap();
        assert_eq!(memory.ended("s", "other", None), None);
        let line = issued(&memory, "c1");
        memory.redeem(token_of(&line), "/p").unwrap();
        assert_eq!(memory.ended("s", "c1", Some(&line)), Some(ReplacedCall::Contained));
        assert_eq!(memory.ended("s", "c1", Some(&line)), None, "told once");
        let line = issued(&memory, "c2");
        assert!(matches!(memory.ended("s", "c2", Some(&line)), Some(ReplacedCall::Mismatched(_))), "it never began");
        assert!(memory.redeem(token_of(&line), "/p").is_err(), "and can't begin after the end");
        let line = issued(&memory, "c3");
        memory.redeem(token_of(&line), "/p").unwrap();
        assert!(matches!(memory.ended("s", "c3", Some("./tool")), Some(ReplacedCall::Mismatched(_))));
    }

    #[test]
    fn a_call_is_steered_once_unless_its_run_was_kept() {
        let home = TestHome::begun();
        let memory = BoxMemory::open(&home.dirs()).unwrap();
        assert!(memory.may_steer("/p", "./tool") && memory.may_steer("/p", "./other"));
        assert!(!memory.may_steer("/p", "./tool"), "the agent asks again: the box was no answer");
        assert!(memory.may_steer("/p", "./tool"), "after the question everything starts over");
        memory.ran_contained("/p", "./tool");
        assert!(memory.may_steer("/p", "./tool"));
    }

    #[test]
    fn a_test_counts_for_the_file_that_was_tested() {
        let home = TestHome::begun();
        let memory = BoxMemory::open(&home.dirs()).unwrap();
        let program = home.at("claude");
        std::fs::write(&program, "1").unwrap();
        memory.note_proof(Agent::Claude, Some(Proof::of(&program, "1.0".into()).unwrap())).unwrap();
        assert!(memory.proof(Agent::Claude).unwrap().is_current() && memory.proof(Agent::Codex).is_none());
        memory.break_proof("claude", "the original ran");
        assert!(memory.proof(Agent::Claude).unwrap().broken.is_some());
        std::fs::write(&program, "2").unwrap();
        assert!(!memory.proof(Agent::Claude).unwrap().is_current());
    }
}
