//! Which operand stands in which position of a command.

use crate::knowledge::schema::{Count, Operand, Role};
use crate::observe::field::Field;

/// `NAME=value` words, then a command.
pub(super) fn environment_first(positions: &[&Operand], operands: &[Field]) -> Vec<Role> {
    let is_assignment = |field: &&Field| {
        let name = field.prefix().split('=').next().unwrap_or_default();
        field.prefix().contains('=')
            && !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let count = operands.iter().take_while(is_assignment).count();
    let mut roles = vec![Role::Env; count];
    roles.extend(match_positions(positions.get(1..).unwrap_or_default(), operands.len() - count));
    roles.resize(operands.len(), Role::Command);
    roles
}

/// The roles of `count` operands: fixed positions from both ends, the repeated one in between.
pub(super) fn match_positions(positions: &[&Operand], count: usize) -> Vec<Role> {
    let star = positions.iter().position(|operand| operand.count == Count::Any);
    let (left, right) = match star {
        Some(at) => (positions.get(..at).unwrap_or_default(), positions.get(at + 1..).unwrap_or_default()),
        None => (positions, &[] as &[&Operand]),
    };
    let required = |list: &[&Operand]| list.iter().filter(|operand| operand.count == Count::One).count();
    let mut spare = count.saturating_sub(required(left) + required(right));
    let mut roles = Vec::with_capacity(count);
    let mut fill = |list: &[&Operand], roles: &mut Vec<Role>| {
        for operand in list {
            let take = match operand.count {
                Count::One => true,
                Count::Optional if spare > 0 => {
                    spare -= 1;
                    true
                }
                Count::Optional | Count::Any => false,
            };
            if take {
                roles.push(operand.role);
            }
        }
    };
    let mut tail = Vec::new();
    if star.is_none() {
        fill(left, &mut roles);
    } else {
        fill(left, &mut roles);
        fill(right, &mut tail);
    }
    if let Some(role) = star.and_then(|at| positions.get(at)).map(|operand| operand.role) {
        roles.truncate(count.saturating_sub(tail.len().min(count)));
        while roles.len() + tail.len() < count {
            roles.push(role);
        }
    }
    roles.extend(tail);
    if let Some(last @ (Role::Command | Role::Shell)) = positions.last().map(|operand| operand.role)
        && star.is_none()
    {
        // What follows the first word of a command belongs to it.
        roles.resize(count.max(roles.len()), last);
    }
    if roles.len() > count {
        // Too few words: the destination is what must not be missed.
        roles = roles.split_off(roles.len() - count);
    }
    roles
}

/// What a path is to a command that only says what it would do.
pub(super) fn without_change(role: Role) -> Role {
    match role {
        Role::Edit | Role::Move | Role::Upload => Role::Read,
        Role::Write
        | Role::Append
        | Role::Create
        | Role::Empty
        | Role::Delete
        | Role::DeleteTree
        | Role::Into
        | Role::Metadata
        | Role::MetadataTree => Role::Text,
        Role::Resource | Role::Package | Role::Pid | Role::RemoteInto => Role::Text,
        Role::Data
        | Role::Text
        | Role::Name
        | Role::Address
        | Role::Read
        | Role::Print
        | Role::ReadTree
        | Role::List
        | Role::LinkSource
        | Role::Execute
        | Role::Script
        | Role::ScriptSh
        | Role::Config
        | Role::Code
        | Role::CodeSh
        | Role::CodePython
        | Role::CodeJs
        | Role::CodeSql
        | Role::Line
        | Role::Command
        | Role::Shell
        | Role::Env
        | Role::Cwd
        | Role::Url
        | Role::UrlUpload
        | Role::Host
        | Role::RemotePath
        | Role::Mount => role,
    }
}
