//! The index as a place: what plumbing stages there is as good as written, since any checkout puts it into the work tree.

use doorward_vocabulary::Degree;

use super::super::Invocation;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;
use crate::path;
use crate::world::Git;

/// `git update-index` with entries that it is given, instead of files that it looks at.
pub(super) fn git_index(git: Option<&Git>, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
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
        found.doubt(Degree::Unknown, "which files `git update-index` stages");
    }
    for path in &staged {
        found.extend(stages(path.as_deref(), git, invocation));
    }
    found
}

fn stages(staged: Option<&str>, git: Option<&Git>, invocation: &Invocation) -> Findings {
    let by = &invocation.by;
    let Some(staged) = staged.filter(|staged| !staged.starts_with('"')) else {
        return Findings::doubtful(Degree::Opaque, format!("which file `{}` stages", by.name));
    };
    let mut found =
        Findings::doubtful(Degree::Unknown, format!("what `{}` stages as `{staged}`, past the file itself", by.name));
    let root = git.map(|git| git.root.as_str()).or(invocation.cwd.as_deref());
    if let Some(root) = root {
        let absolute = path::lexical(&path::join(root, staged));
        found.touch_path(Touch::Write, absolute.clone());
        found.arrive(absolute);
    }
    found
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
