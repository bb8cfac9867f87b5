//! Expressions of `find`: where it starts, what it tests, what its actions do to what is found.

use std::rc::Rc;

use doorward_vocabulary::{Degree, Mark};

use super::super::Invocation;
use super::find_certain::{certainly_found, delete_certain, deletes_certain, found_now};
use crate::observe::field::{Field, UNKNOWN};
use crate::observe::paths::globs::{bar_ordinary, is_sensitive, may_pick_sensitive};
use crate::observe::paths::touch::Touch;
use crate::observe::paths::words::{is_ours, stays_inside};
use crate::observe::program::findings::Findings;
use crate::observe::program::searches::words::{BARE, COMPARED, Group, RUNNERS, VALUED, WRITERS};
use crate::observe::sheet::observer::Observer;
use crate::observe::stream::{Shape, Stream};
use crate::path::{self, Follow};
use crate::world::World;

/// An expression, read.
#[derive(Debug, Default)]
pub(super) struct Expression {
    pub starts: Vec<Field>,
    /// The tests and actions behind the start paths.
    pub tests: Vec<Field>,
    /// The command of each `-exec`, and whether it runs in the directory of the file.
    commands: Vec<(Vec<Field>, bool)>,
    deletes: bool,
    reads: Vec<Field>,
    writes: Vec<Field>,
    /// Name patterns, one list for each alternative.
    names: Vec<Vec<String>>,
    /// Patterns as they are given, also those that say little.
    pub picks: Vec<String>,
    /// Patterns that nothing that is found may match.
    barred: Vec<String>,
    /// What is found is picked by who may read it.
    by_mode: bool,
    /// What is found is not said by names, or lies wherever links lead.
    roams: bool,
    prints_freely: bool,
    /// Links are followed, wherever they lead.
    pub follows: bool,
    /// What cannot be read, and how badly.
    pub trouble: Vec<(Degree, String)>,
}

/// Programs that only look at what they are given: whether a link leads elsewhere is told when they read it.
// What these do to a file behind a link shows in their output; others may change it, so where links lead matters.
const LOOKING: &[&str] = &["cat", "grep", "rg", "head", "tail", "ls", "wc", "file", "stat", "basename", "echo"];

pub(super) fn find(world: &dyn World, invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    invocation.done = true;
    let expression = Rc::new(read(&invocation.args.operands));
    for (degree, because) in &expression.trouble {
        found.doubt(*degree, because.clone());
    }
    for start in &expression.starts {
        let mut listed = Findings::default();
        listed.touch(Touch::List, start.clone());
        found.sealed(listed, |caused, _| caused.add(Mark::Recursive));
    }
    found.search(&expression.starts, &expression.tests);
    for field in &expression.reads {
        found.read(Touch::List, field.clone());
    }
    for field in &expression.writes {
        found.write(Touch::Write, field.clone());
    }
    if expression.deletes {
        found.extend(delete_found(world, &expression, invocation));
    }
    found.take_input();
    let looks = |words: &[Field]| words.first().and_then(Field::exact).is_some_and(|name| LOOKING.contains(&name));
    if expression.commands.iter().any(|(words, _)| !looks(words)) {
        found.extend(doubt_links(world, &expression, invocation));
    }
    for at in 0..expression.commands.len() {
        let expression = Rc::clone(&expression);
        found.then(move |out, invocation, _| run_on_found(out, at, &expression, invocation));
    }
    found.print(Stream::shaped(found_shape(world, &expression, invocation)));
    invocation.passes_input = false;
    found
}

/// A search that begins at a link may go where the link leads: a slash or an option is enough.
fn doubt_links(world: &dyn World, expression: &Expression, invocation: &Invocation) -> Findings {
    let Some(cwd) = invocation.cwd.as_deref() else { return Findings::default() };
    let leads = |start: &str, follow| path::resolve(path::join(cwd, start).trim_end_matches('/'), world, follow).real;
    let is_link = |start: &&str| leads(start, Follow::Last) != leads(start, Follow::NotLast);
    let mut starts = expression.starts.iter().filter_map(Field::exact).filter(|start| *start != "/");
    match starts.find(is_link) {
        Some(start) => Findings::doubtful(Degree::Opaque, format!("where `{start}` leads, because it is a link")),
        None => Findings::default(),
    }
}

