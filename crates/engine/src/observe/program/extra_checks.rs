//! What is noticed about a run beyond its flags and operands: the environment, hosts, secrets, doorward itself.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::Invocation;
use super::builds::lies_outside;
use super::carrying::note_carrying;
use super::findings::Findings;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::{Does, Facet, Role, Sense};
use crate::observe::connect::Exchange;
use crate::observe::field::Field;
use crate::observe::paths::ruled::reads_ruled_from;
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::caused::Caused;
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::shell::state::State;
use crate::observe::stream::{Origin, Stream};
use crate::world::World;

/// Printing the environment matters only if it holds something secret.
pub(crate) fn environment_dump(world: &dyn World, does: &mut Does, invocation: &mut Invocation) {
    let secret = environment_is_secret(world);
    invocation.output.origin.environment = true;
    if secret {
        invocation.output.origin.secret = true;
    } else {
        does.marks.remove(Mark::EnvironmentDump);
        does.sensitivity = doorward_vocabulary::Sensitivity::None;
    }
}

/// The shell prints its variables, those of the environment among them.
pub(crate) fn lists_environment(out: &mut Observer<'_>, by: &By) -> Stream {
    let mut output = Stream::unknown(Origin { environment: true, ..Origin::default() });
    if environment_is_secret(out.world) {
        output.origin.secret = true;
        let mut effect = Effect::new(Operation::Read, Target::Resource(by.name.clone()));
        effect.marks.add(Mark::EnvironmentDump);
        effect.by.clone_from(&by.name);
        effect.part = by.part;
        out.effect(effect);
    }
    output
}

fn environment_is_secret(world: &dyn World) -> bool {
    world.environment_all().iter().any(|(name, value)| {
        crate::observe::names::secret_variable(name) || crate::secret::holds(&format!("{name}={value}"))
    })
}

/// What is known about the hosts that are named.
pub(crate) fn host_marks(world: &dyn World, invocation: &Invocation) -> Marks {
    let mut marks = Marks::default();
    for (field, role) in invocation.args.operands.iter().zip(&invocation.roles) {
        if *role == Role::Host {
            marks.union(crate::network::host(field.known().unwrap_or_default(), world).marks);
        }
    }
    marks
}

/// Every host that is named is this machine.
pub(crate) fn asks_loopback_only(world: &dyn World, invocation: &Invocation) -> bool {
    let mut hosts =
        invocation.args.operands.iter().zip(&invocation.roles).filter(|(_, role)| **role == Role::Host).peekable();
    hosts.peek().is_some()
        && hosts.all(|(field, _)| {
            field.exact().is_some_and(|text| crate::network::host(text, world).marks.has(Mark::Loopback))
        })
}

/// Every name that is asked for, and every server that is asked, belongs to a host on the list: nobody else reads the query.
pub(crate) fn asks_listed_only(world: &dyn World, invocation: &Invocation) -> bool {
    // From the registry of record types; another word without a dot is a name that the search domain completes.
    const KINDS: &[&str] =
        &["A", "AAAA", "MX", "TXT", "NS", "CNAME", "SOA", "SRV", "CAA", "DS", "DNSKEY", "HTTPS", "SVCB", "IN"];
    let is_listed = |text: &str| {
        let marks = crate::network::host(text.trim_start_matches('@').trim_end_matches('.'), world).marks;
        marks.has(Mark::ListedHost)
            && !marks.has_any(&[
                Mark::DropHost,
                Mark::CarriesData,
                Mark::OddAddress,
                Mark::AddressLiteral,
                Mark::OddPort,
            ])
    };
    let is_kind = |text: &str| KINDS.iter().any(|kind| kind.eq_ignore_ascii_case(text));
    let mut hosts = invocation.args.operands.iter().peekable();
    let values = || invocation.args.given.iter().filter_map(|given| given.value.as_ref());
    let is_plain = |field: &Field| field.exact().is_some_and(|text| !text.contains('.') && !text.contains('@'));
    hosts.peek().is_some()
        && hosts.all(|field| field.exact().is_some_and(|text| is_kind(text) || is_listed(text)))
        && values().all(is_plain)
}

