//! The command line: every command, and the function that runs it.

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::desk::{
    alerts, audit, bundle, check, demo, digest, doctor, grants, literate, manual, metrics, model, notify, outcomes,
    preview, reconcile, replay, report, review, rollout, rules, run, serve, setup, ship, snapshots, status, statusline,
    trust, tune,
};
use crate::hook::notifier;
use crate::hook::relay;
use crate::machine::paths;

use crate::policy::config;

/// Decide whether an AI agent's tool call may run: approve, confirm or block, with reasons and a record.
#[derive(Debug, Parser)]
#[command(name = "doorward", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Judge a call without running it: what would the hook answer here and now?
    ///
    /// Takes into account the agent's mode, its session, your earlier answers and what can be snapshotted first, and says which
    /// of them made the difference. --bare, --world and --jsonl leave them out. Writes nothing.
    ///
    /// Exit code: 0 approve, 10 confirm, 20 block, 2 nothing to judge; always 0 with --jsonl.
    Check(check::CheckArguments),
    /// Play a recorded agent session through the real hook, in a scratch home; no call is run
    Demo(demo::DemoArguments),
    /// List the rules, show one, or change which are active
    Rules(rules::RulesArguments),
    /// Print the default configuration
    Defaults,
    /// Check expected verdicts written as tables in Markdown files
    ///
    /// A table has the columns `call` and `verdict`, and optionally `because`. A call is a command in backticks, or the name
    /// of another tool followed by its main argument or JSON input in backticks. A verdict is approve, confirm, block, or
    /// `at least confirm`. A fenced block that opens with "json world" describes the machine for the tables after it. Exit
    /// code 1 if a row is wrong.
    Test(literate::TestArguments),
    /// Search, verify and export the record of decisions
    Audit(audit::AuditArguments),
    /// Install doorward's hooks in your agents' settings, or remove them
    Setup(setup::SetupArguments),
    /// Answer one event from an agent: JSON on standard input, JSON on standard output
    ///
    /// The agent runs this before each call. On any failure it exits with 2, which blocks the call.
    Hook {
        agent: String,
        /// How many seconds the agent waits for an answer; without it, a call never waits for you
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
        /// The hook comes from a plugin; stands back for calls that the hook of `doorward setup` has judged
        #[arg(long)]
        plugin: bool,
        /// Print `{"doorward":"none"}` instead of nothing where doorward has no opinion
        #[arg(long)]
        explicit: bool,
    },
    /// Try a command in a box, judge what it really did, then keep it, hold it for you, or throw it away
    ///
    /// The command sees your files, without credentials and without network, and changes a copy. What it changed is judged like
    /// any call: what doorward would approve is put in place, all of it or nothing; what it would ask about waits in
    /// `doorward pending` with every change and deletion listed; the rest is thrown away. Agents may use it.
    ///
    /// Exit code: the command's own if its changes are in place, 75 if they wait for you, 126 if nothing was kept or run.
    Run(run::RunArguments),
    /// Serve the desk: queue, sessions, ledger and charts in a browser; or a socket for agents
    ///
    /// Without --socket, the desk: pages on this machine only, readable after a start link or by a paired device. A paired browser
    /// signs every answer with a key that it can't show. Calls that a rule blocks are still approved in a terminal.
    ///
    /// With --socket, agents are answered there: one JSON object per line in, one out, the same JSON as `doorward hook generic`,
    /// and only for the user who started it.
    Serve(serve::ServeArguments),
    /// Policy for a team: build, sign, hand out and follow bundles
    ///
    /// A bundle counts if enough of the team's keys signed it, if it follows the one before, and if its time is not over; who
    /// hands it out does not matter. Once it has expired, doorward is strict until a newer one arrives.
    Bundle(bundle::BundleArguments),
    /// List the devices that may answer at the desk, or revoke one
    Devices(serve::DevicesArguments),
    /// Send the record to your team's hub, or enrol this machine there
    ///
    /// Sends what the hub doesn't hold yet, each stretch with a signed checkpoint; the hub proves all of it before it
    /// acknowledges. Nothing is copied aside and no call ever waits for the hub: doorward decides alone, and the log stays here.
    ///
    /// Exit code: 0 everything arrived, 75 the hub can't be reached now, 1 the hub or the log refused.
    Ship(ship::ShipArguments),
    /// Stand between your client and a tool (MCP) server: pass messages on unchanged, judge every call
    ///
    /// Put it in front of the server's command in your client's settings: `doorward mcp --name files -- npx -y
    /// @modelcontextprotocol/server-filesystem ~/work`. Tool definitions are remembered; a call to one that changed, or whose
    /// description gives orders to the model, asks. A question goes to you through your client where it can show one, else to
    /// `doorward pending`.
    Mcp(relay::RelayArguments),
    /// Be a tool (MCP) server that agents ask what they may do: check, explain, status, pending, rules
    ///
    /// It runs nothing, approves nothing and records nothing. Add it to your client's settings with the command `doorward
    /// mcp-server`, and an agent can ask before it tries.
    McpServer,
    /// Stand between an editor and an agent that speak ACP: judge what the agent asks to do
    ///
    /// Put it in front of the agent's command in your editor's settings: `doorward acp -- claude-code-acp`. What doorward would
    /// approve is answered once for you, what it blocks is refused; your editor shows the rest.
    Acp(relay::acp::AcpArguments),
    /// Show the effective configuration, where each value comes from, and any problems
    Config(config::ConfigArguments),
    /// Trust a project, agent, program, host or tool server; list what is trusted
    Trust(trust::TrustArguments),
    /// Stop trusting something
    Untrust(trust::UntrustArguments),
    /// Accept what a configuration change loosened, in running sessions too (not for agents)
    ///
    /// Until you do, changes that loosen something have no effect; changes that tighten something apply at once.
    /// `doorward config` lists what is waiting.
    Reload,
    /// List the calls waiting for your answer, or show one
    Pending(grants::PendingArguments),
    /// Let exactly this call run once (not for agents)
    ///
    /// Shows the call and asks at the terminal. To approve a call that a rule blocks, you type its target; for the most
    /// dangerous ones, twice, at least 30 seconds apart. You can override at most five such blocks an hour. The grant is valid
    /// for ten minutes, as long as the call, its directory, the files it names and the rules stay the same.
    ///
    /// Exit code: 0 approved, 3 first of two steps done, 1 not approved.
    Approve(grants::ApproveArguments),
    /// Refuse a call, or withdraw an approval (not for agents)
    Refuse(grants::RefuseArguments),
    /// Watch the calls waiting for you and answer them with one key (not for agents)
    ///
    /// y approves and n refuses. To approve a call that a rule blocks, you type its target; for the most dangerous ones, twice,
    /// at least 30 seconds apart. A key counts only once a call has been on screen for 0.3 seconds, and you can approve a long
    /// call only after scrolling to its end.
    Review,
    /// Show modes, trust, counts, the last decision, recent denials, and anything overdue
    Status(status::StatusArguments),
    /// Print one line for a status line: mode, today's answers, waiting calls, and whether the agent is guarded
    ///
    /// `doorward setup claude --statusline` puts it into Claude Code. For tmux: `set -g status-right '#(doorward statusline
    /// --format tmux)'`. For starship: a custom module with `command = "doorward statusline --format plain"`.
    Statusline(statusline::StatuslineArguments),
    /// List the most recently blocked calls
    Denials(status::DenialsArguments),
    /// Reset the denial counters of sessions (not for agents)
    ///
    /// After 3 denials in a row, or 20 in a session, doorward asks you about every call. This resets those counters and nothing
    /// else: rules, taint and boundaries stay.
    Reset(status::ResetArguments),
    /// List patterns you keep overriding (3 times in 7 days), with a rule that would stop the question
    Tickets(status::TicketsArguments),
    /// Review the record for drift and propose changes for you to accept
    Tune(tune::TuneArguments),
    /// Judge recorded decisions again and show every verdict that would change
    ///
    /// The record keeps the facts of each call, so you can try another policy on them; nothing is run and you are asked nothing.
    /// Without another policy, it checks that the current one still gives the recorded verdicts. Changes to hosts, paths, trust
    /// and programs change the facts themselves, so replay can't show their effect.
    ///
    /// Exit code: 0 nothing gets laxer, or --accept was given; 1 something gets laxer; 2 the check failed.
    Replay(replay::ReplayArguments),
    /// Say how a decision turned out: regretted, a nuisance, or fine (not for agents)
    Flag(outcomes::FlagArguments),
    /// Show rates, counts and durations of decisions
    ///
    /// Durations by stage: `observe` looks at the machine, `judge` applies rules and matrix, `score` is the layer 2 scorer
    /// alone, where it ran, and `review` is the reviewer.
    Metrics(metrics::MetricsArguments),
    /// List alerts, or mark one as seen or resolved
    ///
    /// Exit code: 0 no open alerts, 1 at least one.
    Alerts(alerts::AlertsArguments),
    /// Judge the calls in your agents' past transcripts; installs nothing and records nothing
    ///
    /// Reads the transcripts of Claude Code, Codex, Gemini CLI, Pi and OpenCode and shows how many calls doorward would have
    /// approved, asked about and blocked, and which rules would remove the most frequent questions.
    Preview(preview::PreviewArguments),
    /// Check that every agent really goes through doorward, and find anything that weakens it
    ///
    /// Exit code: 0 no problems, 1 problems found, 2 the check failed.
    Doctor(doctor::DoctorArguments),
    /// Compare agents' transcripts with the record; a call that ran unrecorded raises an alert
    ///
    /// Exit code: 0 every call is on record, 1 at least one is not.
    Reconcile(reconcile::ReconcileArguments),
    /// Summarize a session: calls, questions, blocks, hosts, files
    Digest(digest::DigestArguments),
    /// Notify the user about a call, or check for alerts and notify about those, as configured
    #[command(hide = true)]
    Notify {
        #[arg(required_unless_present = "look")]
        id: Option<String>,
        /// Evaluate all alerts
        #[arg(long, value_name = "OCCASION", conflicts_with = "id")]
        look: Option<notifier::Occasion>,
    },
    /// Write a report on this installation: eight sections, from the live configuration and record
    ///
    /// Markdown, unless the file name ends in `.html`. Every figure names the command that prints it.
    Report(report::ReportArguments),
    /// Restore what a call deleted or overwrote (not for agents)
    ///
    /// Shows what would change and asks first. Anything it overwrites is snapshotted too, so you can undo the undo.
    Undo(snapshots::UndoArguments),
    /// List, show, verify and prune the snapshots that `doorward undo` restores from
    Snapshots(snapshots::SnapshotsArguments),
    /// Train, test and describe the layer 2 risk model; choose and compare language models as reviewers
    Model(model::ModelArguments),
    /// Roll out agents, rules and thresholds in stages: confirm-all, shadow, canary, auto
    Rollout(rollout::RolloutArguments),
    /// Print shell completions
    Completions { shell: clap_complete::Shell },
    /// Print a manual page, or install all of them
    Man(manual::ManArguments),
}

