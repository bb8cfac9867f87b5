//! Files that are known by how their last name begins or ends. Names are folded.

use super::class::*;

/// The class of a name that no table lists.
pub(super) fn shape(name: &str) -> Option<&'static Class> {
    environment(name).or_else(|| beginning(name)).or_else(|| ending(name))
}

/// `.env`, `.env.local`, `prod.env`; not the examples that are meant to be read.
fn environment(name: &str) -> Option<&'static Class> {
    let rest = match name.strip_prefix(".env") {
        Some("") => return Some(&DOT_ENV),
        Some(rest) => rest.strip_prefix(['.', '-', '_'])?,
        None => name.strip_suffix(".env")?,
    };
    let is_example = rest.split(['.', '-', '_']).any(|part| {
        matches!(part, "example" | "examples" | "sample" | "template" | "tmpl" | "tpl" | "dist" | "defaults" | "schema")
    });
    (!is_example).then_some(&DOT_ENV)
}

fn beginning(name: &str) -> Option<&'static Class> {
    // Families of names with a free middle part: `Dockerfile.dev`, `requirements-test.txt`,
    // `docker-compose.prod.yml`.
    const BEGINNINGS: &[(&str, &[&str], &Class)] = &[
        ("dockerfile", &[""], &CONTAINER),
        ("containerfile", &[""], &CONTAINER),
        ("docker-compose", &[".yml", ".yaml"], &CONTAINER),
        ("compose.", &[".yml", ".yaml"], &CONTAINER),
        ("jenkinsfile", &[""], &CI),
        ("azure-pipelines", &[".yml", ".yaml"], &CI),
        (".gitlab-ci", &[".yml", ".yaml"], &CI),
        ("requirements", &[".txt", ".in"], &MANIFEST),
        ("constraints", &[".txt"], &MANIFEST),
        ("pulumi.", &[".yaml", ".yml"], &INFRASTRUCTURE),
        ("service-account", &[".json"], &SHAPED_CREDENTIAL),
        ("service_account", &[".json"], &SHAPED_CREDENTIAL),
        ("client_secret", &[".json"], &SHAPED_CREDENTIAL),
        ("firebase-adminsdk", &[".json"], &SHAPED_CREDENTIAL),
        ("makefile.", &[""], &RECIPE),
        (".aider.conf", &[""], &AGENT),
        ("ssh_host_", &["_key"], &SSH_KEY),
        ("doorward.", &[".exe"], &GUARD),
    ];
    if let Some(rest) = name.strip_prefix("id_") {
        let is_key = ["rsa", "dsa", "ecdsa", "ed25519"].iter().any(|kind| rest.starts_with(kind));
        return (is_key && !name.ends_with(".pub")).then_some(&KEY);
    }
    let first = name.bytes().next()?;
    BEGINNINGS.iter().find_map(|(start, ends, class)| {
        let fits = start.as_bytes().first() == Some(&first)
            && name.starts_with(start)
            && ends.iter().any(|end| name.ends_with(end));
        fits.then_some(*class)
    })
}

fn ending(name: &str) -> Option<&'static Class> {
    let Some((stem, extension)) = name.rsplit_once('.') else {
        let is_key = ["_rsa", "_dsa", "_ecdsa", "_ed25519"].iter().any(|end| name.ends_with(end));
        return is_key.then_some(&SHAPED_KEY);
    };
    match extension {
        "pem" | "key" => (!is_public(stem)).then_some(&SHAPED_KEY),
        "p12" | "pfx" | "p8" | "jks" | "keystore" | "ppk" | "kdb" | "kdbx" | "keytab" | "agekey" | "pkcs12" | "bks" => {
            Some(&SHAPED_KEY)
        }
        "keychain" | "keychain-db" | "ovpn" | "tfrc" | "mobileprovision" | "credentials" | "htpasswd" | "secrets" => {
            Some(&SHAPED_CREDENTIAL)
        }
        "tfstate" => Some(&INFRASTRUCTURE_SECRET),
        "backup" => stem.ends_with(".tfstate").then_some(&INFRASTRUCTURE_SECRET),
        "tf" | "tfvars" | "tofu" | "nomad" | "bicep" | "bicepparam" | "hcl" => Some(&INFRASTRUCTURE),
        "json" if stem.ends_with(".tf") || stem.ends_with(".tfvars") => Some(&INFRASTRUCTURE),
        "json" if stem.contains("firebase-adminsdk") => Some(&SHAPED_CREDENTIAL),
        "dockerfile" | "containerfile" => Some(&CONTAINER),
        "jenkinsfile" => Some(&CI),
        "pth" | "egg-link" => Some(&RUNS_ON_LOAD),
        "js" | "ts" | "mjs" | "cjs" | "mts" | "cts" => stem.ends_with(".config").then_some(&RUNS_ON_LOAD),
        "mk" | "mak" | "just" | "bzl" | "cmake" | "rake" => Some(&RECIPE),
        "gemspec" | "csproj" | "fsproj" | "vbproj" | "vcxproj" | "cabal" | "opam" | "podspec" | "nimble" | "gradle"
        | "rockspec" | "sln" => Some(&MANIFEST),
        "kts" => stem.ends_with(".gradle").then_some(&MANIFEST),
        "code-workspace" | "sublime-project" | "iml" => Some(&EDITOR),
        "md" => (stem.ends_with(".instructions") || stem.ends_with(".prompt") || stem.ends_with(".chatmode"))
            .then_some(&INSTRUCTION),
        "mdc" => Some(&INSTRUCTION),
        _ => None,
    }
}

/// Certificates and public keys are made to be shown.
fn is_public(stem: &str) -> bool {
    stem.split(['.', '-', '_']).any(|part| {
        matches!(
            part,
            "ca" | "cacert"
                | "cacerts"
                | "cert"
                | "certs"
                | "certificate"
                | "crt"
                | "chain"
                | "fullchain"
                | "bundle"
                | "pub"
                | "public"
                | "csr"
                | "dhparam"
                | "roots"
        )
    })
}

/// Written in the language of deployment definitions.
pub(super) fn is_definition(path: &str) -> bool {
    path.ends_with(".yml") || path.ends_with(".yaml") || path.ends_with(".tpl")
}

/// Directories whose definitions describe running systems.
pub(super) fn is_infrastructure(component: &[u8]) -> bool {
    matches!(
        component,
        b"k8s" | b"kubernetes" | b"helm" | b"ansible" | b"playbooks" | b"terraform" | b"argocd" | b"helm-charts"
    )
}

/// Directories of data that tests read.
pub(super) fn is_fixtures(component: &str) -> bool {
    matches!(
        component,
        "testdata"
            | "test-data"
            | "test_data"
            | "fixtures"
            | "fixture"
            | "__fixtures__"
            | "test"
            | "tests"
            | "__tests__"
            | "spec"
            | "specs"
            | "testing"
            | "examples"
            | "example"
            | "mocks"
            | "__mocks__"
            | "node_modules"
            | "site-packages"
            | "vendor"
            | "docs"
            | "e2e"
            | "samples"
    )
}
