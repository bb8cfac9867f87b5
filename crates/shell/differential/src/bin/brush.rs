//! Exit code 0 if brush-parser accepts the program on standard input. A process of its own, since it may hang or overflow.

use std::io::Read;

fn main() {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    let mut parser = brush_parser::Parser::new(text.as_bytes(), &brush_parser::ParserOptions::default());
    let accepted = read.is_ok() && parser.parse_program().is_ok();
    std::process::exit(i32::from(!accepted));
}
