//! Hosts that are known by name.

use crate::place::table::Table;

/// What a known host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A package registry or a mirror that it names.
    Registry,
    /// Documentation, specifications and answers that a developer reads.
    Documentation,
    /// Source code.
    CodeHost,
    /// Anybody can receive data there: web hooks, tunnels, pastes, file drops, free hosting.
    Drop,
    /// The name stands for whatever address is written into it.
    Rebinder,
    /// Hands out the credentials of the machine.
    Metadata,
}

/// What is known about a host: by its own name, and by the domains above it.
pub fn kinds(host: &str) -> impl Iterator<Item = Kind> {
    let parents = host.bytes().enumerate().filter(|(_, byte)| *byte == b'.').filter_map(|(at, _)| host.get(at + 1..));
    let above = std::iter::once(host).chain(parents).filter_map(|domain| DOMAINS.find(domain));
    NAMES.find(host).into_iter().chain(above).copied()
}

/// Hosts of which only the name itself counts.
pub static NAMES: Table<Kind> = Table::new(&[
    (&Kind::Registry, &[
        "anaconda.org", "api.nuget.org", "api.rubygems.org", "archive.ubuntu.com", "artifacthub.io",
        "auth.docker.io", "cache.nixos.org", "cdn.cocoapods.org", "cdn.jsdelivr.net", "cdnjs.cloudflare.com",
        "center.conan.io", "central.sonatype.com", "charts.helm.sh", "clojars.org", "cocoapods.org", "conan.io",
        "conda.anaconda.org", "cpan.org", "cran.r-project.org", "crates.io", "deb.debian.org", "deno.land",
        "dl-cdn.alpinelinux.org", "dl.fedoraproject.org", "dl.google.com", "dl.k8s.io", "download.pytorch.org",
        "esm.sh", "files.pythonhosted.org", "formulae.brew.sh", "get.helm.sh", "ghcr.io", "hackage.haskell.org",
        "hex.pm", "hub.docker.com", "index.crates.io", "index.docker.io", "index.rubygems.org", "jitpack.io",
        "jsr.io", "juliahub.com", "lib.rs", "luarocks.org", "mcr.microsoft.com", "metacpan.org",
        "mirrorlist.centos.org", "mvnrepository.com", "nodejs.org", "npm.jsr.io", "npmjs.com", "nuget.org",
        "opam.ocaml.org", "packages.debian.org", "packages.elm-lang.org", "packages.ubuntu.com", "packagist.org",
        "pkg.go.dev", "pkg.julialang.org", "plugins.gradle.org", "ports.ubuntu.com", "proxy.golang.org", "pub.dev",
        "public.ecr.aws", "pypi.org", "quay.io", "registry-1.docker.io", "registry.k8s.io", "registry.npmjs.com",
        "registry.npmjs.org", "registry.npmmirror.com", "registry.terraform.io", "registry.yarnpkg.com",
        "repo.anaconda.com", "repo.hex.pm", "repo.maven.apache.org", "repo.packagist.org", "repo.scala-sbt.org",
        "repo.typesafe.com", "repo1.maven.org", "rubygems.org", "search.maven.org", "search.nixos.org",
        "security.debian.org", "security.ubuntu.com", "services.gradle.org", "static.crates.io",
        "static.rust-lang.org", "storage.flutter-io.com", "sum.golang.org", "swiftpackageindex.com",
        "test.pypi.org", "unpkg.com", "vcpkg.io", "www.npmjs.com", "www.nuget.org", "www.pypi.org",
    ]),
    (&Kind::Documentation, &[
        "ai.google.dev", "angular.dev", "angular.io", "api.dart.dev", "api.flutter.dev", "api.osv.dev",
        "api.rubyonrails.org", "arxiv.org", "askubuntu.com", "babeljs.io", "blog.rust-lang.org", "bun.com",
        "bun.sh", "caniuse.com", "cheat.sh", "cheatsheetseries.owasp.org", "choosealicense.com", "chromium.org",
        "clang.llvm.org", "clojure.org", "clojuredocs.org", "cloud.google.com", "cmake.org", "code.claude.com",
        "cppreference.com", "creativecommons.org", "curl.se", "cve.org", "cwe.mitre.org", "dart.dev",
        "datatracker.ietf.org", "deno.com", "dev.java", "dev.mysql.com", "devblogs.microsoft.com", "devdocs.io",
        "developer.apple.com", "developer.chrome.com", "developer.hashicorp.com", "developer.mozilla.org",
        "developers.cloudflare.com", "developers.google.com", "developers.openai.com", "doc.rust-lang.org",
        "docs.ansible.com", "docs.anthropic.com", "docs.astral.sh", "docs.aws.amazon.com", "docs.claude.com",
        "docs.cloudflare.com", "docs.deno.com", "docs.djangoproject.com", "docs.docker.com", "docs.flutter.dev",
        "docs.github.com", "docs.gitlab.com", "docs.gradle.org", "docs.julialang.org", "docs.kernel.org",
        "docs.microsoft.com", "docs.mongodb.com", "docs.nestjs.com", "docs.netlify.com", "docs.nginx.com",
        "docs.npmjs.com", "docs.oracle.com", "docs.pydantic.dev", "docs.pytest.org", "docs.python.org",
        "docs.pytorch.org", "docs.rs", "docs.ruby-lang.org", "docs.spring.io", "docs.sqlalchemy.org",
        "docs.stripe.com", "docs.swift.org", "doi.org", "elixir-lang.org", "en.cppreference.com", "endoflife.date",
        "esbuild.github.io", "eslint.org", "everything.curl.dev", "explainshell.com", "export.arxiv.org",
        "expressjs.com", "fastapi.tiangolo.com", "fastify.dev", "flask.palletsprojects.com", "flutter.dev",
        "fly.io", "gcc.gnu.org", "getcomposer.org", "git-scm.com", "gnu.org", "go.dev", "golang.org", "gradle.org",
        "grafana.com", "graphql.org", "grpc.io", "guides.rubyonrails.org", "helm.sh", "hexdocs.pm",
        "httpd.apache.org", "huggingface.co", "ietf.org", "isocpp.org", "jestjs.io", "jqlang.github.io",
        "jqlang.org", "json-schema.org", "json.org", "julialang.org", "kernel.org", "kit.svelte.dev",
        "kotlinlang.org", "kubernetes.io", "laravel.com", "learn.microsoft.com", "legacy.reactjs.org",
        "linux.die.net", "llvm.org", "lua.org", "lwn.net", "man7.org", "manpages.debian.org", "manpages.ubuntu.com",
        "mariadb.com", "matplotlib.org", "maven.apache.org", "modelcontextprotocol.io", "mui.com",
        "mypy.readthedocs.io", "nestjs.com", "nextjs.org", "nginx.org", "nim-lang.org", "numpy.org", "nuxt.com",
        "nvd.nist.gov", "ocaml.org", "openapis.org", "openjdk.org", "opensource.org", "opentelemetry.io",
        "orm.drizzle.team", "osv.dev", "owasp.org", "packaging.python.org", "pandas.pydata.org", "peps.python.org",
        "perldoc.perl.org", "php.net", "pip.pypa.io", "platform.openai.com", "playwright.dev", "pnpm.io",
        "postgresql.org", "prettier.io", "prometheus.io", "protobuf.dev", "pubs.opengroup.org", "python-poetry.org",
        "python.org", "pytorch.org", "react.dev", "reactjs.org", "redis.io", "redux.js.org", "rfc-editor.org",
        "rollupjs.org", "ruby-doc.org", "rubyonrails.org", "rust-lang.github.io", "rust-lang.org", "rustup.rs",
        "scikit-learn.org", "scipy.org", "semver.org", "serverfault.com", "sh.rustup.rs", "spdx.org",
        "spec.openapis.org", "spring.io", "sqlite.org", "stackoverflow.com", "storybook.js.org", "superuser.com",
        "svelte.dev", "swagger.io", "swift.org", "symfony.com", "tailwindcss.com", "tanstack.com", "tldr.sh",
        "toml.io", "tools.ietf.org", "typescriptlang.org", "unicode.org", "users.rust-lang.org", "v8.dev",
        "vercel.com", "vite.dev", "vitejs.dev", "vitest.dev", "vuejs.org", "w3.org", "web.dev", "webassembly.org",
        "webpack.js.org", "whatwg.org", "wiki.archlinux.org", "wiki.debian.org", "www.chromium.org", "www.cve.org",
        "www.djangoproject.com", "www.elastic.co", "www.erlang.org", "www.freedesktop.org", "www.git-scm.com",
        "www.gnu.org", "www.golang.org", "www.haskell.org", "www.ietf.org", "www.json.org", "www.kernel.org",
        "www.lua.org", "www.mongodb.com", "www.openssl.org", "www.perl.org", "www.php.net", "www.postgresql.org",
        "www.prisma.io", "www.python.org", "www.rfc-editor.org", "www.ruby-lang.org", "www.rust-lang.org",
        "www.scala-lang.org", "www.sqlite.org", "www.stackoverflow.com", "www.tensorflow.org", "www.terraform.io",
        "www.typescriptlang.org", "www.unicode.org", "www.w3.org", "www.wikidata.org", "www.wikipedia.org",
        "yaml.org", "yarnpkg.com", "ziglang.org", "zod.dev",
    ]),
    (&Kind::CodeHost, &[
        "android.googlesource.com", "api.bitbucket.org", "api.github.com", "bitbucket.org", "cgit.freedesktop.org",
        "chromium.googlesource.com", "codeberg.org", "codeload.github.com", "git.kernel.org", "git.sr.ht",
        "gitea.com", "github.com", "gitlab.com", "gitlab.freedesktop.org", "gitlab.gnome.org",
        "go.googlesource.com", "grep.app", "invent.kde.org", "objects.githubusercontent.com",
        "raw.githubusercontent.com", "release-assets.githubusercontent.com", "salsa.debian.org",
        "source.chromium.org", "sourceforge.net", "sourcegraph.com", "sr.ht", "uploads.github.com",
        "www.github.com", "www.gitlab.com",
    ]),
    (&Kind::Drop, &[
        "api.telegram.org", "discord.com", "discordapp.com", "gist.github.com", "gist.githubusercontent.com",
        "hooks.slack.com",
    ]),
    (&Kind::Metadata, &[
        "instance-data", "instance-data.ec2.internal", "kubernetes.default", "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local", "metadata", "metadata.azure.com", "metadata.azure.internal",
        "metadata.goog", "metadata.google.internal", "metadata.hetzner.cloud", "metadata.internal",
        "metadata.oraclecloud.com", "metadata.packet.net", "metadata.platformequinix.com",
        "metadata.tencentyun.com",
    ]),
]);

