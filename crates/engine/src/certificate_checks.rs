//! Finds code and settings that switch certificate checks off, in the spellings of the usual languages.

use crate::path;

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

/// Switches that mean certificates only where requests are made.
const OF_REQUESTS: &[&str] = &[",verify=false", "(verify=false", "session.verify=false", "client.verify=false"];

/// What a text says that makes requests.
const REQUESTS: &[&str] = &["requests.", "httpx", "session.", "asyncclient(", "http.client"];

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
const YES: &[&str] = &["=>true", "->true", "returntrue", "=>undefined", "=>{}", "=>null"];

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
];

/// A text that is put into this file switches certificate checks off.
pub(crate) fn switches_off(file: &str, text: &str) -> bool {
    // Prose may speak of it.
    let name = path::name(file).to_ascii_lowercase();
    if [".md", ".txt", ".rst", ".adoc"].iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    let plain = squeezed(text);
    if !STEMS.iter().any(|stem| plain.contains(stem)) {
        return false;
    }
    let makes_requests = || REQUESTS.iter().any(|word| plain.contains(word));
    SWITCHES.iter().any(|switch| says(&plain, switch))
        || (OF_REQUESTS.iter().any(|switch| says(&plain, switch)) && makes_requests())
        || CALLBACKS.iter().any(|name| agrees(&plain, name))
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
        ] {
            assert!(switches_off("/p/src/a.x", text), "{text}");
        }
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
        ] {
            assert!(!switches_off("/p/src/a.x", text), "{text}");
        }
        assert!(!switches_off("/p/docs/a.md", "never write `verify=False`, or `requests.get(u, verify=False)`"));
    }
}
