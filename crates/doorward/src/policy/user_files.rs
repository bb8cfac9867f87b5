//! The user's program and rule files: read from the trusted configuration directory, checked like the built-in ones.
//!
//! `programs/*.toml` describe programs doorward does not know; `rules/*.toml` ask or block, and never loosen; `scorer.tsv`
//! is a model that can only ask more often than the built-in one.

use std::path::{Path, PathBuf};

use doorward_engine::examples_check as check;
use doorward_engine::knowledge::file::{Complaint, File};
use doorward_engine::knowledge::{built_in, pack, program, rule};
use doorward_engine::{Rule, Scorer};

use crate::machine::checked_read;

/// More files than anyone writes by hand.
// Each file is parsed for every call.
const FILES: usize = 200;

/// What the user added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Extensions {
    /// Packed program files, empty if there are none.
    pub programs: &'static [u8],
    pub rules: Vec<Rule>,
    pub scorer: Scorer,
}

/// A file with its display path.
struct UserFile {
    shown: String,
    stem: String,
    text: String,
}

/// Reads both folders below the configuration directory. A missing folder costs nothing.
///
/// Each problem names a file and what to do; if one file of a kind has a problem, all files of that kind are left out.
pub(crate) fn load(directory: &Path, may_loosen: bool, problems: &mut Vec<String>) -> Extensions {
    let (mut has_programs, mut has_rules, mut has_scorer) = (false, false, false);
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        has_programs |= entry.file_name() == "programs";
        has_rules |= entry.file_name() == "rules";
        has_scorer |= entry.file_name() == "scorer.tsv";
    }
    let mut own = Extensions::default();
    if has_programs && may_loosen {
        own.programs = keep(sources(&directory.join("programs")).and_then(|files| programs(&files)), problems);
    }
    if has_rules {
        own.rules = keep(sources(&directory.join("rules")).and_then(|files| rules(&files, own.programs)), problems);
    }
    if has_scorer {
        own.scorer = scorer(&directory.join("scorer.tsv"));
    }
    own
}

/// A rule of the team's policy. Its examples were tried when the bundle was built, so they cost no call anything.
pub(crate) fn rule_of_a_team((name, text): (&str, &str), id: &str) -> Result<Rule, String> {
    rule::read_own(File { name, text }, id).map(|file| file.rule).map_err(|complaint| complaint.to_string())
}

/// The rules of a folder, checked like those of the user.
pub(crate) fn rules_in(folder: &Path) -> Result<Vec<Rule>, Vec<String>> {
    sources(folder).and_then(|files| rules(&files, &[]))
}

/// The user's own model. An unusable one makes layer 2 ask, not fall silent.
fn scorer(path: &Path) -> Scorer {
    let read = match checked_read::read(path) {
        Ok(Some(text)) => Scorer::parse(&text).map_err(|problem| format!("`{}`: {problem}", path.display())),
        Ok(None) => return Scorer::BuiltIn,
        Err(problem) => Err(problem),
    };
    read.unwrap_or_else(|problem| {
        Scorer::Unavailable(format!("{problem}; train it again with `doorward model train`, or remove it"))
    })
}

fn keep<T: Default>(read: Result<T, Vec<String>>, problems: &mut Vec<String>) -> T {
    read.unwrap_or_else(|found| {
        problems.extend(found);
        T::default()
    })
}

