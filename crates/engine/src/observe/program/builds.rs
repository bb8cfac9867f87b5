//! Builds: sources that are not the project's, settings that name programs, targets that install.

use doorward_vocabulary::{Degree, Mark, Operation, Reach, Reversibility, Scope};

use super::Invocation;
use super::findings::Findings;
use crate::knowledge::{
    self,
    schema::{Does, Facet},
};
use crate::observe::field::Field;
use crate::observe::program::file_trust::{fetched_here, was_there};
use crate::observe::recipes::arrived::foreign_place;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::path;
use crate::world::{Content, Kind, Tracking, World};

/// More of a manifest than anybody writes.
// A manifest is a few kilobytes. A larger one is generated or hostile, and asking is cheaper than reading it on every
// call.
const MANIFEST: usize = 256 * 1024;

/// What builds a Python package by reading its manifest; others compile, or run scripts (interpreters-1350).
const BACKENDS: &[&str] = &[
    "setuptools.build_meta",
    "hatchling.build",
    "poetry.core.masonry.api",
    "flit_core.buildapi",
    "pdm.backend",
    "uv_build",
];

/// Words of a manifest by which a build imports or runs code of the project (interpreters-1351 and on).
const CODE_IN_BUILDS: &[&str] = &[
    "backend-path",
    "dynamic",
    "attr",
    "hooks",
    "custom",
    "cmdclass",
    "ext-modules",
    "ext_modules",
    "source",
    "[tool.poetry.build",
    "[tool.pdm",
    "\\u",
];

/// Where a directory lies, as its links go.
pub(super) fn leads_to(out: &mut Observer<'_>, directory: &str) -> Option<String> {
    let resolved = path::resolve(directory, out.world, path::Follow::Last);
    if resolved.lost {
        out.lower(Degree::Opaque, format!("where the links of `{directory}` end"));
    }
    (!resolved.lost).then_some(resolved.real)
}

/// `pip install -e .`: a directory of the project is built by the recipe in it, and a recipe that changed is found where
/// all recipes are.
pub(super) fn builds_directory(
    out: &mut Observer<'_>,
    absolute: &str,
    invocation: &Invocation,
    state: &State<'_>,
) -> bool {
    // `.[dev]` is the same directory, with more of what its recipe declares.
    let named = absolute.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')).map_or(absolute, |(path, _)| path);
    let resolved = path::resolve(named, out.world, path::Follow::Last);
    let is_own = out.world.project().is_some_and(|project| path::under(&resolved.real, project));
    if resolved.lost || !is_own || out.world.look(&resolved.real).kind != Kind::Directory {
        return false;
    }
    // `pip install DIR` builds it; others that are handed a directory look for tests or scripts in it.
    let name = &invocation.by.name;
    if name.ends_with("install") && !builds_without_own_code(out.world, &resolved.real) {
        out.lower(Degree::Unknown, format!("the project code that the build of `{name}` runs"));
        return false;
    }
    let patterns = invocation.args.chain.iter().flat_map(|entry| entry.delegates.iter());
    let recipes: Vec<String> = patterns.map(|name| path::join(&resolved.real, name)).collect();
    let is_recipe = |file: &String| {
        (matches!(out.world.tracking(file), Tracking::Clean | Tracking::Modified) || was_there(out.world, file, state))
            && foreign_place(out.world, file, state).is_none()
    };
    recipes.iter().any(is_recipe)
}

/// The build reads what the project declares and runs none of the project's code, which may have been written a moment ago.
fn builds_without_own_code(world: &dyn World, directory: &str) -> bool {
    let text = |name: &str| world.content(&path::join(directory, name), MANIFEST);
    let is_absent = |name: &str| matches!(text(name), Content::Missing | Content::Unlisted);
    let manifest = match text("pyproject.toml") {
        Content::Text(manifest) => manifest,
        // A described world that says nothing of it.
        Content::Unlisted => return true,
        Content::Missing | Content::TooLong | Content::NotText | Content::Unreadable => return false,
    };
    // Without a name it is setuptools, which reads the manifest as well.
    let is_known = !manifest.contains("build-backend")
        || BACKENDS.iter().any(|backend| manifest.contains(&format!("\"{backend}\"")));
    is_known
        && !CODE_IN_BUILDS.iter().any(|word| manifest.contains(word))
        && ["setup.py", "setup.cfg", "hatch_build.py"].iter().all(|name| is_absent(name))
}

/// Directories with build files: outside the project they are somebody else's code.
pub(super) fn foreign_sources(
    world: &dyn World,
    places: &[Field],
    invocation: &mut Invocation,
    state: &State<'_>,
) -> Findings {
    let foreign = places
        .iter()
        .find(|field| lies_outside(world, field, invocation) || was_fetched(field, invocation, state))
        .map(Field::shown);
    let Some(place) = foreign else { return Findings::default() };
    for does in invocation.does.iter_mut().filter(|does| does.operation == Operation::Execute) {
        does.marks.add(Mark::OutsideProject);
    }
    let name = &invocation.by.name;
    Findings::doubtful(Degree::Opaque, format!("`{name}` runs code from `{place}`, which is not part of the project"))
}

fn was_fetched(field: &Field, invocation: &Invocation, state: &State<'_>) -> bool {
    let place = invocation.cwd.as_deref().map(|cwd| path::lexical(&path::join(cwd, &field.text)));
    fetched_here(place.as_deref(), state).is_some()
}

