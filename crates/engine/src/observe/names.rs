//! Environment variables: which ones turn data into code, which ones are harmless, which ones hold secrets.

/// Variables that make a shell or a program run, load or trust something else.
const POISON: &[&str] = &[
    "BASH_ENV", "BASHOPTS", "BASH_LOADABLES_PATH", "BROWSER", "CC", "CDPATH", "CLASSPATH", "CURL_HOME", "CXX", "DYLD_FALLBACK_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "EDITOR", "ELECTRON_RUN_AS_NODE", "ENV", "EXECIGNORE", "FCEDIT", "FPATH", "GCONV_PATH",
    "GEM_HOME", "GEM_PATH", "GLOBIGNORE", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN", "GREP_OPTIONS", "HISTFILE", "HOME", "HOSTALIASES", "HTTPS_PROXY",
    "HTTP_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "IFS", "INPUTRC", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
    "KUBECONFIG", "LD", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_PRELOAD", "LESSCLOSE", "LESSOPEN", "LOCPATH", "LUA_CPATH", "LUA_INIT", "LUA_PATH",
    "MAKEFILES", "MAKEFLAGS", "MANPAGER", "MAVEN_OPTS", "GRADLE_OPTS", "NIX_PATH", "NLSPATH", "NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "NODE_PATH",
    "NODE_TLS_REJECT_UNAUTHORIZED", "OPENSSL_CONF", "OPENSSL_ENGINES", "PAGER", "PATH", "PERL5DB", "PERL5LIB", "PERL5OPT", "PERLLIB",
    "PHPRC", "PHP_INI_SCAN_DIR", "PIP_CONFIG_FILE", "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL", "PIP_TRUSTED_HOST", "PROMPT_COMMAND", "PS0", "PS1", "PS2",
    "PS4", "PYTHONBREAKPOINT", "PYTHONEXECUTABLE", "PYTHONHOME", "PYTHONINSPECT", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP",
    "PYTHONUSERBASE", "PYTHONWARNINGS", "PYTHONHTTPSVERIFY", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "RESOLV_HOST_CONF", "RES_OPTIONS", "RIPGREP_CONFIG_PATH", "RUBYLIB", "RUBYOPT", "RUSTC", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER",
    "RUSTDOC", "RUSTFLAGS", "SHELL", "SHELLOPTS", "SSH_ASKPASS", "SSH_AUTH_SOCK", "SSLKEYLOGFILE", "SUDO_ASKPASS", "SUDO_EDITOR", "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER", "TERMINFO", "TERMINFO_DIRS", "TMPDIR", "UV_INDEX_URL", "VIMINIT", "EXINIT", "VIMRUNTIME", "VISUAL", "WATCH_EXEC", "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME", "ZDOTDIR", "DOCKER_HOST", "AWS_ENDPOINT_URL", "AWS_CONFIG_FILE", "AWS_CA_BUNDLE",
    "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "BASH_XTRACEFD", "BASH_FUNC", "EPOCHREALTIME",
    "DEBUGINFOD_URLS", "GDK_PIXBUF_MODULE_FILE", "GTK_MODULES", "GIO_EXTRA_MODULES", "QT_PLUGIN_PATH", "AR", "AS", "CPP", "FC", "NM", "RANLIB", "CFLAGS",
    "CXXFLAGS", "LDFLAGS", "CPPFLAGS", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "R_PROFILE", "R_PROFILE_USER",
    "R_ENVIRON", "R_LIBS", "JULIA_LOAD_PATH", "ERL_AFLAGS", "ERL_FLAGS", "ELIXIR_ERL_OPTIONS", "DOTNET_STARTUP_HOOKS", "COR_PROFILER",
    "CORECLR_PROFILER", "DENO_DIR", "BUN_INSTALL", "YARN_RC_FILENAME", "TERRAFORM_CONFIG", "TF_CLI_CONFIG_FILE", "ANSIBLE_CONFIG", "PGSERVICEFILE", "PSQLRC",
    "PSQL_PAGER", "PSQL_EDITOR", "MYSQL_HOME", "SQLITE_HISTORY", "GNUPGHOME", "PASSWORD_STORE_DIR", "NETRC", "WGETRC", "SCREENRC", "TMUX_TMPDIR", "FZF_DEFAULT_COMMAND",
    "FZF_DEFAULT_OPTS", "BAT_PAGER", "BAT_CONFIG_PATH", "DELTA_PAGER", "GH_PAGER", "GH_BROWSER", "GH_EDITOR", "GH_HOST", "GH_CONFIG_DIR", "GLAMOUR_STYLE", "AWS_PAGER",
    "LESS", "LESSKEY", "LESSKEYIN", "MORE", "PLAYWRIGHT_BROWSERS_PATH", "CYPRESS_RUN_BINARY", "PUPPETEER_EXECUTABLE_PATH", "CHROME_BIN", "HUSKY_SKIP",
];

