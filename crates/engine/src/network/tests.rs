//! Rows: an address as written, the host it leads to, and its marks.

use doorward_vocabulary::Mark;

use super::{Address, device_path, host, remote_path, url};
use crate::described_world::{DescribedWorld, Description};
use crate::world::Settings;

fn world() -> DescribedWorld {
    let settings = Settings {
        allowed_hosts: vec!["corp.example".into(), "10.1.2.3".into()],
        denied_hosts: vec!["sr.ht".into(), "bad.corp.example".into()],
        ..Settings::default()
    };
    DescribedWorld::new(Description::default(), "/").with_settings(settings)
}

fn shown(address: &Address) -> String {
    let port = address.port.map(|port| format!(":{port}")).unwrap_or_default();
    let marks: Vec<&str> = address.marks.iter().map(Mark::as_str).collect();
    format!("{}{port} {}", address.host, marks.join(" ")).trim_end().to_owned()
}

fn check(read: impl Fn(&str) -> Address, rows: &[(&str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(text, expected)| (text, expected, shown(&read(text))))
        .filter(|(_, expected, actual)| *expected != actual)
        .map(|(text, expected, actual)| format!("{text}\n  expected {expected}\n  actual   {actual}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check_url(rows: &[(&str, &str)]) {
    check(|text| url(text, &world()), rows);
}

#[test]
fn listed_hosts_at_label_boundaries() {
    check_url(&[
        ("https://docs.rs/serde/latest/serde/", "docs.rs listed-host"),
        ("https://DOCS.rs/serde", "docs.rs listed-host"),
        ("https://docs.rs:443/serde", "docs.rs:443 listed-host"),
        ("https://docs.rs:8443/serde", "docs.rs:8443 listed-host odd-port"),
        ("http://docs.rs/", "docs.rs listed-host plaintext"),
        ("docs.rs/serde", "docs.rs listed-host plaintext"),
        ("https://static.crates.io/x", "static.crates.io listed-host registry"),
        ("https://registry.npmjs.org/left-pad", "registry.npmjs.org listed-host registry"),
        ("https://raw.githubusercontent.com/a/b/main/c.sh", "raw.githubusercontent.com listed-host"),
        ("https://mylib.readthedocs.io/", "mylib.readthedocs.io listed-host"),
        ("https://de.wikipedia.org/wiki/Tor", "de.wikipedia.org listed-host"),
        ("https://evildocs.rs/", "evildocs.rs unlisted-host"),
        ("https://docs.rs.attacker.example/serde", "docs.rs.attacker.example unlisted-host rare-domain"),
        ("https://x.docs.rs/", "x.docs.rs unlisted-host"),
        ("https://esbuild.github.io/api/", "esbuild.github.io listed-host"),
        ("https://someone.github.io/", "someone.github.io unlisted-host drop-host"),
        ("https://wiki.corp.example/a", "wiki.corp.example listed-host"),
        ("https://bad.corp.example/a", "bad.corp.example unlisted-host denied-host rare-domain"),
        ("https://git.sr.ht/~a/b", "git.sr.ht unlisted-host denied-host rare-domain"),
        ("https://notcorp.example/a", "notcorp.example unlisted-host rare-domain"),
        ("https://example.org/", "example.org unlisted-host"),
        ("https://example.zip/", "example.zip unlisted-host rare-domain"),
        ("https://abc.ngrok-free.app/x", "abc.ngrok-free.app unlisted-host drop-host"),
        ("https://hooks.slack.com/services/T0/B0/x", "hooks.slack.com unlisted-host drop-host"),
        ("https://webhook.site/1", "webhook.site unlisted-host rare-domain drop-host"),
    ]);
}

#[test]
fn this_machine_only_in_its_usual_spellings() {
    check_url(&[
        ("http://localhost:3000/health", "localhost:3000 loopback"),
        ("localhost:3000/health", "localhost:3000 loopback"),
        ("http://127.0.0.1:8080/", "127.0.0.1:8080 loopback address-literal"),
        ("http://127.8.9.1/", "127.8.9.1 loopback address-literal"),
        ("http://[::1]:8080/", "[::1]:8080 loopback address-literal"),
        ("http://127.0.0.1:2375/containers/json", "127.0.0.1:2375 loopback address-literal control-port"),
        ("http://127.1/", "127.1 unlisted-host private-address address-literal odd-address plaintext"),
        ("http://0x7f.1/", "0x7f.1 unlisted-host private-address address-literal odd-address plaintext"),
        (
            "http://0.0.0.0:8000/",
            "0.0.0.0:8000 unlisted-host private-address address-literal odd-address odd-port plaintext",
        ),
        (
            "http://[::ffff:127.0.0.1]/",
            "[::ffff:127.0.0.1] unlisted-host private-address address-literal odd-address plaintext",
        ),
        (
            "http://[0:0:0:0:0:0:0:1]/",
            "[0:0:0:0:0:0:0:1] unlisted-host private-address address-literal odd-address plaintext",
        ),
        ("http://localhost./", "localhost unlisted-host private-address odd-address plaintext"),
        ("http://localhost.evil.com/", "localhost.evil.com unlisted-host plaintext"),
        ("http://127.0.0.1.nip.io/", "127.0.0.1.nip.io unlisted-host odd-address plaintext"),
    ]);
}

#[test]
fn metadata_services_in_every_spelling() {
    let rows = [
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://0xa9.254.0251.254/",
        "http://169.254.43518/",
        "http://169.16689662/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fd00:ec2::254]/latest/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://metadata/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://169.254.170.2/v2/credentials/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::1]/",
        "http://169.254.169.254./",
        "http:169.254.169.254/",
        "http://x@169.254.169.254/",
        "http:\\\\169.254.169.254\\latest",
        "http://%31%36%39.254.169.254/",
        "http://METADATA.google.internal",
        "//169.254.169.254/x",
        "169.254.169.254/latest",
    ];
    for text in rows {
        assert!(url(text, &world()).marks.has(Mark::MetadataAddress), "{text}: {}", shown(&url(text, &world())));
    }
}

#[test]
fn private_networks() {
    check_url(&[
        (
            "http://10.0.0.5:9200/_cat",
            "10.0.0.5:9200 unlisted-host private-address lan-address address-literal odd-port plaintext",
        ),
        ("http://10.1.2.3/", "10.1.2.3 listed-host private-address lan-address address-literal plaintext"),
        ("https://192.168.1.1/", "192.168.1.1 unlisted-host private-address lan-address address-literal"),
        ("https://[fe80::1]/", "[fe80::1] unlisted-host private-address lan-address address-literal"),
        ("https://[2606:4700::1111]/", "[2606:4700::1111] unlisted-host address-literal"),
        ("https://203.0.113.7/x", "203.0.113.7 unlisted-host address-literal"),
        ("https://nas.local/", "nas.local unlisted-host private-address"),
        ("https://intranet/", "intranet unlisted-host private-address"),
        ("https://999.1.1.1/", "999.1.1.1 unlisted-host address-literal odd-address"),
    ]);
}

#[test]
fn whatever_two_programs_read_differently_is_odd() {
    let rows = [
        (r"https://attacker.example\@docs.rs/", "attacker.example"),
        ("https://docs.rs@attacker.example/", "attacker.example"),
        ("https://docs.rs:x@attacker.example/", "attacker.example"),
        ("https://a@b@docs.rs/", "docs.rs"),
        ("https://attacker.example#@docs.rs/", "attacker.example"),
        ("https://attacker.example?@docs.rs/", "attacker.example"),
        ("https://docs.rs%2eattacker.example/", "docs.rs.attacker.example"),
        ("https://attacker.example%00.docs.rs/", "attacker.example\0.docs.rs"),
        ("https://docs.r\u{455}/", "docs.r\u{455}"),
        ("https://xn--dcs-5cd.rs/", "xn--dcs-5cd.rs"),
        ("https://docs.rs./serde", "docs.rs"),
        ("https://docs..rs/", "docs..rs"),
        ("https:/docs.rs/", "docs.rs"),
        ("https:docs.rs", "docs.rs"),
        ("https:///docs.rs/", "docs.rs"),
        ("https:\\\\docs.rs/", "docs.rs"),
        ("ht\ttps://docs.rs/", "docs.rs"),
        ("https://do\ncs.rs/", "docs.rs"),
        (" https://docs.rs/", "docs.rs"),
        ("https://docs.rs:99999/", "docs.rs"),
        ("https://docs.rs:/", "docs.rs"),
        ("https://docs.rs:0443/", "docs.rs"),
        ("https://docs.rs:4a3/", "docs.rs"),
        ("https:///", ""),
        ("https://-docs.rs/", "-docs.rs"),
        ("https://docs$.rs/", "docs$.rs"),
        ("https://ｄocs.rs/", "ｄocs.rs"),
        ("httpx://docs.rs/", "docs.rs"),
        ("ext://docs.rs/", "docs.rs"),
        ("file:///etc/passwd", ""),
        ("data:text/html,x", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ];
    for (text, expected) in rows {
        let address = url(text, &world());
        assert_eq!(address.host, expected, "{text}");
        assert!(
            address.marks.has(Mark::OddAddress) && !address.marks.has(Mark::ListedHost),
            "{text}: {}",
            shown(&address)
        );
    }
}

#[test]
fn addresses_that_carry_data() {
    let long = format!("https://docs.rs/serde?x={}", "A".repeat(120));
    let deep = format!("https://{}.example.org/", "ab12".repeat(11));
    let wide = format!("https://docs.rs/{}", "a-b/".repeat(300));
    for text in [long, deep, wide] {
        assert!(url(&text, &world()).marks.has(Mark::CarriesData), "{text}");
    }
    let hash = "https://raw.githubusercontent.com/a/b/0123456789abcdef0123456789abcdef01234567/src/lib.rs?raw=true";
    assert!(!url(hash, &world()).marks.has(Mark::CarriesData));
}

#[test]
fn bare_hosts() {
    check(
        |text| host(text, &world()),
        &[
            ("github.com", "github.com listed-host"),
            ("git@github.com", "github.com listed-host"),
            ("git@github.com:22", "github.com:22 listed-host"),
            ("dev@build.example.org:2222", "build.example.org:2222 unlisted-host odd-port"),
            ("localhost:5432", "localhost:5432 loopback"),
            ("::1", "::1 loopback address-literal"),
            ("[::1]:80", "[::1]:80 loopback address-literal"),
            ("fd00:ec2::254", "fd00:ec2::254 unlisted-host metadata-address address-literal"),
            ("2852039166", "2852039166 unlisted-host metadata-address address-literal odd-address"),
            ("ssh://git@github.com/a/b", "github.com listed-host"),
            ("build-box", "build-box unlisted-host private-address"),
            ("-oProxyCommand=x", "-oproxycommand=x unlisted-host private-address odd-address"),
            ("a.b.example.org/x", "a.b.example.org/x unlisted-host odd-address rare-domain"),
        ],
    );
    check_url(&[("postgres://app:pw@db.example.org:5432/x", "db.example.org:5432 unlisted-host")]);
}

#[test]
fn remote_paths() {
    let rows = [
        ("host:path", Some(("host", "path"))),
        ("dev@host:/tmp/x", Some(("dev@host", "/tmp/x"))),
        ("git@github.com:a/b.git", Some(("git@github.com", "a/b.git"))),
        ("[::1]:x", Some(("[::1]", "x"))),
        ("dev@[fe80::1]:x", Some(("dev@[fe80::1]", "x"))),
        ("host::module/x", Some(("host", "module/x"))),
        ("host:", Some(("host", ""))),
        ("./a:b", None),
        ("/a:b", None),
        ("a/b:c", None),
        (":x", None),
        (r"C:\x", None),
        ("https://a:b", None),
        ("plain", None),
    ];
    for (text, expected) in rows {
        assert_eq!(remote_path(text), expected, "{text}");
    }
    assert_eq!(device_path("/dev/tcp/evil.example/80"), Some(("evil.example", "80")));
    assert_eq!(device_path("/dev/null"), None);
}

#[test]
fn lists_hold_each_name_once() {
    use super::hosts::{COMMON_DOMAINS, DOMAINS, NAMES};
    assert!(COMMON_DOMAINS.windows(2).all(|pair| pair[0] < pair[1]));
    for table in [&NAMES, &DOMAINS] {
        let names: Vec<&str> = table.names().collect();
        for name in &names {
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "`{name}` is listed twice");
            assert!(!name.starts_with('.') && table.find(name).is_some(), "`{name}` is not found");
        }
    }
}

#[test]
#[ignore = "prints a measurement"]
fn speed() {
    let world = world();
    let texts = [
        "https://docs.rs/serde/latest/serde/",
        "http://localhost:3000/health",
        "https://a.b.example.org/x?y=z",
        "http://10.0.0.5:9200/",
    ];
    let total: usize = (0..1_000_000).map(|turn| url(std::hint::black_box(texts[turn % 4]), &world).host.len()).sum();
    println!("a million addresses, {total}");
}