/// Links and trees that this call makes: the world does not know them when later words lead through them.
pub(crate) fn note_links(out: &mut Observer<'_>, invocation: &Invocation) {
    note_carrying(out, invocation);
    let with_roles = || invocation.args.operands.iter().zip(&invocation.roles);
    let names: Vec<String> = with_roles()
        .filter(|(_, role)| **role == Role::LinkSource)
        .map(|(source, _)| crate::path::name(source.text.trim_end_matches('/')).to_owned())
        .collect();
    if names.is_empty() {
        return;
    }
    let operands = with_roles()
        .filter(|(_, role)| !matches!(role, Role::LinkSource | Role::Data | Role::Text | Role::Name))
        .map(|(field, _)| field);
    let flags = invocation.args.given.iter().filter(|given| given.role == Role::Into);
    let mut places: Vec<&str> =
        operands.chain(flags.filter_map(|given| given.value.as_ref())).map(|field| field.text.as_str()).collect();
    if places.is_empty() {
        places.push(".");
    }
    let Some(cwd) = invocation.cwd.as_deref() else { return };
    let is_symbolic = invocation.args.has_any(&["-s", "--symbolic"]) && !invocation.args.has_any(&["-r", "--relative"]);
    let texts: Vec<&str> = with_roles()
        .filter(|(source, role)| is_symbolic && **role == Role::LinkSource && !source.text.starts_with('/'))
        .filter_map(|(source, _)| source.known())
        .collect();
    for place in places {
        let path = crate::path::lexical(&crate::path::join(cwd, place));
        for text in &texts {
            reads_ruled_from(out, &path, text, &invocation.by);
            reads_ruled_from(out, crate::path::parent(&path), text, &invocation.by);
        }
        out.links.extend(names.iter().map(|name| crate::path::join(&path, name)));
        let is_directory =
            place == "." || place.ends_with('/') || out.world.look(&path).kind == crate::world::Kind::Directory;
        if !is_directory {
            out.links.push(path);
        }
    }
}

/// What `mktemp` prints: its template, in which the letters `X` stand for what nobody can foresee.
pub(crate) fn made_by_mktemp(out: &mut Observer<'_>, invocation: &Invocation, state: &State<'_>) -> Option<String> {
    let args = &invocation.args;
    let plain = ["-d", "--directory", "-q", "--quiet", "-u", "--dry-run"];
    if !args.unknown.is_empty() || args.given.iter().any(|given| !plain.contains(&given.name.as_str())) {
        return None;
    }
    let path = match args.operands.as_slice() {
        [] => {
            let directory = match state.variables.get("TMPDIR") {
                Some(variable) => variable.value.text.clone()?,
                None => out.world.environment("TMPDIR").map_or_else(|| "/tmp".to_owned(), Into::into),
            };
            crate::path::join(&directory, "tmp.XXXXXXXXXX")
        }
        [template] => template.exact().filter(|text| text.contains("XXX"))?.to_owned(),
        [_, ..] => return None,
    };
    if !args.has_any(&["-u", "--dry-run"]) {
        let absolute = crate::path::join(invocation.cwd.as_deref()?, &path);
        out.made.push(crate::path::resolve(&absolute, out.world, crate::path::Follow::Last).real);
    }
    Some(format!("{path}\n"))
}

/// doorward is named in something that does more than read.
pub(crate) fn note_guard(caused: &mut Caused, invocation: &Invocation) {
    // Only the last part of a path counts, so that a project called `doorward-notes` is not the guard.
    const NAMES: &[&str] = &["doorward", "doorward.sock", "doorward.service"];
    let names = |field: &Field| {
        NAMES.contains(&field.text.rsplit('/').next().unwrap_or_default()) || field.text.contains("/doorward.sock")
    };
    if invocation.args.chain.first().is_some_and(|entry| entry.key == "doorward")
        || !invocation.args.operands.iter().any(names)
    {
        return;
    }
    let stops = [Mark::ProcessSignal, Mark::ServiceChange, Mark::Listens];
    for effect in caused.iter_mut() {
        let acts = effect.marks.has_any(&stops)
            || (effect.operation == Operation::Network
                && invocation.args.operands.iter().any(|field| field.text.contains("/doorward.sock")))
            || (effect.operation == Operation::Delete && effect.target.shown().contains("doorward.sock"));
        let hidden = effect.target == Target::Unknown
            && effect.operation != Operation::Read
            && invocation.args.operands.iter().any(|field| field.text.contains("doorward.sock"));
        if acts || hidden {
            effect.marks.add(Mark::GuardStop);
        }
    }
}

/// Arguments that the tables take for data and that say more: files of arguments, plugins, databases elsewhere.
pub(crate) fn telling_arguments(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let args = &invocation.args;
    if let Some((degree, because)) = doubtful_argument(world, invocation) {
        found.doubt(degree, because);
    }
    if args.is(Facet::KeepsCredentials)
        && let Some(effect) = printed_credential(invocation)
    {
        found.effect(effect);
    }
    if args.is(Facet::CloneFlags) {
        found.extend(clone_flags(invocation));
    }
    // `html:directory`, `xml:file`
    let reports = args.fields(Sense::Report).into_iter();
    let places = reports
        .filter_map(|value| value.text.split_once(':').map(|(_, place)| value.with_text(place)))
        .filter(|place| place.text.contains(['/', '.']));
    places.for_each(|place| found.touch(Touch::Create, place));
    if args.is(Facet::ExecAddresses) {
        args.operands.iter().filter_map(command_of_address).for_each(|line| found.run_line(line));
    }
    if args.is(Facet::DatabaseHosts) {
        let values = args.given.iter().filter_map(|given| given.value.as_ref());
        let hosts = args.operands.iter().chain(values).filter_map(database_host);
        hosts.for_each(|host| found.connect(host, Exchange::Fetch));
    }
    found
}

