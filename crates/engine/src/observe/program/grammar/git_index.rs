//! The index as a place: what plumbing stages there is as good as written, since any checkout puts it into the work tree.

use doorward_vocabulary::{Degree, Marks};

use super::super::Invocation;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::sheet::observer::Observer;
use crate::path;
use crate::world::Git;

/// `git update-index` with entries that it is given, instead of files that it looks at.
pub(super) fn git_index(out: &mut Observer<'_>, git: Option<&Git>, invocation: &Invocation) {
    let args = &invocation.args;
    let mut staged: Vec<Option<String>> = Vec::new();
    for value in args.given.iter().filter(|given| given.name == "--cacheinfo").map(|given| given.value.as_ref()) {
        staged.push(value.and_then(Field::exact).and_then(cached).map(str::to_owned));
    }
    if args.has("--cacheinfo") {
        // The old form has mode, object and path as three words.
        let is_object =
            |field: &&Field| field.text.len() >= 40 && field.text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let words = args.operands.iter().filter(|field| !is_object(field));
        staged.extend(words.map(|field| field.exact().map(str::to_owned)));
        staged.retain(|path| path.as_deref() != Some(""));
    }
    if args.has("--index-info") {
        match &invocation.input.text {
            Some(text) => staged.extend(text.lines().map(|line| listed(line).map(str::to_owned))),
            None => staged.push(None),
        }
    }
    if args.has("--stdin") && invocation.input.text.is_none() {
        out.lower(Degree::Unknown, "which files `git update-index` is told to take");
    }
    for path in &staged {
        stages(out, path.as_deref(), git, invocation);
    }
}

fn stages(out: &mut Observer<'_>, staged: Option<&str>, git: Option<&Git>, invocation: &Invocation) {
    let by = &invocation.by;
    let Some(staged) = staged.filter(|staged| !staged.starts_with('"')) else {
        return out.lower(Degree::Opaque, format!("which file `{}` stages", by.name));
    };
    out.lower(Degree::Unknown, format!("what `{}` stages as `{staged}`, past the file itself", by.name));
    let root = git.map(|git| git.root.as_str()).or(invocation.cwd.as_deref());
    if let Some(root) = root {
        let absolute = path::lexical(&path::join(root, staged));
        out.touch_path(Touch::Write, &absolute, by, Marks::default());
        out.arrivals.push(absolute);
    }
}

/// The path of `mode,object,path`; the old form has it in a word of its own, and only the mode here.
fn cached(value: &str) -> Option<&str> {
    match value.splitn(3, ',').nth(2) {
        Some(path) => Some(path),
        None => Some(""),
    }
}

/// The path of a line of `git update-index --index-info`.
fn listed(line: &str) -> Option<&str> {
    line.split_once('\t').map(|(_, path)| path)
}
