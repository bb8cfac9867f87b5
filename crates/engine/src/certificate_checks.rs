//! Finds code and settings that switch certificate checks off, in the spellings of the usual languages.

use crate::path;
use crate::unchecked_commands::{holds_commands, runs_unchecked};

/// Switches as they read in lower case, without space and with one kind of quote.
///
/// Each says by itself that any certificate is taken; words that only might (`insecure`, `verify`) are not here.
const SWITCHES: &[&str] = &[
    // JavaScript and its package managers
    "rejectunauthorized:false",
    "rejectunauthorized:!1",
    "rejectunauthorized=false",
    "\"rejectunauthorized\":false",
    "\"rejectunauthorized\",false",
    "node_tls_reject_unauthorized=\"0\"",
    "node_tls_reject_unauthorized=0",
    "node_tls_reject_unauthorized:\"0\"",
    "node_tls_reject_unauthorized:0",
    "node_tls_reject_unauthorized\"]=\"0\"",
    "node_tls_reject_unauthorized\"]=0",
    "strict-ssl=false",
    "strictssl:false",
    "\"strict-ssl\":false",
    "enablestrictssl:false",
    // Python
    "_create_unverified_context",
    "verify_mode=ssl.cert_none",
    "cert_reqs=ssl.cert_none",
    "cert_reqs=\"cert_none\"",
    "verify_mode=cert_none",
    "check_hostname=false",
    "verify_ssl=false",
    "verifyssl=false",
    "ssl_verify=false",
    "verify_certs=false",
    "validate_certs:false",
    "validate_certs:no",
    "validate_certs=false",
    "validate_certs=no",
    "tls_verify=false",
    "assert_hostname=false",
    "tcpconnector(ssl=false",
    // Ruby, Elixir, Erlang, Perl, C
    "verify_mode=openssl::ssl::verify_none",
    "verify_mode:openssl::ssl::verify_none",
    "verify_mode=>openssl::ssl::verify_none",
    "verify::verify_none",
    "verify_mode::none",
    "verify_mode=:none",
    "ctx,ssl_verify_none",
    "ssl,ssl_verify_none",
    "ssl_verify_mode=>0",
    "verify_hostname=>0",
    "ssl:{verify:false",
    // Go
    "insecureskipverify:true",
    "insecureskipverify=true",
    // PHP and libcurl
    "ssl_verifypeer,0",
    "ssl_verifypeer,false",
    "ssl_verifypeer=>false",
    "ssl_verifypeer=>0",
    "ssl_verifyhost,0",
    "ssl_verifyhost,false",
    "ssl_verifyhost=>0",
    "ssl_verifyhost=>false",
    "\"verify_peer\"=>false",
    "\"verify_peer_name\"=>false",
    "\"verify\"=>false",
    "ssl_verifypeer:0",
    // .NET
    "dangerousacceptanyservercertificatevalidator",
    // Java, Kotlin, Scala
    "noophostnameverifier",
    "allowallhostnameverifier",
    "allow_all_hostname_verifier",
    "trustallstrategy",
    "trustallcerts",
    "insecuretrustmanagerfactory",
    "checkservertrusted(x509certificate[]chain,stringauthtype){}",
    // Rust
    "danger_accept_invalid_certs(true",
    "danger_accept_invalid_hostnames(true",
    "sslverifymode::none",
    // Swift and Apple's settings
    "nsallowsarbitraryloads</key><true/>",
    "nsallowsarbitraryloads\":true",
    // Settings of git, package managers, Kubernetes, ssh and download tools
    "sslverify=false",
    "sslverify=0",
    "sslverify\",\"false\"",
    "insecure_skip_verify:true",
    "insecure_skip_verify=true",
    "insecure-skip-tls-verify:true",
    "insecure-skip-tls-verify=true",
    "skip_tls_verify=true",
    "skip_tls_verify:true",
    "tls_skip_verify=true",
    "tlsskipverify:true",
    "check_certificate=off",
    "check-certificate=off",
    "pythonhttpsverify=0",
    "git_ssl_no_verify=1",
    "git_ssl_no_verify=true",
];

