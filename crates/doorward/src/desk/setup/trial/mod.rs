//! Whether an agent runs what doorward puts in place of a call: the agent itself, in a home of its own, with a scripted model.

mod model;

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use doorward_engine::Mode;
use serde_json::json;

use super::{AgentFile, find, search_path};
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;
use crate::machine::paths::Dirs;
use crate::machine::{atomic_file, clock, record};
use crate::memory::contained::{BoxMemory, Proof};
use crate::memory::ledger_view::LedgerView;
use crate::policy::approved_config;
use crate::policy::config::{Agent as Choice, RunMode};
use model::Model;

/// How long an agent may take for two turns.
// A first start unpacks and compiles a lot; a minute is what a slow laptop needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// The call: a program that nobody knows, so it is asked about, and then a file with a line for each time it ran.
const CALL: &str = "box-trial-program || echo done >> done.txt";

/// The agent's variables that would lead it out of its home.
const QUIET: &[(&str, &str)] = &[
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DO_NOT_TRACK", "1"),
    ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ("GEMINI_TELEMETRY_ENABLED", "false"),
    ("NO_BROWSER", "1"),
    ("NO_COLOR", "1"),
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ("PI_OFFLINE", "1"),
    ("PI_TELEMETRY", "0"),
];

/// A home that goes with the trial.
struct Room {
    base: PathBuf,
    dirs: Dirs,
    agent: Agent,
    program: PathBuf,
}

/// Tests the agent that is on the search path; the proof is for this file only.
pub(super) fn test(agent: Agent, own: &Dirs, doorward: &str) -> Result<Proof> {
    let Some(program) = find::program(agent.name(), &search_path()) else {
        bail!("`{}` is not on the search path", agent.name());
    };
    let room = Room::new(agent, program)?;
    let said = room.try_out(own, doorward);
    // Only a leftover in the directory for temporary files.
    let _ = std::fs::remove_dir_all(&room.base);
    said
}

impl Room {
    fn new(agent: Agent, program: PathBuf) -> Result<Room> {
        let name = doorward_ledger::Grants::draw()?;
        let base = std::env::temp_dir().canonicalize()?.join(format!("doorward-trial-{name}"));
        std::fs::create_dir(&base).context("can't make a directory for the trial")?;
        // A repository without commits: what is outside of one is asked about.
        for name in ["home", "tmp", "project/.git/objects", "project/.git/refs/heads"] {
            std::fs::create_dir_all(base.join(name))?;
        }
        std::fs::write(base.join("project/.git/HEAD"), "ref: refs/heads/main\n")?;
        let home = base
            .join("home")
            .to_str()
            .context("the directory for temporary files has a name that is not text")?
            .to_owned();
        Ok(Room { dirs: Dirs::at(&home), base, agent, program })
    }

    fn try_out(&self, own: &Dirs, doorward: &str) -> Result<Proof> {
        let model = Model::start(CALL)?;
        self.install(own, doorward, &model.url)?;
        let version = self.version();
        BoxMemory::open(&self.dirs)?.note_proof(self.agent, Some(Proof::open(version)))?;
        self.play(&model.url)?;
        self.check()
    }

    /// doorward as `setup` installs it, in mode `auto` and with calls replaced.
    fn install(&self, own: &Dirs, doorward: &str, url: &str) -> Result<()> {
        let home = self.dirs.home();
        // A variable that moves the agent's own directory would make this change the user's settings.
        if !directory_of(self.agent, home).starts_with(home) {
            bail!("a variable in this terminal moves the settings of {}", self.agent.title());
        }
        self.configure(own, url)?;
        record::begin(&self.dirs)?;
        let choice = Choice::fixed(Mode::Auto);
        approved_config::accept_mode(&self.dirs, self.agent.name(), &choice, &[])?;
        approved_config::accept_in(&self.dirs, approved_config::USER, |config| {
            config.run.mode = Some(RunMode::Rewrite)
        })?;
        let config = format!("[agents.{}]\nmode = \"auto\"\n[run]\nmode = \"rewrite\"\n", self.agent.name());
        atomic_file::replace(&self.dirs.config_file(), &config)?;
        for AgentFile { file, with, .. } in super::parts(self.agent, &self.dirs, doorward, super::Wishes::default())? {
            let text = atomic_file::text(&file)?.unwrap_or_default();
            atomic_file::replace(&file, &with(&text).map_err(anyhow::Error::msg)?)?;
        }
        Ok(())
    }

