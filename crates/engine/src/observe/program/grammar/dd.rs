//! `dd`: `if=` is read, `of=` is written.

use doorward_vocabulary::Degree;

use super::super::Invocation;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;

/// Operands that only say how to copy.
// Everything of POSIX and GNU except `if` and `of`, which name files and devices.
const PLAIN: &[&str] = &[
    "bs", "ibs", "obs", "cbs", "count", "skip", "iseek", "seek", "oseek", "conv", "iflag", "oflag", "status", "files",
    "fillchar", "msgfmt", "speed",
];

pub(super) fn dd(invocation: &mut Invocation) -> Findings {
    invocation.done = true;
    let mut found = Findings::default();
    for field in &invocation.args.operands {
        match field.text.split_once('=') {
            Some(("if", file)) => found.read(Touch::Read, field.with_text(file)),
            Some((name, _)) if PLAIN.contains(&name) || name == "of" => {}
            Some(_) | None => found.doubt(Degree::Unknown, format!("the operand `{}` of `dd`", field.shown())),
        }
    }
    for field in &invocation.args.operands {
        if let Some(("of", file)) = field.text.split_once('=') {
            found.write(Touch::Write, field.with_text(file));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::check::check;

    const DD: &str = "name = 'dd'\nwhat = 'x'\ngrammar = 'dd'\noperands = ['text*']";

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
