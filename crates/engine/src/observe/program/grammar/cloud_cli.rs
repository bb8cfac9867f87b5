//! Clients of cloud providers: the verb says whether a call reads, changes, destroys or hands out secrets.

use super::super::Invocation;
use crate::coverage::Degree;
use crate::effect::{Operation, Reach, Reversibility, Scope, Sensitivity};
use crate::knowledge::packed::Packed;
use crate::knowledge::schema::{Does, Entry, Role, Takes};
use crate::marks::{Mark, Marks};
use crate::observe::shell::field::Field;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;
use crate::observe::touch::Touch;

/// What a verb does, from harmless to grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verb {
    Read,
    Secret,
    /// Changes credentials or settings on this machine.
    Local,
    Change,
    Remote,
    Destroy,
}

const READING: &[&str] = &[
    "list",
    "ls",
    "describe",
    "get",
    "show",
    "head",
    "search",
    "lookup",
    "query",
    "scan",
    "batch-get",
    "view",
    "read",
    "tail",
    "status",
    "wait",
    "check",
    "exists",
    "validate",
    "preview",
    "history",
    "count",
    "info",
    "filter",
    "estimate",
    "simulate",
    "summarize",
    "get-value",
    "list-keys-metadata",
    "top",
    "help",
    "test-metric-filter",
    "select",
    "logs",
    "version",
    "detect",
];

const DESTROYING: &[&str] = &[
    "delete",
    "terminate",
    "remove",
    "destroy",
    "purge",
    "drop",
    "rb",
    "rm",
    "deregister",
    "detach",
    "revoke",
    "disable",
    "release",
    "cancel",
    "batch-delete",
    "schedule-key-deletion",
    "empty",
    "forget",
    "abandon",
    "unset",
    "clear",
];

const CHANGING: &[&str] = &[
    "create",
    "put",
    "update",
    "attach",
    "run",
    "start",
    "stop",
    "modify",
    "add",
    "set",
    "enable",
    "register",
    "deploy",
    "apply",
    "import",
    "copy",
    "cp",
    "mv",
    "sync",
    "tag",
    "untag",
    "reboot",
    "restart",
    "scale",
    "resize",
    "associate",
    "disassociate",
    "authorize",
    "publish",
    "send",
    "invoke",
    "promote",
    "restore",
    "upload",
    "push",
    "submit",
    "change",
    "replace",
    "move",
    "execute",
    "patch",
    "rotate",
    "reset",
    "mb",
    "build",
    "batch-write",
    "transact",
    "begin",
    "complete",
    "accept",
    "reject",
    "allocate",
    "assign",
    "upgrade",
    "rollback",
    "insert",
    "merge",
    "link",
    "unlink",
    "grant",
    "call",
    "transfer",
    "publish-message",
];

const REMOTE: &[&str] = &[
    "ssh",
    "scp",
    "start-session",
    "execute-command",
    "send-command",
    "run-command",
    "exec",
    "console",
    "connect",
    "tunnel",
    "port-forward",
];

const LOCAL: &[&str] = &[
    "login",
    "logout",
    "configure",
    "init",
    "get-credentials",
    "update-kubeconfig",
    "configure-docker",
    "activate-service-account",
    "config-ssh",
    "application-default",
];

/// Verbs of which the answer is a secret.
const SECRET: &[&str] = &[
    "get-secret-value",
    "batch-get-secret-value",
    "get-session-token",
    "assume-role",
    "assume-role-with-saml",
    "assume-role-with-web-identity",
    "get-federation-token",
    "create-access-key",
    "get-login-password",
    "get-login",
    "decrypt",
    "get-password-data",
    "get-access-token",
    "print-access-token",
    "print-identity-token",
    "print-refresh-token",
    "get-authorization-token",
    "export-credentials",
    "get-random-password",
    "create-login-profile",
    "get-keys",
    "list-keys",
    "list-connection-strings",
    "show-connection-string",
    "generate-sas",
    "get-upload-credentials",
    "create-service-specific-credential",
    "get-credentials-for-identity",
    "get-role-credentials",
    "access",
    "generate-data-key",
    "get-token",
    "list-publishing-credentials",
    "list-publishing-profiles",
    "describe-user-pool-client",
    "get-cluster-credentials",
    "get-cluster-credentials-with-iam",
    "get-instance-access-details",
    "list-api-keys",
    "get-connection",
    "get-connections",
    "get-web-identity-token",
];

