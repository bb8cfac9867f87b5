//! Values of flags that turn a request into another one, or open a program to other machines, whatever the program is.

use doorward_vocabulary::{Degree, Mark};

use super::Invocation;
use super::findings::Findings;
use crate::observe::field::Field;
use crate::world::World;

/// Headers by which a server is told to take a request for one with another method.
// Frameworks honour these, so a GET deletes (network-073, network-074).
const METHOD_HEADERS: &[&str] = &["x-http-method-override", "x-http-method", "x-method-override"];

/// `-H 'X-HTTP-Method-Override: DELETE'` deletes, `--inspect=0.0.0.0` lets everybody run code here.
pub(super) fn reaching_values(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let name = &invocation.by.name;
    for given in &invocation.args.given {
        let Some(value) = &given.value else { continue };
        let flag = given.name.as_str();
        if matches!(flag, "-H" | "--header") && names_a_method(value) {
            found.doubt(Degree::Unknown, format!("a header of `{name}` that changes what the request does"));
        }
        if flag.starts_with("--inspect") && !listens_here_only(world, value) {
            found.doubt(Degree::Unknown, format!("who can reach the debugger of `{name}`"));
        }
    }
    found
}

/// A port alone, or an address of this machine before it.
fn listens_here_only(world: &dyn World, value: &Field) -> bool {
    let Some(text) = value.exact() else { return false };
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let host = match text.rsplit_once(':') {
        Some((host, port)) if is_port(port) => host,
        Some(_) | None => text,
    };
    is_port(text) || crate::network::host(host, world).marks.has(Mark::Loopback)
}

/// What stands before the colon, as far as it can be read.
fn names_a_method(value: &Field) -> bool {
    let name = value.prefix().split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    METHOD_HEADERS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::grammar::check::check;

    const ASKER: &str = r#"
name = "asker"
what = "calls"
[flags]
"-H --header" = "data"
"--inspect --inspect-brk" = "?data"
"#;

    #[test]
    fn headers_that_change_the_method_and_open_debuggers_are_not_understood() {
        check(
            &[ASKER],
            &[
                ("asker -H 'Accept: text/plain'", "full", ""),
                ("asker -H 'X-HTTP-Method-Override: DELETE'", "unknown", ""),
                ("asker --header='x-http-method : PUT'", "unknown", ""),
                ("asker --inspect", "full", ""),
                ("asker --inspect=9229", "full", ""),
                ("asker --inspect=127.0.0.1:9229", "full", ""),
                ("asker --inspect-brk=localhost", "full", ""),
                ("asker --inspect=0.0.0.0", "unknown", ""),
                ("asker --inspect=0.0.0.0:9229", "unknown", ""),
                ("asker --inspect-brk=$HOST", "unknown", ""),
            ],
        );
    }
}
