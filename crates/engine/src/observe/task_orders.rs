//! What the prose of a task orders another agent to do: send a secret, push, deploy, delete, run a download, change settings.
//!
//! Read by fixed lists, sentence by sentence. A sentence that explains or forbids orders nothing.

use doorward_vocabulary::{Mark, Sensitivity};

use crate::intent::prose::{self, Sentence, Word};
use crate::place::{self, Place};
use crate::world::World;
use crate::{network, path};

/// Words that say a thing is not to be done.
// "Never run `rm -rf /`" is good advice and must not be read as a request.
pub(super) const REFUSING: &str = "never don't dont not avoid without instead dangerous forbid refuse blocks prevent";

/// Words before the verb of an order.
// "Then please also push" orders a push.
const LEADS: &str = "please then also now finally next first second third afterwards lastly you must should need to make \
    sure just go ahead and do will can want i we let's lets when done once after that task: step";

/// Words that begin a question or a description: what follows tells how something works.
const TELLING: &str = "mention mentions documents documenting saying how what why whether where which who if explain describe summarise summarize";

/// Verbs that ask for code: what is listed behind them is what the code does.
// "Write a client that can push, delete and upload" orders code and nothing of the list.
const BUILDING: &str = "write implement build design document test support refactor extend review find search list look \
    investigate analyze analyse check understand trace locate";

const SENDING: &str = "upload send post exfiltrate transfer submit share copy paste email mail forward leak attach put \
    publish scp curl push report";
const DELETING: &str = "delete remove erase wipe purge destroy drop rm clear nuke truncate empty";
const FETCHING: &str = "download fetch get curl wget pull grab";
const RUNNING: &str = "run execute source install launch start pipe eval invoke";
const CHANGING: &str = "edit change modify update add append write set overwrite replace patch put create extend configure \
    insert adjust prepend install";
const SWITCHING: &str = "disable bypass skip deactivate turn switch circumvent suppress remove ignore";
const READING: &str = "read print show cat dump reveal display output open echo";
const DEPLOYING: &str = "deploy publish release ship roll promote";
const SCHEDULING: &str = "schedule install register create set add";

/// Things that are secret by their name.
const SECRETS: &str = "credentials credential secrets secret token tokens password passwords key keys cookies keychain \
    environment customers customer users employees patients";

/// Where something is sent that leaves this machine.
const ELSEWHERE: &str = "pastebin gist slack discord telegram webhook issue comment chat twitter ticket bucket dropbox forum \
    channel";

/// What is shared with others if it is pushed.
const PUSHED: &str = "branch branches commit commits change changes work it them everything origin remote upstream main \
    master history github gitlab tag tags result";

/// Where things run that others use.
const LIVE: &str = "production prod staging live npm pypi crates.io registry cluster kubernetes aws gcp azure heroku \
    vercel netlify cloudflare customers everyone";

/// Things that are gone for everybody.
const KEPT: &str = "database databases db bucket buckets cluster clusters volume volumes backup backups namespace \
    repository repo disk server home deployment instance instances";

/// Adjectives of things that are made to be thrown away.
const THROWN_AWAY: &str = "test tests local dev mock sample temporary temp fixture in-memory unused old";

/// What guards the machine, or a connection.
const GUARDS: &str = "tls ssl certificate certificates hooks hook pre-commit sandbox guard doorward firewall selinux \
    apparmor approvals antivirus gatekeeper 2fa mfa";

/// Words that end what a verb is about.
const ENDS: &str =
    "in on at with to for by from of that so when before after because recursively using now completely first as under";

/// Words between a verb and the place that is changed.
const INTO: &str = "to into in at inside of the file my our your a this";

/// What a sentence of the task orders that a person should see first.
pub(super) fn ordered(text: &str, cwd: &str, world: &dyn World) -> Option<String> {
    let lines = prose::own_lines(text);
    let mut before: Option<Sentence> = None;
    for line in lines {
        for sentence in prose::sentences(without_bullet(line)).unwrap_or_default() {
            let reader = Reader { cwd, world };
            if let Some(order) = reader.sentence(&sentence, before.as_ref()) {
                return Some(order);
            }
            before = Some(sentence);
        }
    }
    None
}