/// Things of Azure whose reading is reading a secret: `az … connection-string list`, `az … keys list`.
const AZURE_SECRETS: &[&str] = &[
    "keys",
    "key",
    "admin-key",
    "query-key",
    "connection-string",
    "credential",
    "credentials",
    "secret",
    "secrets",
    "appsettings",
    "sas",
];

/// Groups of Azure whose lists of such things hold names and dates only.
const AZURE_NAMES_ONLY: &[&str] = &["keyvault", "ad"];

/// Flags that put a secret into what would otherwise be a list of names.
const REVEALING: &[&str] = &["--with-decryption", "--include-value", "--include-values", "--show-values"];

/// Short flags of Azure's client that name something: location, container, project, server, registry, type and the like.
const AZURE_LETTERS: &[&str] = &["-l", "-c", "-p", "-s", "-r", "-t", "-e", "-w", "-a", "-v", "-i", "-d"];

/// Words in the name of a flag whose value is a file or directory here.
const LOCAL_FILES: &[&str] = &[
    "file",
    "files",
    "outfile",
    "script",
    "scripts",
    "output",
    "dest",
    "destination",
    "folder",
    "dir",
    "directory",
    "outdir",
    "localpath",
];

/// Verbs of two words that read, though the first alone would not say so.
const READING_PAIRS: &[&str] = &["admin-get", "admin-list", "transact-get", "batch-get", "batch-describe", "test-dns"];

/// Verbs of aws that write what they get to the file named last.
const STREAMED: &[&str] = &[
    "get-object",
    "get-object-torrent",
    "get-export",
    "get-sdk",
    "export-api",
    "get-job-output",
    "get-package-version-asset",
    "get-thing-shadow",
    "get-media",
    "get-media-for-fragment-list",
    "get-clip",
    "get-configuration",
    "get-hosted-configuration-version",
    "get-latest-configuration",
    "get-chunk",
    "get-snapshot-block",
    "describe-input-device-thumbnail",
    "get-read-set",
    "get-reference",
    "get-raw-message-content",
    "get-profile",
    "get-map-tile",
    "get-map-glyphs",
    "get-map-sprites",
    "get-map-style-descriptor",
    "get-static-map",
    "get-tile",
    "get-glyphs",
    "get-sprites",
    "get-style-descriptor",
    "get-session-output",
    "get-model-template",
];

/// Joins a flag that no table knows with its value, so that the value is not taken for a verb: `--name list`.
pub fn joined(entry: &Entry, words: &[Field], knowledge: Packed) -> Option<Vec<Field>> {
    let mut chain = vec![entry.clone()];
    let mut all: Vec<Field> = Vec::with_capacity(words.len());
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.text.as_str();
        if !text.starts_with('-') {
            let next = chain
                .last()
                .filter(|last| last.subs.has(text))
                .and_then(|last| knowledge.entry(&format!("{} {text}", last.key)));
            chain.extend(next);
            all.push(word.clone());
            continue;
        }
        all.push(word.clone());
        let known = chain.iter().find_map(|entry| entry.flags.find(text)).map(|flag| flag.takes);
        let is_value = |value: &&Field| {
            !value.text.starts_with('-')
                && !value.may_be_flag()
                && !value.text.contains("file://")
                && !value.text.contains("fileb://")
        };
        match known {
            Some(Takes::Value(_)) => {
                all.extend(words.get(at).cloned());
                at += 1;
            }
            None if text.starts_with("--") && text.len() > 2 && !text.contains('=') => {
                if let (Some(value), Some(flag)) = (words.get(at).filter(is_value), all.last_mut()) {
                    *flag = value.with_text(format!("{text}={}", value.text));
                    at += 1;
                }
            }
            Some(Takes::Nothing | Takes::Glued(_)) | None => {}
        }
    }
    (all.len() < words.len()).then_some(all)
}

