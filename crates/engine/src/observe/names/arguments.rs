//! Variables that are arguments to the code of a project: no program that doorward knows reads their names.

use crate::knowledge::packed::Packed;

/// Words in names that switch a check off, reach a live system or hold a secret.
// `BYPASS_LOGIN=1 python3 serve.py` is a question whatever reads it: the name says what it is for.
const TELLING: &[&str] = &[
    "AUTH",
    "BYPASS",
    "INSECURE",
    "SKIP",
    "DISABLE",
    "DISABLED",
    "PROD",
    "PRODUCTION",
    "LIVE",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "KEY",
    "CERT",
    "VERIFY",
    "UNSAFE",
    "DANGEROUS",
    "DANGEROUSLY",
    "FORCE",
    "ALLOW",
    "SUDO",
    "ROOT",
    "ADMIN",
    "DEPLOY",
    "RELEASE",
    "PUBLISH",
    "DELETE",
    "DESTROY",
    "DROP",
    "PURGE",
    "WIPE",
    "RESET",
    "MIGRATE",
    "SANDBOX",
    "GUARD",
    "HOOK",
    "HOOKS",
    "PERMISSION",
    "PERMISSIONS",
    "APPROVE",
    "APPROVAL",
    "LICENSE",
    "PAYMENT",
    "REAL",
    "SIGN",
    "SIGNING",
    "TLS",
    "SSL",
];

/// Words in names that programs take flags, commands, places or machines from.
// The naming of variables that steer programs, in whichever program they are read.
const STEERING: &[&str] = &[
    "OPTIONS",
    "OPTS",
    "OPT",
    "FLAGS",
    "ARGS",
    "COMMAND",
    "CMD",
    "EDITOR",
    "PAGER",
    "SHELL",
    "BROWSER",
    "EXEC",
    "EXECUTABLE",
    "BIN",
    "BINARY",
    "PATH",
    "HOME",
    "CONFIG",
    "CONF",
    "RC",
    "CFG",
    "SETTINGS",
    "PROFILE",
    "PROXY",
    "PRELOAD",
    "PLUGIN",
    "PLUGINS",
    "MODULE",
    "MODULES",
    "LOADER",
    "WRAPPER",
    "LAUNCHER",
    "REQUIRE",
    "IMPORT",
    "INIT",
    "STARTUP",
    "RUNNER",
    "REGISTRY",
    "INDEX",
    "MIRROR",
    "SOURCE",
    "REPO",
    "LIBRARY",
    "LIB",
    "CLASSPATH",
    "INCLUDE",
    "COMPILER",
    "LINKER",
    "TOOLCHAIN",
    "INTERPRETER",
    "RUNTIME",
    "PYTHON",
    "HOST",
    "HOSTS",
    "HOSTNAME",
    "URL",
    "URI",
    "ENDPOINT",
    "DSN",
    "ADDR",
    "ADDRESS",
    "SERVER",
    "REMOTE",
    "WEBHOOK",
    "TARGET",
    "CLUSTER",
    "REGION",
    "ACCOUNT",
    "NAMESPACE",
    "CONTEXT",
    "ORIGINS",
    "ORIGIN",
];

/// First words of names that runtimes and libraries read, besides those of programs.
// From their manuals. Names such as `GOMODCACHE` and `PYTHONSTARTUP` have no underscore, so beginnings count.
const STEMS: &[&str] = &[
    "GO",
    "CGO",
    "PY",
    "NODE",
    "NPM",
    "RUST",
    "CARGO",
    "JAVA",
    "JVM",
    "JDK",
    "RUBY",
    "GEM",
    "BUNDLE",
    "PHP",
    "PERL",
    "LUA",
    "DOTNET",
    "CORECLR",
    "COMPLUS",
    "NUGET",
    "GIT",
    "SSH",
    "LD",
    "DYLD",
    "MALLOC",
    "GLIBC",
    "LIBC",
    "NSS",
    "RES",
    "GCONV",
    "LOC",
    "BASH",
    "ZSH",
    "ENV",
    "PROMPT",
    "PS",
    "IFS",
    "CC",
    "CXX",
    "AR",
    "AS",
    "LLVM",
    "CLANG",
    "ASAN",
    "MSAN",
    "TSAN",
    "UBSAN",
    "TF",
    "AWS",
    "GOOGLE",
    "GCP",
    "AZURE",
    "ARM",
    "KUBE",
    "DOCKER",
    "COMPOSE",
    "CLAUDE",
    "CODEX",
    "GEMINI",
    "OPENCODE",
    "COPILOT",
    "CURSOR",
    "DOORWARD",
    "DJANGO",
    "FLASK",
    "RAILS",
    "SPRING",
    "LARAVEL",
    "CELERY",
    "OTEL",
    "SENTRY",
    "DD",
    "ELECTRON",
    "CHROME",
    "PUPPETEER",
    "PLAYWRIGHT",
    "SELENIUM",
    "BROWSERSLIST",
    "BABEL",
    "TS",
    "NX",
    "TURBO",
    "VITE",
    "NEXT",
    "NUXT",
    "XDG",
    "SYSTEMD",
    "DBUS",
    "DISPLAY",
    "QT",
    "GTK",
    "SDL",
    "OPENSSL",
    "CURL",
    "HTTP",
    "HTTPS",
    "FTP",
    "ALL",
    "NO",
    "LESS",
    "MAN",
    "TERM",
    "POSIX",
    "MSBUILD",
    "VS",
    "HEX",
    "ERL",
    "ELIXIR",
    "MIX",
    "OPAM",
    "OCAML",
    "GHC",
    "R",
    "UV",
    "PIP",
    "POETRY",
    "PDM",
    "CONDA",
    "HF",
    "CUDA",
    "NVIDIA",
    "OMP",
    "MKL",
    "ANSIBLE",
    "VAULT",
    "HUSKY",
    "LEFTHOOK",
    "PRE",
];

