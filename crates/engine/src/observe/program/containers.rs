//! Containers of a trusted project: building its image and starting its services is project work, as long as nothing outside
//! the project is handed to them and they run on this machine.

use doorward_vocabulary::{Degree, Mark, Operation, Reach, Scope};

use super::Invocation;
use crate::observe::field::Field;
use crate::observe::recipes;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::path;
use crate::world::{Content, Kind, World};

/// Longer files are not read.
// Dockerfiles and compose files are small; see the other limits on files that are read for every call.
const LIMIT: usize = 256 * 1024;

// `podman build` and `docker buildx build` read the same file in the same way; `buildah` and `kaniko` do not.
const BUILDING: &[&str] = &["docker build", "docker image build", "docker buildx build", "podman build"];

// The trailing space keeps `docker compose-ui` and the like out.
const COMPOSING: &[&str] = &["docker compose ", "docker-compose ", "podman compose ", "podman-compose "];

/// What is done to the services of a project, without running a command of the agent's choice in them.
// `run` and `exec` are missing: they take a command from the agent.
const SERVING: &[&str] = &["up", "create", "build", "down", "start", "stop", "restart", "pause", "unpause"];

/// What makes the work another project's, or brings something in that the project's files do not name.
// Each brings in a directory, a secret, a host or another project's containers, or deletes volumes
// (project-work-1300, project-work-1309).
const BROUGHT: &[&str] = &[
    "-p",
    "--project-name",
    "--env-file",
    "--rmi",
    "-v",
    "--volumes",
    "--remove-orphans",
    "--build-arg",
    "--build-context",
    "--add-host",
    "--secret",
    "--ssh",
    "--allow",
    "--push",
    "-o",
    "--output",
    "--cache-to",
    "--scale",
];

/// Variables that the tools obey, as far as the call itself sets them.
// `DOCKER_HOST` alone sends the whole project to another machine (project-work-1310, shell-tricks-814).
const STEERING: &[&str] = &["COMPOSE_", "DOCKER_", "BUILDKIT_", "BUILDX_"];

/// Where `compose` looks for its files.
// In compose's own order; it takes the first that is there.
const COMPOSE_FILES: &[&str] = &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];
// Compose merges an override file without being told to, so a new one changes what `up` starts.
const OVERRIDES: &[&str] =
    &["compose.override.yaml", "compose.override.yml", "docker-compose.override.yml", "docker-compose.override.yaml"];

/// Names that tools give to a daemon on this machine.
// Contexts that Docker Desktop, rootless Docker, OrbStack, Colima and Podman create. Any other may be a remote
// daemon.
const LOCAL: &[&str] = &["default", "desktop-linux", "rootless", "orbstack", "colima", "podman"];

/// Takes back what speaks of another machine where the containers are plainly the project's own.
pub(super) fn containers(out: &Observer<'_>, invocation: &mut Invocation, state: &State<'_>) {
    let Some(key) = invocation.args.entry().map(|entry| entry.key.to_string()) else { return };
    let serves = COMPOSING.iter().find_map(|start| key.strip_prefix(start)).is_some_and(|sub| SERVING.contains(&sub));
    let builds = BUILDING.contains(&key.as_str());
    let is_own = || match builds {
        true => builds_own_image(out.world, invocation, state),
        false => serves_own_services(out.world, invocation, state),
    };
    if !(serves || builds) || !is_project_work(out, invocation, state) || !is_own() {
        return;
    }
    for does in &mut invocation.does {
        does.marks.remove(Mark::Remote);
        if does.operation == Operation::Mutate && !does.marks.has(Mark::Destroys) {
            does.marks.remove(Mark::ServiceChange);
            (does.scope, does.reach) = (Scope::Project, Reach::Project);
        }
    }
}

/// Understood, of a trusted project as it was trusted, and done by a daemon on this machine.
fn is_project_work(out: &Observer<'_>, invocation: &Invocation, state: &State<'_>) -> bool {
    let world = out.world;
    let doubts = [Mark::ChangedRecipe, Mark::UntrustedProject, Mark::OutsideProject, Mark::ContainerEscape];
    let is_inside = |cwd: &str| world.project().is_some_and(|project| path::under(cwd, project));
    matches!(out.degree(), Degree::Full | Degree::Delegated)
        && world.project_trusted()
        && invocation.cwd.as_deref().is_some_and(is_inside)
        && !invocation.does.iter().any(|does| does.marks.has_any(&doubts))
        && !invocation.args.has_any(&["-H", "--host", "--context", "--builder"])
        && !invocation.args.has_any(BROUGHT)
        && !state.variables.keys().any(|name| STEERING.iter().any(|start| name.starts_with(start)))
        && !invocation.args.given.iter().any(|given| given.level == 1 && given.name == "-c")
        && is_local_daemon(out.world)
}