/// `EXEC:'cmd args',pty`: the command without the options behind it.
fn command_of_address(word: &Field) -> Option<Field> {
    let (kind, rest) = word.text.split_once(':')?;
    let is_run = ["EXEC", "SYSTEM", "SHELL"].contains(&kind.to_ascii_uppercase().as_str());
    is_run.then(|| word.with_text(rest.split(",pty").next().unwrap_or(rest).trim_matches(['"', '\''])))
}

/// An argument that means more to its program than the tables say, and why that cannot be followed.
fn doubtful_argument(world: &dyn World, invocation: &Invocation) -> Option<(Degree, String)> {
    let args = &invocation.args;
    let operand = |is_doubtful: &dyn Fn(&Field) -> bool| args.operands.iter().find(|field| is_doubtful(field));
    if args.is(Facet::ArgumentFiles) {
        let file = operand(&|field| field.text.starts_with('@') && field.text.len() > 1)?;
        return Some((Degree::Opaque, format!("the arguments in `{}`", file.shown())));
    }
    if args.is(Facet::ImageForms) {
        let word = operand(&|field| is_more_than_an_image(&field.text))?;
        return Some((Degree::Opaque, format!("what `{}` makes of `{}`", invocation.by.name, word.shown())));
    }
    if args.is(Facet::PipeNames) {
        let word = operand(&|field| field.text.starts_with('|') || field.dynamic)?;
        return Some((Degree::Opaque, format!("what `{}` reads as `{}`", invocation.by.name, word.shown())));
    }
    if args.is(Facet::PluginGoals) {
        let goal = operand(&|field| field.text.matches(':').count() > 1)?;
        return Some((Degree::Unknown, format!("the plugin `{}`, which may be fetched", goal.shown())));
    }
    let is_elsewhere =
        |value: &&Field| (value.dynamic || value.text.contains('/')) && lies_outside(world, value, invocation);
    if let Some(place) = args.fields(Sense::LoadModule).into_iter().find(is_elsewhere) {
        return Some((Degree::Opaque, format!("the code of `{}`, which is not part of the project", place.shown())));
    }
    let is_script = |value: &Field| value.text.split(['+', '-']).next().is_some_and(|name| name.ends_with(".lua"));
    let script = args.fields(Sense::LuaForm).into_iter().find(|value| value.dynamic || is_script(value))?;
    Some((Degree::Opaque, format!("the code in `{}`", script.shown())))
}

/// A package manager is asked for a credential of its settings.
fn printed_credential(invocation: &Invocation) -> Option<Effect> {
    // Keys of npm, pip, Composer and Poetry under which a token is stored; `npm config get` prints it (secrets-405).
    const NAMES: &[&str] = &["_auth", "authtoken", "password", "http-basic", "pypi-token"];
    let is_secret = |field: &Field| {
        let lower = field.text.to_ascii_lowercase();
        NAMES.iter().any(|word| lower.contains(word))
    };
    let asks = invocation.by.name.contains("config") && invocation.args.operands.iter().any(is_secret);
    asks.then(|| {
        let mut effect = Effect::new(Operation::Read, Target::Resource(invocation.by.name.clone()));
        effect.sensitivity = doorward_vocabulary::Sensitivity::Credential;
        effect.marks.add(Mark::SecretReturning);
        effect.by.clone_from(&invocation.by.name);
        effect.part = invocation.by.part;
        effect
    })
}

/// `gh repo clone x -- …`: the flags that stand behind go to `git clone`.
fn clone_flags(invocation: &Invocation) -> Findings {
    // `--upload-pack`, `--config`, `--template` and `--reference` are missing: each can make the clone run or read
    // something else (git-062).
    const PLAIN: &[&str] = &[
        "--depth",
        "--branch",
        "-b",
        "--single-branch",
        "--no-single-branch",
        "-q",
        "--quiet",
        "--no-tags",
        "--filter",
        "--sparse",
        "--recursive",
        "--recurse-submodules",
        "--bare",
        "--mirror",
        "-v",
        "--progress",
    ];
    let mut found = Findings::default();
    let args = &invocation.args;
    if !args.ended {
        return found;
    }
    let flags = args.operands.iter().skip(args.ended_at).filter(|field| field.text.starts_with('-') || field.dynamic);
    for flag in flags {
        if !PLAIN.contains(&flag.text.split('=').next().unwrap_or_default()) {
            found.doubt(Degree::Opaque, format!("the flag `{}` given to `git clone`", flag.shown()));
        }
    }
    found
}