impl Runner<'_, '_> {
    /// `aws s3api get-object --bucket b --key k file`: the last word names the file that is written.
    fn streamed(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let words = invocation.args.operands.clone();
        if !invocation.by.name.starts_with("aws") || !words.iter().any(|word| STREAMED.contains(&word.text.as_str())) {
            return;
        }
        if let Some(file) = words.last().filter(|last| !STREAMED.contains(&last.text.as_str())) {
            self.writes(Touch::Write, file, invocation, state);
        }
    }

    pub fn cloud_cli(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        self.cloud_files(invocation, state);
        if self.cloud_copy(invocation, state) {
            return;
        }
        let bare = invocation.args.given.is_empty() && invocation.args.unknown.is_empty();
        let words = &invocation.args.operands;
        let is_help = |word: Option<&Field>| word.is_some_and(|word| word.text == "help");
        let asks_help = invocation.args.has_any(&["--help", "-h"])
            || (bare && is_help(words.last()) && invocation.by.name.starts_with("aws"))
            || (bare && is_help(words.first()) && invocation.args.chain.len() == 1);
        if asks_help {
            invocation.args.unknown_sub = None;
            invocation.does.clear();
            invocation.done = true;
            return;
        }
        let described = invocation.args.entry().is_none_or(|entry| entry.grammar.is_none());
        if described || invocation.args.operands.is_empty() {
            return;
        }
        let Some(verb) = self.cloud_verb(invocation) else {
            return self.out.lower(Degree::Unknown, format!("what `{}` is to do", invocation.by.name));
        };
        invocation.args.unknown_sub = None;
        let only_names = |flag: &String| !flag.split('-').any(|word| LOCAL_FILES.contains(&word));
        let names = |flag: &String| {
            if flag.starts_with("--") {
                only_names(flag)
            } else {
                verb == Verb::Read && AZURE_LETTERS.contains(&flag.as_str()) && invocation.by.name.starts_with("az")
            }
        };
        if invocation.args.unknown.iter().all(names) {
            invocation.args.unknown.clear();
        }
        self.streamed(invocation, state);
        match verb {
            Verb::Read => {}
            Verb::Secret => invocation.does.push(effect(Operation::Read, Mark::SecretReturning)),
            Verb::Local => invocation.does = vec![effect(Operation::Mutate, Mark::CredentialStore)],
            Verb::Change => invocation.does = vec![effect(Operation::Mutate, Mark::ExternalWrite)],
            Verb::Remote => invocation.does = vec![effect(Operation::Execute, Mark::Remote)],
            Verb::Destroy => invocation.does = vec![effect(Operation::Mutate, Mark::Destroys)],
        }
    }

    /// The gravest verb among the first words.
    fn cloud_verb(&mut self, invocation: &Invocation) -> Option<Verb> {
        let aws = invocation.by.name.starts_with("aws");
        let preview =
            invocation.args.operands.first().is_some_and(|word| matches!(word.text.as_str(), "alpha" | "beta"));
        let from = if invocation.args.chain.len() == 1 { 1 + usize::from(preview && !aws) } else { 0 };
        let words = invocation.args.operands.get(from..).unwrap_or_default();
        let words = words.get(..words.len().min(if aws { 1 } else { 5 })).unwrap_or_default();
        let mut found = None;
        for word in words {
            let Some(text) = word.exact() else {
                self.out.lower(Degree::Opaque, format!("which command of `{}`", invocation.by.name));
                continue;
            };
            found = found.max(verb(text, aws));
        }
        if names_azure_secrets(invocation) || reveals(invocation) { found.max(Some(Verb::Secret)) } else { found }
    }