fn delete_found(world: &dyn World, expression: &Rc<Expression>, invocation: &Invocation) -> Findings {
    let mut doubts = doubt_links(world, expression, invocation);
    if expression.follows {
        doubts.doubt(Degree::Opaque, "what is behind the links that `find` follows");
    }
    let expression = Rc::clone(expression);
    // What was done before, and these doubts, decide whether the hits are certain.
    doubts.then(move |out, invocation, _| delete_hits(out, &expression, invocation));
    doubts
}

fn delete_hits(out: &Observer<'_>, expression: &Expression, invocation: &Invocation) -> Findings {
    if let Some(found) = certainly_found(out, expression, invocation) {
        return delete_certain(out.world, &found, expression, invocation);
    }
    let mut all = Findings::default();
    let is_open = expression.chooses() && found_now(out.world, expression, invocation).is_some();
    let patterns = expression.patterns();
    let is_named = !patterns.is_empty();
    let is_narrow = is_named && patterns.iter().all(|pattern| crate::observe::paths::globs::is_narrow(pattern));
    for field in found(expression, None) {
        let mut deleted = Findings::default();
        deleted.touch(Touch::DeleteTree, field);
        all.sealed(deleted, move |caused, _| {
            if is_named || is_open {
                caused.only_inside();
            }
            if is_open {
                caused.leave_open();
            }
            if is_narrow {
                caused.add(Mark::Narrowed);
            }
        });
    }
    all
}

/// The command of one `-exec` on what is found.
fn run_on_found(out: &Observer<'_>, at: usize, expression: &Expression, invocation: &Invocation) -> Findings {
    let Some((words, in_directory)) = expression.commands.get(at) else { return Findings::default() };
    if let Some(found) = deletes_certain(out, words, expression, invocation) {
        return found;
    }
    let base = invocation.cwd.as_deref().filter(|_| *in_directory);
    let mut command = Vec::new();
    for word in words {
        match word.text.as_str() {
            "{}" => command.extend(found(expression, base)),
            text if text.contains("{}") => command.extend(embedded(word, expression, base)),
            _ => command.push(word.clone()),
        }
    }
    let mut all = Findings::default();
    if expression.follows {
        all.doubt(Degree::Opaque, "what is behind the links that `find` follows");
    }
    if picks_secrets(out.world, expression) {
        all.doubt(Degree::Opaque, "what `find` picks may be secrets");
    }
    let mut run = Findings::default();
    run.run(command);
    // A test chooses among the files.
    if !expression.patterns().is_empty() {
        let mut inside = Findings::default();
        inside.sealed(run, |caused, _| caused.only_inside());
        run = inside;
    }
    let directory = invocation.cwd.clone().filter(|_| !in_directory);
    all.within(directory, run);
    all
}

/// Some pattern picks the names of secrets out of all that is there.
fn picks_secrets(world: &dyn World, expression: &Expression) -> bool {
    let all = |pattern: &str| path::name(pattern).chars().all(|letter| letter == '*');
    expression.by_mode
        || bar_ordinary(&expression.barred)
        || expression.picks.iter().any(|pattern| !all(pattern) && may_pick_sensitive(pattern, world))
}