pub(super) fn lies_outside(world: &dyn World, field: &Field, invocation: &Invocation) -> bool {
    let (Some(text), Some(project)) = (field.exact(), world.project()) else { return true };
    let absolute = match invocation.cwd.as_deref() {
        _ if text.starts_with('/') => path::lexical(text),
        Some(cwd) => path::lexical(&path::join(cwd, text)),
        None => return true,
    };
    let resolved = path::resolve(&absolute, world, path::Follow::Last);
    resolved.lost || !path::under(&resolved.real, project)
}

pub(super) fn cmake_sources(world: &dyn World, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let mut places: Vec<Field> = invocation.args.operands.clone();
    places.extend(invocation.args.value("-S").cloned());
    let mut found = foreign_sources(world, &places, invocation, state);
    let targets: Vec<Field> =
        ["-t", "--target"].iter().filter_map(|flag| invocation.args.value(flag)).cloned().collect();
    installs(&targets, invocation);
    if invocation.args.has("--install") && !invocation.args.has("--prefix") {
        invocation.does.push(installation());
    }
    let settings: Vec<Field> = invocation
        .args
        .given
        .iter()
        .filter(|given| given.name == "-D")
        .filter_map(|given| given.value.clone())
        .collect();
    for setting in settings {
        let Some((name, value)) = setting.exact().and_then(|text| text.split_once('=')) else {
            if setting.exact().is_none() {
                found.doubt(Degree::Unknown, format!("the setting `{}` of `cmake`", setting.shown()));
            }
            continue;
        };
        let name = name.split(':').next().unwrap_or(name);
        let elsewhere = value.split(';').any(|place| {
            place.starts_with('~')
                || (place.contains('/') && lies_outside(world, &setting.with_text(place), invocation))
        });
        let runs = if names_a_program(name) {
            !is_usual_tool(value)
        } else {
            (elsewhere && name != "CMAKE_INSTALL_PREFIX") || (name.contains("_FLAGS") && changes_compiler(value))
        };
        if runs {
            found.doubt(Degree::Unknown, format!("the setting `{name}` of `cmake`"));
        }
    }
    found
}

/// A target of this name puts files into the system.
pub(super) fn installs(targets: &[Field], invocation: &mut Invocation) {
    let installs = |field: &Field| field.exact().is_none_or(|text| matches!(text.split('/').next(), Some("install")));
    if targets.iter().any(installs) {
        invocation.does.push(installation());
    }
}

/// `/p:Name=value`, `@file`: switches of the build engine that are no paths.
pub(super) fn dotnet_words(world: &dyn World, invocation: &mut Invocation, state: &State<'_>) -> Findings {
    let mut found = Findings::default();
    let sub = invocation.by.name.split(' ').nth(1).unwrap_or_default().to_owned();
    if matches!(sub.as_str(), "run" | "watch") {
        let first = invocation.operand(0).filter(|word| !invocation.args.ended && word.text.starts_with('@'));
        if let Some(file) = first.map(Field::shown) {
            found.doubt(Degree::Opaque, format!("the arguments in `{file}`"));
        }
    }
    if !matches!(sub.as_str(), "build" | "msbuild" | "pack" | "publish" | "test" | "restore" | "clean") {
        return found;
    }
    let before = if invocation.args.ended { invocation.args.ended_at } else { invocation.args.operands.len() };
    let operands: Vec<Field> = invocation.args.operands.iter().take(before).cloned().collect();
    let is_switch = |field: &Field| {
        field.text.starts_with('@')
            || (field.text.starts_with('/') && !field.text.trim_start_matches('/').contains('/'))
            || (field.text.starts_with('/') && field.text.contains(':'))
    };
    for word in operands.iter().filter(|field| is_switch(field)) {
        found.doubt(Degree::Unknown, format!("`{}` given to `{}`", word.shown(), invocation.by.name));
    }
    let places: Vec<Field> = operands.into_iter().filter(|field| !is_switch(field)).collect();
    found.extend(foreign_sources(world, &places, invocation, state));
    found
}

/// Files are put where the system keeps its programs.
fn installation() -> Does {
    let mut does = Does::usual(Operation::Mutate);
    does.scope = Scope::System;
    does.reach = Reach::Machine;
    does.reversibility = Reversibility::Irreversible;
    does
}

/// Settings of CMake whose value is run.
fn names_a_program(name: &str) -> bool {
    // Parts of CMake variables that name a program or a file with code: `CMAKE_C_COMPILER`,
    // `CMAKE_CXX_COMPILER_LAUNCHER`, `CMAKE_TOOLCHAIN_FILE` (project-work-316).
    const PARTS: &[&str] =
        &["_COMPILER", "_LAUNCHER", "TOOLCHAIN", "_INCLUDE", "_PROGRAM", "EMULATOR", "_COMMAND", "_EXECUTABLE"];
    PARTS.iter().any(|part| name.contains(part)) || name.ends_with("LINKER") || name.starts_with("CMAKE_RULE_")
}

/// Flags that make a compiler load or run something else.
fn changes_compiler(flags: &str) -> bool {
    // Compiler flags that load a plugin, another set of specs or another linker into the compiler itself
    // (project-work-347).
    const FLAGS: &[&str] = &["-fplugin", "-specs", "--specs", "-wrapper", "-B", "-fuse-ld=/", "-Xclang", "@", "-load"];
    flags.split_whitespace().any(|flag| FLAGS.iter().any(|known| flag.starts_with(known)))
}

fn is_usual_tool(value: &str) -> bool {
    let stem = value.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-' || letter == '.');
    let name = ["/usr/bin/", "/usr/local/bin/"].iter().find_map(|place| stem.strip_prefix(place)).unwrap_or(stem);
    let knowledge = knowledge::built_in();
    matches!(name, "" | "ON" | "OFF")
        || knowledge.facets(name).has(Facet::Toolchain)
        || knowledge.facets(name).has(Facet::BuildProgram)
}