    /// `file://path` in a value is read and sent.
    fn cloud_files(&mut self, invocation: &mut Invocation, state: &mut State<'_>) {
        let given = invocation.args.given.iter().filter_map(|given| given.value.clone());
        let words: Vec<Field> = invocation.args.operands.iter().cloned().chain(given).collect();
        for word in words {
            let path =
                word.text.split_once("file://").or(word.text.split_once("fileb://")).map(|(_, path)| path.to_owned());
            if let Some(path) = path {
                self.role(&word.with_text(path), Role::Upload, invocation, state);
            }
        }
    }

    /// `aws s3 cp from to`: one side may be here.
    fn cloud_copy(&mut self, invocation: &mut Invocation, state: &mut State<'_>) -> bool {
        let copies = ["cp", "mv", "sync"].iter().any(|verb| {
            invocation.by.name.ends_with(&format!("s3 {verb}"))
                || invocation.by.name.ends_with(&format!("storage {verb}"))
        });
        let ([from, to], true) = (invocation.args.operands.as_slice(), copies) else { return false };
        let (from, to) = (from.clone(), to.clone());
        if invocation.does.is_empty() {
            return true;
        }
        let there = |field: &Field| field.text.starts_with("s3://") || field.text.starts_with("gs://");
        if !there(&from) {
            self.role(&from, Role::Upload, invocation, state);
            if invocation.by.name.ends_with("mv") {
                self.role(&from, Role::DeleteTree, invocation, state);
            }
        }
        if !there(&to) && to.text != "-" {
            self.writes(Touch::Write, &to, invocation, state);
            if !invocation.by.name.ends_with("mv") {
                invocation.does = vec![Does {
                    marks: Marks::default().with(Mark::Cloud).with(Mark::Download),
                    ..Does::usual(Operation::Network)
                }];
            }
        }
        true
    }
}

/// Whether a flag, wherever it stands, asks for the values of secrets.
fn reveals(invocation: &Invocation) -> bool {
    let args = &invocation.args;
    let values = args.given.iter().filter_map(|given| given.value.as_ref());
    args.operands.iter().chain(values).any(|word| REVEALING.contains(&word.text.as_str()))
        || args.unknown.iter().any(|flag| REVEALING.contains(&flag.as_str()))
        || args.has_any(REVEALING)
}

/// Whether the words before the verb name something of Azure that is a secret itself.
fn names_azure_secrets(invocation: &Invocation) -> bool {
    let mut words = invocation.by.name.split(' ').chain(invocation.args.operands.iter().map(|word| word.text.as_str()));
    words.next() == Some("az")
        && words.next().is_some_and(|group| !AZURE_NAMES_ONLY.contains(&group))
        && words.any(|word| AZURE_SECRETS.contains(&word))
}

fn effect(operation: Operation, mark: Mark) -> Does {
    let mut does = Does::usual(operation);
    does.scope = Scope::External;
    does.marks = Marks::default().with(Mark::Cloud).with(mark);
    if operation != Operation::Read {
        does.reach = if mark == Mark::CredentialStore { Reach::Identity } else { Reach::Beyond };
        does.reversibility = Reversibility::Irreversible;
    }
    if matches!(mark, Mark::SecretReturning | Mark::CredentialStore) {
        does.sensitivity = Sensitivity::Credential;
    }
    if mark == Mark::Destroys {
        does.marks.add(Mark::ExternalWrite);
    }
    does
}

