//! Families of programs and the questions that every member must answer.
//!
//! A file that says `family = "formatter"` answers the family's questions under `[answers]`. Each answer is compared with the
//! roles and effects that the same file states, so a formatter that rewrites its operand cannot pass as a reader.

use doorward_vocabulary::{Mark, Operation, words};
use toml::de::DeTable;

use crate::file::{Complaint, File};
use crate::schema::{Entry, Flag, Grammar, Role, Takes};

words! {
    /// What kind of program it is.
    Kind {
        Viewer = "viewer" : "shows files",
        Filter = "filter" : "reads text and prints other text",
        Query = "query" : "prints what the system or a tool knows",
        Formatter = "formatter" : "lays out source code",
        Linter = "linter" : "finds mistakes in source code",
        Compiler = "compiler" : "makes programs or objects of source code",
        Converter = "converter" : "makes one file of another",
        Generator = "generator" : "writes new files",
        Interpreter = "interpreter" : "runs code",
        TestRunner = "test-runner" : "runs tests",
        BuildTool = "build-tool" : "runs the steps that a project lists",
        PackageManager = "package-manager" : "installs packages",
        DatabaseClient = "database-client" : "talks to a database",
        NetworkClient = "network-client" : "talks to other machines",
        Server = "server" : "waits for requests",
        FileTool = "file-tool" : "copies, moves, deletes or changes files",
        Archiver = "archiver" : "packs and unpacks files",
        Wrapper = "wrapper" : "runs another program",
        Editor = "editor" : "edits files for a person",
        VersionControl = "version-control" : "keeps the history of files",
        CloudClient = "cloud-client" : "manages things that run elsewhere",
        Crypto = "crypto" : "handles keys, signatures and encrypted files",
        SystemTool = "system-tool" : "changes settings or processes of the machine",
        Suite = "suite" : "several commands under one name",
    }
}

words! {
    /// What a member of a family must say.
    Question {
        InPlace = "in-place" : "does it change its operands?",
        Runs = "runs" : "does it run its operands?",
        Beside = "beside" : "does it write files that the call does not name?",
        Settings = "settings" : "where does it load settings from that can run code?",
        Contacts = "contacts" : "does it contact another machine?",
        Secrets = "secrets" : "does it print passwords, tokens or keys?",
    }
}

words! {
    /// Where a program finds settings that name code to run.
    Settings {
        None = "none" : "nowhere",
        Home = "home" : "in the user's own configuration",
        Project = "project" : "in the folder it is started in, and above",
        Operand = "operand" : "in the folder of the file it looks at, and above",
    }
}

/// The family of a program, with its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    pub kind: Kind,
    pub settings: Option<Settings>,
}

impl Kind {
    /// The questions that a member must answer.
    pub fn asks(self) -> &'static [Question] {
        use Question::{Beside, Contacts, InPlace, Runs, Secrets, Settings};
        match self {
            Kind::Viewer => &[InPlace, Runs],
            Kind::Filter => &[InPlace, Runs],
            Kind::Query => &[Contacts, Secrets],
            Kind::Formatter => &[InPlace, Runs, Settings],
            Kind::Linter => &[InPlace, Runs, Settings, Contacts],
            Kind::Compiler => &[Runs, Beside],
            Kind::Converter => &[InPlace, Beside],
            Kind::Generator => &[Beside],
            Kind::Interpreter => &[Runs],
            Kind::TestRunner => &[Settings],
            Kind::BuildTool => &[Settings],
            Kind::PackageManager => &[Contacts, Secrets],
            Kind::DatabaseClient => &[Contacts, Secrets],
            Kind::NetworkClient => &[Contacts, Secrets, Beside],
            Kind::Server => &[Runs],
            Kind::FileTool => &[Runs, Contacts],
            Kind::Archiver => &[Beside, Runs],
            Kind::Wrapper => &[Runs],
            Kind::Editor => &[InPlace],
            Kind::VersionControl => &[Contacts],
            Kind::CloudClient => &[Contacts, Secrets],
            Kind::Crypto => &[Beside, Secrets],
            Kind::SystemTool => &[Runs],
            Kind::Suite => &[Contacts, Secrets],
        }
    }
}

