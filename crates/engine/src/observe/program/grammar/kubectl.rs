//! `kubectl`: secrets that are printed, dry runs that are none, manifests from elsewhere.

use doorward_vocabulary::{Degree, Mark, Operation, Scope, Sensitivity};

use super::super::Invocation;
use crate::knowledge::schema::{Does, Role};
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;

pub(super) fn kubectl(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let verb = invocation
        .args
        .entry()
        .and_then(|entry| entry.key.split_once(' '))
        .map_or(String::new(), |(_, verb)| verb.to_owned());
    for given in invocation
        .args
        .given
        .iter_mut()
        .filter(|given| matches!(given.name.as_str(), "-f" | "--filename" | "-k" | "--kustomize"))
    {
        if given.value.as_ref().is_some_and(|value| value.text.contains("://") || value.text.starts_with("github.com/"))
        {
            given.role = Role::Url;
        }
    }
    let template = invocation.args.value("-o").or(invocation.args.value("--output")).cloned();
    if let Some((_, file)) = template.as_ref().and_then(|value| value.text.split_once("-file=")) {
        let file = template.as_ref().map(|value| value.with_text(file)).unwrap_or_default();
        found.touch(Touch::Read, file);
    }
    let pretends = invocation.args.value("--dry-run").map(|value| value.text.clone());
    if matches!(pretends.as_deref(), Some("none" | "false")) {
        invocation.does = invocation.args.entry().map(|entry| entry.does.clone()).unwrap_or_default();
    }
    match verb.as_str() {
        "get" | "describe" if prints_secret(&verb, invocation) => invocation.does.push(secret()),
        "drain" => invocation.does.iter_mut().for_each(|does| does.marks.add(Mark::Destroys)),
        "edit" => invocation.does.iter_mut().for_each(|does| does.marks.add(Mark::Interactive)),
        "exec" | "attach" | "run" | "debug" if invocation.args.operands.iter().any(|word| word.dynamic) => {
            found.doubt(Degree::Opaque, "a command in a container that doorward can't see");
        }
        _ => {}
    }
    found
}

/// The content of a secret is shown, not only its name.
fn prints_secret(verb: &str, invocation: &Invocation) -> bool {
    let is_secret = |field: &Field| {
        field.dynamic
            || field
                .text
                .split([',', '/', '.'])
                .any(|kind| matches!(kind.to_ascii_lowercase().as_str(), "secret" | "secrets"))
    };
    let named = invocation.args.operands.first().is_some_and(is_secret)
        || invocation.args.operands.iter().any(|field| field.text.starts_with("secret"));
    let format = invocation.args.value("-o").or(invocation.args.value("--output")).map(|value| value.text.as_str());
    let names_only = matches!(format, None | Some("name" | "wide" | ""));
    named && verb == "get" && (!names_only || invocation.args.has("--template"))
}

fn secret() -> Does {
    let mut does = Does::usual(Operation::Read);
    does.scope = Scope::External;
    does.sensitivity = Sensitivity::Credential;
    does.marks.add(Mark::SecretReturning);
    does
}

#[cfg(test)]
mod tests {
    use super::super::check::check;

    const KUBECTL: &str = "name = 'kubectl'\nwhat = 'x'\ngrammar = 'kubectl'\n[flags]\n'-n' = 'data'\n[sub.'get describe']\noperands = ['data*']\ndoes = ['network']\nflags.'-o --output' = 'data'\n[sub.apply]\noperands = ['data*']\ndoes = ['mutate external irreversible beyond +deploy']\nflags.'-f' = 'read'\nflags.'--dry-run' = 'dry-run ?data'\n[sub.drain]\noperands = ['data*']\ndoes = ['mutate external irreversible beyond +deploy']";

    #[test]
    fn clusters() {
        check(
            &[KUBECTL],
            &[
                ("kubectl get pods -n web -o yaml", "full", "network kubectl get"),
                ("kubectl get secrets", "full", "network kubectl get"),
                ("kubectl describe secret db", "full", "network kubectl describe"),
                ("kubectl get secret db -o yaml", "full", "network kubectl get; read kubectl get +secret-returning"),
                (
                    "kubectl get secret/db -o jsonpath='{.data}'",
                    "full",
                    "network kubectl get; read kubectl get +secret-returning",
                ),
                ("kubectl get pods,secrets -o json", "full", "network kubectl get; read kubectl get +secret-returning"),
                ("kubectl apply -f k8s/app.yaml", "full", "read k8s/app.yaml; mutate kubectl apply +deploy"),
                ("kubectl apply -f https://x.example/a.yaml", "full", "network x.example; mutate kubectl apply"),
                ("kubectl apply --dry-run=client -f a.yaml", "full", "read a.yaml"),
                ("kubectl apply --dry-run=none -f a.yaml", "full", "read a.yaml; mutate kubectl apply"),
                ("kubectl drain node1", "full", "mutate kubectl drain +destroys"),
            ],
        );
    }
}