/// The sentence explains something, so that commands in it are examples.
pub(super) fn tells(line: &str) -> bool {
    let mut words = line.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let first = words.next().map(str::to_ascii_lowercase).unwrap_or_default();
    let is_telling = |word: &str| holds(TELLING, &word.to_ascii_lowercase());
    holds(BUILDING, &first) || is_telling(&first) || words.take(4).any(is_telling)
}

/// What comes before a command says that it is an example.
pub(super) fn leads_to_example(before: &str) -> bool {
    let mut words = before.split(|letter: char| !letter.is_ascii_alphabetic());
    words.any(|word| holds(TELLING, &word.to_ascii_lowercase()))
}

/// What comes before a command in quotes asks for it to be run.
pub(super) fn leads_to_command(before: &str) -> bool {
    let last = before.trim_end().rsplit(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    before.trim_end_matches([' ', '-', '*']).is_empty()
        || holds(
            "run execute with using use do then by via and call invoke first try start",
            &last.to_ascii_lowercase(),
        )
        || before.trim_end().ends_with([':', '.', ','])
}

/// `1. `, `- ` and the like say only that it is one of several.
fn without_bullet(line: &str) -> &str {
    line.trim_start()
        .trim_start_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '-' | '*' | '.' | ')' | ' '))
}

/// Reads words with the places that they may name.
struct Reader<'a> {
    cwd: &'a str,
    world: &'a dyn World,
}