impl Family {
    /// The family that a file names, with every obligatory question answered and every answer compared with the entries.
    pub fn read(file: File<'_>, table: &DeTable<'_>, entries: &[Entry]) -> Result<Option<Family>, Complaint> {
        let Some(value) = table.get("family") else {
            return match table.get("answers") {
                Some(value) => Err(file.at(value, "`[answers]` needs a `family`")),
                None => Ok(None),
            };
        };
        let name = file.string(value)?;
        let kind = Kind::parse(name).ok_or_else(|| file.at(value, format!("`{name}` is not a family")))?;
        let mut settings = None;
        let mut answered = Vec::new();
        if let Some(answers) = table.get("answers") {
            for (key, value) in file.inner(answers)?.iter() {
                let text = key.get_ref().as_ref();
                let question =
                    Question::parse(text).ok_or_else(|| file.at(key, format!("`{text}` is not a question")))?;
                let answer = file.string(value)?;
                if question == Question::Settings {
                    settings = Some(
                        Settings::parse(answer)
                            .ok_or_else(|| file.at(value, format!("`{answer}` is not a place for settings")))?,
                    );
                } else {
                    Claim { question, answer }.check(entries).map_err(|message| file.at(value, message))?;
                }
                answered.push(question);
            }
        }
        match kind.asks().iter().find(|question| !answered.contains(question)) {
            Some(open) => {
                let message = format!("a {name} must answer `{open}` under [answers]: {}", open.what());
                Err(file.at(value, message))
            }
            None => Ok(Some(Family { kind, settings })),
        }
    }
}

/// An answer other than that about settings: `never`, `always`, or the flags that make it so.
struct Claim<'a> {
    question: Question,
    answer: &'a str,
}

impl Claim<'_> {
    /// The claim agrees with what the file states.
    fn check(&self, entries: &[Entry]) -> Result<(), String> {
        let by_itself = entries.iter().any(|entry| self.holds_alone(entry));
        match (self.answer, by_itself) {
            ("never", true) => Err(format!("`{}` is `never`, but the file states such an effect", self.question)),
            ("always", false) => Err(format!("`{}` is `always`, but no operand or effect says so", self.question)),
            ("never" | "always", _) => Ok(()),
            (flags, _) => flags.split_whitespace().try_for_each(|name| {
                let mut found = entries.iter().filter_map(|entry| entry.flags.find(name)).peekable();
                if found.peek().is_none() {
                    return Err(format!("`{name}` is neither `never`, `always` nor a flag of the program"));
                }
                match found.any(|flag| self.holds_with(&flag)) {
                    true => Ok(()),
                    false => Err(format!("`{}` names `{name}`, but the flag does nothing of the kind", self.question)),
                }
            }),
        }
    }

    /// The command does it without any flag.
    fn holds_alone(&self, entry: &Entry) -> bool {
        let has_operand = |is: fn(Role) -> bool| entry.operands.iter().any(|operand| is(operand.role));
        match self.question {
            Question::InPlace => has_operand(|role| role == Role::Edit),
            Question::Runs => has_operand(Role::is_run) || entry.grammar.is_some_and(runs_operands),
            Question::Beside => entry.does.iter().any(|does| {
                matches!(does.operation, Operation::Write | Operation::Delete | Operation::Mutate | Operation::Execute)
            }),
            Question::Contacts => {
                has_operand(contacts) || entry.does.iter().any(|does| does.operation == Operation::Network)
            }
            Question::Secrets => entry.does.iter().any(|does| does.marks.has(Mark::SecretReturning)),
            Question::Settings => false,
        }
    }

    /// A flag makes the command do it.
    fn holds_with(&self, flag: &Flag) -> bool {
        let changes = &flag.changes;
        // What is unknown or opaque asks, and so promises nothing.
        if changes.unknown || changes.opaque || changes.extra.is_some() {
            return true;
        }
        let takes = |is: fn(Role) -> bool| match flag.takes {
            Takes::Value(role) | Takes::Glued(role) => is(role),
            Takes::Nothing => false,
        };
        match self.question {
            Question::InPlace => changes.operands == Some(Role::Edit) || takes(|role| role == Role::Edit),
            Question::Runs => changes.operands.is_some_and(Role::is_run) || takes(Role::is_run),
            Question::Beside => takes(|role| {
                matches!(role, Role::Write | Role::Append | Role::Create | Role::Empty | Role::Into | Role::Edit)
            }),
            Question::Contacts => takes(contacts) || !changes.marks.is_empty(),
            Question::Secrets => changes.marks.has(Mark::SecretReturning),
            Question::Settings => false,
        }
    }
}

fn contacts(role: Role) -> bool {
    matches!(
        role,
        Role::Url | Role::UrlUpload | Role::Host | Role::Address | Role::RemotePath | Role::RemoteInto | Role::Upload
    )
}

/// Grammars of programs that run what they are given.
fn runs_operands(grammar: Grammar) -> bool {
    matches!(
        grammar,
        Grammar::Interpreter
            | Grammar::Shell
            | Grammar::Xargs
            | Grammar::Env
            | Grammar::Flock
            | Grammar::Make
            | Grammar::PackageScript
            | Grammar::Ssh
    )
}