/// The class of a verb: the whole word, or what stands before its first dash.
fn verb(word: &str, dashed: bool) -> Option<Verb> {
    let start = word.split('-').next().unwrap_or(word);
    let pair: String = word.split('-').take(2).collect::<Vec<_>>().join("-");
    let known = |list: &[&str]| {
        list.contains(&word)
            || list.contains(&pair.as_str())
            || (list.contains(&start) && (dashed || word.contains('-')))
    };
    if dashed && READING_PAIRS.contains(&pair.as_str()) && !SECRET.contains(&word) {
        Some(Verb::Read)
    } else if SECRET.contains(&word) {
        Some(Verb::Secret)
    } else if LOCAL.contains(&word) {
        Some(Verb::Local)
    } else if REMOTE.contains(&word) {
        Some(Verb::Remote)
    } else if known(DESTROYING) {
        Some(Verb::Destroy)
    } else if known(CHANGING) {
        Some(Verb::Change)
    } else if known(READING) {
        Some(Verb::Read)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::check;

    const AWS: &str = "name = 'aws'\nwhat = 'x'\ngrammar = 'cloud-cli'\ndoes = ['network +cloud']\n[flags]\n'--region --query' = 'data'\n[sub.s3]\ndoes = ['network +cloud']\n[sub.s3.sub.ls]\noperands = ['data?']\ndoes = ['network +cloud']\n[sub.s3.sub.'cp sync']\noperands = ['data', 'data']\ndoes = ['network external irreversible beyond +cloud +upload']";
    const GCLOUD: &str = "name = 'gcloud'\naliases = ['az']\nwhat = 'x'\ngrammar = 'cloud-cli'\ndoes = ['network +cloud']\n[flags]\n'--zone -g -n' = 'data'";

    #[test]
    fn verbs() {
        check(
            &[AWS, GCLOUD],
            &[
                ("aws ec2 describe-instances --region eu-west-1 --instance-ids i-1", "full", "network aws +cloud"),
                ("aws s3 ls s3://bucket", "full", "network aws s3 ls"),
                (
                    "aws secretsmanager get-secret-value --secret-id x",
                    "full",
                    "network aws; read aws +secret-returning",
                ),
                ("aws ssm get-parameter --name x --with-decryption", "full", "network aws; read aws +secret-returning"),
                ("aws ec2 terminate-instances --instance-ids i-1", "full", "mutate aws +destroys =irreversible"),
                ("aws iam create-user --user-name x", "full", "mutate aws +external-write"),
                (
                    "aws lambda update-function-code --zip-file fileb://app.zip",
                    "unknown",
                    "read app.zip; mutate aws +external-write; execute aws +unknown-program",
                ),
                ("aws ssm start-session --target i-1", "full", "execute aws +remote"),
                ("aws eks update-kubeconfig --name x", "full", "mutate aws +credential-store"),
                ("aws frob wibble", "unknown", "network aws"),
                ("aws s3 cp notes.txt s3://bucket/", "full", "read notes.txt; network aws s3 cp +upload"),
                ("aws s3 cp s3://bucket/x out.txt", "full", "write out.txt; network aws s3 cp +download"),
                ("gcloud compute instances list", "full", "network gcloud"),
                ("gcloud run services describe web", "full", "network gcloud"),
                ("az webapp config connection-string list -g x -n y", "full", "network az; read az +secret-returning"),
                ("az webapp deployment list-publishing-profiles -n y", "full", "network az; read az +secret-returning"),
                ("az ad sp credential list", "full", "network az"),
                ("gcloud secrets versions access latest", "full", "network gcloud; read gcloud +secret-returning"),
                ("gcloud compute instances delete web --zone a", "full", "mutate gcloud +destroys"),
                ("gcloud container clusters get-credentials x", "full", "mutate gcloud +credential-store"),
                ("gcloud compute ssh web", "full", "execute gcloud +remote"),
                ("az vm list", "full", "network az"),
                ("az group delete -n x", "full", "mutate az +destroys"),
                ("gcloud compute $X", "opaque", "network gcloud"),
                ("gcloud beta run services list", "full", "network gcloud"),
                ("gcloud beta run deploy", "full", "mutate gcloud +external-write"),
                ("aws ec2 terminate-instances help", "full", ""),
                ("aws iam get-instance-profile --instance-profile-name list", "full", "network aws"),
                ("gcloud frob wibble --mode list", "unknown", "network gcloud; execute gcloud +unknown-program"),
                ("az vm list --show-details -l west", "full", "network az"),
                ("az vm list --output-file x", "unknown", "network az; execute az +unknown-program"),
                ("aws glacier get-job-output --vault-name v --job-id 1 out.bin", "full", "network aws; write out.bin"),
            ],
        );
    }
}
