//! Every command a person can type, and where it leads.

use crate::hook::notifier;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::desk::{
    alerts, audit, check, demo, digest, doctor, grants, literate, manual, metrics, model, notify, outcomes, preview,
    reconcile, replay, report, review, rollout, rules, setup, snapshots, status, trust, tune,
};
use crate::hook::serve;
use crate::machine::paths;

use crate::policy::config;

/// Decides whether an AI agent's tool call may run: approve, confirm or block, with reasons and a record.
#[derive(Debug, Parser)]
#[command(name = "doorward", version, max_term_width = 100, arg_required_else_help = true)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Judge a call without running it: what the hook would answer here and now
    ///
    /// Counts the agent's mode, its session, your earlier answers and what can be copied first, and says which of them made the
    /// difference; --bare, --world and --jsonl leave them out. Writes nothing.
    ///
    /// Exit code: 0 approve, 10 confirm, 20 block, 2 if there was nothing to judge; always 0 with --jsonl.
    Check(check::CheckArguments),
    /// Play a recorded session of an agent through the real hook, in a scratch home; runs nothing
    Demo(demo::DemoArguments),
    /// List the rules, show one, or change what counts
    Rules(rules::RulesArguments),
    /// Print what counts while nothing is configured
    Defaults,
    /// Judge the calls in tables of Markdown files and compare the verdicts
    ///
    /// A table has the columns `call` and `verdict`, and `because` if you like. A call is a command in backticks, or
    /// another tool's name before its main argument or JSON input in backticks. A verdict is approve, confirm, block, or
    /// `at least confirm`. A fenced block opened with "json world" describes the machine for what follows. Exit code 1 if
    /// a row is wrong.
    Test(literate::TestArguments),
    /// Ask, prove and export the record of what was decided
    Audit(audit::AuditArguments),
    /// Install the hooks in the settings of agents, or take them out again
    Setup(setup::SetupArguments),
    /// Answer one event of an agent: JSON on standard input, JSON on standard output
    ///
    /// The agent runs this before each call. Whatever goes wrong, it exits with 2 and the call does not run.
    Hook {
        agent: String,
        /// Seconds that the agent waits for the answer; without it, a call never waits for a person
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
    },
    /// Answer agents on a unix socket: one JSON object per line in, one out
    ///
    /// Speaks the words of `doorward hook generic` and answers nobody but the same user.
    Serve(serve::ServeArguments),
    /// Show the configuration in force, where each value comes from, and what is the matter with it
    Config(config::ConfigArguments),
    /// Trust a project, agent, program, host or tool server; list what is trusted
    Trust(trust::TrustArguments),
    /// Take trust back
    Untrust(trust::UntrustArguments),
    /// Accept what the configuration loosened, in running sessions too; only a person may
    ///
    /// What a file loosens has no effect before; what it tightens counts at once. `doorward config` names what waits.
    Reload,
    /// List the calls that wait for a person's answer, or show one
    Pending(grants::PendingArguments),
    /// Let exactly this call run once; only a person may
    ///
    /// Shows the call and asks at the terminal. What a rule blocks wants its target typed; the gravest want it typed twice, at
    /// least 30 seconds apart; at most five calls an hour that a rule blocks. The grant is good for ten minutes, and only while the call, its directory, the files it names
    /// and the rules are what they were.
    ///
    /// Exit code: 0 approved, 3 the first of two steps was made, 1 not approved.
    Approve(grants::ApproveArguments),
    /// Refuse a call, or take back a yes; only a person may
    Refuse(grants::RefuseArguments),
    /// Show the calls that wait, live, and answer them with a key; only a person may
    ///
    /// y approves and n refuses what one key may answer. What a rule blocks wants its target typed, the gravest twice, at least
    /// 30 seconds apart. A key counts only for a call that was on the screen for 0.3 seconds, and an approval only after the
    /// call was shown to its end.
    Review,
    /// Show modes, trust, counts, the last decision, recent denials, and what is overdue
    Status(status::StatusArguments),
    /// List the last calls that were blocked
    Denials(status::DenialsArguments),
    /// Set the denial counters of sessions back; only a person may
    ///
    /// After 3 denials in a row, or 20 in a session, every call is put to a person. This clears those counters and nothing
    /// else: rules, taint and boundaries stay.
    Reset(status::ResetArguments),
    /// What was overridden three times in seven days and wants a review
    Tickets(status::TicketsArguments),
    /// Review the record for drifts, and propose what a person may accept
    Tune(tune::TuneArguments),
    /// Judge recorded decisions again and show every verdict that would change
    ///
    /// What was observed is on record, so another policy can be tried on it: nothing is run and nothing is asked. Without a
    /// policy to try, the one in force has to give what is on record. Changes of hosts, paths, trust and programs change what is
    /// observed, which is not judged again.
    ///
    /// Exit code: 0 nothing gets laxer, or --accept was given; 1 something does; 2 it could not be looked at.
    Replay(replay::ReplayArguments),
    /// Say how a decision turned out: regretted, a nuisance, or fine; only a person may
    Flag(outcomes::FlagArguments),
    /// Show rates, counts and durations of what was decided
    ///
    /// Durations by stage: `observe` looks at the machine, `judge` asks rules and matrix, `score` is the scorer of layer 2 by
    /// itself where it ran, `review` the reviewer.
    Metrics(metrics::MetricsArguments),
    /// List what wants attention, or say that it is dealt with
    ///
    /// Exit code: 0 nothing stands, 1 something does.
    Alerts(alerts::AlertsArguments),
    /// Judge the calls in your agents' own transcripts; installs nothing and records nothing
    ///
    /// Reads what Claude Code, Codex, Gemini CLI, Pi and OpenCode wrote down, and shows how many calls would have been silent,
    /// asked about and blocked, and which rule would silence what is asked about most.
    Preview(preview::PreviewArguments),
    /// Look whether the guard is really in the path of each agent, and what weakens it
    ///
    /// Exit code: 0 nothing is wrong, 1 something is, 2 it could not be looked at.
    Doctor(doctor::DoctorArguments),
    /// Hold the transcripts of agents against the record: a call that ran without one raises an alert
    ///
    /// Exit code: 0 every call is on record, 1 one is not.
    Reconcile(reconcile::ReconcileArguments),
    /// Sum up a session: calls, questions, blocks, hosts, files
    Digest(digest::DigestArguments),
    /// Tell a person about a call, or look for alerts and tell about them, in the ways that the configuration names
    #[command(hide = true)]
    Notify {
        #[arg(required_unless_present = "look")]
        id: Option<String>,
        /// Evaluate all alerts
        #[arg(long, value_name = "OCCASION", conflicts_with = "id")]
        look: Option<notifier::Occasion>,
    },
    /// Write the design document of this installation: eight sections, from the live configuration and record
    ///
    /// Markdown unless the file ends in `.html`. Every figure names the command that prints it.
    Report(report::ReportArguments),
    /// Bring back what a call deleted or overwrote; only a person may
    ///
    /// Shows what would change and asks. What it overwrites is copied first, so that it can be taken back itself.
    Undo(snapshots::UndoArguments),
    /// List, show, prove and remove the copies that `doorward undo` brings back
    Snapshots(snapshots::SnapshotsArguments),
    /// Train, test and describe the risk model of layer 2; choose and compare language models that may review what it leaves
    /// open
    Model(model::ModelArguments),
    /// Let agents, rules and thresholds go in stages: confirm-all, shadow, canary, auto
    Rollout(rollout::RolloutArguments),
    /// Print completions for a shell
    Completions { shell: clap_complete::Shell },
    /// Print a manual page, or install all of them
    Man(manual::ManArguments),
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
        Command::Hook { agent, timeout } => {
            let timeout = timeout.map(|seconds| ["--timeout".to_owned(), seconds.to_string()]);
            crate::hook::hook(std::iter::once(agent).chain(timeout.into_iter().flatten()).map(Into::into))
        }
        Command::Serve(arguments) => serve::run(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Config(arguments) => config::run(&arguments).unwrap_or_else(|error| failure(2, &error)),
        Command::Trust(arguments) => trust::trust(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Untrust(arguments) => trust::untrust(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Reload => trust::reload().unwrap_or_else(|error| failure(1, &error)),
        Command::Pending(arguments) => grants::pending(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Approve(arguments) => grants::approve(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Refuse(arguments) => grants::refuse(&arguments).unwrap_or_else(|error| failure(1, &error)),
        Command::Status(arguments) => status::status(&arguments).unwrap_or_else(|error| failure(1, &error)),
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
    if let (false, Ok(places)) = (is_notifier, paths::Places::find()) {
        // What a person's command put on record may be an alert.
        drop(notifier::look(&places));
    }
    code
}

fn report(error: &anyhow::Error) {
    use std::io::Write;
    let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
    let text = format!("{error:#}");
    // There is nobody left to tell if standard error is gone.
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