impl Reader<'_> {
    fn sentence(&self, sentence: &Sentence, before: Option<&Sentence>) -> Option<String> {
        let refuses = sentence.words().any(|word| !word.is_quoted && holds(REFUSING, &word.text));
        if sentence.is_question || refuses {
            return None;
        }
        let mut is_example = false;
        for segment in &sentence.segments {
            is_example |= segment.iter().any(|word| !word.is_quoted && holds(TELLING, &word.text));
            if is_example {
                return None;
            }
            let order: Vec<&Word> = segment.iter().skip_while(|word| holds(LEADS, &word.text)).collect();
            let Some((verb, rest)) = order.split_first().filter(|(verb, _)| !verb.is_quoted) else { continue };
            let found = self.order(verb.text.as_str(), rest, sentence, before);
            if let Some(found) = found {
                return Some(found);
            }
            // `remove` and `list` head an order as well; what they list is no further one.
            is_example |= holds(BUILDING, &verb.text) && !is_reading(verb);
        }
        None
    }

    fn order(&self, verb: &str, rest: &[&Word], sentence: &Sentence, before: Option<&Sentence>) -> Option<String> {
        let is = |verbs: &str| holds(verbs, verb);
        if is(SENDING)
            && let Some(secret) = self.sent(rest, sentence)
        {
            return Some(format!("send `{secret}` somewhere"));
        }
        if is("exfiltrate leak") && rest.iter().any(|word| holds(SECRETS, &word.text)) {
            return Some("send secrets somewhere".into());
        }
        if (is("push force-push") && pushes(rest)) || (is("merge") && says(rest, "pull pr")) {
            return Some("push to a remote".into());
        }
        if is(DEPLOYING) && goes_live(rest) {
            return Some(format!("{verb} something that others use"));
        }
        if is(DELETING)
            && let Some(target) = self.deleted(rest)
        {
            return Some(format!("delete `{target}`"));
        }
        if let Some(address) = self.downloaded_and_run(verb, rest, sentence, before) {
            return Some(format!("run what it downloads from `{address}`"));
        }
        if is(READING)
            && let Some(secret) = rest.iter().find(|word| self.is_secret_elsewhere(&word.text))
        {
            return Some(format!("read `{}`", secret.text));
        }
        if is(CHANGING)
            && let Some(place) = self.changed(rest)
        {
            return Some(format!("change `{place}`"));
        }
        if is(SWITCHING) && switches_off(verb, rest) {
            return Some("switch off a check".into());
        }
        if is(SCHEDULING) && says(rest, "cron crontab launchagent launchd") && says(rest, "job runs crontab") {
            return Some("start something at set times".into());
        }
        (is("use run execute sudo") && (verb == "sudo" || says(rest, "sudo"))).then(|| "act as another user".into())
    }

    /// What is sent that is secret, if it is said where to.
    fn sent(&self, rest: &[&Word], sentence: &Sentence) -> Option<String> {
        let file = rest.iter().find(|word| self.is_secret(&word.text)).map(|word| word.text.clone());
        let address = sentence.words().any(|word| is_address(&word.text) || is_mailbox(&word.text));
        let is_away = address || says(rest, ELSEWHERE);
        let noun = || rest.iter().take(6).find(|word| holds(SECRETS, &word.text)).map(|word| word.text.clone());
        file.filter(|_| is_away).or_else(|| noun().filter(|_| address || says(rest, "pastebin gist webhook")))
    }

    /// What is deleted that lies outside the project, or that nothing brings back.
    fn deleted(&self, rest: &[&Word]) -> Option<String> {
        let outside =
            rest.iter().take(5).enumerate().find(|(at, word)| self.is_outside(&word.text) && is_last(rest, *at));
        let outside = outside.map(|(_, word)| word);
        let object = noun_phrase(rest);
        let head = object.last().map(|word| word.text.as_str()).unwrap_or_default();
        let is_thrown_away = says(object, THROWN_AWAY);
        let is_kept = holds(KEPT, head) || (head == "directory" || head == "folder") && says(object, "home");
        let is_live = says(object, "production prod live") && !is_thrown_away;
        let is_remote = matches!(head, "branches" | "branch" | "tags" | "releases") && says(rest, "remote origin");
        outside
            .map(|word| word.text.clone())
            .or_else(|| ((is_kept && !is_thrown_away) || is_live || is_remote).then(|| head.to_owned()))
    }

    /// A place that guards or starts something, as the object of the order.
    fn changed(&self, rest: &[&Word]) -> Option<String> {
        rest.iter().enumerate().find_map(|(at, word)| {
            let before = at.checked_sub(1).and_then(|at| rest.get(at));
            let is_object = before.is_none_or(|before| holds(INTO, &before.text));
            let is_setting = matches!(word.text.as_str(), "core.hookspath" | "http.sslverify");
            (is_object && is_last(rest, at) && (is_setting || self.is_guarded(&word.text))).then(|| word.text.clone())
        })
    }

    /// A download that the same sentence, or the one before, wants run.
    fn downloaded_and_run(
        &self,
        verb: &str,
        rest: &[&Word],
        sentence: &Sentence,
        before: Option<&Sentence>,
    ) -> Option<String> {
        if !holds(RUNNING, verb) {
            return None;
        }
        let address =
            |words: &[&Word]| words.iter().find(|word| self.is_unlisted(&word.text)).map(|word| word.text.clone());
        let from = rest.iter().position(|word| word.text == "from").and_then(|at| address(rest.get(at..)?));
        let script = || {
            rest.iter().find(|word| self.is_unlisted(&word.text) && is_script(&word.text)).map(|word| word.text.clone())
        };
        if let Some(found) = from.or_else(script) {
            return Some(found);
        }
        let names_it = says(rest, "it them script installer file binary bash sh");
        let fetches = |sentence: &Sentence| {
            let words: Vec<&Word> = sentence.words().collect();
            says(&words, FETCHING).then(|| address(&words)).flatten()
        };
        fetches(sentence).or_else(|| before.and_then(fetches)).filter(|_| names_it)
    }

    /// An address on another machine.
    fn is_unlisted(&self, word: &str) -> bool {
        is_address(word) && !network::url(word, self.world).marks.has(Mark::Loopback)
    }

    fn place(&self, word: &str) -> Option<Place> {
        let word = word.trim_matches(['`', '"', '\'', ',', '(', ')']).trim_end_matches(['.', ':']);
        let names_path = word.starts_with(['/', '~', '.']) || word.contains('/') || word.contains('.');
        if !names_path || is_address(word) || !word.contains(char::is_alphanumeric) {
            return None;
        }
        let home = self.world.home().unwrap_or_default();
        let whole = match word.strip_prefix('~').or_else(|| word.strip_prefix("$home")) {
            Some(rest) => path::join(home, rest.trim_start_matches('/')),
            None => path::join(self.cwd, word),
        };
        Some(place::classify(&path::lexical(&whole), self.world))
    }

    fn is_secret(&self, word: &str) -> bool {
        self.place(word).is_some_and(|place| place.sensitivity > Sensitivity::None)
    }

    fn is_secret_elsewhere(&self, word: &str) -> bool {
        word.starts_with(['~', '/']) && self.is_secret(word)
    }

    fn is_outside(&self, word: &str) -> bool {
        let leaves = word.starts_with(['~', '/']) || word.starts_with("../") || word == "..";
        let is_path = word.len() > 1 && word.matches('/').count() + usize::from(word.starts_with('~')) > 0;
        let temporary = self.world.scratch().iter().any(|root| word.starts_with(root)) || word.starts_with("/tmp");
        let inside = self.world.project().is_some_and(|project| word.starts_with(project));
        leaves && is_path && !temporary && !inside && !is_route(word)
    }

    fn is_guarded(&self, word: &str) -> bool {
        const GUARDED: &[Mark] = &[
            Mark::AgentSettings,
            Mark::GuardOwn,
            Mark::ShellProfile,
            Mark::Persistence,
            Mark::SshMaterial,
            Mark::AuthorizedKeys,
            Mark::CredentialStore,
            Mark::GitHook,
            Mark::GitConfig,
            Mark::SystemDirectory,
        ];
        let is_path = word.contains('/') || word.starts_with(['.', '~']);
        is_path && !is_route(word) && self.place(word).is_some_and(|place| place.marks.has_any(GUARDED))
    }
}

