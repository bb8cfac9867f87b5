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
    ",verify=false",
    "(verify=false",
    ".verify=false",
    "_create_unverified_context",
    "cert_none",
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
    "verify_none",
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
    "trustservercertificate=true",
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
    "with_custom_certificate_verifier(",
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
    "stricthostkeychecking=no",
    "stricthostkeycheckingno",
    "pythonhttpsverify=0",
    "git_ssl_no_verify=1",
    "git_ssl_no_verify=true",
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
    SWITCHES.iter().any(|switch| plain.contains(switch)) || CALLBACKS.iter().any(|name| agrees(&plain, name))
}

/// A callback of this name that always says yes.
fn agrees(plain: &str, name: &str) -> bool {
    plain.match_indices(name).any(|(at, _)| {
        let start = at + name.len();
        let mut end = plain.len().min(start + BODY);
        while !plain.is_char_boundary(end) {
            end -= 1;
        }
        plain.get(start..end).is_some_and(|body| YES.iter().any(|yes| body.contains(yes)))
    })
}

/// In lower case, without space, with one kind of quote.
fn squeezed(text: &str) -> String {
    text.chars()
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
            "session.verify = False",
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
            "<key>NSAllowsArbitraryLoads</key>\n  <true/>",
            "strict-ssl=false",
            "[http]\n  sslVerify = false",
            "insecure-skip-tls-verify: true",
            "Host *\n  StrictHostKeyChecking no",
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
        ] {
            assert!(!switches_off("/p/src/a.x", text), "{text}");
        }
        assert!(!switches_off("/p/docs/a.md", "never write `verify=False`, or `requests.get(u, verify=False)`"));
    }
}