/// `doorward statusline` alone.
#[derive(Debug, Parser)]
#[command(name = "doorward statusline")]
struct StatusLine {
    #[command(flatten)]
    arguments: statusline::StatuslineArguments,
}

/// Prints the status line. The whole command line takes longer to set up than this takes.
pub fn status_line(words: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let parsed = StatusLine::parse_from(std::iter::once("doorward statusline".into()).chain(words));
    statusline::run(&parsed.arguments).unwrap_or_else(|error| {
        report(&error);
        ExitCode::from(1)
    })
}

/// Parses the command line and runs it.
pub fn command_line() -> ExitCode {
    let failure = |code: u8, error: &anyhow::Error| {
        if is_broken_pipe(error) {
            return ExitCode::SUCCESS;
        }
        report(error);
        ExitCode::from(code)
    };
    let matches = manual::grouped(CommandLine::command()).get_matches();
    let command = match CommandLine::from_arg_matches(&matches) {
        Ok(parsed) => parsed.command,
        Err(error) => error.exit(),
    };
    let is_notifier = matches!(command, Command::Notify { .. });
    let code = match command {
        Command::Check(arguments) => check::run(&arguments).unwrap_or_else(|error| failure(2, &error)),
        Command::Demo(arguments) => demo::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Rules(arguments) => rules::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Defaults => rules::defaults().unwrap_or_else(|error| failure(1, &error)),
        Command::Test(arguments) => literate::run(&arguments).unwrap_or_else(|error| failure(2, &error)),
        Command::Audit(arguments) => {
            audit::run(&arguments).unwrap_or_else(|error| failure(arguments.failure(), &error))
        }
        Command::Setup(arguments) => setup::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Hook { agent, timeout, plugin, explicit } => {
            let timeout = timeout.map(|seconds| ["--timeout".to_owned(), seconds.to_string()]);
            let flags = [(plugin, "--plugin"), (explicit, "--explicit")];
            let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_owned());
            crate::hook::hook(std::iter::once(agent).chain(timeout.into_iter().flatten()).chain(flags).map(Into::into))
        }
        Command::Serve(arguments) => serve::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Bundle(arguments) => bundle::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Devices(arguments) => serve::devices(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Ship(arguments) => ship::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Run(arguments) => run::run(&arguments).unwrap_or_else(|error| failure(125, &error)),
        Command::Mcp(arguments) => relay::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::McpServer => relay::own_server::run().unwrap_or_else(|error| failure(1, &error)),
        Command::Acp(arguments) => relay::acp::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Config(arguments) => config::run(&arguments).unwrap_or_else(|error| failure(2, &error)),
        Command::Trust(arguments) => trust::trust(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Untrust(arguments) => trust::untrust(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Reload => trust::reload().unwrap_or_else(|error| failure(1, &error)),
        Command::Pending(arguments) => grants::pending(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Approve(arguments) => grants::approve(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Refuse(arguments) => grants::refuse(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Status(arguments) => status::status(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Statusline(arguments) => statusline::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Denials(arguments) => status::denials(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Reset(arguments) => status::reset(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Tickets(arguments) => status::tickets(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Tune(arguments) => tune::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Review => review::run().unwrap_or_else(|error| failure(1, &error)),
        Command::Replay(arguments) => replay::run(&arguments).unwrap_or_else(|error| failure(2, &error)),
        Command::Flag(arguments) => outcomes::flag(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Metrics(arguments) => metrics::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Alerts(arguments) => alerts::run(&arguments).unwrap_or_else(|error| failure(2, &error)),
        Command::Preview(arguments) => preview::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Doctor(arguments) => doctor::run(&arguments).unwrap_or_else(|error| failure(2, &error)),
        Command::Reconcile(arguments) => reconcile::run(&arguments).unwrap_or_else(|error| failure(2, &error)),
        Command::Digest(arguments) => digest::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Report(arguments) => report::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Notify { id, look } => notify::run(id.as_deref(), look).unwrap_or_else(|error| failure(1, &error)),
        Command::Undo(arguments) => snapshots::undo(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Snapshots(arguments) => snapshots::snapshots(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Model(arguments) => model::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Rollout(arguments) => rollout::run(&arguments).unwrap_or_else(|error| failure(2, &error)),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut CommandLine::command(), "doorward", &mut std::io::stdout());
            ExitCode::SUCCESS
        }
        Command::Man(arguments) => {
            manual::run(&arguments, CommandLine::command()).unwrap_or_else(|error| failure(1, &error))
        }
    };
    if let (false, Ok(dirs)) = (is_notifier, paths::Dirs::find()) {
        // What the command recorded may have raised an alert.
        drop(notifier::start_if_due(&dirs));
    }
    code
}

fn report(error: &anyhow::Error) {
    use std::io::Write;
    let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
    let text = format!("{error:#}");
    // If standard error is gone, there is nowhere left to report to.
    let _ = writeln!(anstream::stderr(), "{style}error{style:#}: {}", crate::machine::visible(&text));
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let kind = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        kind.or(json) == Some(std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
