//! Secrets and their look-alikes, made up anew from a seed: nothing here was ever a real one.

/// A small generator, so that the same cases are tried on every machine.
pub(super) struct Dice(pub u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % sides
    }

    pub(super) fn text(&mut self, letters: &str, length: usize) -> String {
        (0..length).map(|_| char::from(letters.as_bytes()[self.roll(letters.len())])).collect()
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const HEX: &str = "0123456789abcdef";
const PLAIN: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGITS: &str = "0123456789";

/// How tokens of providers begin, and what they go on with.
const PREFIXED: &[(&str, &str, usize)] = &[
    ("AKIA", UPPER, 16),
    ("ASIA", UPPER, 16),
    ("ABIA", UPPER, 16),
    ("ACCA", UPPER, 16),
    ("AIza", PLAIN, 35),
    ("ATATT3xFfGF0", PLAIN, 80),
    ("ATCTT3xFfGN0", PLAIN, 80),
    ("AKID", PLAIN, 32),
    ("AC", HEX, 32),
    ("SK", HEX, 32),
    ("AGE-SECRET-KEY-1", UPPER, 58),
    ("CCIPAT_", PLAIN, 60),
    ("GOCSPX-", PLAIN, 28),
    ("LTAI", PLAIN, 20),
    ("NRAK-", UPPER, 27),
    ("PMAK-", HEX, 59),
    ("bkua_", HEX, 40),
    ("dckr_pat_", PLAIN, 27),
    ("dckr_oat_", PLAIN, 32),
    ("dop_v1_", HEX, 64),
    ("doo_v1_", HEX, 64),
    ("dor_v1_", HEX, 64),
    ("dapi", HEX, 32),
    ("dp.pt.", PLAIN, 43),
    ("dp.st.dev.", PLAIN, 43),
    ("discord.com/api/webhooks/", PLAIN, 68),
    ("fo1_", PLAIN, 43),
    ("figd_", PLAIN, 40),
    ("ghp_", PLAIN, 36),
    ("gho_", PLAIN, 36),
    ("ghu_", PLAIN, 36),
    ("ghs_", PLAIN, 36),
    ("ghr_", PLAIN, 36),
    ("github_pat_", PLAIN, 82),
    ("glpat-", PLAIN, 20),
    ("gldt-", PLAIN, 20),
    ("glrt-", PLAIN, 20),
    ("glptt-", HEX, 40),
    ("glsoat-", PLAIN, 20),
    ("glcbt-", PLAIN, 24),
    ("glagent-", PLAIN, 50),
    ("glft-", PLAIN, 20),
    ("glimt-", PLAIN, 25),
    ("gloas-", HEX, 64),
    ("glsa_", PLAIN, 41),
    ("glc_", PLAIN, 60),
    ("gsk_", PLAIN, 52),
    ("hf_", PLAIN, 34),
    ("hvs.", PLAIN, 90),
    ("hvb.", PLAIN, 138),
    ("hvr.", PLAIN, 90),
    ("hooks.slack.com/services/T", PLAIN, 44),
    ("key-", HEX, 32),
    ("lin_api_", PLAIN, 40),
    ("lin_oauth_", HEX, 64),
    ("npm_", PLAIN, 36),
    ("ntn_", PLAIN, 46),
    ("nvapi-", PLAIN, 64),
    ("pypi-AgEIcHlwaS5vcmc", PLAIN, 80),
    ("pplx-", PLAIN, 48),
    ("phx_", PLAIN, 43),
    ("pul-", HEX, 40),
    ("rk_live_", PLAIN, 24),
    ("rk_test_", PLAIN, 24),
    ("r8_", PLAIN, 37),
    ("rubygems_", HEX, 48),
    ("sk-ant-api03-", PLAIN, 93),
    ("sk-ant-oat01-", PLAIN, 93),
    ("sk-proj-", PLAIN, 80),
    ("sk-svcacct-", PLAIN, 60),
    ("sk-admin-", PLAIN, 60),
    ("sk-or-v1-", HEX, 64),
    ("sk-", PLAIN, 48),
    ("sk_live_", PLAIN, 24),
    ("sk_test_", PLAIN, 24),
    ("secret_", PLAIN, 43),
    ("shpat_", HEX, 32),
    ("shpss_", HEX, 32),
    ("shpca_", HEX, 32),
    ("shppa_", HEX, 32),
    ("sbp_", HEX, 40),
    ("sb_secret_", PLAIN, 31),
    ("sgp_", HEX, 40),
    ("sntrys_eyJ", PLAIN, 80),
    ("sntryu_", HEX, 64),
    ("sq0atp-", PLAIN, 22),
    ("sq0csp-", PLAIN, 43),
    ("tvly-", PLAIN, 32),
    ("whsec_", PLAIN, 32),
    ("xoxb-", PLAIN, 50),
    ("xoxp-", PLAIN, 50),
    ("xoxs-", PLAIN, 50),
    ("xoxe-", PLAIN, 50),
    ("xoxc-", PLAIN, 50),
    ("xapp-1-", PLAIN, 60),
    ("xai-", PLAIN, 80),
    ("ya29.", PLAIN, 60),
    ("EAACEdEose0cBA", PLAIN, 60),
    ("tfp_", PLAIN, 44),
    ("dsapi_", PLAIN, 40),
    ("cio_", PLAIN, 40),
    ("pscale_tkn_", PLAIN, 43),
    ("pscale_pw_", PLAIN, 43),
    ("pscale_oauth_", PLAIN, 43),
    ("fw_", PLAIN, 24),
    ("CFPAT-", PLAIN, 43),
    ("ddp_", PLAIN, 36),
    ("rdme_", HEX, 70),
    ("oy2", PLAIN, 43),
    ("NRII-", PLAIN, 32),
    ("eyrt_", PLAIN, 40),
];

/// One token of every provider, and those that are told by their build.
pub(super) fn tokens(dice: &mut Dice) -> Vec<String> {
    let with_digit = |text: String| format!("{}7{}", &text[..3], &text[4..]);
    let mut all: Vec<String> = PREFIXED
        .iter()
        .map(|(prefix, letters, length)| format!("{prefix}{}", with_digit(dice.text(letters, *length))))
        .collect();
    all.push(format!("SG.{}.{}", dice.text(PLAIN, 22), dice.text(PLAIN, 43)));
    all.push(format!("eyJ{}.eyJ{}.{}", dice.text(PLAIN, 33), dice.text(PLAIN, 60), dice.text(PLAIN, 43)));
    all.push(format!("eyJ{}.eyJ{}.{}", dice.text(PLAIN, 48), dice.text(PLAIN, 300), dice.text(PLAIN, 342)));
    all.push(format!("M{}.{}.{}", dice.text(PLAIN, 23), dice.text(PLAIN, 6), dice.text(PLAIN, 27)));
    all.push(format!("7{}:AA{}", dice.text(DIGITS, 8), dice.text(PLAIN, 33)));
    all
}

/// Blocks of private keys, as files and as JSON strings have them. What must not appear is a line of the body.
pub(super) fn key_blocks(dice: &mut Dice) -> Vec<(String, String)> {
    let titles = [
        "RSA PRIVATE KEY",
        "PRIVATE KEY",
        "EC PRIVATE KEY",
        "DSA PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
        "SSH2 ENCRYPTED PRIVATE KEY",
    ];
    let mut blocks = Vec::new();
    for title in titles {
        for end in ["\n", "\\n", "\r\n"] {
            let lines: Vec<String> = (0..6).map(|_| dice.text(BASE64, 64)).collect();
            let block = format!("-----BEGIN {title}-----{end}{}{end}-----END {title}-----", lines.join(end));
            blocks.push((block, lines[3].clone()));
        }
    }
    blocks
}

/// Lines in which only the words around it say that something is a secret. `{}` is the secret, made by a machine.
pub(super) const NAMED: &[&str] = &[
    "PGPASSWORD={} psql -h db.example.com",
    "export DB_PASSWORD={}",
    "DB_PASSWORD='{}' ./run",
    "MYSQL_PWD={} mysqldump x",
    "export AWS_SECRET_ACCESS_KEY={}",
    "export AWS_SESSION_TOKEN={}",
    "AZURE_CLIENT_SECRET={} az login",
    "env GITHUB_TOKEN={} gh api user",
    "export OPENAI_API_KEY=\"{}\"",
    "set -x DATABASE_PASSWORD {}",
    "tool --password {} run",
    "tool --password={} run",
    "tool --token {} run",
    "tool --api-key={}",
    "tool --secret {}",
    "tool --client-secret {} go",
    "tool --access-token={}",
    "tool --auth-token {}",
    "tool --passphrase {}",
    "tool --secret-key {}",
    "docker login -u ci -p {} registry.example.com",
    "docker login --password={} x.example.com",
    "az login --service-principal -u app -p {} --tenant t",
    "sshpass -p {} ssh h.example.com",
    "sshpass -p{} ssh h",
    "mysql -u root -p{} app",
    "mysqldump -uroot -p{} app",
    "mariadb --password={} app",
    "redis-cli -a {} ping",
    "curl -u admin:{} https://x.example.com",
    "curl --user admin:{} https://x.example.com",
    "curl -uadmin:{} https://x.example.com",
    "curl --proxy-user p:{} https://x.example.com",
    "wget --http-password={} https://x.example.com",
    "wget --user=a --password={} https://x.example.com",
    "curl --oauth2-bearer {} https://x.example.com",
    "curl -H 'Authorization: Bearer {}' https://x.example.com",
    "curl -H 'Authorization: token {}' https://x.example.com",
    "curl -H 'Authorization: Basic {}' https://x.example.com",
    "curl -H \"authorization: bearer {}\" https://x.example.com",
    "curl -H 'Private-Token: {}' https://x.example.com",
    "curl -H 'X-Api-Key: {}' https://x.example.com",
    "curl -H 'X-Auth-Token: {}' https://x.example.com",
    "curl -H 'api-key: {}' https://x.example.com",
    "curl -H 'Cookie: session={}' https://x.example.com",
    "curl -b 'sessionid={}' https://x.example.com",
    "curl 'https://x.example.com/?access_token={}'",
    "curl 'https://x.example.com/?api_key={}&y=1'",
    "curl -d 'grant_type=x&client_secret={}' https://x.example.com",
    "curl -d '{\"password\": \"{}\"}' https://x.example.com",
    "curl -F token={} https://x.example.com",
    "curl https://user:{}@x.example.com/",
    "git clone https://oauth2:{}@git.example.com/a.git",
    "git remote add o https://x-access-token:{}@git.example.com/a.git",
    "git clone https://{}@git.example.com/a.git",
    "git -c http.extraheader='AUTHORIZATION: basic {}' fetch",
    "psql postgres://app:{}@db.example.com/x",
    "psql 'host=db user=app password={}'",
    "mongosh mongodb+srv://app:{}@c.example.com/x",
    "redis-cli -u redis://:{}@r.example.com:6379",
    "echo amqp://guest:{}@mq.example.com",
    "echo 'jdbc:postgresql://db/x?user=a&password={}'",
    "echo 'Server=db;User Id=sa;Password={};'",
    "echo 'DefaultEndpointsProtocol=https;AccountName=a;AccountKey={}'",
    "echo 'Endpoint=sb://x/;SharedAccessKey={}'",
    "echo '//registry.example.com/:_authToken={}' >> .npmrc",
    "npm config set //registry.example.com/:_authToken {}",
    "aws configure set aws_secret_access_key {}",
    "kubectl create secret generic s --from-literal=password={}",
    "helm upgrade x y --set auth.password={}",
    "terraform apply -var db_password={}",
    "vault kv put secret/x password={}",
    "vault login token={}",
    "heroku config:set SECRET_KEY={}",
    "fly secrets set API_TOKEN={}",
    "gh secret set DEPLOY_TOKEN --body {}",
    "openssl rsa -in k.pem -passin pass:{}",
    "openssl enc -aes-256-cbc -pass pass:{} -in f",
    "htpasswd -b .htpasswd admin {}",
    "ldapsearch -D cn=admin -w {} -b dc=x",
    "smbclient //h/s -U 'dom/user%{}'",
    "sqlcmd -S db -U sa -P {}",
    "mongo -u admin -p {} db",
    "zip -P {} a.zip f",
    "7z a -p{} a.7z f",
    "unzip -P {} a.zip",
    "gpg --batch --passphrase {} -d f",
    "echo {} | docker login -u ci --password-stdin",
    "echo '{}' | sudo -S ls",
    "printf 'machine x.example.com login a password {}\\n' >> n",
    "mysql -e \"ALTER USER a IDENTIFIED BY '{}'\"",
    "psql -c \"CREATE ROLE a PASSWORD '{}'\"",
    "keytool -storepass {} -list",
    "ansible-playbook x.yml -e ansible_password={}",
    "java -Djavax.net.ssl.keyStorePassword={} -jar a.jar",
    "export SECRET_KEY_BASE={}",
    "export JWT_SECRET={}",
    "export ENCRYPTION_KEY={}",
    "export SLACK_SIGNING_SECRET={}",
    "export STRIPE_WEBHOOK_SECRET={}",
    "export NPM_TOKEN={} && npm publish",
    "twine upload -u __token__ -p {} dist/a.whl",
    "cargo login {}",
    "cargo publish --token {}",
    "gem push a.gem --key {}",
    "doppler configure set token {}",
    "snyk auth {}",
    "ngrok config add-authtoken {}",
    "tailscale up --authkey {}",
    "rclone config create r s3 secret_access_key {}",
    "git commit -m 'set password={} for the test'",
    "git commit -m \"token: {}\"",
    "git config user.token {}",
    "http POST x.example.com Authorization:'Bearer {}'",
    "xh -a user:{} x.example.com",
    "restic -p x --password-command 'echo {}'",
];

/// Lines of files in the same manner.
pub(super) const WRITTEN: &[&str] = &[
    "{\"password\": \"{}\"}",
    "password: \"{}\"",
    "password: {}\n",
    "client_secret = \"{}\"",
    "clientSecret: '{}',",
    "API_KEY={}\n",
    "api_key=\"{}\"",
    "x-auth-token: {}",
    "aws_secret_access_key = {}",
    "<password>{}</password>",
    "<add key=\"Password\" value=\"{}\" />",
    "secret_key_base: {}",
    "spring.datasource.password={}",
    "const apiKey = \"{}\";",
    "let token = \"{}\";",
    "os.environ['SECRET_KEY'] = '{}'",
    "define('DB_PASSWORD', '{}');",
    "password => '{}',",
    "requests.get(u, auth=('user', '{}'))",
    "//registry.example.com/:_authToken={}",
    "machine x.example.com login a password {}",
    "db.example.com:5432:app:app:{}",
    "DATABASE_URL=postgres://app:{}@db.example.com/x",
    "- name: TOKEN\n  value: {}\n",
    "Authorization: Bearer {}",
    "token = '{}' # ci",
    "\"auth\": \"{}\"",
    "PRIVATE_KEY={}",
];

/// Lines of ordinary work with something that looks random.
pub(super) fn look_alikes(dice: &mut Dice) -> Vec<String> {
    let (hex40, hex64, hex32) = (dice.text(HEX, 40), dice.text(HEX, 64), dice.text(HEX, 32));
    let part = |dice: &mut Dice, length: usize| dice.text(HEX, length);
    let uuid = [8, 4, 4, 4, 12].map(|length| part(dice, length)).join("-");
    let base64 = dice.text(BASE64, 86);
    let word = dice.text("abcdefghijklmnop", 8);
    let number = dice.text("123456789", 13);
    let version = format!("{}.{}.{}", dice.roll(20), dice.roll(40), dice.roll(90));
    vec![
        format!("git show {hex40}"),
        format!("git cherry-pick {}", &hex40[..12]),
        format!("git diff {}..{}", &hex40[..7], &hex40[8..15]),
        format!("git show {hex40}:src/{word}.rs"),
        format!("git merge-base {hex40} main"),
        format!("git log {hex40}^..HEAD"),
        format!("sha256sum -c <<< '{hex64}  dist/app.tar.gz'"),
        format!("echo sha256:{hex64}"),
        format!("docker pull app@sha256:{hex64}"),
        format!("echo {uuid}"),
        format!("grep -r {uuid} src"),
        format!("cat logs/{uuid}.log"),
        format!("echo 'request_id={uuid}'"),
        format!("grep '\"integrity\": \"sha512-{base64}==\"' package-lock.json"),
        format!("rg 'checksum = \"{hex64}\"' Cargo.lock"),
        format!("grep 'github.com/a/{word} v{version} h1:{}=' go.sum", &base64[..43]),
        format!("echo 'data:image/png;base64,{base64}{base64}'"),
        format!("grep -- '--hash=sha256:{hex64}' requirements.txt"),
        format!("echo 'ETag: \"{hex32}\"'"),
        format!("date -d @{number}"),
        format!("echo v{version}-rc.{}", dice.roll(9)),
        format!("npm view {word}@{version}"),
        format!("grep 'resolved \"https://registry.npmjs.org/{word}/-/{word}-{version}.tgz#{hex40}\"' yarn.lock"),
        format!("echo trace_id={hex32}"),
        format!("echo 'traceparent: 00-{hex32}-{}-01'", &hex40[..16]),
        format!("grep 'cache-key: {hex40}' ci.log"),
        format!("ls target/debug/deps/{word}-{}", &hex40[..16]),
        format!("ls /nix/store/{}-{word}-{version}", dice.text("0123456789abcdfghijklmnpqrsvwxyz", 32)),
        format!("cat node_modules/.cache/{hex32}.json"),
        format!("grep 'index {}..{} 100644' a.patch", &hex40[..7], &hex40[7..14]),
        format!("grep -n 'password = input(\"{word}: \")' app.py"),
        format!("rg 'token: {word}_token,' src"),
        format!("grep 'api_key = os.getenv(\"{}_API_KEY\")' x.py", word.to_uppercase()),
        format!("curl -H \"Authorization: Bearer ${}_TOKEN\" https://api.github.com", word.to_uppercase()),
        format!("grep 'PASSWORD_MIN_LENGTH = {}' x.py", dice.roll(30)),
        format!("rg 'fn {word}_token\\(&self\\) -> Token' src"),
        format!("grep -rn 'secretKeyRef' deploy/{word}"),
        format!("kubectl get pod {word}-{}-{}", &hex40[..10], &hex40[11..16]),
        format!("aws ec2 describe-instances --instance-ids i-0{}", &hex40[..16]),
        format!("echo 'nonce-{}'", base64[..16].replace(['+', '/'], "x")),
    ]
}