/// Names of settings that check certificates while they are on. Whatever language sets one: off is off.
// The name is enough to know what is meant, so that only the ways to say "off" remain to be read.
const CHECKING: &str = "rejectunauthorized node_tls_reject_unauthorized pythonhttpsverify \
    perl_lwp_ssl_verify_hostname strict-ssl strict_ssl strictssl enablestrictssl verify_ssl verifyssl ssl_verify \
    sslverify ssl_verifypeer ssl_verifyhost ssl_verify_peer ssl_verify_mode verify_certs verify_cert \
    verify_certificate verify_certificates verifycertificate validate_certs validatecertificate tls_verify tlsverify \
    verify_tls verifytls check_hostname assert_hostname verify_hostname verify_peer verify_peer_name verifypeer \
    check_certificate check-certificate";

/// Names of settings that take any certificate while they are on.
const TRUSTING: &str = "insecureskipverify insecure_skip_verify insecure-skip-tls-verify insecure_skip_tls_verify \
    insecureskiptlsverify skip_tls_verify skiptlsverify tls_skip_verify tlsskipverify skip_ssl_verify \
    git_ssl_no_verify ssl_no_verify ignorehttpserrors acceptinsecurecerts tlsallowinvalidcertificates \
    tlsallowinvalidhostnames trustallcertificates trust_all_certs trustservercertificate skipcertificatecheck \
    skipcertificatevalidation nodetlsrejectunauthorized allowinvalidcertificates";

const OFF: &[&str] = &["false", "0", "no", "off", "!1", "none", "disabled", "never"];
const ON: &[&str] = &["true", "1", "yes", "on", "!0"];

/// A database on this machine has mostly a certificate that it made by itself.
const LOCAL: &[&str] = &["localhost", "127.0.0.1", "(local)", "host.docker.internal"];

/// Constants that stand for "no check".
const NOTHING: &[&str] = &["verify_none", "cert_none"];

/// What such a constant is given to.
const TAKING: &[&str] =
    &["verify_mode", "verifymode", "set_verify(", "authmode(", "verify:", "cert_reqs", "set_verify_mode(", "verify=>"];

/// Switches that mean certificates only where requests are made.
const OF_REQUESTS: &[&str] = &[
    ",verify=false",
    "(verify=false",
    "session.verify=false",
    "client.verify=false",
    ",verify=0",
    "(verify=0",
    "session.verify=0",
    "s.verify=false",
    ",verify=(false)",
    "\"verify\":false",
    "\"verify\"]=false",
    "verify=\"none\"",
    "verify:false",
];

/// What a text says that makes requests.
const REQUESTS: &[&str] = &[
    "requests.",
    "httpx",
    "session.",
    "session(",
    "asyncclient(",
    "http.client",
    "boto3",
    "aiohttp",
    "urllib3",
    "ssl.https",
    "guzzle",
    "faraday",
    "httparty",
];

/// Callbacks that decide about a certificate; one that always says yes decides nothing.
const CALLBACKS: &[&str] = &[
    "servercertificatecustomvalidationcallback",
    "servercertificatevalidationcallback",
    "remotecertificatevalidationcallback",
    "hostnameverifier",
    "badcertificatecallback",
    "checkserveridentity",
    "onbadcertificate",
];

/// What such a callback looks like when it always says yes, close behind its name.
const YES: &[&str] = &["=>true", "->true", "returntrue", "=>undefined", "=>{}", "=>null", "={$true}", "{true}"];

/// How far behind its name a callback's body is looked for.
// A parameter list with types fits; the next statement mostly does not.
const BODY: usize = 120;