/// A search that picks its files by the names of secrets.
pub(crate) fn picked_secrets(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    // The flags by which searches pick their files. With the name of a secret in them the search prints that secret.
    const FLAGS: &[&str] = &["-g", "--glob", "--iglob", "--include", "-G", "--file-search-regex"];
    if !invocation.args.is(Facet::Searches) || invocation.args.has_any(&["--files", "-l", "--files-with-matches"]) {
        return found;
    }
    let picks = invocation.args.given.iter().filter(|given| FLAGS.contains(&given.name.as_str()));
    let cwd = invocation.cwd.as_deref().unwrap_or("/");
    for value in picks.filter_map(|given| given.value.as_ref()) {
        let name = crate::path::name(&value.text);
        let is_all = name.chars().all(|letter| matches!(letter, '*' | '?' | '.')) && !name.starts_with('.');
        let is_barred = value.text.starts_with('!') || is_all;
        if crate::observe::paths::globs::picks_sensitive(&value.text, cwd, world)
            || (!is_barred && crate::observe::paths::globs::may_pick_sensitive(&value.text, world))
        {
            found.doubt(Degree::Opaque, format!("the wildcard `{}` may match something sensitive", value.shown()));
        }
    }
    found
}

/// Searching a list of the environment for secrets.
pub(crate) fn hunted_secrets(invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    // Parts of variable names; `env | grep -i key` prints values, not names.
    const WORDS: &[&str] = &["token", "secret", "passw", "key", "cred", "auth"];
    let hunts = invocation.input.origin.environment
        && invocation
            .args
            .operands
            .iter()
            .any(|field| WORDS.iter().any(|word| field.text.to_ascii_lowercase().contains(word)));
    if hunts {
        let mut effect = Effect::new(Operation::Read, Target::Resource("secrets in the environment".into()));
        effect.marks.add(Mark::SecretReturning);
        effect.by.clone_from(&invocation.by.name);
        effect.part = invocation.by.part;
        found.effect(effect);
    }
    found
}

/// What `printf` prints, if its format is plain text or a single `%s`.
pub(crate) fn printed(operands: &[Field]) -> Option<String> {
    // The shell puts names in place of a pattern.
    if operands.iter().any(|field| field.glob) {
        return None;
    }
    let mut words = operands.iter().map(Field::known);
    let format = words.next()??;
    let rest: Vec<&str> = words.collect::<Option<_>>()?;
    match (format.trim_end_matches("\\n"), rest.as_slice()) {
        (plain, []) if !plain.contains(['%', '\\']) => Some(plain.to_owned()),
        (_, []) if !format.contains('%') => lines(format),
        // The format is used again for every word.
        ("%s", words) if format == "%s" => Some(words.concat()),
        ("%s", words) if format == "%s\\n" => Some(words.join("\n")),
        (_, _) => None,
    }
}

/// A format that only says where its lines end.
fn lines(format: &str) -> Option<String> {
    let text = format.replace("\\n", "\n");
    (!text.contains('\\')).then_some(text)
}

/// Names that ImageMagick runs, or reads as a script or a list of files.
fn is_more_than_an_image(text: &str) -> bool {
    // ImageMagick reads the part before the colon as a format. These run a script, read another file as text or fetch
    // an address.
    const FORMS: &[&str] =
        &["msl", "mvg", "ephemeral", "text", "caption", "label", "url", "http", "https", "ftp", "show"];
    let form = text.split_once(':').map(|(form, _)| form.to_ascii_lowercase());
    text.starts_with(['|', '@']) || text.contains(":@") || form.is_some_and(|form| FORMS.contains(&form.as_str()))
}

/// The machine of a database that an address or a list of settings names.
fn database_host(field: &Field) -> Option<Field> {
    let text = field.text.as_str();
    if let Some((_, rest)) = text.split_once("://") {
        let place = rest.split(['/', '?']).next().unwrap_or(rest);
        let host = place.rsplit('@').next().unwrap_or(place);
        return (!host.is_empty()).then(|| field.with_text(host));
    }
    let host =
        text.split_whitespace().find_map(|word| word.strip_prefix("host=").or(word.strip_prefix("hostaddr=")))?;
    (!host.starts_with('/')).then(|| field.with_text(host))
}