/// Prefixes of the same kind.
const POISON_PREFIXES: &[&str] = &[
    "LD_", "DYLD_", "GIT_", "npm_config_", "NPM_CONFIG_", "CARGO_TARGET_", "CARGO_BUILD_", "CARGO_ALIAS_", "CARGO_REGISTRIES_", "CARGO_SOURCE_",
    "CARGO_PROFILE_", "CARGO_NET_", "CARGO_HTTP_", "BASH_FUNC_", "MAVEN_", "GRADLE_", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PIP_", "UV_", "POETRY_", "BUNDLE_", "DOORWARD",
    "CLAUDE_CODE_", "GEMINI_", "PI_AUTOMODE", "YARN_", "PNPM_", "COREPACK_",
];

/// Variables that change how a program speaks, not what it does.
const HARMLESS: &[&str] = &[
    "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "CI", "DEBUG", "VERBOSE",
    "LOG_LEVEL", "LOGLEVEL", "RUST_LOG", "RUST_BACKTRACE", "RUST_LIB_BACKTRACE", "RUST_MIN_STACK", "RUST_TEST_THREADS", "NODE_ENV", "APP_ENV", "RAILS_ENV",
    "RACK_ENV", "MIX_ENV", "FLASK_ENV", "DJANGO_SETTINGS_MODULE", "ENVIRONMENT", "PORT", "HOST", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONHASHSEED", "PYTHONFAULTHANDLER", "CARGO_TERM_COLOR", "CARGO_INCREMENTAL", "CARGO_BUILD_JOBS", "CARGO_TERM_PROGRESS_WHEN",
    "CARGO_NET_OFFLINE", "GOOS", "GOARCH", "GOARM", "CGO_ENABLED", "GO111MODULE", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "DOCKER_BUILDKIT", "BUILDKIT_PROGRESS",
    "COMPOSE_PROJECT_NAME", "DEBIAN_FRONTEND", "HUSKY", "NEXT_TELEMETRY_DISABLED", "DO_NOT_TRACK", "DOTNET_CLI_TELEMETRY_OPTOUT", "DISABLE_TELEMETRY", "TURBO_TELEMETRY_DISABLED",
    "HOMEBREW_NO_AUTO_UPDATE", "SOURCE_DATE_EPOCH", "SKIP", "TEST_TIMEOUT", "JEST_WORKER_ID", "VITEST", "VITE_CJS_TRACE", "STORYBOOK_DISABLE_TELEMETRY", "BENCH",
    "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_MERGE_AUTOEDIT", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE", "GIT_LITERAL_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_FLUSH", "GIT_ADVICE", "GIT_TRACE", "GIT_CURL_VERBOSE", "GIT_LFS_SKIP_SMUDGE", "AWS_REGION",
    "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_DEFAULT_OUTPUT", "CLOUDSDK_CORE_PROJECT", "CLOUDSDK_CORE_DISABLE_PROMPTS", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE",
    "PGCONNECT_TIMEOUT", "TF_IN_AUTOMATION", "TF_INPUT", "TF_LOG", "KUBECTL_COMMAND_HEADERS", "ANSIBLE_FORCE_COLOR", "ANSIBLE_NOCOWS", "UV_NO_PROGRESS", "UV_OFFLINE", "PIP_NO_INPUT",
    "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_CACHE_DIR", "npm_config_loglevel", "npm_config_yes", "CYPRESS_INSTALL_BINARY", "PUPPETEER_SKIP_DOWNLOAD", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
    "TOKENIZERS_PARALLELISM", "CUDA_VISIBLE_DEVICES", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "MPLBACKEND", "QT_QPA_PLATFORM", "DISPLAY", "SDL_VIDEODRIVER", "ASAN_OPTIONS", "UBSAN_OPTIONS",
    "TSAN_OPTIONS", "MSAN_OPTIONS", "MIRIFLAGS", "INSTA_UPDATE", "INSTA_FORCE_PASS", "UPDATE_SNAPSHOTS", "UPDATE", "PROPTEST_CASES", "QUICKCHECK_TESTS", "NEXTEST_PROFILE", "GH_PROMPT_DISABLED",
    "GH_NO_UPDATE_NOTIFIER", "GH_FORCE_TTY", "GH_REPO", "PRE_COMMIT_COLOR", "LC_ALL", "SYSTEMD_COLORS", "SYSTEMD_LESS", "MANWIDTH", "MANROFFOPT", "LS_COLORS", "GREP_COLORS", "GREP_COLOR", "JQ_COLORS", "TIMEFORMAT",
    "BASH_SILENCE_DEPRECATION_WARNING", "HISTSIZE", "HISTFILESIZE", "OPTIND", "REPLY", "NODE_NO_WARNINGS", "NODE_DISABLE_COLORS", "BABEL_ENV", "TS_NODE_TRANSPILE_ONLY", "ESLINT_USE_FLAT_CONFIG",
    "BROWSERSLIST_IGNORE_OLD_DATA", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "PWDEBUG", "NUXT_TELEMETRY_DISABLED", "ASTRO_TELEMETRY_DISABLED", "VERCEL_ENV", "SENTRY_DSN", "COVERAGE", "SHARD", "RETRIES", "SEED", "TIMEOUT",
];

