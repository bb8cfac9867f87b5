//! Environment variables: which ones turn data into code, which ones are harmless, which ones hold secrets.

mod arguments;
mod caches;
mod tables;

use crate::knowledge::{self, schema::Facet};
pub(super) use arguments::{is_argument, is_plain_switch};
use caches::CACHES;
use tables::{HARMLESS, HARMLESS_VALUES, POISON, POISON_PREFIXES, WEAKENS_TLS};

/// Variables that say whether and where a shell writes down what was typed.
// An agent has no reason to keep a person from seeing what was typed (machine-071, machine-072).
const HISTORY: &[&str] = &["HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTCONTROL", "HISTIGNORE", "SAVEHIST"];

/// Variables that hand a command, flags or a place of code to some program, whatever their value.
// From the manuals of the programs: each value becomes flags, a helper program or a directory that code is loaded
// from, so no value is harmless (machine-400).
const HANDING: &str = "\
    TAR_OPTIONS RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH SVN_SSH HGRCPATH LESSEDIT KUBE_EDITOR KUBECTL_EXTERNAL_DIFF \
    GNUMAKEFLAGS CCACHE_PREFIX CCACHE_COMPILER CARGO CARGO_ENCODED_RUSTFLAGS GOENV GOTOOLDIR GOSUMDB GONOSUMDB \
    BUN_CONFIG_PRELOAD NODE_REPL_EXTERNAL_MODULE TS_NODE_REQUIRE TS_NODE_PROJECT TS_NODE_COMPILER \
    COVERAGE_PROCESS_START COVERAGE_RCFILE PYLINTRC MSBUILD_EXE_PATH CORECLR_PROFILER_PATH SSH_SK_PROVIDER \
    OPENSSL_MODULES HELM_PLUGINS CLOUDSDK_PYTHON TF_CLI_ARGS TF_DATA_DIR ANSIBLE_LIBRARY CMAKE_TOOLCHAIN_FILE \
    CMAKE_PROJECT_INCLUDE PKG_CONFIG M4 ZIPOPT ACKRC LIBMYSQL_PLUGINS GVIMINIT MYVIMRC EMACSLOADPATH \
    ESBUILD_BINARY_PATH SASS_BINARY_PATH CHROME_PATH SENTRYCLI_CDNURL ELECTRON_MIRROR NX_TASKS_RUNNER \
    LEFTHOOK_CONFIG LEFTHOOK_BIN PRE_COMMIT_HOME ASAN_SYMBOLIZER_PATH LLVM_SYMBOLIZER_PATH VALGRIND_OPTS GDBINIT \
    PIPENV_PIPFILE MIX_EXS COMPOSE_FILE PGHOSTADDR HEX_MIRROR RUSTUP_DIST_SERVER ALEMBIC_CONFIG MALLOC_TRACE \
    GLIBC_TUNABLES DOCKER_CONFIG BOTO_CONFIG PGPASSFILE";

/// The variable decides whether a shell keeps a history.
pub(super) fn is_history(name: &str) -> bool {
    HISTORY.contains(&name)
}

/// The name says that the variable switches a guard off: `X_HOOKS_DISABLED`, `SKIP_PERMISSIONS`.
fn disarms(name: &str) -> bool {
    // With one of the words below, in any order: `AGENT_HOOKS_DISABLED`, `SKIP_SAFETY_CHECKS`. New agents invent new
    // names (machine-081).
    const GUARDS: &[&str] = &["GUARD", "HOOK", "SAFETY", "PERMISSION", "APPROVAL", "SANDBOX", "AUTOMODE"];
    // Either half alone is harmless: `NO_COLOR`, `HOOK_URL`.
    const SWITCHES: &[&str] =
        &["DISABLE", "SKIP", "BYPASS", "IGNORE", "UNSAFE", "YOLO", "OFF", "NO", "WITHOUT", "ALLOW"];
    let upper = name.to_ascii_uppercase();
    GUARDS.iter().any(|guard| upper.contains(guard))
        && upper.split('_').any(|word| SWITCHES.iter().any(|switch| word == *switch || word == format!("{switch}D")))
}

/// Variables that tell git hooks and what runs them to let everything pass, and the values that do not.
// Hook managers read these. The listed values are the ones that leave the checks on (tools-808, tools-812,
// tools-814).
const SKIPS: &[(&str, &[&str])] = &[
    ("HUSKY", &["1", "2"]),
    ("HUSKY_SKIP", &[]),
    ("HUSKY_SKIP_HOOKS", &[]),
    ("HUSKY_SKIP_INSTALL", &[]),
    ("LEFTHOOK", &["1", "true"]),
    ("LEFTHOOK_EXCLUDE", &[]),
    ("OVERCOMMIT_DISABLE", &[]),
    ("PRE_COMMIT_ALLOW_NO_CONFIG", &[]),
    ("SKIP", &[]),
    ("SKIP_INSTALL_SIMPLE_GIT_HOOKS", &[]),
    ("SKIP_SIMPLE_GIT_HOOKS", &[]),
];

/// The variable is one that skips checks; what it says is another question.
fn is_skip(name: &str) -> bool {
    SKIPS.iter().any(|(known, _)| *known == name)
}

