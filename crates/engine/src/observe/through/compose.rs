//! Compose files: whether the containers that they describe stay inside themselves.

use super::yaml::{self, Yaml};

/// Settings of a service that change nothing outside of it.
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

const TOP: &[&str] = &["version", "name", "services", "volumes", "networks"];

/// Nothing in the file reaches beyond the project and its containers, and every image is one of the official ones.
pub fn stays_inside(text: &str) -> bool {
    let Some(file) = yaml::read(text) else { return false };
    let services = file.get("services").map(Yaml::members).unwrap_or_default();
    file.members().iter().all(|(key, _)| TOP.contains(&key.as_str()))
        && file
            .get("volumes")
            .is_none_or(|volumes| volumes.members().iter().all(|(_, volume)| volume.members().is_empty()))
        && services.iter().all(|(_, service)| service_stays_inside(service))
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
    let harmless = [
        "npm",
        "yarn",
        "pnpm",
        "node",
        "python",
        "flask",
        "uvicorn",
        "gunicorn",
        "rails",
        "redis-server",
        "postgres",
        "nginx",
    ];
    let plain = words.iter().all(|word| !word.contains([';', '|', '&', '`', '$', '<', '>', '\n', '(']));
    plain
        && words.first().is_some_and(|word| harmless.contains(word))
        && !words.iter().any(|word| matches!(*word, "-c" | "-e" | "-m" | "--eval" | "exec" | "-p" | "--require" | "-r"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
