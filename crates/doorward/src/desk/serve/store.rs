//! What the desk keeps: where it runs, codes that were printed, devices that are paired. Small authenticated files.

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use doorward_ledger::{Hash, State, StateKey, States};
use serde::{Deserialize, Serialize};

use crate::machine::clock::now_ms;
use crate::machine::desk_ports::desk_ports;
use crate::machine::paths::Dirs;

/// How long a start link or a pairing code is good.
// Long enough to walk to the phone, too short to be found in a scrollback tomorrow.
pub(crate) const CODE_MS: u64 = 5 * 60 * 1000;

/// Wrong codes that a pairing survives.
const TRIES: u32 = 5;

/// Letters of a pairing code: no vowels, no lookalikes.
const LETTERS: &[u8; 24] = b"bcdfghjkmnpqrstvwxz34679";

/// Where a desk runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Running {
    pub pid: u32,
    /// The address to open, without a path.
    pub origin: String,
    pub version: String,
}

impl State for Running {
    const NAME: &'static str = "running";
}

/// A start link that was printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StartLink {
    pub until_ms: u64,
    pub is_used: bool,
}

impl State for StartLink {
    const NAME: &'static str = "start";
}

/// A pairing that a person began at a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Pairing {
    /// Hash of the code.
    pub code: String,
    pub until_ms: u64,
    pub wrong: u32,
    /// The device that knew the code; the terminal decides about it.
    pub claim: Option<Device>,
    pub is_refused: bool,
}

impl State for Pairing {
    const NAME: &'static str = "pairing";
}

/// A browser or program with a key of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Device {
    /// The start of its key's hash.
    pub id: String,
    pub name: String,
    pub algorithm: String,
    /// The public key in base64.
    pub key: String,
    pub paired_ms: u64,
    pub revoked_ms: Option<u64>,
}

impl State for Device {
    const NAME: &'static str = "device";
}

impl Device {
    /// The name of a device by its public key.
    pub(crate) fn id_of(key: &[u8]) -> String {
        Hash::of(key).to_string().chars().take(12).collect()
    }

    /// Words that both screens show while pairing, so that one device can't take the place of another.
    pub(crate) fn words(&self) -> String {
        let hash = Hash::of(format!("{} {}", self.key, self.name).as_bytes()).to_string();
        let group = |from: usize| hash.get(from..from + 4).unwrap_or_default().to_owned();
        format!("{} {} {}", group(0), group(4), group(8))
    }
}

/// The files.
#[derive(Debug)]
pub(crate) struct DeskStore {
    states: States,
}

impl DeskStore {
    pub(crate) fn open(dirs: &Dirs) -> Result<DeskStore> {
        let state = dirs.state();
        let key = StateKey::load_or_create(&state.join("grants.key")).context("can't read the desk's files")?;
        Ok(DeskStore { states: States::at(&state.join("desk"), key) })
    }

    pub(crate) fn running(&self) -> Option<Running> {
        self.states.find("desk").ok().flatten()
    }

    pub(crate) fn set_running(&self, running: &Running) -> Result<()> {
        Ok(self.states.replace("desk", running)?)
    }

    /// Makes a start link's code.
    pub(crate) fn new_start(&self) -> Result<String> {
        let code = random_text()?;
        let link = StartLink { until_ms: now_ms().saturating_add(CODE_MS), is_used: false };
        self.states.replace(&hash(&code), &link)?;
        self.states.forget_old::<StartLink>(32, std::time::Duration::from_millis(CODE_MS));
        Ok(code)
    }

    /// Uses a start link's code up; false if it is not good.
    pub(crate) fn use_start(&self, code: &str) -> bool {
        let name = hash(code);
        // Without the look first, every wrong code would leave a file.
        if !matches!(self.states.find::<StartLink>(&name), Ok(Some(_))) {
            return false;
        }
        let now = now_ms();
        let used = self.states.update(&name, |link: &mut StartLink| {
            let is_good = !link.is_used && is_within(now, link.until_ms);
            link.is_used = true;
            is_good
        });
        used.unwrap_or(false)
    }

    /// Begins a pairing; an earlier one ends.
    pub(crate) fn begin_pairing(&self) -> Result<String> {
        let mut bytes = [0_u8; 12];
        getrandom::fill(&mut bytes).map_err(|_| anyhow::anyhow!("the system gave no random numbers"))?;
        let letter = |byte: &u8| LETTERS.get(usize::from(*byte) % LETTERS.len()).copied().map_or('b', char::from);
        let code: String = bytes.iter().map(letter).collect();
        let pairing = Pairing { code: hash(&code), until_ms: now_ms().saturating_add(CODE_MS), ..Pairing::default() };
        self.states.replace("pairing", &pairing)?;
        Ok(code)
    }