/// The files of a folder, in order.
fn sources(folder: &Path) -> Result<Vec<UserFile>, Vec<String>> {
    let unreadable = |error: std::io::Error| vec![format!("`{}` can't be read: {error}", folder.display())];
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    if paths.len() > FILES {
        return Err(vec![format!("`{}` has more than {FILES} files", folder.display())]);
    }
    paths.sort();
    let mut problems = Vec::new();
    let mut files = Vec::new();
    for path in paths {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match checked_read::read(&path) {
            Ok(Some(text)) => files.push(UserFile { shown: path.display().to_string(), stem, text }),
            Ok(None) => problems.push(format!("`{}` disappeared while being read", path.display())),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(files) } else { Err(problems) }
}

/// Adds the remedy to a complaint.
fn advice(complaint: &Complaint) -> String {
    format!("{complaint}; fix or remove the file")
}

fn programs(files: &[UserFile]) -> Result<&'static [u8], Vec<String>> {
    let mut problems = Vec::new();
    let known = built_in();
    let mut read = Vec::new();
    for source in files {
        match program::read(File { name: &source.shown, text: &source.text }, &known) {
            Ok(file) => read.push((source, file)),
            Err(complaint) => problems.push(advice(&complaint)),
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for (source, file) in &read {
        for name in &file.names {
            let message = if name.is_empty() || name.contains([' ', '/']) {
                format!("`{name}` is not a program name")
            } else if known.entry(name).is_some() {
                format!("`{name}` is built in, and your own files can't change it")
            } else if names.contains(&name.as_str()) {
                format!("another file already describes `{name}`")
            } else {
                names.push(name);
                continue;
            };
            problems.push(advice(&Complaint { file: source.shown.clone(), line: 1, message }));
        }
    }
    if !problems.is_empty() || read.is_empty() {
        return if problems.is_empty() { Ok(&[]) } else { Err(problems) };
    }
    let entries: Vec<_> = read.iter().flat_map(|(_, file)| file.keyed()).collect();
    // The pack lives as long as the process, which answers one call or a handful.
    let packed: &'static [u8] = Box::leak(pack::pack(&entries, &[], &[], &[]).into_boxed_slice());
    let wrong: Vec<String> = read
        .iter()
        .flat_map(|(source, file)| check::program(&source.shown, file, packed))
        .map(|complaint| advice(&complaint))
        .collect();
    if wrong.is_empty() { Ok(packed) } else { Err(wrong) }
}

fn rules(files: &[UserFile], programs: &'static [u8]) -> Result<Vec<Rule>, Vec<String>> {
    let mut problems = Vec::new();
    let mut rules = Vec::new();
    for source in files {
        match rule::read_own(File { name: &source.shown, text: &source.text }, &format!("own/{}", source.stem)) {
            Ok(file) => {
                problems.extend(check::rule(&source.shown, &file, programs).iter().map(advice));
                rules.push(file.rule);
            }
            Err(complaint) => problems.push(advice(&complaint)),
        }
    }
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorward_engine::{Mode, Policy, ToolCall, Verdict, example, judge, observe};
    use std::os::unix::fs::PermissionsExt;

    const FROB: &str = "name = \"frob\"\nwhat = \"counts\"\noperands = [\"read*\"]\n[flags]\n\"-o\" = \"write\"\n[[example]]\ncall = \"frob -o b.txt a.txt\"\neffects = [\"read a.txt\", \"write b.txt\"]\n";
    const RULE: &str = "version = 1\nsince = \"0.1.0\"\naudited = \"2026-11-15\"\nverdict = \"block\"\nclears = \"hard\"\nwhat = \"fetches from the remote\"\nwhy = \"we mirror it\"\ninstead = \"use the mirror\"\nfires = [\"git fetch\"]\nsilent = [\"git status\"]\n[when]\noperation = \"network\"\n";

    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::set_permissions(path.parent().unwrap(), PermissionsExt::from_mode(0o700)).unwrap();
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        }
        directory
    }

    fn loaded(files: &[(&str, &str)]) -> (Extensions, Vec<String>) {
        let directory = directory(files);
        let mut problems = Vec::new();
        let own = load(directory.path(), true, &mut problems);
        let place = directory.path().display().to_string();
        (own, problems.iter().map(|problem| problem.replace(&place, "~")).collect())
    }

    fn verdict(own: &Extensions, command: &str) -> Verdict {
        let world = example::world().with_programs(own.programs);
        let mut policy = Policy { mode: Mode::Auto, ..Policy::built_in() };
        policy.rules.extend(own.rules.iter().cloned());
        judge(&observe(&ToolCall::bash(command, example::CWD), &world), &policy).verdict
    }

    #[test]
    fn a_program_of_the_user_is_understood() {
        assert_eq!(verdict(&Extensions::default(), "frob a.txt"), Verdict::Confirm);
        let (own, problems) = loaded(&[("programs/frob.toml", FROB)]);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(verdict(&own, "frob a.txt"), Verdict::AutoApprove);
        assert_eq!(verdict(&own, "frob -o /etc/passwd a.txt"), Verdict::Block);
        assert_eq!(verdict(&own, "frob --unheard-of a.txt"), Verdict::Confirm);
    }

    #[test]
    fn a_home_that_may_not_loosen_describes_no_programs() {
        let directory = directory(&[("programs/frob.toml", FROB)]);
        assert_eq!(load(directory.path(), false, &mut Vec::new()), Extensions::default());
    }

    #[test]
    fn a_rule_of_the_user_blocks() {
        let (own, problems) = loaded(&[("rules/mirror.toml", RULE)]);
        assert_eq!((problems, own.rules.len()), (Vec::new(), 1));
        assert_eq!(verdict(&Extensions::default(), "git fetch"), Verdict::AutoApprove);
        assert_eq!(verdict(&own, "git fetch"), Verdict::Block);
    }

    #[test]
    fn what_is_wrong_is_named_with_file_and_line() {
        let wrong_role = FROB.replace("\"write\"\n", "\"wright\"\n");
        let wrong_example = FROB.replace("\"write b.txt\"", "\"write c.txt\"");
        let rows: &[(&str, &str, &str)] = &[
            ("programs/a.toml", &wrong_role, "~/programs/a.toml:5: `wright` is not a role"),
            ("programs/a.toml", &wrong_example, "~/programs/a.toml:6: `frob -o b.txt a.txt` lacks `write c.txt`"),
            ("programs/a.toml", &FROB.replace("frob", "git"), "~/programs/a.toml:1: `git` is built in"),
            (
                "programs/a.toml",
                &FROB.replace("\"frob\"", "\"a b\""),
                "~/programs/a.toml:1: `a b` is not a program name",
            ),
            (
                "rules/r.toml",
                &RULE.replace("block", "approve"),
                "~/rules/r.toml:4: `approve` is not a verdict for your own rules",
            ),
            (
                "rules/r.toml",
                &RULE.replace("verdict = \"block\"\n", ""),
                "~/rules/r.toml:1: use `verdict = \"confirm\"` or",
            ),
            ("rules/r.toml", &RULE.replace("\"git status\"", "\"git fetch -q\""), "~/rules/r.toml:10: fires on"),
            ("rules/r.toml", &RULE.replace("\"network\"", "\"net\""), "~/rules/r.toml:12: `net` is not a"),
        ];
        for (name, text, wanted) in rows {
            let (own, problems) = loaded(&[(name, text)]);
            assert_eq!(own, Extensions::default(), "{wanted}");
            assert!(problems.len() == 1 && problems[0].starts_with(wanted), "wanted {wanted}\ngot {problems:?}");
            assert!(problems[0].ends_with("fix or remove the file"), "{problems:?}");
        }
    }

    #[test]
    fn a_file_that_others_can_change_is_not_read() {
        let directory = directory(&[("rules/mirror.toml", RULE)]);
        let file = directory.path().join("rules/mirror.toml");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
        let mut problems = Vec::new();
        assert_eq!(load(directory.path(), true, &mut problems), Extensions::default());
        assert!(problems[0].contains("can be changed by others"), "{problems:?}");
    }
}