/// First words that are also names of programs which take nothing from the environment.
const PLAIN: &[&str] = &["test", "time", "file", "id", "last", "look", "more", "split", "join", "sample"];

/// No listed program reads the name, and the value is a plain word, number or path of the project.
pub(in crate::observe) fn is_argument(knowledge: Packed, name: &str, value: Option<&str>) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_name = upper == name && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut words = upper.split('_').filter(|word| !word.is_empty());
    let first = upper.split('_').next().unwrap_or_default();
    let is_read = STEMS.contains(&first)
        // Without an underscore the stem may be only the beginning: `GOCOVERDIR`.
        || !upper.contains('_') && STEMS.iter().any(|stem| stem.len() > 1 && upper.starts_with(stem))
        || is_program(knowledge, first);
    let tells = words.any(|word| TELLING.contains(&word) || STEERING.contains(&word) || is_compound(word));
    is_name && !is_read && !tells && value.is_some_and(is_plain)
}

/// The flag switches something in tests: its words do not say that they check less, reach further or load code.
pub(in crate::observe) fn is_plain_switch(name: &str, value: Option<&str>) -> bool {
    // Besides the words of variables: what such flags of test runners do with what they are given.
    const WORDS: &[&str] = &[
        "IMPORT",
        "OVERRIDE",
        "INI",
        "TEMP",
        "BASETEMP",
        "ROOTDIR",
        "CONFCUTDIR",
        "EVAL",
        "SCRIPT",
        "SETUP",
        "LOAD",
        "OUT",
        "OUTPUT",
        "LOG",
        "REPORT",
        "XML",
        "HTML",
        "JSON",
        "PDB",
        "TRACE",
        "COLLECT",
        "P",
        "C",
        "K",
        "M",
        "N",
        "O",
        "R",
        "W",
        "X",
    ];
    let upper = name.trim_start_matches('-').to_ascii_uppercase();
    let is_name = upper.len() > 1
        && upper.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        && upper.starts_with(|first: char| first.is_ascii_alphabetic());
    let tells =
        |word: &str| TELLING.contains(&word) || STEERING.contains(&word) || WORDS.contains(&word) || is_compound(word);
    is_name && !upper.split(['-', '_']).any(tells) && value.is_none_or(is_plain)
}

fn is_program(knowledge: Packed, first: &str) -> bool {
    let lower = first.to_ascii_lowercase();
    !PLAIN.contains(&lower.as_str()) && knowledge.entry(&lower).is_some()
}

/// `NOVERIFY`, `LOGINBYPASS`: one of the telling words inside another.
fn is_compound(word: &str) -> bool {
    let is_inside = |part: &&&str| part.len() > 3 && word.len() > part.len() && word.contains(**part);
    TELLING.iter().chain(STEERING).find(is_inside).is_some()
}

/// A word, a number or a path: nothing that a shell would read as more, and no other machine.
fn is_plain(value: &str) -> bool {
    let letters = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.,/=+%".contains(&byte));
    let is_live = |word: &str| {
        let word = word.to_ascii_lowercase();
        ["prod", "production", "live"].contains(&word.as_str())
    };
    letters
        && value.len() <= 128
        && !value.starts_with(['/', '-', '='])
        && !value.contains("//")
        && !value.split(['/', ',', '=']).any(|piece| piece == ".." || names_machine(piece))
        && !value.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_live)
}

/// `10.0.0.5`, `db.example.com`: more than a file name with an ending.
fn names_machine(piece: &str) -> bool {
    let labels: Vec<&str> = piece.split('.').collect();
    let is_number = labels.iter().all(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit()));
    labels.len() > 2 && !(is_number && labels.len() == 3)
}