    /// The agent's own settings: where its model is.
    fn configure(&self, own: &Dirs, url: &str) -> Result<()> {
        let put = |name: &str, text: String| atomic_file::replace(&Path::new(self.dirs.home()).join(name), &text);
        let model = json!({ "id": "m", "name": "m", "reasoning": false, "input": ["text"], "contextWindow": 128_000,
            "maxTokens": 4096, "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 } });
        match self.agent {
            Agent::Codex => put(".codex/config.toml", codex(&sandbox_of(own), url, &self.base.join("project"))),
            Agent::Gemini => {
                let settings = json!({ "security": { "auth": { "selectedType": "gemini-api-key" },
                    "folderTrust": { "enabled": false } }, "general": { "enableAutoUpdate": false } });
                put(".gemini/settings.json", settings.to_string())
            }
            Agent::Pi => {
                let provider = json!({ "baseUrl": format!("{url}/v1"), "apiKey": "none", "api": "openai-completions",
                    "models": [model] });
                put(".pi/agent/models.json", json!({ "providers": { "fake": provider } }).to_string())
            }
            Agent::Opencode => {
                let models =
                    json!({ "m": { "name": "m", "tool_call": true, "limit": { "context": 128_000, "output": 4096 } } });
                let provider = json!({ "npm": "@ai-sdk/openai-compatible", "name": "fake",
                    "options": { "baseURL": format!("{url}/v1"), "apiKey": "none" }, "models": models });
                let config = json!({ "autoupdate": false, "share": "disabled", "model": "fake/m", "small_model": "fake/m",
                    "enabled_providers": ["fake"], "provider": { "fake": provider } });
                put(".config/opencode/opencode.json", config.to_string())
            }
            Agent::Claude | Agent::Qwen | Agent::Copilot => Ok(()),
            Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => Ok(()),
        }
    }

    /// Lets the agent play, and ends it if it does not end.
    fn play(&self, url: &str) -> Result<()> {
        let mut child = self.command(url, self.words()).spawn().context("can't start the agent")?;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if child.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        stop(&mut child);
        bail!("{} did not end within {} seconds", self.agent.title(), PATIENCE.as_secs())
    }

    fn words(&self) -> &'static [&'static str] {
        match self.agent {
            Agent::Claude => &["-p", "test", "--permission-mode", "default"],
            Agent::Codex => &["exec", "--skip-git-repo-check", "test"],
            Agent::Gemini => &["-m", "gemini-2.5-flash", "-p", "test", "--approval-mode", "yolo"],
            Agent::Opencode => &["run", "test"],
            Agent::Pi => &["--provider", "fake", "--model", "m", "-p", "test"],
            Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => &[],
        }
    }

    fn command(&self, url: &str, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        let log = |name: &str| File::create(self.base.join(name)).map_or_else(|_| Stdio::null(), Stdio::from);
        command
            .args(words)
            .current_dir(self.base.join("project"))
            .env_clear()
            .envs(
                ["PATH", "LANG", "USER", "LOGNAME", "TERM"]
                    .iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .envs(QUIET.iter().copied())
            .env("HOME", self.dirs.home())
            .env("TMPDIR", self.base.join("tmp"))
            .env("ANTHROPIC_BASE_URL", url)
            .env("GOOGLE_GEMINI_BASE_URL", url)
            .envs(["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "KEY"].map(|name| (name, "none")))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log("out"))
            .stderr(log("err"));
        command
    }

    fn version(&self) -> String {
        let output = self.command("", &["--version"]).stdout(Stdio::piped()).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let is_number = |word: &&str| word.chars().next().is_some_and(|first| first.is_ascii_digit());
        text.split_whitespace().find(is_number).unwrap_or("unknown version").to_owned()
    }

    /// What the call did is there, it was done in a box, and nobody noticed anything else.
    fn check(&self) -> Result<Proof> {
        let title = self.agent.title();
        let Ok(done) = std::fs::read_to_string(self.base.join("project/done.txt")) else {
            let said = ["err", "out"].iter().find_map(|name| last_line(&self.base.join(name)));
            bail!("{title} ran neither the call nor what took its place: {}", said.unwrap_or_default());
        };
        let runs = LedgerView::open(self.dirs.clone())?.index()?.metrics(0, clock::now_ms())?.runs;
        let has = |word: &str| runs.iter().any(|(name, count)| name == word && *count == 1);
        if done != "done\n" || !has("replaced") || !has("committed") {
            bail!("{title} ran the call as it was");
        }
        match BoxMemory::open(&self.dirs)?.proof(self.agent) {
            Some(proof) if proof.broken.is_none() => Ok(proof),
            Some(proof) => bail!("{title}: {}", proof.broken.unwrap_or_default()),
            None => bail!("{title}: the state of the trial is gone"),
        }
    }
}

fn codex(sandbox: &str, url: &str, project: &Path) -> String {
    let provider = format!(
        "[model_providers.fake]\nname = \"fake\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"KEY\"\n\
         request_max_retries = 0\nstream_max_retries = 0\nsupports_websockets = false\n"
    );
    format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"fake\"\nsandbox_mode = \"{sandbox}\"\ncheck_for_update_on_startup = false\n\
         {provider}[analytics]\nenabled = false\n[projects.{:?}]\ntrust_level = \"trusted\"\n",
        project.display().to_string()
    )
}

/// The sandbox that the user's Codex runs in: inside its usual one there is no box.
fn sandbox_of(own: &Dirs) -> String {
    let file = directory_of(Agent::Codex, own.home()).join("config.toml");
    let text = atomic_file::text(&file).ok().flatten().unwrap_or_default();
    let config: Option<toml_edit::DocumentMut> = text.parse().ok();
    let named = config.as_ref().and_then(|config| config.get("sandbox_mode")?.as_str());
    match named {
        Some("danger-full-access") => "danger-full-access".to_owned(),
        Some(_) | None => "workspace-write".to_owned(),
    }
}

fn last_line(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let is_ours = |line: &&str| line.contains("doorward") && !line.starts_with('{');
    let found = text.lines().rfind(is_ours).or_else(|| text.lines().rfind(|line| !line.trim().is_empty()));
    found.map(|line| crate::machine::visible(line.trim()).into_owned())
}

fn stop(child: &mut Child) {
    // It is our child with all that it started, and it had its time.
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
    let _ = child.wait();
}
