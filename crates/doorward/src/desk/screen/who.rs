//! Names for users, whom the record knows by number.

/// This machine's name for a recorded user, or the number.
pub(crate) fn user(recorded: &str) -> String {
    let passwd = crate::machine::checked_read::start_of("/etc/passwd", 1 << 20).unwrap_or_default();
    name_in(&passwd, recorded).unwrap_or_else(|| recorded.to_owned())
}

fn name_in(passwd: &str, recorded: &str) -> Option<String> {
    let number: u32 = recorded.parse().ok()?;
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)?.parse() == Ok(number)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_shown_by_its_name_and_everything_else_as_it_is() {
        let text = "root:x:0:0:root:/root:/bin/bash\nme:x:1000:1000::/home/me:/bin/sh\n:x:7::\nbroken\n";
        for (recorded, name) in [("0", Some("root")), ("1000", Some("me")), ("7", None), ("8", None), ("me", None)] {
            assert_eq!(name_in(text, recorded).as_deref(), name, "{recorded}");
        }
        assert_eq!(user("a name"), "a name");
    }
}