    pub(crate) fn pairing(&self) -> Option<Pairing> {
        self.states.find("pairing").ok().flatten()
    }

    pub(crate) fn end_pairing(&self) {
        self.states.forget::<Pairing>("pairing");
    }

    /// Marks the pairing as refused, which its browser is told.
    pub(crate) fn refuse_pairing(&self) -> Result<()> {
        Ok(self.states.update("pairing", |pairing: &mut Pairing| pairing.is_refused = true)?)
    }

    /// A device shows the code. Only the first that knows it is put before the person.
    pub(crate) fn claim(&self, code: &str, device: &Device) -> Result<(), &'static str> {
        const WRONG: &str = "this code is not good";
        if self.pairing().is_none() {
            return Err("no pairing is under way");
        }
        let (code, now) = (hash(&code.to_lowercase().replace(['-', ' '], "")), now_ms());
        let claimed = self.states.update("pairing", |pairing: &mut Pairing| {
            if pairing.wrong >= TRIES
                || !is_within(now, pairing.until_ms)
                || pairing.claim.is_some()
                || pairing.is_refused
            {
                return Err("this code was used or has expired");
            }
            if pairing.code != code {
                pairing.wrong += 1;
                return Err(WRONG);
            }
            pairing.claim = Some(device.clone());
            Ok(())
        });
        claimed.unwrap_or(Err(WRONG))
    }

    pub(crate) fn device(&self, id: &str) -> Option<Device> {
        self.states.find::<Device>(id).ok().flatten().filter(|device| device.id == id)
    }

    /// A device that may answer now.
    pub(crate) fn good_device(&self, id: &str) -> Option<Device> {
        self.device(id).filter(|device| device.revoked_ms.is_none())
    }

    pub(crate) fn devices(&self) -> Vec<Device> {
        let mut all = self.states.all::<Device>();
        all.sort_by_key(|device| device.paired_ms);
        all
    }

    pub(crate) fn keep_device(&self, device: &Device) -> Result<()> {
        Ok(self.states.replace(&device.id, device)?)
    }
}

/// Remembers a port that a desk was ever on, for the hook: what an agent sends there is judged as tampering.
pub(crate) fn note_port(dirs: &Dirs, port: u16) -> Result<()> {
    let known = desk_ports(dirs);
    if known.contains(&port) {
        return Ok(());
    }
    let all: Vec<String> = known.iter().chain([&port]).map(u16::to_string).collect();
    crate::machine::atomic_file::replace(&dirs.state().join("desk").join("ports"), &all.join("\n"))
}

/// Whether a code is still good. One from the future was printed before the clock was set back, and is not.
const fn is_within(now_ms: u64, until_ms: u64) -> bool {
    now_ms <= until_ms && until_ms <= now_ms.saturating_add(CODE_MS + 2_000)
}

fn hash(text: &str) -> String {
    Hash::of(text.as_bytes()).to_string()
}

/// 256 random bits as text.
pub(crate) fn random_text() -> Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|_| anyhow::anyhow!("the system gave no random numbers"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Bytes from base64 as browsers write it.
pub(crate) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::test_home::TestHome;

    #[test]
    fn a_start_link_works_once() {
        let home = TestHome::begun();
        let store = DeskStore::open(&home.dirs()).unwrap();
        let code = store.new_start().unwrap();
        assert!(!store.use_start("guess") && store.use_start(&code) && !store.use_start(&code));
    }

    #[test]
    fn a_code_pairs_one_device_and_dies_of_guesses() {
        let home = TestHome::begun();
        let store = DeskStore::open(&home.dirs()).unwrap();
        let device = Device { id: "a".into(), ..Device::default() };
        assert!(store.claim("bcd", &device).is_err());
        let code = store.begin_pairing().unwrap();
        assert!(store.claim("bcd", &device).is_err());
        let spelled = format!("{}-{}", &code[..4], code[4..].to_uppercase());
        assert_eq!(store.claim(&spelled, &device), Ok(()));
        assert!(store.claim(&code, &Device { id: "b".into(), ..Device::default() }).is_err());
        let code = store.begin_pairing().unwrap();
        (0..TRIES).for_each(|_| assert!(store.claim("guess", &device).is_err()));
        assert!(store.claim(&code, &device).is_err());
    }
}