/// What is printed are paths of the project, unless it may be a secret that somebody asked for by name.
fn found_shape(world: &dyn World, expression: &Expression, invocation: &Invocation) -> Shape {
    let cwd = invocation.cwd.as_deref();
    let leads_in = |start: &Field| {
        let at = cwd.zip(directory(start, cwd)).map(|(_, directory)| directory);
        stays_inside(start) && !start.text.starts_with('*') && is_ours(at.as_deref(), world)
    };
    let inside = is_ours(cwd, world) && !expression.roams && expression.starts.iter().all(leads_in);
    let project = world.project().unwrap_or("/");
    let sensitive = expression.names.iter().flatten().any(|name| is_sensitive(name, project, world));
    let picks = picks_secrets(world, expression);
    if inside && !sensitive && !picks && !expression.prints_freely && expression.commands.is_empty() {
        Shape::ProjectPaths
    } else {
        Shape::Any
    }
}

impl Expression {
    /// Patterns of which every found file matches one; empty if some file may match none.
    pub(super) fn patterns(&self) -> Vec<&str> {
        if self.names.is_empty() || self.names.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        self.names.iter().flatten().map(String::as_str).collect()
    }

    /// `-delete` is all that is done to what is found: no directory goes that holds something.
    pub(super) fn only_deletes(&self) -> bool {
        self.deletes && self.commands.is_empty()
    }

    /// Some test looks at more than names and kinds.
    fn chooses(&self) -> bool {
        // Such tests choose by state that changes until the command runs, so the list of hits is a guess.
        const TESTS: &[&str] = &["-empty", "-size", "-perm", "-newer", "-mtime", "-mmin"];
        self.tests.iter().filter_map(Field::exact).any(|word| TESTS.contains(&word))
    }

    fn trouble(&mut self, degree: Degree, because: impl Into<String>) {
        self.trouble.push((degree, because.into()));
    }
}

/// The files that `{}` stands for, as fields that a program may get.
fn found(expression: &Expression, base: Option<&str>) -> Vec<Field> {
    let patterns = expression.patterns();
    let mut fields = Vec::new();
    for start in &expression.starts {
        let Some(directory) = directory(start, base) else {
            fields.push(Field { text: UNKNOWN.to_string(), dynamic: true, many: true, ..start.clone() });
            continue;
        };
        for pattern in &patterns {
            fields.push(Field { text: format!("{directory}**/{pattern}"), glob: true, many: false, ..start.clone() });
        }
        if patterns.is_empty() {
            fields.push(below(start, format!("{directory}{UNKNOWN}")));
        }
    }
    fields
}

/// A word with `{}` inside it.
fn embedded(word: &Field, expression: &Expression, base: Option<&str>) -> Vec<Field> {
    let unknown = word.text.replace("{}", &UNKNOWN.to_string());
    let climbs = word.text.split('/').any(|part| part == "..");
    let plain = word.text.starts_with("{}") && word.text.matches("{}").count() == 1 && !climbs;
    let mut fields = Vec::new();
    for start in &expression.starts {
        match directory(start, base) {
            Some(directory) if plain => fields.push(below(start, format!("{directory}{unknown}"))),
            Some(_) | None => fields.push(Field { text: unknown.clone(), dynamic: true, ..word.clone() }),
        }
    }
    fields.dedup();
    fields
}

fn below(start: &Field, text: String) -> Field {
    Field { text, dynamic: true, glob: false, shape: Shape::Below, ..start.clone() }
}

/// The known directory below which everything is found, with a slash at its end.
fn directory(start: &Field, base: Option<&str>) -> Option<String> {
    let text = start.known()?;
    let fixed = if start.glob {
        let at = text.find(['*', '?', '[', '(', '@', '+', '!']).unwrap_or(text.len());
        let fixed = text.get(..at)?;
        fixed.rfind('/').and_then(|slash| fixed.get(..=slash)).unwrap_or("./")
    } else {
        text
    };
    let whole = match base {
        Some(base) => path::lexical(&path::join(base, fixed)),
        None => fixed.to_owned(),
    };
    Some(format!("{}/", whole.trim_end_matches('/')))
}

