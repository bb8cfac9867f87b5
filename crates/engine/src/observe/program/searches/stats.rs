//! Tests of `find` that look at the file itself: `-empty`, `-size`, `-perm`, `-newer`, `-mtime`, `-mmin`.

use std::cmp::Ordering;

use super::hits::{Entry, Holds};
use crate::path;
use crate::world::{Kind, World};

/// The command runs a little later than it is judged, so that what is about to come of age may do so.
// A person may take minutes to answer. A file that is 59 minutes old now must count for `-mmin +60`.
const LATER: i64 = 300;

#[derive(Debug)]
pub(crate) enum Stat {
    Empty,
    /// In units of so many bytes, rounded up.
    Size {
        count: Count,
        unit: u64,
    },
    Mode {
        bits: u32,
        by: Bits,
    },
    /// Changed after this moment.
    Newer(i128),
    /// In units of so many seconds, rounded down.
    Age {
        count: Count,
        unit: i64,
    },
}

/// `+5`, `-5` or `5`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    wanted: Ordering,
    number: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Bits {
    All,
    Any,
    Exactly,
}

impl Stat {
    /// `None` if the value is not understood.
    pub(crate) fn read(test: &str, value: &str, cwd: &str, world: &dyn World) -> Option<Stat> {
        Some(match test {
            "-size" => {
                let (digits, unit) = match value.strip_suffix(|last: char| last.is_ascii_alphabetic()) {
                    Some(digits) => (digits, unit(value.chars().last()?)?),
                    None => (value, 512),
                };
                Stat::Size { count: Count::read(digits)?, unit }
            }
            "-mtime" => Stat::Age { count: Count::read(value)?, unit: 86_400 },
            "-mmin" => Stat::Age { count: Count::read(value)?, unit: 60 },
            "-perm" => {
                let (by, digits) = match value.split_at_checked(1)? {
                    ("-", digits) => (Bits::All, digits),
                    ("/", digits) => (Bits::Any, digits),
                    (_, _) => (Bits::Exactly, value),
                };
                let is_octal = digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
                Stat::Mode { bits: u32::from_str_radix(digits, 8).ok().filter(|_| is_octal)?, by }
            }
            "-newer" => {
                let path = path::lexical(&path::join(cwd, value));
                // A link may be taken for what it leads to.
                Stat::Newer(world.stats(&path).filter(|_| world.look(&path).kind == Kind::File)?.modified?)
            }
            _ => return None,
        })
    }

    pub(crate) fn is_about_age(&self) -> bool {
        matches!(self, Stat::Age { .. })
    }

    pub(crate) fn holds(&self, entry: &Entry<'_>) -> Holds {
        let stats = || entry.world.stats(entry.absolute);
        let found = match self {
            Stat::Empty => return is_empty(entry),
            Stat::Size { count, unit } => stats().map(|stats| count.holds(stats.size.div_ceil(*unit))),
            Stat::Mode { bits, by } => stats().and_then(|stats| stats.mode).map(|mode| match by {
                Bits::All => mode & bits == *bits,
                Bits::Any => *bits == 0 || mode & bits != 0,
                Bits::Exactly => mode == *bits,
            }),
            Stat::Newer(moment) => stats().and_then(|stats| stats.modified).map(|modified| modified > *moment),
            Stat::Age { count, unit } => stats().and_then(|stats| stats.age).and_then(|age| count.aged(age, *unit)),
        };
        match found {
            Some(true) => Holds::Yes,
            Some(false) => Holds::No,
            None => Holds::Perhaps,
        }
    }
}

/// A directory may become empty while the search goes on.
fn is_empty(entry: &Entry<'_>) -> Holds {
    match entry.kind {
        Kind::Directory if entry.full.contains(entry.absolute) => Holds::No,
        Kind::Directory => Holds::Yes,
        Kind::File => match entry.world.stats(entry.absolute) {
            Some(stats) if stats.size == 0 => Holds::Yes,
            Some(_) => Holds::No,
            None => Holds::Perhaps,
        },
        Kind::Link | Kind::Special => Holds::No,
        Kind::Missing | Kind::Unlisted | Kind::Unreadable => Holds::Perhaps,
    }
}

impl Count {
    fn read(text: &str) -> Option<Count> {
        let (wanted, digits) = match text.split_at_checked(1)? {
            ("+", digits) => (Ordering::Greater, digits),
            ("-", digits) => (Ordering::Less, digits),
            (_, _) => (Ordering::Equal, text),
        };
        let is_plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        Some(Count { wanted, number: digits.parse().ok().filter(|_| is_plain)? })
    }

    fn holds(self, number: u64) -> bool {
        number.cmp(&self.number) == self.wanted
    }

    /// `None` if it depends on when exactly the command runs. Days are rounded down and minutes up, so both are tried.
    fn aged(self, age: i64, unit: i64) -> Option<bool> {
        let holds = |age: i64| {
            let age = u64::try_from(age).ok()?;
            let unit = u64::try_from(unit).ok()?;
            let (down, up) = (self.holds(age.checked_div(unit)?), self.holds(age.div_ceil(unit)));
            (down == up).then_some(down)
        };
        let (now, later) = (holds(age)?, holds(age.saturating_add(LATER))?);
        (now == later).then_some(now)
    }
}

/// `c`, `w`, `b`, `k`, `M`, `G`; anything else another `find` may read otherwise.
fn unit(letter: char) -> Option<u64> {
    Some(match letter {
        'c' => 1,
        'w' => 2,
        'b' => 512,
        'k' => 1 << 10,
        'M' => 1 << 20,
        'G' => 1 << 30,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_find_reads_them() {
        for (text, number, wanted) in
            [("+5", 6, true), ("+5", 5, false), ("-5", 4, true), ("-5", 5, false), ("5", 5, true), ("5", 6, false)]
        {
            assert_eq!(Count::read(text).map(|count| count.holds(number)), Some(wanted), "{text} {number}");
        }
        for text in ["", "+", "x", "++1", "1x", "-+3"] {
            assert!(Count::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_age_near_the_limit_is_left_open() {
        let day = 86_400;
        for (text, age, wanted) in [
            ("+7", 30 * day, Some(true)),
            ("+7", day, Some(false)),
            ("+7", 8 * day - 10, None),
            ("-2", 3600, Some(true)),
            ("-2", 90 * day, Some(false)),
            ("0", 3600, None),
        ] {
            assert_eq!(Count::read(text).unwrap().aged(age, day), wanted, "{text} {age}");
        }
    }
}