/// Domains of which everything below counts too.
pub static DOMAINS: Table<Kind> = Table::new(&[
    (&Kind::Documentation, &[
        "readthedocs.io", "readthedocs.org", "spec.whatwg.org", "stackexchange.com", "wikipedia.org",
    ]),
    (&Kind::Drop, &[
        "0x0.st", "amazonaws.com", "anonfiles.com", "api.pastebin.com", "appspot.com", "azurewebsites.net",
        "backblazeb2.com", "bashupload.com", "beeceptor.com", "blob.core.windows.net", "bore.pub", "bpa.st",
        "burpcollaborator.net", "bxss.me", "canarytokens.com", "canarytokens.org", "catbox.moe", "ceye.io",
        "clbin.com", "cloudfront.net", "cloudfunctions.net", "content.dropboxapi.com", "controlc.com", "deno.dev",
        "devtunnels.ms", "digitaloceanspaces.com", "dnsbin.zhack.ca", "dnslog.cn", "docs.google.com", "dpaste.com",
        "dpaste.org", "drive.google.com", "dropbox.com", "dropboxapi.com", "dropmefiles.com", "envs.sh",
        "extendsclass.com", "file.io", "filebin.net", "firebaseapp.com", "firebaseio.com", "fly.dev", "forms.gle",
        "formspree.io", "free.keep.sh", "getform.io", "ghostbin.com", "github.io", "gitlab.io", "glitch.me",
        "gofile.io", "hastebin.com", "herokuapp.com", "hookbin.com", "hooks.zapier.com", "integromat.com",
        "interact.sh", "interactsh.com", "ix.io", "jsonbin.io", "jsonblob.com", "justpaste.it", "keep.sh",
        "krakenfiles.com", "kvdb.io", "lhr.life", "litterbox.catbox.moe", "loca.lt", "localhost.run",
        "localtunnel.me", "mailinator.com", "maker.ifttt.com", "mediafire.com", "mega.nz", "mockbin.io",
        "mockbin.org", "netlify.app", "ngrok-free.app", "ngrok-free.dev", "ngrok.app", "ngrok.dev", "ngrok.io",
        "npoint.io", "ntfy.sh", "oast.fun", "oast.live", "oast.me", "oast.online", "oast.pro", "oast.site",
        "oast.us", "oastify.com", "on.aws", "onedrive.live.com", "onrender.com", "oshi.at", "p.ip.fi", "pages.dev",
        "paste.ee", "paste.mozilla.org", "paste.rs", "pastebin.com", "pastebin.pl", "pinggy.io", "pipedream.net",
        "pixeldrain.com", "postb.in", "privatebin.net", "ptsv2.com", "ptsv3.com", "pushbullet.com", "pushover.net",
        "r2.dev", "railway.app", "rentry.co", "repl.co", "replit.app", "replit.dev", "requestbin.com",
        "requestbin.net", "requestcatcher.com", "run.app", "script.google.com", "send.vis.ee", "sendspace.com",
        "serveo.net", "sprunge.us", "storage.googleapis.com", "supabase.co", "surge.sh", "temp.sh", "termbin.com",
        "tmpfiles.org", "transfer.sh", "trycloudflare.com", "ttm.sh", "tunnelmole.net", "uguu.se", "val.run",
        "vercel.app", "web.app", "webhook.office.com", "webhook.site", "wetransfer.com", "workers.dev",
        "wormhole.app", "x0.at", "xss.ht", "zippyshare.com",
    ]),
    (&Kind::Rebinder, &[
        "1u.ms", "backname.io", "lacolhost.com", "local.gd", "localtest.me", "lvh.me", "nip.io", "rbndr.us",
        "sslip.io", "traefik.me", "vcap.me", "xip.io",
    ]),
]);

/// Top-level domains that development meets every day, sorted.
pub static COMMON_DOMAINS: &[&str] = &[
    "ac", "academy", "ai", "app", "art", "at", "au", "be", "bg", "bio", "blog", "br", "build", "ca", "ch", "cl",
    "cloud", "cn", "co", "codes", "com", "community", "company", "computer", "cr", "cz", "de", "design", "dev",
    "dk", "edu", "ee", "energy", "engineering", "es", "eu", "fi", "fm", "foundation", "fr", "fyi", "gg", "gov",
    "gr", "group", "guide", "guru", "health", "hk", "hr", "hu", "id", "ie", "il", "in", "info", "int", "io", "is",
    "it", "jobs", "jp", "kr", "la", "lt", "lu", "lv", "md", "me", "mil", "museum", "mx", "name", "net", "network",
    "news", "nl", "no", "nz", "one", "org", "page", "pe", "ph", "pl", "pro", "pt", "ro", "rs", "ru", "run",
    "science", "se", "sg", "sh", "si", "sk", "so", "software", "st", "studio", "support", "systems", "team", "tech",
    "technology", "tools", "tr", "tv", "tw", "ua", "uk", "us", "ventures", "vn", "wiki", "works", "za", "zone",
];