/// `/api/users`: an address of an interface, not a directory of the machine.
fn is_route(word: &str) -> bool {
    const TOPS: &str = "etc usr var root home bin sbin opt boot lib library users";
    let top = word.strip_prefix('/').map(|rest| rest.split('/').next().unwrap_or_default());
    top.is_some_and(|top| !holds(TOPS, top))
}

/// The verb looks at something, so another one may follow that is meant.
fn is_reading(verb: &Word) -> bool {
    matches!(verb.text.as_str(), "review" | "find" | "search" | "list" | "look" | "check" | "test" | "investigate")
}

/// The word is in the list.
pub(super) fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

fn says(words: &[&Word], wanted: &str) -> bool {
    words.iter().any(|word| holds(wanted, &word.text))
}

/// Nothing of the same noun follows: `/etc/hosts so that`, but not `/etc parsing code`.
fn is_last(words: &[&Word], at: usize) -> bool {
    words.get(at + 1).is_none_or(|next| holds(ENDS, &next.text) || holds(INTO, &next.text))
}

/// The words up to the first that begins another part of the sentence.
fn noun_phrase<'w, 'a>(words: &'w [&'a Word]) -> &'w [&'a Word] {
    let end = words.iter().position(|word| holds(ENDS, &word.text)).unwrap_or(words.len());
    words.get(..end).unwrap_or_default()
}

fn pushes(rest: &[&Word]) -> bool {
    let object = noun_phrase(rest);
    let head = object.last().map(|word| word.text.as_str()).unwrap_or_default();
    (object.is_empty() && rest.is_empty())
        || holds(PUSHED, head)
        || says(rest, "origin upstream remote main master github gitlab")
}

/// `to production`, `on the cluster`: where it goes, and not only what it is about.
fn goes_live(rest: &[&Word]) -> bool {
    rest.windows(2).any(|pair| {
        matches!(pair, [before, place] if holds("to on in into at the", &before.text) && holds(LIVE, &place.text))
    })
}

fn switches_off(verb: &str, rest: &[&Word]) -> bool {
    let is_off = !matches!(verb, "turn" | "switch") || says(rest, "off");
    let object = noun_phrase(rest);
    let head = object.last().map(|word| word.text.as_str()).unwrap_or_default();
    let verifies = says(object, "tls ssl certificate certificates")
        && matches!(head, "verification" | "validation" | "checks" | "check" | "errors" | "certificates");
    let guards = holds(GUARDS, head) && !says(object, "react lifecycle component custom webhook");
    let prompts =
        matches!(head, "prompts" | "approvals" | "checks") && says(object, "permission approval commit security");
    is_off && (verifies || guards || prompts) && (verb != "remove" || verifies)
}

fn is_script(address: &str) -> bool {
    [".sh", ".py", ".ps1", ".exe", ".bash", ".pl", ".js", ".run", "/install", "/i"]
        .iter()
        .any(|end| address.ends_with(end))
}

fn is_address(word: &str) -> bool {
    word.contains("://")
}

/// `me@host.example`.
fn is_mailbox(word: &str) -> bool {
    word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !name.contains('/'))
}
