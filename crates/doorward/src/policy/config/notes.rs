//! Notes on a configuration that works, but perhaps not as intended.

use doorward_engine::{Pattern, Stage, Thresholds};

use super::{Config, DEFAULTS, Numbers, Rights};

/// One note: the key it is about, and the problem.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Note {
    pub key: String,
    pub text: String,
}

impl Note {
    pub(crate) fn new(key: impl Into<String>, text: impl Into<String>) -> Note {
        Note { key: key.into(), text: text.into() }
    }
}

/// All notes on one source.
pub(crate) fn notes(config: &Config, rights: Rights) -> Vec<Note> {
    let mut notes = Vec::new();
    if rights == Rights::TightenOnly {
        notes.extend(
            config
                .loosening_keys()
                .into_iter()
                .map(|key| Note::new(key, "is ignored here: this source may only tighten")),
        );
    }
    notes.extend(patterns(config, rights));
    notes.extend(paths(config));
    notes.extend(hosts(config, rights));
    notes.extend(numbers(config));
    notes.extend(stages(config));
    notes
}

fn patterns(config: &Config, rights: Rights) -> Vec<Note> {
    let lists = [
        ("permissions.deny", &config.permissions.deny),
        ("permissions.ask", &config.permissions.ask),
        ("permissions.allow", &config.permissions.allow),
    ];
    let mut notes = Vec::new();
    for (key, list) in lists {
        for pattern in list.iter().filter_map(|text| Pattern::parse(text).ok()) {
            if let Some(why) = pattern.never_matches() {
                notes.push(Note::new(key, format!("`{}` can never match: {why}", pattern.text)));
            }
            let too_broad = pattern.too_broad().filter(|_| key == "permissions.allow" && rights == Rights::Full);
            if let Some(why) = too_broad {
                notes.push(Note::new(key, format!("`{}` is dropped: {why}", pattern.text)));
            }
        }
    }
    notes
}

fn paths(config: &Config) -> Vec<Note> {
    let lists = [("paths.protected", &config.paths.protected), ("paths.denied", &config.paths.denied)];
    let never = |path: &str| {
        let is_user = path.starts_with('~') && !path.starts_with("~/");
        let is_dotted = path.split('/').any(|part| part == "..");
        path.trim().is_empty() || is_user || is_dotted
    };
    let wrong = |(key, list): (&str, &Vec<String>)| -> Vec<Note> {
        let odd = list.iter().filter(|path| never(path));
        odd.map(|path| {
            Note::new(
                key,
                format!(
                    "`{path}` can never match: write it as an absolute path, below `~/` or relative to the project"
                ),
            )
        })
        .collect()
    };
    lists.into_iter().flat_map(wrong).collect()
}

fn hosts(config: &Config, rights: Rights) -> Vec<Note> {
    let mut notes = Vec::new();
    let allowed = &config.hosts.allowed;
    if rights == Rights::Full && !allowed.is_empty() && !allowed.iter().any(|host| host == DEFAULTS) {
        notes.push(Note::new("hosts.allowed", "replaces the built-in list; add `$defaults` to keep that"));
    }
    for (key, list) in [("hosts.allowed", allowed), ("hosts.denied", &config.hosts.denied)] {
        let odd = list.iter().filter(|host| *host != DEFAULTS && (host.contains(['/', '@']) || host.contains("://")));
        notes.extend(odd.map(|host| Note::new(key, format!("`{host}` can never match: write only the host name"))));
    }
    notes
}

fn stages(config: &Config) -> Vec<Note> {
    let remark = |(name, stage): (&String, &Stage)| {
        super::stages::remark(name, *stage).map(|text| Note::new(format!("rules.{name}"), text))
    };
    config.rules.iter().filter_map(remark).collect()
}

fn numbers(config: &Config) -> Vec<Note> {
    let floor = Thresholds::default();
    let given = &config.thresholds;
    let below = |value: Option<f64>, floor: f64| value.is_some_and(|value| value < floor);
    let rows = [
        ("thresholds.confidence", below(given.confidence, floor.confidence), floor.confidence.to_string()),
        ("thresholds.irreversible", below(given.irreversible, floor.irreversible), floor.irreversible.to_string()),
    ];
    let limits = given.limits().into_iter().zip(Numbers::from(floor).limits());
    let above = limits.filter(|((_, given), (_, limit))| given > limit);
    let raised = above.map(|((key, _), (_, limit))| {
        let limit = limit.unwrap_or_default();
        Note::new(format!("thresholds.{key}"), format!("is above the built-in limit, which applies instead: {limit}"))
    });
    rows.into_iter()
        .filter(|(_, is_lax, _)| *is_lax)
        .map(|(key, _, floor)| {
            Note::new(key, format!("is laxer than the built-in floor, which applies instead: {floor}"))
        })
        .chain(raised)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_does_not_do_what_it_says_is_named() {
        let config = Config::parse(
            "[permissions]\ndeny = [\"bsh(ls)\"]\nallow = [\"bash(*)\", \"bash(git status*)\"]\n\
             [paths]\ndenied = [\"~other/x\", \"secret\"]\n[hosts]\nallowed = [\"https://a.example/\"]\n\
             [thresholds]\nconfidence = 0.5\nread_bytes = 99999999\nbulk_files = 20\nread_burst = 61",
        )
        .unwrap();
        let keys: Vec<String> = notes(&config, Rights::Full).into_iter().map(|note| note.key).collect();
        assert_eq!(
            keys,
            [
                "permissions.deny",
                "permissions.allow",
                "paths.denied",
                "hosts.allowed",
                "hosts.allowed",
                "thresholds.confidence",
                "thresholds.read_burst",
                "thresholds.read_bytes"
            ]
        );
        let ignored = notes(&config, Rights::TightenOnly);
        assert!(ignored.iter().any(|note| note.key == "permissions.allow" && note.text.contains("only tighten")));
    }
}
