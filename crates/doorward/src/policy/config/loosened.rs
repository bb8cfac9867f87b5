//! Which keys of a file have no effect because they are laxer than what the user accepted.

use super::{Config, stages};

/// The keys in which `counts` (`said`, limited to what was accepted) differs from `said`.
pub(crate) fn held_back(said: &Config, counts: &Config) -> Vec<&'static str> {
    let lacks = |wanted: &[String], there: &[String]| wanted.iter().any(|entry| !there.contains(entry));
    let hosts = |config: &Config| {
        let settings = config.settings();
        (settings.allowed_hosts, settings.only_allowed_hosts)
    };
    let choice = |config: &Config, agent: &str| (config.mode(agent), config.is_staged(agent), config.questions(agent));
    let differs = |agent: &String| choice(said, agent) != choice(counts, agent);
    let modes = counts.agents.keys().any(differs);
    let (said_numbers, counted_numbers) = (said.numbers(), counts.numbers());
    let rows = [
        ("agents", modes),
        ("permissions.allow", lacks(&said.permissions.allow, &counts.permissions.allow)),
        ("permissions.deny", lacks(&counts.permissions.deny, &said.permissions.deny)),
        ("permissions.ask", lacks(&counts.permissions.ask, &said.permissions.ask)),
        ("hosts.allowed", hosts(said) != hosts(counts)),
        ("hosts.denied", lacks(&counts.hosts.denied, &said.hosts.denied)),
        ("paths.protected", lacks(&counts.paths.protected, &said.paths.protected)),
        ("paths.denied", lacks(&counts.paths.denied, &said.paths.denied)),
        ("projects.trusted", lacks(&said.projects.trusted, &counts.projects.trusted)),
        ("programs.directories", lacks(&said.programs.directories, &counts.programs.directories)),
        ("reviewer", said.reviewer != counts.reviewer),
        ("run.mode", said.run.mode() != counts.run.mode()),
        ("rules", stages::differ(&said.rules, &counts.rules)),
        ("strict", said.strict != counts.strict),
        ("profile.retain_days", said.profile.retain_days() != counts.profile.retain_days()),
        ("thresholds", said_numbers != counted_numbers),
    ];
    rows.into_iter().filter(|(_, is_held)| *is_held).map(|(key, _)| key).collect()
}

impl Config {
    /// The numbers that would apply.
    fn numbers(&self) -> doorward_engine::Thresholds {
        self.thresholds.over(doorward_engine::Thresholds::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(before: &str, now: &str) -> Vec<&'static str> {
        let (before, now) = (Config::parse(before).unwrap(), Config::parse(now).unwrap());
        held_back(&now, &now.clone().no_laxer_than(&before))
    }

    #[test]
    fn what_is_laxer_is_named_and_what_is_stricter_is_not() {
        let lax = "[agents.claude]\nmode = \"auto\"\n[permissions]\nallow = [\"bash(make x)\"]\n\
                   [hosts]\nallowed = [\"$defaults\", \"a.example\"]\n[projects]\ntrusted = [\"/srv/x\"]\n\
                   [programs]\ndirectories = [\"/home/me/bin\"]\n[thresholds]\nreads_per_minute = 9000\n";
        let strict = "strict = true\n[permissions]\ndeny = [\"bash(ls)\"]\nask = [\"fetch\"]\n\
                      [hosts]\ndenied = [\"b.example\"]\n[paths]\nprotected = [\"x\"]\ndenied = [\"y\"]\n\
                      [thresholds]\nreads_per_minute = 10\n";
        // A limit above the built-in one loosens nothing, as it does not count.
        let loosening = ["agents", "permissions.allow", "hosts.allowed", "projects.trusted", "programs.directories"];
        assert_eq!(held("", lax), loosening);
        assert_eq!(held(lax, lax), [""; 0]);
        assert_eq!(held(lax, ""), [""; 0]);
        assert_eq!(held("", strict), [""; 0]);
        let removed = [
            "permissions.deny",
            "permissions.ask",
            "hosts.denied",
            "paths.protected",
            "paths.denied",
            "strict",
            "thresholds",
        ];
        assert_eq!(held(strict, ""), removed);
    }
}
