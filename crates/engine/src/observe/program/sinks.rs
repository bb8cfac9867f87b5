//! Programs that put something in the place of a device such as `/dev/null`, where others only write into it.

use super::Invocation;
use super::findings::Findings;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::path::{self, Follow};
use crate::place;
use crate::world::World;

/// These exchange the name that comes last: nothing flows into what was there.
// Writing *into* `/dev/null` is harmless; renaming over it replaces the device for everyone (machine-811).
const REPLACING: &[&str] = &["mv", "ln", "link", "install", "rsync", "rename", "mount", "exch"];
/// These do it to every name.
// Here every operand is replaced, unmounted or cut, not only the last.
const MAKING: &[&str] = &["mkfifo", "mknod", "umount", "truncate", "fallocate", "setcap", "swapon"];

/// With any other flag `cp` may unlink the place, or give it the mode and owner of what is copied.
// `--remove-destination` and `-f` unlink first, `-p` and `-a` change the mode (machine-804).
const COPIES_INTO: &[&str] = &[
    "-v",
    "--verbose",
    "-n",
    "--no-clobber",
    "-i",
    "--interactive",
    "-u",
    "--update",
    "-L",
    "--dereference",
    "-x",
    "--one-file-system",
    "-T",
    "--no-target-directory",
    "--sparse",
    "--reflink",
    "--debug",
    "-X",
];

/// A device that swallows data is gone for every program of the machine once something else lies there.
pub(super) fn displaced_sinks(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let operands = &invocation.args.operands;
    let Some(program) = invocation.args.chain.first().map(|entry| entry.key.to_string()) else { return found };
    let is_copy = program == "cp" && invocation.args.given.iter().any(|given| !is_tame(&given.name));
    let last = match operands.as_slice() {
        [_, .., last] if is_copy || REPLACING.contains(&program.as_str()) => Some(last),
        _ => None,
    };
    let every = operands.iter().filter(|_| MAKING.contains(&program.as_str()));
    for field in last.into_iter().chain(every).filter(|field| displaces_sink(world, field, invocation)) {
        found.touch(Touch::Delete, field.clone());
    }
    found
}

/// The name is taken away from the device behind it, if there is one.
pub(crate) fn displaces_sink(world: &dyn World, field: &Field, invocation: &Invocation) -> bool {
    let (Some(text), Some(cwd)) = (field.exact(), invocation.cwd.as_deref()) else { return false };
    let resolved = path::resolve(&path::join(cwd, text), world, Follow::NotLast);
    place::is_harmless_device(&resolved.real)
}

fn is_tame(flag: &str) -> bool {
    COPIES_INTO.contains(&flag)
}
