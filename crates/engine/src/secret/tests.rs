//! Rows: a text, and what is left of it. Then planted secrets that must all go, and look-alikes that must stay.

use siphasher::sip::SipHasher24;

use super::{redact, scan};

const KEY: [u8; 16] = *b"0123456789abcdef";

/// The text with every finding replaced by its kind alone.
fn kinds(text: &str) -> String {
    let mut shown = String::new();
    let mut done = 0;
    for finding in scan(text) {
        shown.push_str(&text[done..finding.start]);
        shown.push_str(&format!("[{}]", finding.kind));
        done = finding.end;
    }
    shown + &text[done..]
}

fn check(rows: &[(&str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(text, expected)| (text, expected, kinds(text)))
        .filter(|(_, expected, actual)| *expected != actual)
        .map(|(text, expected, actual)| format!("{text}\n  expected {expected}\n  actual   {actual}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn untouched(texts: &[&str]) {
    let wrong: Vec<String> = texts.iter().filter(|text| !scan(text).is_empty()).map(|text| kinds(text)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn values_after_telling_names() {
    check(&[
        ("PGPASSWORD=s3cr3tpw psql -h db", "PGPASSWORD=[password] psql -h db"),
        ("export API_KEY='9f8a7b6c5d4e3f2a1b0c'", "export API_KEY='[secret]'"),
        (r#"{"password": "tr0ub4dor&3"}"#, r#"{"password": "[password]"}"#),
        (r#"curl -d "{\"password\": \"tr0ub4dor&3\"}" x"#, r#"curl -d "{\"password\": \"[password]\"}" x"#),
        ("tool --password tr0ub4dor --verbose", "tool --password [password] --verbose"),
        ("tool --api-key=Zm9vYmFyMTIzNDU2", "tool --api-key=[secret]"),
        ("password: tr0ub4dor3", "password: [password]"),
        ("https://x.example/?token=a8f5f167f44f4964e6c998dee827110c&y=1", "https://x.example/?token=[secret]&y=1"),
        ("curl -H 'Authorization: Bearer q1w2e3r4t5y6u7i8' x", "curl -H 'Authorization: Bearer [authorization]' x"),
        ("curl -H 'X-Api-Key: q1w2e3r4t5y6u7i8' x", "curl -H 'X-Api-Key: [secret]' x"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZDE=", "Authorization: Basic [authorization]"),
        ("curl -u admin:tr0ub4dor https://x.example", "curl -u admin:[password] https://x.example"),
        ("mysql -u root -ptr0ub4dor db", "mysql -u root -p[password] db"),
        ("sshpass -p tr0ub4dor ssh h", "sshpass -p [password] ssh h"),
        ("postgres://app:tr0ub4dor@db/x", "postgres://app:[password]@db/x"),
        ("https://a8f5f167f44f4964e6c9@git.example/x", "https://[password]@git.example/x"),
        ("<password>tr0ub4dor3</password>", "<password>[password]</password>"),
        ("ALTER USER a WITH PASSWORD 'tr0ub4dor3'", "ALTER USER a WITH PASSWORD '[password]'"),
        ("Server=db;Password=tr0ub4dor3;Port=1", "Server=db;Password=[password];Port=1"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY", "aws_secret_access_key = [secret]"),
    ]);
}

#[test]
fn built_shapes() {
    let body = "MIIEpAIBAAKCAQEA7bq2c1dE9fGhIjKlMnOpQrStUvWxYz0123456789abcdefghij".repeat(3);
    let block = format!("x -----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY----- y");
    let inline = format!(r#"{{"private_key": "-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"}}"#);
    let open = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}");
    check(&[
        (&block, "x [private-key] y"),
        (&inline, r#"{"private_key": "[private-key]\n"}"#),
        (&open, "[private-key]"),
        ("grep -r -- '-----BEGIN RSA PRIVATE KEY-----' .", "grep -r -- '-----BEGIN RSA PRIVATE KEY-----' ."),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P", "[signed-token]"),
        ("123456789:AAF1q2w3e4r5t6y7u8i9o0p1a2s3d4f5g6h", "[telegram-token]"),
        ("card 4539 1488 0343 6467 ok", "card [card] ok"),
        ("4539148803436467", "[card]"),
        ("ssn 536-22-8745.", "ssn [social-security]."),
        ("DE75 5121 0800 1245 1261 99", "[bank-account]"),
        ("FR7630006000011234567890189", "[bank-account]"),
    ]);
}

#[test]
fn code_that_only_speaks_of_secrets() {
    untouched(&[
        "password = get_password(user)",
        "let token = self.next_token();",
        "const apiKey = process.env.API_KEY;",
        "token: string",
        "echo $TOKEN",
        "curl -H \"Authorization: Bearer $TOKEN\" x",
        "password=${DB_PASSWORD}",
        "password: <your-password>",
        "PASSWORD=changeme",
        "api_key: YOUR_API_KEY",
        "export GITHUB_TOKEN=$(gh auth token)",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "max_tokens: 4096",
        "tokenizer: cl100k_base",
        "password_hash(password, salt)",
        "if password == stored_password {",
        "secretName: db-credentials",
        "secretKeyRef:",
        "type=\"password\"",
        "postgres://user:password@localhost/db",
        "postgres://postgres:postgres@localhost:5432/test",
        "https://example.com:8080/path",
        "token_url: https://auth.example.com/oauth2/token",
        "Bearer token",
        "Basic authentication is used",
        "git push -u origin main",
        "docker run -u 1000:1000 x",
        "sort -u a:b1",
        "ssh-keygen -p -f key",
        "PWD=/home/dev/app2",
        "--token-file /tmp/t1",
        "key: 550e8400-e29b-41d4-a716-446655440000",
        "sha512-9lUfPbqKw0pXn0a1b2c3d4e5f6==",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "2024-01-15 12:30:45",
        "4242424242424242",
        "version 1.2.3-beta.4",
        "password: str = Field(min_length=8)",
        "token=token",
        "login(password=password)",
        "assert_eq!(token, Token::Ident)",
        "tokens[0]",
        "sk-learn is not scikit",
        "SECRET_KEY = os.environ[\"SECRET_KEY\"]",
        "api_key=config.api_key_v2",
        "[password:12ab34cd]",
        "token=[secret:12ab34cd]",
        "the password is required",
        "--password-stdin",
        "auth: { user, pass }",
        "sid: 12",
    ]);
}

#[test]
fn hashing_is_keyed_and_stable() {
    let vector: Vec<u8> = (0..15).collect();
    let key: [u8; 16] = std::array::from_fn(|at| at as u8);
    assert_eq!(SipHasher24::new_with_key(&key).hash(&vector), 0xa129_ca61_49be_45e5);
    let one = redact("PASSWORD=tr0ub4dor3 x", &KEY);
    assert_eq!(one, redact("PASSWORD=tr0ub4dor3 x", &KEY));
    assert_ne!(one, redact("PASSWORD=tr0ub4dor3 x", b"fedcba9876543210"));
    assert_eq!(redact(&one, &KEY), one, "redacting twice changes nothing");
    assert!(matches!(redact("plain text", &KEY), std::borrow::Cow::Borrowed(_)));
}

/// A small generator, so that the same cases are tried on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn text(&mut self, letters: &str, length: usize) -> String {
        (0..length).map(|_| char::from(letters.as_bytes()[self.roll(letters.len())])).collect()
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const HEX: &str = "0123456789abcdef";
const PLAIN: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

fn planted(dice: &mut Dice) -> Vec<String> {
    let prefixed: &[(&str, &str, usize)] = &[
        ("AKIA", UPPER, 16),
        ("ASIA", UPPER, 16),
        ("ghp_", PLAIN, 36),
        ("gho_", PLAIN, 36),
        ("ghs_", PLAIN, 36),
        ("github_pat_", PLAIN, 60),
        ("glpat-", PLAIN, 20),
        ("xoxb-", PLAIN, 40),
        ("xoxp-", PLAIN, 40),
        ("sk_live_", PLAIN, 24),
        ("rk_live_", PLAIN, 24),
        ("whsec_", PLAIN, 32),
        ("sk-", PLAIN, 48),
        ("sk-proj-", PLAIN, 60),
        ("sk-ant-api03-", PLAIN, 80),
        ("AIza", PLAIN, 35),
        ("npm_", PLAIN, 36),
        ("pypi-AgEIcHlwaS5vcmc", PLAIN, 80),
        ("dckr_pat_", PLAIN, 27),
        ("hf_", PLAIN, 34),
        ("SK", HEX, 32),
        ("key-", HEX, 32),
        ("dop_v1_", HEX, 64),
        ("shpat_", HEX, 32),
        ("lin_api_", PLAIN, 40),
        ("ntn_", PLAIN, 46),
        ("secret_", PLAIN, 43),
        ("dapi", HEX, 32),
        ("hvs.", PLAIN, 90),
        ("dp.pt.", PLAIN, 43),
        ("fo1_", PLAIN, 43),
        ("sbp_", HEX, 40),
        ("AGE-SECRET-KEY-1", UPPER, 58),
        ("GOCSPX-", PLAIN, 28),
        ("ya29.", PLAIN, 60),
        ("glsa_", PLAIN, 41),
        ("rubygems_", HEX, 48),
    ];
    let mut all: Vec<String> =
        prefixed.iter().map(|(prefix, letters, length)| format!("{prefix}{}", dice.text(letters, *length))).collect();
    all.push(format!("SG.{}.{}", dice.text(PLAIN, 22), dice.text(PLAIN, 43)));
    all.push(format!("eyJ{}.eyJ{}.{}", dice.text(PLAIN, 33), dice.text(PLAIN, 60), dice.text(PLAIN, 43)));
    all.push(format!("M{}.{}.{}", dice.text(PLAIN, 23), dice.text(PLAIN, 6), dice.text(PLAIN, 27)));
    all.push(format!("7{}:AA{}", dice.text("0123456789", 8), dice.text(PLAIN, 33)));
    all
}

/// Places where any token turns up.
const PLACES: &[&str] = &[
    "curl -H 'Authorization: Bearer {}' https://api.example.com/v1",
    "export TOKEN={}",
    "echo {} > out.txt",
    "{\"a\": \"{}\", \"b\": 1}",
    "let client = Client::new(\"{}\");",
    "https://x.example.com/path?sig={}&y=1",
    "https://user:{}@git.example.com/a/b.git",
    "key: {}\nnext: 2",
    "tool --value={} --verbose",
    "X-Custom: {}",
    "line one\n{}\nline three",
];

/// Names before values that only the name gives away.
const NAMED: &[&str] = &[
    "PGPASSWORD={} psql",
    "export DB_PASSWORD={}",
    "DB_PASSWORD='{}'",
    "{\"password\": \"{}\"}",
    "password: \"{}\"",
    "password: {}\n",
    "tool --password {} run",
    "tool --password={} run",
    "mysql://app:{}@db.example.com/x",
    "MYSQL_PWD={} mysqldump",
    "client_secret = \"{}\"",
    "clientSecret: '{}',",
    "API_KEY={}",
    "api_key=\"{}\"",
    "--token {}",
    "x-auth-token: {}",
    "https://x.example.com/?access_token={}",
    "aws_secret_access_key={}",
    "<password>{}</password>",
    "curl -u admin:{} https://x.example.com",
    "PASSWORD '{}'",
    "secret_key_base: {}",
    "Authorization: Basic {}",
    "Server=db;Password={};",
    "sshpass -p {} ssh h",
    "curl --user admin:{} x",
];

#[test]
fn no_planted_secret_survives() {
    let mut dice = Dice(0x5eed_0001);
    let mut count = 0;
    let mut survived = Vec::new();
    let mut plant = |place: &str, secret: &str| {
        let text = place.replacen("{}", secret, 1);
        count += 1;
        if redact(&text, &KEY).contains(secret) {
            survived.push(text);
        }
    };
    for place in PLACES {
        for secret in planted(&mut dice) {
            plant(place, &secret);
        }
    }
    for _ in 0..40 {
        for place in NAMED {
            let length = 16 + dice.roll(24);
            plant(place, &format!("{}7", dice.text(PLAIN, length)));
        }
        for place in NAMED.iter().filter(|place| place.to_ascii_lowercase().contains("pass") || place.contains("admin"))
        {
            let length = 7 + dice.roll(6);
            plant(
                place,
                &format!(
                    "{}4{}",
                    dice.text("abcdefghijkmnpqrstuvwz", 3),
                    dice.text("abcdefghijkmnpqrstuvwz23456789!%+", length)
                ),
            );
        }
    }
    assert!(count >= 500, "{count}");
    assert!(survived.is_empty(), "{} of {count} survived:\n{}", survived.len(), survived.join("\n"));
}

/// Lines of ordinary work with room for something that looks random.
fn look_alikes(dice: &mut Dice) -> Vec<String> {
    let (hex40, hex64) = (dice.text(HEX, 40), dice.text(HEX, 64));
    let uuid = format!(
        "{}-{}-4{}-a{}-{}",
        dice.text(HEX, 8),
        dice.text(HEX, 4),
        dice.text(HEX, 3),
        dice.text(HEX, 3),
        dice.text(HEX, 12)
    );
    let base64 = dice.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 86);
    let number = dice.text("123456789", 13);
    let word = dice.text("abcdefghijklmnop", 8);
    vec![
        format!("commit {hex40}"),
        format!("git show {hex40}:src/main.rs"),
        format!("sha256:{hex64}"),
        format!("image: registry.example.com/app@sha256:{hex64}"),
        format!("{hex64}  dist/app.tar.gz"),
        format!("id: {uuid}"),
        format!("\"request_id\": \"{uuid}\""),
        format!("/api/v1/users/{uuid}/posts"),
        format!("    \"integrity\": \"sha512-{base64}==\","),
        format!("checksum = \"{hex64}\""),
        format!("github.com/a/{word} v1.2.3 h1:{}=", &base64[..43]),
        format!("data:image/png;base64,{base64}{base64}"),
        format!("    --hash=sha256:{hex64} \\"),
        format!("ETag: \"{}\"", &hex40[..32]),
        format!("timestamp={number}"),
        format!("const {word}_token = await get_{word}_token();"),
        format!("password = input(\"{word}: \")"),
        format!("token: {word}_token,"),
        format!("def check_password(self, {word}):"),
        format!("api_key = os.getenv(\"{}_API_KEY\")", word.to_uppercase()),
        format!("Authorization: Bearer ${{{}_TOKEN}}", word.to_uppercase()),
        format!("--password \"${}\"", word.to_uppercase()),
        format!("secret: {{ name: \"{word}\" }}"),
        format!("#[derive(Debug)] struct Token{} {{ secret: String }}", &word),
        format!("v{}.{}.{}", dice.roll(20), dice.roll(40), dice.roll(90)),
        format!("cache-key: {hex40}"),
        format!("-    resolved \"https://registry.npmjs.org/{word}/-/{word}-1.0.0.tgz#{hex40}\""),
        format!("if token.kind == \"{word}\" {{"),
        format!("docker pull app@sha256:{hex64}"),
        format!("tree {hex40}"),
        format!("index {}..{} 100644", &hex40[..7], &hex40[7..14]),
        format!("pid {} port {}", dice.roll(65000), dice.roll(65000)),
        format!("expect(screen.getByLabelText('password')).toBe('{word}')"),
        format!("tokens.push({word}(token));"),
        format!("trace_id={}", &hex40[..32]),
        format!("PASSWORD_MIN_LENGTH = {}", dice.roll(20)),
        format!("name = \"{word}-{}\"", dice.roll(9999)),
        format!("nonce-{}", &base64[..16].replace(['+', '/'], "x")),
        format!("\"version\": \"{}.0.0-canary.{}\"", dice.roll(9), &hex40[..8]),
        format!("secretRef: {word}-secret"),
    ]
}

#[test]
fn look_alikes_stay() {
    let mut dice = Dice(0x5eed_0002);
    let texts: Vec<String> = (0..50).flat_map(|_| look_alikes(&mut dice)).collect();
    let taken: Vec<String> = texts.iter().filter(|text| !scan(text).is_empty()).map(|text| kinds(text)).collect();
    assert!(texts.len() >= 1000);
    println!("{} of {} look-alikes taken", taken.len(), texts.len());
    assert!(taken.len() * 100 <= texts.len(), "{} of {}:\n{}", taken.len(), texts.len(), taken.join("\n"));
}

#[test]
fn hostile_text_takes_linear_time() {
    let rows = [
        "token=",
        "eyJ-",
        "sk-ant-xxxx-",
        "AIza-",
        "-u ",
        "\"password\":",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "://a:",
        "password '",
        "--password ",
        "4539-",
        "<password>",
        "\\",
        "=",
    ];
    for row in rows {
        let start = std::time::Instant::now();
        scan(&row.repeat((1 << 18) / row.len()));
        assert!(start.elapsed().as_secs() < 60, "`{row}` took {:?}", start.elapsed());
    }
}

#[test]
fn any_bytes_can_be_redacted() {
    let mut dice = Dice(0x5eed_0003);
    let parts = [
        "password",
        "=",
        ":",
        " ",
        "é",
        "日",
        "'",
        "\"",
        "-",
        "://",
        "@",
        "Bearer ",
        "eyJ",
        "ghp_",
        "-----BEGIN PRIVATE KEY-----",
        "4539",
        "\\",
        "<",
        ">",
        "abc1",
        "\n",
    ];
    for _ in 0..20_000 {
        let length = dice.roll(14);
        let text: String = (0..length).map(|_| parts[dice.roll(parts.len())]).collect();
        let findings = scan(&text);
        assert!(findings.windows(2).all(|pair| pair[0].end <= pair[1].start), "{text}");
        assert!(
            findings
                .iter()
                .all(|finding| text.get(finding.start..finding.end).is_some_and(|secret| !secret.is_empty())),
            "{text}"
        );
        redact(&text, &KEY);
    }
}

#[test]
#[ignore = "prints a measurement"]
fn speed() {
    let command = "cargo test -p engine --lib -- place::tests 2>&1 | tail -20";
    let total: usize = (0..1_000_000).map(|_| scan(std::hint::black_box(command)).len()).sum();
    println!("a million commands, {total}");
}

#[test]
#[ignore = "prints a measurement"]
fn speed_of_content() {
    let source = include_str!("scanner.rs");
    let text = source.repeat((1 << 20) / source.len());
    let total: usize = (0..20).map(|_| scan(std::hint::black_box(&text)).len()).sum();
    println!("twenty times {} bytes, {total}", text.len());
}

#[test]
fn pairs_lists_and_base64() {
    for text in [
        "env:\n- name: DB_PASSWORD\n  value: Zk39hdPq1sABq2xv\n",
        r#"{"env":[{"name":"AWS_SECRET_ACCESS_KEY","value":"wJalrXUtnFEMIK7MDENGbPxRfiCYzQpLsKdTvBnm"}]}"#,
        r#"{"command":["run","--password","Zk39hdPq1sABq2xv"]}"#,
        "args:\n- --token\n- Zk39hdPq1sABq2xvQmR7\n",
    ] {
        assert!(super::holds(text), "{text}");
    }
    for text in [
        "env:\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n",
        "- name: REPLICAS\n  value: Zk39hdPq1sABq2xv\n",
        "args:\n- --token\n- $(TOKEN)\n",
        r#"["--password", "--verbose"]"#,
    ] {
        assert!(!super::holds(text), "{text}");
    }
    assert!(super::holds_encoded("q=Z2hwXzhmS3EyTG1aMHhZdkIzblQ3cldjNWRKaEdzMWFQZTlVb1hpNA=="));
    assert!(super::holds_packed("a/Z2hwXzhmS3EyTG1aMHhZdkIzblQ3cldjNWRKaEdzMWFQZTlVb1hpNA"));
    assert!(!super::holds_packed("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"));
    assert!(!super::holds_packed("aGVsbG8gd29ybGQsIHRoaXMgaXMgcGxhaW4="));
}
