//! The short notations inside program files: flag values, operands and effects.

use doorward_vocabulary::{Mark, Marks, Operation, Reach, Reversibility, Scope, Sensitivity};

use crate::schema::{Changes, Condition, Count, Does, Operand, Role, Takes, Text};

/// Reads the right-hand side of a flag: `write`, `?data`, `+force`, `code-sh +remote`, `data dry-run for client`.
pub fn flag(text: &str) -> Result<(Takes, Vec<Role>, Changes), String> {
    let mut takes = Takes::Nothing;
    let mut more = Vec::new();
    let mut changes = Changes::default();
    let mut tokens = text.split_whitespace();
    while let Some(token) = tokens.next() {
        if matches!(token, "for" | "unless") {
            let words: Vec<_> = tokens.by_ref().map(|word| word.to_owned().into()).collect();
            values(token, words, takes, &mut changes)?;
            break;
        }
        if let Some(name) = token.strip_prefix('+') {
            changes.marks.add(mark(name)?);
        } else if let Some(name) = token.strip_prefix("operands=") {
            changes.operands = Some(role(name)?);
        } else if let Some(name) = token.strip_prefix('!') {
            changes.extra = Some(name.to_owned().into());
        } else if let Some(name) = token.strip_prefix('?') {
            takes = Takes::Glued(role(name)?);
        } else {
            match token {
                "flag" => {}
                "dry-run" => changes.dry_run = true,
                "info" => changes.info = true,
                "read-only" => changes.read_only = true,
                "opaque" => changes.opaque = true,
                "unknown" => changes.unknown = true,
                "ends" => changes.ends = true,
                "task" => changes.task = true,
                name => match takes {
                    Takes::Nothing => takes = Takes::Value(role(name)?),
                    Takes::Value(_) | Takes::Glued(_) => more.push(role(name)?),
                },
            }
        }
    }
    Ok((takes, more, changes))
}

/// `for client server`, `unless GET HEAD`: the values for which the change counts.
fn values(which: &str, words: Vec<Text>, takes: Takes, changes: &mut Changes) -> Result<(), String> {
    if words.is_empty() {
        return Err(format!("`{which}` has no value"));
    }
    if takes == Takes::Nothing {
        return Err(format!("`{which}` follows a flag that takes no value"));
    }
    if changes.ends || *changes == Changes::default() {
        return Err(format!("`{which}` follows a flag that changes nothing"));
    }
    match which {
        "for" => changes.only = words,
        _ => changes.unless = words,
    }
    Ok(())
}

/// Reads an operand: `read`, `read*`, `write?`, `data unless -e -f`, `into given -t`.
pub fn operand(text: &str) -> Result<Operand, String> {
    let mut tokens = text.split_whitespace();
    let first = tokens.next().ok_or("an operand is empty")?;
    let (name, count) = match (first.strip_suffix('*'), first.strip_suffix('?')) {
        (Some(name), _) => (name, Count::Any),
        (None, Some(name)) => (name, Count::Optional),
        (None, None) => (first, Count::One),
    };
    let mut operand = Operand { role: role(name)?, count, given: Vec::new(), unless: Vec::new() };
    let mut list = None;
    for token in tokens {
        match token {
            "given" | "unless" => list = Some(token),
            flag if flag.starts_with('-') => match list {
                Some("given") => operand.given.push(flag.to_owned().into()),
                Some(_) => operand.unless.push(flag.to_owned().into()),
                None => return Err(format!("`{flag}` must come after `given` or `unless`")),
            },
            other => return Err(format!("`{other}` is neither a flag, `given` nor `unless`")),
        }
    }
    Ok(operand)
}

/// Reads an effect: `mutate external irreversible beyond +push`.
pub fn does(text: &str) -> Result<Does, String> {
    let mut tokens = text.split_whitespace();
    let first = tokens.next().ok_or("an effect is empty")?;
    let operation = Operation::parse(first).ok_or_else(|| format!("`{first}` is not an operation"))?;
    let mut does = Does::usual(operation);
    let mut reach_said = false;
    for token in tokens {
        if let Some(name) = token.strip_prefix('+') {
            does.marks.add(mark(name)?);
        } else if token == "?operands" {
            does.condition = Condition::WithOperands;
        } else if token == "?alone" {
            does.condition = Condition::Alone;
        } else if token == "?bare" {
            does.condition = Condition::Bare;
        } else if token == "?assigns" {
            does.condition = Condition::Assigning;
        } else if let Some(words) = token.strip_prefix("?unless=") {
            does.condition = unless(words)?;
        } else if let Some(reach) = token.strip_prefix("reach=").and_then(Reach::parse) {
            does.reach = reach;
            reach_said = true;
        } else if let Some(scope) = Scope::parse(token) {
            does.scope = scope;
        } else if let Some(reversibility) = Reversibility::parse(token) {
            does.reversibility = reversibility;
        } else if let Some(reach) = Reach::parse(token) {
            does.reach = reach;
            reach_said = true;
        } else if let Some(sensitivity) = Sensitivity::parse(token) {
            does.sensitivity = sensitivity;
        } else {
            return Err(format!("`{token}` is not a scope, reversibility, reach, sensitivity or +mark"));
        }
    }
    if !reach_said && does.operation != Operation::Read && does.operation != Operation::Network {
        does.reach = usual_reach(does.scope, does.reach);
    }
    Ok(does)
}

/// `2:status,show`: the effect does not happen if the second operand is one of the words.
fn unless(text: &str) -> Result<Condition, String> {
    let wrong = || format!("`?unless={text}` must look like `?unless=2:status,show`");
    let (at, words) = text.split_once(':').ok_or_else(wrong)?;
    let at = at.parse().ok().filter(|at| *at > 0).ok_or_else(wrong)?;
    let words: Vec<Text> = words.split(',').map(|word| word.to_owned().into()).collect();
    if words.iter().any(|word| word.is_empty()) {
        return Err(wrong());
    }
    Ok(Condition::Unless(at, words))
}

fn usual_reach(scope: Scope, reach: Reach) -> Reach {
    match scope {
        Scope::System => Reach::Machine,
        Scope::External => Reach::Beyond,
        Scope::Scratch => Reach::Workspace,
        Scope::File | Scope::Directory | Scope::Project | Scope::OtherRepo => reach,
    }
}

pub fn mark(name: &str) -> Result<Mark, String> {
    Mark::parse(name).ok_or_else(|| format!("`{name}` is not a mark"))
}

fn role(name: &str) -> Result<Role, String> {
    Role::parse(name).ok_or_else(|| format!("`{name}` is not a role"))
}

/// Reads a list of marks.
pub fn marks<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Marks, String> {
    names.into_iter().map(mark).collect()
}