fn read(words: &[Field]) -> Expression {
    let mut expression = Expression::default();
    let mut at = start_paths(words, &mut expression);
    expression.tests = words.get(at..).unwrap_or_default().to_vec();
    let mut negated = false;
    let mut group = Group::default();
    let mut alternative = Vec::new();
    while let Some(word) = words.get(at) {
        at += 1;
        if word.dynamic || word.many || word.glob {
            expression.trouble(Degree::Opaque, format!("`{}` in an expression of `find`", word.shown()));
            continue;
        }
        let text = word.text.as_str();
        group.step(text, negated);
        let negated_here = negated || group.is_negated();
        match text {
            "-o" | "-or" | "," if group.is_negated() => {}
            "-o" | "-or" | "," => expression.names.push(std::mem::take(&mut alternative)),
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" if !negated_here => {
                alternative.extend(words.get(at).and_then(pattern));
                expression.picks.extend(words.get(at).map(|word| word.text.clone()));
            }
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" => {
                expression.barred.extend(words.get(at).map(|word| word.text.clone()));
            }
            "-perm" => expression.by_mode |= !words.get(at).is_some_and(asks_for_programs),
            "-regex" | "-iregex" | "-follow" | "-lname" | "-ilname" | "-inum" | "-samefile" => expression.roams = true,
            _ => {}
        }
        negated = matches!(text, "!" | "-not");
        at += action(text, words.get(at..).unwrap_or_default(), &mut expression);
    }
    expression.names.push(alternative);
    expression
}

/// `-perm -111`, `-perm /u+x`: what may be run.
fn asks_for_programs(mode: &Field) -> bool {
    mode.exact().is_some_and(|text| {
        let digits = text.trim_start_matches(['-', '/', '+']);
        let is_octal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_octal { digits.contains(['1', '5', '7']) } else { text.contains('x') }
    })
}

/// A name pattern that says something about what is found.
fn pattern(word: &Field) -> Option<String> {
    let name = path::name(word.known()?);
    (!name.is_empty() && name.chars().any(|letter| !matches!(letter, '*' | '?' | '.'))).then(|| name.to_owned())
}

/// Options and start paths; yields where the expression begins.
fn start_paths(words: &[Field], expression: &mut Expression) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        match text {
            "-L" => (expression.roams, expression.follows) = (true, true),
            "-H" | "-P" | "-E" | "-X" | "-s" | "--" => {}
            "-D" | "-f" => at += 1,
            _ if text.starts_with("-O") => {}
            _ if word.may_be_flag() => {
                expression.trouble(Degree::Opaque, format!("`{}` may be an action of `find`", word.shown()));
                expression.starts.push(word.clone());
            }
            _ if text.starts_with('-') || matches!(text, "(" | ")" | "!" | ",") => break,
            _ => {
                if word.glob && text.starts_with(['*', '?', '[']) {
                    expression
                        .trouble(Degree::Opaque, format!("`{text}` may match a file named like an action of `find`"));
                }
                expression.starts.push(word.clone());
            }
        }
        at += 1;
    }
    if expression.starts.is_empty() {
        expression.starts.push(Field::literal(".", doorward_shell::Span::default()));
    }
    at
}

/// One test or action; yields how many further words it used.
fn action(text: &str, rest: &[Field], expression: &mut Expression) -> usize {
    let value = rest.first().cloned();
    if RUNNERS.contains(&text) {
        return command(text, rest, expression);
    }
    match text {
        _ if BARE.contains(&text) => 0,
        "-delete" => {
            expression.deletes = true;
            0
        }
        "-files0-from" => {
            expression.trouble(Degree::Opaque, "start paths that `find` reads from a file");
            expression.reads.extend(value);
            1
        }
        _ if VALUED.contains(&text) => {
            expression.prints_freely |= text == "-printf";
            if value.as_ref().is_some_and(|value| value.many || (value.glob && !value.text.contains('.'))) {
                expression.trouble(Degree::Opaque, format!("the value of `{text}`, which may be several words"));
            }
            1
        }
        _ if COMPARED.contains(&text) || text.starts_with("-newer") => {
            expression.reads.extend(value);
            1
        }
        _ if WRITERS.contains(&text) => {
            expression.writes.extend(value);
            if text == "-fprintf" { 2 } else { 1 }
        }
        _ => {
            expression.trouble(Degree::Unknown, format!("the test `{text}` of `find`"));
            0
        }
    }
}