/// The variable skips checks with this value, or may if that is not known.
pub(super) fn skips_checks(name: &str, value: Option<&str>) -> bool {
    let Some((_, harmless)) = SKIPS.iter().find(|(known, _)| *known == name) else { return false };
    value.is_none_or(|value| !value.is_empty() && !harmless.contains(&value))
}

/// The variable makes a program take any certificate.
pub(super) fn weakens_tls(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    WEAKENS_TLS.contains(&upper.as_str())
}

/// The variable turns data into code, or moves what programs load, trust or contact.
pub(super) fn is_poison(name: &str) -> bool {
    let base = name.split('[').next().unwrap_or(name);
    !is_skip(base) && is_listed_poison(base)
}

fn is_listed_poison(base: &str) -> bool {
    POISON.contains(&base)
        || weakens_tls(base)
        || disarms(base)
        || (POISON_PREFIXES.iter().any(|prefix| base.starts_with(prefix)) && !HARMLESS.contains(&base))
}

/// The variable is known to change nothing that matters, with this value.
pub(super) fn is_harmless(name: &str, value: Option<&str>) -> bool {
    (HARMLESS.contains(&name) || is_skip(name) || name.starts_with("LC_")) && !leads_elsewhere(name, value)
}

/// The value of a variable that is harmless otherwise leads to a file, a host or a command.
pub(super) fn leads_elsewhere(name: &str, value: Option<&str>) -> bool {
    // Harmless as a word or a switch. With a path, a `!` or a pipe in its value each of them loads, writes or runs
    // something.
    const LEADING: &[&str] = &[
        "ASAN_OPTIONS",
        "UBSAN_OPTIONS",
        "TSAN_OPTIONS",
        "MSAN_OPTIONS",
        "MIRIFLAGS",
        "CYPRESS_INSTALL_BINARY",
        "SYSTEMD_LESS",
        "SENTRY_DSN",
        "GOWORK",
        "RUSTUP_TOOLCHAIN",
        "LESSHISTFILE",
        "DJANGO_SETTINGS_MODULE",
    ];
    let leads = |value: Option<&str>| value.is_none_or(|value| value.contains(['/', '!', '|']));
    let is_here =
        |value: Option<&str>| matches!(value, Some("localhost" | "127.0.0.1" | "::1" | "db" | "postgres" | ""));
    let is_set = value.is_none_or(|value| !value.is_empty());
    // `HOST/OWNER/REPO`: another machine than the usual one.
    let names_host = |value: &str| value.split('/').count() > 2 && !value.starts_with("github.com/");
    (LEADING.contains(&name) && leads(value))
        || (name == "GH_REPO" && value.is_none_or(names_host))
        || (name == "PGHOST" && !is_here(value))
        || (is_set && (HANDING.split_whitespace().any(|known| known == name) || name.starts_with("TF_CLI_ARGS_")))
}

/// The variable says where a tool chain keeps what it can make again.
pub(super) fn is_cache(name: &str) -> bool {
    CACHES.contains(&name)
}

/// A value that makes a poisonous variable harmless.
pub(super) fn is_harmless_value(name: &str, value: &str) -> bool {
    if name == "NODE_OPTIONS"
        && value.split_whitespace().all(|word| word.starts_with("--max-old-space-size=") || word == "--no-warnings")
    {
        return true;
    }
    let is_compiler = || matches!(name, "CC" | "CXX") && knowledge::built_in().facets(value).has(Facet::Toolchain);
    is_compiler() || HARMLESS_VALUES.iter().any(|(known, values)| *known == name && values.contains(&value))
}

/// The name says that the value is a secret.
pub(super) fn secret_variable(name: &str) -> bool {
    // A variable with such a part in its name holds a secret more often than not; printing it asks.
    const WORDS: &[&str] = &[
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "API_KEY",
        "APIKEY",
        "PRIVATE_KEY",
        "ACCESS_KEY",
        "CREDENTIAL",
        "AUTH",
    ];
    let upper = name.to_ascii_uppercase();
    WORDS.iter().any(|word| upper.contains(word))
        && !matches!(upper.as_str(), "GIT_AUTHOR_NAME" | "GIT_AUTHOR_EMAIL" | "GIT_AUTHOR_DATE" | "SSH_AUTH_SOCK")
        || upper.ends_with("_PAT")
        || upper.ends_with("_KEY")
        || holds_connection(&upper)
}

/// `DATABASE_URL`, `MONGO_URI`, `REPORTING_DSN`: such an address has the password in it.
fn holds_connection(upper: &str) -> bool {
    // Services that are reached with a login in the address. `SITE_URL` and the like have none.
    const SERVICES: &[&str] = &[
        "DATABASE",
        "DB",
        "MONGO",
        "MONGODB",
        "REDIS",
        "POSTGRES",
        "POSTGRESQL",
        "PG",
        "MYSQL",
        "MARIADB",
        "AMQP",
        "RABBITMQ",
        "BROKER",
        "CLICKHOUSE",
        "ELASTIC",
        "ELASTICSEARCH",
        "SMTP",
        "MAILER",
    ];
    if upper.contains("CONNECTION_STRING") || upper.ends_with("_DSN") {
        return true;
    }
    let name = upper.strip_suffix("_URL").or_else(|| upper.strip_suffix("_URI"));
    name.is_some_and(|name| name.split('_').any(|word| SERVICES.contains(&word)))
}