fn is_local_daemon(world: &dyn World) -> bool {
    let is_local = |name: &str| world.environment(name).is_none_or(|host| host.is_empty() || host.starts_with("unix:"));
    let context = world.environment("DOCKER_CONTEXT");
    if !is_local("DOCKER_HOST") || context.is_some_and(|context| !LOCAL.contains(&context.as_ref())) {
        return false;
    }
    let Some(home) = world.home() else { return false };
    match world.content(&path::join(home, ".docker/config.json"), LIMIT) {
        Content::Missing | Content::Unlisted => true,
        Content::Text(text) => match text.split_once("\"currentContext\"") {
            None => true,
            Some((_, rest)) => rest.split('"').nth(1).is_some_and(|context| LOCAL.contains(&context)),
        },
        Content::TooLong | Content::NotText | Content::Unreadable => false,
    }
}

fn builds_own_image(world: &dyn World, invocation: &Invocation, state: &State<'_>) -> bool {
    let (Some(cwd), [context]) = (invocation.cwd.as_deref(), invocation.args.operands.as_slice()) else {
        return false;
    };
    let Some(context) = context.exact().filter(|text| !text.contains(':') && *text != "-") else { return false };
    let context = path::lexical(&path::join(cwd, context));
    let given = invocation.args.value("-f").or_else(|| invocation.args.value("--file"));
    let file = match given.map(Field::exact) {
        Some(None) => return false,
        Some(Some(file)) => path::lexical(&path::join(cwd, file)),
        None => path::join(&context, "Dockerfile"),
    };
    let network = invocation
        .args
        .value("--network")
        .is_none_or(|network| matches!(network.exact(), Some("default" | "none" | "bridge")));
    network
        && is_in_project(world, &context)
        && own_text(world, &file, state).is_some_and(|(text, is_changed)| !is_changed && is_plain_build(&text))
}

fn serves_own_services(world: &dyn World, invocation: &Invocation, state: &State<'_>) -> bool {
    let Some(cwd) = invocation.cwd.as_deref() else { return false };
    let given =
        invocation.args.given.iter().filter(|given| given.level <= 2 && matches!(given.name.as_str(), "-f" | "--file"));
    let given: Vec<Option<String>> = given
        .map(|given| given.value.as_ref().and_then(Field::exact).map(|file| path::lexical(&path::join(cwd, file))))
        .collect();
    let Some(given) = given.into_iter().collect::<Option<Vec<String>>>() else { return false };
    let chosen = world.environment("COMPOSE_FILE").is_some() || invocation.args.has("--project-directory");
    let files = if given.is_empty() { compose_files(world, cwd) } else { given };
    let stays = |(text, is_changed): (String, bool)| match is_changed {
        true => recipes::compose_stays_inside(&text),
        false => recipes::compose_stays_in_project(&text),
    };
    !chosen && !files.is_empty() && files.iter().all(|file| own_text(world, file, state).is_some_and(stays))
}

/// The files that `compose` would find: those of the nearest directory that has one.
fn compose_files(world: &dyn World, cwd: &str) -> Vec<String> {
    let is_there = |file: &String| matches!(world.look(file).kind, Kind::File | Kind::Link);
    let mut directory = cwd;
    loop {
        let found: Vec<String> =
            COMPOSE_FILES.iter().map(|name| path::join(directory, name)).filter(is_there).collect();
        if !found.is_empty() {
            let more = OVERRIDES.iter().map(|name| path::join(directory, name)).filter(is_there);
            return found.into_iter().chain(more).collect();
        }
        if world.project() == Some(directory) || directory == "/" {
            return Vec::new();
        }
        directory = path::parent(directory);
    }
}

fn is_in_project(world: &dyn World, file: &str) -> bool {
    crate::observe::paths::words::is_ours(Some(file), world)
}

/// The text of a file of the project that came with it, and whether it was changed since it was trusted.
fn own_text(world: &dyn World, file: &str, state: &State<'_>) -> Option<(String, bool)> {
    if state.written.contains_key(file) || world.arrival(file).is_some() || !is_in_project(world, path::parent(file)) {
        return None;
    }
    let look = world.look(file);
    match world.content(file, LIMIT) {
        Content::Text(text) if look.kind == Kind::File => {
            Some((text, look.changed_since_trust || look.created_this_session))
        }
        Content::Text(_)
        | Content::TooLong
        | Content::NotText
        | Content::Missing
        | Content::Unreadable
        | Content::Unlisted => None,
    }
}

/// No step asks for rights of the machine.
fn is_plain_build(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    !["--security=", "--network=host", "type=ssh", "type=secret"].iter().any(|odd| text.contains(odd))
}