/// The words of `-exec` up to `;` or `{} +`.
fn command(text: &str, rest: &[Field], expression: &mut Expression) -> usize {
    let end = rest.iter().enumerate().position(|(index, word)| {
        word.text == ";"
            || (word.text == "+" && index > 0 && rest.get(index - 1).is_some_and(|before| before.text == "{}"))
    });
    let length = end.unwrap_or(rest.len());
    let words = rest.get(..length).unwrap_or_default().to_vec();
    if words.is_empty() || end.is_none() {
        expression.trouble(Degree::Opaque, format!("`{text}` of `find`, which never ends"));
    }
    if !words.is_empty() {
        expression.commands.push((words, text.ends_with("dir")));
    }
    length + usize::from(end.is_some())
}

#[cfg(test)]
mod tests {
    use super::super::check::check;

    const FIND: &str = "name = 'find'\nwhat = 'x'\ngrammar = 'find'\noperands = ['list*']";

    #[test]
    fn looking_changes_nothing() {
        check(
            &[FIND],
            &[
                ("find . -name x -print", "full", "read ."),
                ("find src tests -type f -mtime -1 -prune -o -print", "full", "read src; read tests"),
                ("find . \\( -name '*.rs' -o -name '*.toml' \\) -not -path './target/*'", "full", "read ."),
                ("find -L /usr/lib -maxdepth 2 -iname 'lib*' -size +1M", "full", "read /usr/lib +recursive"),
                ("find . -newer Cargo.toml -newermt 2024-01-01", "full", "read .; read Cargo.toml"),
                ("find . -name '*.rs' | xargs wc -l", "full", "read .; read . +count-unknown"),
                ("find . -printf '%p %s\\n'", "full", "read ."),
            ],
        );
    }

    #[test]
    fn actions_are_seen_all_of_them() {
        check(
            &[FIND],
            &[
                ("find out -name '*.tmp' -delete", "full", "read out; delete out +recursive"),
                ("find / -delete", "full", "read /; delete / +recursive"),
                ("find / -exec echo found ';' -delete", "full", "read /; delete /"),
                ("find src -exec rm {} +", "full", "read src; delete src +recursive"),
                ("find src -name '*.o' -exec rm -f {} \\;", "full", "read src; delete src +recursive"),
                (
                    "find a b -exec cat {} + -exec rm {} \\;",
                    "full",
                    "read a; read b; read a; read b; delete a; delete b",
                ),
                ("find src -execdir rm {} +", "full", "read src; delete src"),
                ("find . -fprintf out.txt '%p' -fls list", "full", "read .; write out.txt; write list"),
                ("find src -exec mv {} {}.bak \\;", "full", "read src; delete src; write src"),
                ("find ~/.ssh -type f -exec cat {} \\;", "full", "read /home/dev/.ssh; read /home/dev/.ssh"),
            ],
        );
    }

    #[test]
    fn what_cannot_be_read_asks() {
        check(
            &[FIND],
            &[
                ("find . -frobnicate", "unknown", "read ."),
                ("find . -exec sh -c 'echo {}' \\;", "opaque", "read .; execute something unknown +shell-code"),
                ("find . -exec {} \\;", "opaque", "read .; execute something unknown"),
                ("find . $WHAT", "opaque", "read .; read something unknown"),
                ("find \"$DIR\" -exec rm {} +", "opaque", "read something unknown; delete something unknown"),
                ("find * -print", "opaque", "read . +count-unknown"),
                ("find . -execdir cat notes.txt \\;", "opaque", "read .; read something unknown"),
                ("find -files0-from list -delete", "opaque", "read .; read list; delete . +recursive"),
            ],
        );
    }
}