/// Every switch and callback has one of these in it; most texts have none and are done.
const STEMS: &[&str] = &[
    "ssl",
    "tls",
    "verif",
    "cert",
    "unauthorized",
    "hostkey",
    "trust",
    "arbitraryloads",
    "validat",
    "identity",
    "hostname",
    "httpserrors",
    "insecure",
    "curl",
    "strict-ssl",
];

/// A text that is put into this file switches certificate checks off.
pub(crate) fn switches_off(file: &str, text: &str) -> bool {
    // Prose may speak of it.
    let name = path::name(file).to_ascii_lowercase();
    if [".md", ".txt", ".rst", ".adoc"].iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    if holds_commands(&name, text) && text.lines().any(|line| runs_unchecked(line, LOCAL)) {
        return true;
    }
    let plain = squeezed(text);
    if !STEMS.iter().any(|stem| plain.contains(stem)) {
        return false;
    }
    let makes_requests = || REQUESTS.iter().any(|word| plain.contains(word));
    SWITCHES.iter().any(|switch| says(&plain, switch))
        || (OF_REQUESTS.iter().any(|switch| says(&plain, switch)) && makes_requests())
        || CALLBACKS.iter().any(|name| agrees(&plain, name))
        || CHECKING.split_ascii_whitespace().any(|name| sets(&plain, name, OFF))
        || TRUSTING.split_ascii_whitespace().any(|name| sets(&plain, name, ON))
        || NOTHING.iter().any(|constant| takes(&plain, constant))
        || trusts_all(&plain)
}

/// An edit turns `verify=True` into `verify=False` in a file that nobody can look into.
// As an argument the name means certificates in every library for requests that has it; elsewhere it seldom turns.
pub(crate) fn turns_off(file: &str, old: &str, new: &str) -> bool {
    let (old, new) = (squeezed(old), squeezed(new));
    let is_python = path::name(file).ends_with(".py");
    is_python && old.contains("verify=true") && new.contains("verify=false") && !new.contains("verify=true")
}

/// The setting of this name gets one of these values: `name = v`, `"name": v`, `name => v`, `["name"] = v`, `(name, v)`.
fn sets(plain: &str, name: &str, values: &[&str]) -> bool {
    plain.match_indices(name).any(|(at, _)| {
        let before = plain.get(..at).unwrap_or_default();
        let rest = plain.get(at + name.len()..).unwrap_or_default();
        let between = rest.find(|sign: char| !"\"]})=:>,(".contains(sign)).unwrap_or(rest.len());
        let (link, value) = rest.split_at_checked(between).unwrap_or_default();
        // `==` compares; without any of these the word is only mentioned.
        // A comma alone hands it to `curl_setopt`; elsewhere it is the next item of a list.
        let hands = link.contains(',') && (link.contains('"') || name.starts_with("ssl_verify"));
        let assigns = (link.contains(['=', ':']) || hands) && !link.contains("==") && !link.contains("::");
        let longer = before.ends_with(|sign: char| sign.is_ascii_lowercase() && !name.contains('_'));
        let is_local = || LOCAL.iter().any(|host| tail(before, BODY).contains(host));
        // `None` of Python leaves it as it is; `"none"` and `:none` do not.
        let is_word = |known: &str| known != "none" || link.ends_with('"') || link.ends_with("=:");
        let is_given = values.iter().any(|known| says_first(value, known) && is_word(known));
        assigns && !longer && is_given && !is_local()
    })
}

/// The text begins with this word, and the word ends there.
fn says_first(text: &str, word: &str) -> bool {
    let next = text.strip_prefix(word).map(|rest| rest.chars().next().filter(|letter| *letter != 'l'));
    next.is_some_and(|next| {
        !next.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.')
    })
}

