//! Clients of cloud providers: the verb says whether a call reads, changes, destroys or hands out secrets.

use doorward_vocabulary::{Degree, Mark, Marks, Operation, Reach, Reversibility, Scope, Sensitivity};

use super::super::Invocation;
use super::cloud_words::*;
use crate::knowledge::packed::Packed;
use crate::knowledge::schema::{Does, Entry, Role, Takes};
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;

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

/// Joins a flag that no table knows with its value, so that the value is not taken for a verb: `--name list`.
pub(super) fn joined(entry: &Entry, words: &[Field], knowledge: Packed) -> Option<Vec<Field>> {
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

/// `aws s3api get-object --bucket b --key k file`: the last word names the file that is written.
fn streamed(invocation: &Invocation) -> Option<Field> {
    let words = &invocation.args.operands;
    if !invocation.by.name.starts_with("aws") || !words.iter().any(|word| STREAMED.contains(&word.text.as_str())) {
        return None;
    }
    words.last().filter(|last| !STREAMED.contains(&last.text.as_str())).cloned()
}

pub(super) fn cloud_cli(invocation: &mut Invocation) -> Findings {
    let mut found = cloud_files(invocation);
    if let Some(copied) = cloud_copy(invocation) {
        found.extend(copied);
        return found;
    }
    if asks_help(invocation) {
        invocation.args.unknown_sub = None;
        invocation.does.clear();
        invocation.done = true;
        return found;
    }
    let described = invocation.args.entry().is_none_or(|entry| entry.grammar.is_none());
    if described || invocation.args.operands.is_empty() {
        return found;
    }
    let Some(verb) = cloud_verb(&mut found, invocation) else {
        found.doubt(Degree::Unknown, format!("what `{}` should do", invocation.by.name));
        return found;
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
    if let Some(file) = streamed(invocation) {
        found.write(Touch::Write, file);
    }
    match verb {
        Verb::Read => {}
        Verb::Secret => invocation.does.push(effect(Operation::Read, Mark::SecretReturning)),
        Verb::Local => invocation.does = vec![effect(Operation::Mutate, Mark::CredentialStore)],
        Verb::Change => invocation.does = vec![effect(Operation::Mutate, Mark::ExternalWrite)],
        Verb::Remote => invocation.does = vec![effect(Operation::Execute, Mark::Remote)],
        Verb::Destroy => invocation.does = vec![effect(Operation::Mutate, Mark::Destroys)],
    }
    found
}

fn asks_help(invocation: &Invocation) -> bool {
    let bare = invocation.args.given.is_empty() && invocation.args.unknown.is_empty();
    let words = &invocation.args.operands;
    let is_help = |word: Option<&Field>| word.is_some_and(|word| word.text == "help");
    invocation.args.has_any(&["--help", "-h"])
        || (bare && is_help(words.last()) && invocation.by.name.starts_with("aws"))
        || (bare && is_help(words.first()) && invocation.args.chain.len() == 1)
}

/// The gravest verb among the first words.
fn cloud_verb(found: &mut Findings, invocation: &Invocation) -> Option<Verb> {
    let aws = invocation.by.name.starts_with("aws");
    let preview = invocation.args.operands.first().is_some_and(|word| matches!(word.text.as_str(), "alpha" | "beta"));
    let from = if invocation.args.chain.len() == 1 { 1 + usize::from(preview && !aws) } else { 0 };
    let words = invocation.args.operands.get(from..).unwrap_or_default();
    let words = words.get(..words.len().min(if aws { 1 } else { 5 })).unwrap_or_default();
    let mut gravest = None;
    for word in words {
        match word.exact() {
            Some(text) => gravest = gravest.max(verb(text, aws)),
            None => found.doubt(Degree::Opaque, format!("which command of `{}`", invocation.by.name)),
        }
    }
    if names_azure_secrets(invocation) || reveals(invocation) { gravest.max(Some(Verb::Secret)) } else { gravest }
}

/// `file://path` in a value is read and sent.
fn cloud_files(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let given = invocation.args.given.iter().filter_map(|given| given.value.as_ref());
    for word in invocation.args.operands.iter().chain(given) {
        if let Some((_, path)) = word.text.split_once("file://").or(word.text.split_once("fileb://")) {
            found.role(word.with_text(path), Role::Upload);
        }
    }
    found
}

/// `aws s3 cp from to`: one side may be here.
fn cloud_copy(invocation: &mut Invocation) -> Option<Findings> {
    let copies = ["cp", "mv", "sync"].iter().any(|verb| {
        invocation.by.name.ends_with(&format!("s3 {verb}")) || invocation.by.name.ends_with(&format!("storage {verb}"))
    });
    let ([from, to], true) = (invocation.args.operands.as_slice(), copies) else { return None };
    let (from, to) = (from.clone(), to.clone());
    let mut found = Findings::default();
    if invocation.does.is_empty() {
        return Some(found);
    }
    let there = |field: &Field| field.text.starts_with("s3://") || field.text.starts_with("gs://");
    if !there(&from) {
        found.role(from.clone(), Role::Upload);
        if invocation.by.name.ends_with("mv") {
            found.role(from, Role::DeleteTree);
        }
    }
    if !there(&to) && to.text != "-" {
        found.write(Touch::Write, to);
        if !invocation.by.name.ends_with("mv") {
            invocation.does = vec![Does {
                marks: Marks::default().with(Mark::Cloud).with(Mark::Download),
                ..Does::usual(Operation::Network)
            }];
        }
    }
    Some(found)
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
    // `get-credentials` of a cluster writes them to a file and shows nothing.
    let is_secret = SECRET.contains(&word) || (shows_a_secret(word) && !LOCAL.contains(&word));
    if dashed && READING_PAIRS.contains(&pair.as_str()) && !is_secret {
        Some(Verb::Read)
    } else if is_secret {
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

    const AWS: &str = "name = 'aws'\nwhat = 'x'\ngrammar = 'cloud-cli'\ndoes = ['network +cloud']\n[flags]\n'--region --query' = 'name'\n[sub.s3]\ndoes = ['network +cloud']\n[sub.s3.sub.ls]\noperands = ['name?']\ndoes = ['network +cloud']\n[sub.s3.sub.'cp sync']\noperands = ['name', 'name']\ndoes = ['network external irreversible beyond +cloud +upload']";
    const GCLOUD: &str = "name = 'gcloud'\naliases = ['az']\nwhat = 'x'\ngrammar = 'cloud-cli'\ndoes = ['network +cloud']\n[flags]\n'--zone -g -n' = 'name'";

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