/// Poison whose usual values are harmless: pagers and editors that only pass text through.
const HARMLESS_VALUES: &[(&str, &[&str])] = &[
    ("PAGER", &["cat", "less", "more", ""]),
    ("GIT_PAGER", &["cat", "less", "more", ""]),
    ("GH_PAGER", &["cat", "less", ""]),
    ("AWS_PAGER", &["cat", "less", ""]),
    ("MANPAGER", &["cat", "less", "col -b"]),
    ("SYSTEMD_PAGER", &["cat", "less", ""]),
    ("PSQL_PAGER", &["cat", "less", ""]),
    ("BAT_PAGER", &["cat", "less", ""]),
    ("DELTA_PAGER", &["cat", "less", ""]),
    ("EDITOR", &["true", "cat", ":"]),
    ("VISUAL", &["true", "cat", ":"]),
    ("GIT_EDITOR", &["true", "cat", ":"]),
    ("GIT_SEQUENCE_EDITOR", &["true", "cat", ":"]),
    ("GIT_ASKPASS", &["true", "echo", ""]),
    ("SSH_ASKPASS", &["true", "echo", ""]),
    ("LESS", &["-R", "-FRX", "-FX", "FRX", "-r", "R", ""]),
    ("RUSTFLAGS", &["-D warnings", "-Dwarnings", "-Awarnings", "-A warnings", "-C target-cpu=native", "-Ctarget-cpu=native", ""]),
    ("RUSTDOCFLAGS", &["-D warnings", "-Dwarnings", ""]),
    ("NODE_OPTIONS", &["", "--no-warnings", "--experimental-vm-modules", "--enable-source-maps"]),
    ("GOFLAGS", &["-mod=mod", "-mod=vendor", "-mod=readonly", "-count=1", "-buildvcs=false", ""]),
    ("GOPROXY", &["off", "direct"]),
    ("IFS", &["", " ", "\n", ",", ":", " \t\n", "\t", ";", "|"]),
    ("PYTHONWARNINGS", &["ignore", "default", "error", "once", "always"]),
    ("GOTOOLCHAIN", &["local", "auto"]),
    ("CC", &["gcc", "clang", "cc"]),
    ("CXX", &["g++", "clang++", "c++"]),
];

/// The variable turns data into code, or moves what programs load, trust or contact.
pub fn is_poison(name: &str) -> bool {
    let base = name.split('[').next().unwrap_or(name);
    POISON.contains(&base) || (POISON_PREFIXES.iter().any(|prefix| base.starts_with(prefix)) && !HARMLESS.contains(&base))
}

/// The variable is known to change nothing that matters.
pub fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

/// A value that makes a poisonous variable harmless.
pub fn is_harmless_value(name: &str, value: &str) -> bool {
    if name == "NODE_OPTIONS" && value.split_whitespace().all(|word| word.starts_with("--max-old-space-size=") || word == "--no-warnings") {
        return true;
    }
    HARMLESS_VALUES.iter().any(|(known, values)| *known == name && values.contains(&value))
}

/// The name says that the value is a secret.
pub fn secret_variable(name: &str) -> bool {
    const WORDS: &[&str] = &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL", "AUTH"];
    let upper = name.to_ascii_uppercase();
    WORDS.iter().any(|word| upper.contains(word)) && !matches!(upper.as_str(), "GIT_AUTHOR_NAME" | "GIT_AUTHOR_EMAIL" | "GIT_AUTHOR_DATE" | "SSH_AUTH_SOCK")
        || upper.ends_with("_PAT")
        || upper.ends_with("_KEY")
}
