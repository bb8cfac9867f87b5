//! `dd`: `if=` is read, `of=` is written.

use doorward_vocabulary::Degree;

use super::super::Invocation;
use crate::observe::observer::Observer;
use crate::observe::program::roles::{reads, writes};
use crate::observe::shell::state::State;
use crate::observe::touch::Touch;

/// Operands that only say how to copy.
const PLAIN: &[&str] = &[
    "bs", "ibs", "obs", "cbs", "count", "skip", "iseek", "seek", "oseek", "conv", "iflag", "oflag", "status", "files",
    "fillchar", "msgfmt", "speed",
];

pub fn dd(out: &mut Observer<'_>, invocation: &mut Invocation, state: &mut State<'_>) {
    invocation.done = true;
    for field in invocation.args.operands.clone() {
        match field.text.split_once('=') {
            Some(("if", file)) => reads(out, Touch::Read, &field.with_text(file), invocation, state),
            Some((name, _)) if PLAIN.contains(&name) || name == "of" => {}
            Some(_) | None => out.lower(Degree::Unknown, format!("the operand `{}` of `dd`", field.shown())),
        }
    }
    for field in invocation.args.operands.clone() {
        if let Some(("of", file)) = field.text.split_once('=') {
            writes(out, Touch::Write, &field.with_text(file), invocation, state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::check;

    const DD: &str = "name = 'dd'\nwhat = 'x'\ngrammar = 'dd'\noperands = ['data*']";

    #[test]
    fn files_and_devices() {
        check(
            &[DD],
            &[
                ("dd if=data.bin bs=1 count=16", "full", "read data.bin"),
                ("dd if=data.bin of=copy.bin bs=1M", "full", "read data.bin; write copy.bin"),
                ("dd of=/dev/sda if=image.iso", "full", "read image.iso; write /dev/sda"),
                ("dd frob=1", "unknown", ""),
                ("dd if=$X of=copy.bin", "opaque", "read something unknown; write copy.bin"),
            ],
        );
    }
}