/// The last part of a text.
fn tail(text: &str, length: usize) -> &str {
    let mut start = text.len().saturating_sub(length);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

/// A constant for "no check" is given to what checks.
fn takes(plain: &str, constant: &str) -> bool {
    plain.match_indices(constant).any(|(at, _)| {
        let before = tail(plain.get(..at).unwrap_or_default(), BODY / 2);
        let statement = before.rsplit([';', '{']).next().unwrap_or_default();
        let taken = TAKING.iter().filter_map(|name| statement.rfind(name)).max();
        let link = taken.and_then(|from| statement.get(from..)).unwrap_or("==");
        let rest = plain.get(at + constant.len()..).unwrap_or_default();
        !link.contains("==")
            && !link.contains("!=")
            && !rest.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_')
    })
}

/// A method of Java that is to check a server, and has nothing in it.
fn trusts_all(plain: &str) -> bool {
    plain.match_indices("checkservertrusted(").any(|(at, name)| {
        let rest = plain.get(at + name.len()..).unwrap_or_default();
        let body = rest.split_once(')').map(|(_, body)| body).unwrap_or_default();
        let body = body.strip_prefix("throwscertificateexception").unwrap_or(body);
        body.starts_with("{}") || body.starts_with("{return;}")
    })
}

/// The switch stands there as a whole word, and not only as the beginning of one.
fn says(plain: &str, switch: &str) -> bool {
    plain.match_indices(switch).any(|(at, _)| {
        let rest = plain.get(at + switch.len()..).unwrap_or_default();
        // `0L` is a number of C.
        let next = rest.chars().next().filter(|letter| *letter != 'l');
        !next.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

/// A callback of this name that always says yes.
fn agrees(plain: &str, name: &str) -> bool {
    plain.match_indices(name).any(|(at, _)| {
        let start = at + name.len();
        let mut end = plain.len().min(start + BODY);
        while !plain.is_char_boundary(end) {
            end -= 1;
        }
        let body = plain.get(start..end).unwrap_or_default();
        // What stands behind the statement is about something else.
        let statement = body.split(';').next().unwrap_or_default();
        YES.iter().any(|yes| says(statement, yes) || (yes.ends_with('}') && statement.contains(yes)))
    })
}

/// In lower case, without space and comments, with one kind of quote.
fn squeezed(text: &str) -> String {
    let is_comment =
        |line: &&str| ["//", "#", "--", "*", "/*", "%"].iter().any(|mark| line.trim_start().starts_with(mark));
    text.lines()
        .filter(|line| !is_comment(line))
        .flat_map(str::chars)
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| if matches!(letter, '\'' | '`') { '"' } else { letter.to_ascii_lowercase() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::switches_off;

    #[test]
    fn the_usual_spellings_of_the_usual_languages() {
        for text in [
            "new https.Agent({ rejectUnauthorized: false })",
            "process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'",
            "process.env.NODE_TLS_REJECT_UNAUTHORIZED = 0;",
            "requests.get(url, verify=False)",
            "s = requests.Session()\nsession.verify = False",
            "ctx.check_hostname = False\nctx.verify_mode = ssl.CERT_NONE",
            "ssl._create_default_https_context = ssl._create_unverified_context",
            "http.verify_mode = OpenSSL::SSL::VERIFY_NONE",
            "&tls.Config{InsecureSkipVerify: true}",
            "cfg.InsecureSkipVerify = true",
            "curl_setopt($c, CURLOPT_SSL_VERIFYPEER, false);",
            "curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, 0L);",
            "'verify_peer' => false",
            "new Client(['verify' => false])",
            "handler.ServerCertificateCustomValidationCallback = (a, b, c, d) => true;",
            "HttpClientHandler.DangerousAcceptAnyServerCertificateValidator",
            "ServicePointManager.ServerCertificateValidationCallback += (s, c, h, e) => { return true; };",
            ".hostnameVerifier((hostname, session) -> true)",
            ".setSSLHostnameVerifier(NoopHostnameVerifier.INSTANCE)",
            "Client::builder().danger_accept_invalid_certs(true)",
            "builder.set_verify(SslVerifyMode::NONE)",
            "client.badCertificateCallback = (cert, host, port) => true;",
            "hackney: [ssl: [verify: :verify_none]]",
            "SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);",
            "<key>NSAllowsArbitraryLoads</key>\n  <true/>",
            "strict-ssl=false",
            "[http]\n  sslVerify = false",
            "insecure-skip-tls-verify: true",
            "validate_certs: no",
            "requests.get(u, verify = 0)",
            "os.environ['PYTHONHTTPSVERIFY'] = '0'",
            "ctx.set_verify(SSL.VERIFY_NONE, cb)",
            "verify_ssl: false",
            "http.verify_mode = :none",
            "SSL_verify_mode => SSL_VERIFY_NONE",
            "$ENV{PERL_LWP_SSL_VERIFY_HOSTNAME} = 0;",
            "mbedtls_ssl_conf_authmode(&c, MBEDTLS_SSL_VERIFY_NONE);",
            "Server=db.example;TrustServerCertificate=true;",
            "public void checkServerTrusted(X509Certificate[] c, String a) {}",
            "use: { ignoreHTTPSErrors: true }",
        ] {
            assert!(switches_off("/p/src/a.x", text), "{text}");
        }
    }

    #[test]
    fn commands_in_recipes() {
        for text in ["curl -k https://x.example", "RUN curl -fsSkL https://x | tar x", "wget --no-check-certificate u"]
        {
            assert!(switches_off("/p/build.sh", text), "{text}");
        }
        for text in [
            "# curl -k",
            "curl -k https://localhost:8443",
            "curl -sSL https://x",
            "npm run k",
            "tar -k x",
            "curl -s u | tar xz -k",
        ] {
            assert!(!switches_off("/p/build.sh", text), "{text}");
        }
        assert!(switches_off("/p/Makefile", "get:\n\tcurl --insecure https://x -o y"));
    }

    #[test]
    fn every_spelling_has_a_stem() {
        for word in super::SWITCHES.iter().chain(super::CALLBACKS) {
            assert!(super::STEMS.iter().any(|stem| word.contains(stem)), "{word}");
        }
    }

    #[test]
    fn what_keeps_them_on_or_speaks_of_something_else() {
        for text in [
            "new https.Agent({ rejectUnauthorized: true })",
            "requests.get(url, verify=True)",
            "requests.get(url, verify='/etc/ca.pem')",
            "ctx.verify_mode = ssl.CERT_REQUIRED",
            "&tls.Config{InsecureSkipVerify: false}",
            "curl_setopt($c, CURLOPT_SSL_VERIFYPEER, true);",
            "def verify(token): return False",
            "if (!verify) { return false }",
            "handler.ServerCertificateCustomValidationCallback = Check;",
            "def check(path, verify=False): ...",
            "user.verify = False",
            "parser.set_defaults(verify=False)",
            "assert ctx.verify_mode != ssl.CERT_NONE",
            "if (mode == SSL_VERIFY_NONE) abort();",
            "// never set rejectUnauthorized: false",
            "import javax.net.ssl.HostnameVerifier;\nboolean ok() { return true; }",
            "import { checkServerIdentity } from 'tls'; const noop = () => {};",
            "c.badCertificateCallback = (a, b, c) => false;\nbool ok() => true;",
            "builder.set_verify(SslVerifyMode::NONE_OF_THESE)",
            "if (opts.rejectUnauthorized === false) throw new Error()",
            "verify_ssl: bool = False",
            "insecureSkipVerify: boolean;",
            "Server=localhost;TrustServerCertificate=true;",
            "assert_eq!(mode, SSL_VERIFY_NONE);",
            "match mode { VERIFY_NONE => 1 }",
            "return cfg.InsecureSkipVerify, true",
        ] {
            assert!(!switches_off("/p/src/a.x", text), "{text}");
        }
        assert!(!switches_off("/p/docs/a.md", "never write `verify=False`, or `requests.get(u, verify=False)`"));
    }
}
