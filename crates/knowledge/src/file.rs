//! Reads TOML with positions, so that every complaint names the line it is about.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Something wrong in a file, with the line where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    pub file: String,
    pub line: usize,
    pub message: String,
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for Complaint {}

/// A file under reading.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl<'a> File<'a> {
    /// Parses the whole file.
    pub fn table(&self) -> Result<DeTable<'a>, Complaint> {
        match DeTable::parse(self.text) {
            Ok(table) => Ok(table.into_inner()),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                Err(self.complaint(at, error.message().to_owned()))
            }
        }
    }

    /// A complaint about the byte at `at`.
    pub fn complaint(&self, at: usize, message: impl Into<String>) -> Complaint {
        let before = self.text.get(..at.min(self.text.len())).unwrap_or(self.text);
        Complaint {
            file: self.name.to_owned(),
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            message: message.into(),
        }
    }

    /// The complaint `message` about a value.
    pub fn at<T>(&self, value: &Spanned<T>, message: impl Into<String>) -> Complaint {
        self.complaint(value.span().start, message)
    }

    pub fn string<'v>(&self, value: &'v Spanned<DeValue<'a>>) -> Result<&'v str, Complaint> {
        value.get_ref().as_str().ok_or_else(|| self.at(value, "expected text"))
    }

    pub fn boolean(&self, value: &Spanned<DeValue<'a>>) -> Result<bool, Complaint> {
        value.get_ref().as_bool().ok_or_else(|| self.at(value, "expected true or false"))
    }

    pub fn integer(&self, value: &Spanned<DeValue<'a>>) -> Result<u64, Complaint> {
        value
            .get_ref()
            .as_integer()
            .and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok())
            .ok_or_else(|| self.at(value, "expected a whole number"))
    }

    pub fn array<'v>(&self, value: &'v Spanned<DeValue<'a>>) -> Result<&'v [Spanned<DeValue<'a>>], Complaint> {
        value.get_ref().as_array().map(|array| &**array).ok_or_else(|| self.at(value, "expected a list"))
    }

    pub fn inner<'v>(&self, value: &'v Spanned<DeValue<'a>>) -> Result<&'v DeTable<'a>, Complaint> {
        value.get_ref().as_table().ok_or_else(|| self.at(value, "expected a table"))
    }

    /// A list of texts; one text alone counts as a list of its words.
    pub fn strings(&self, value: &Spanned<DeValue<'a>>) -> Result<Vec<String>, Complaint> {
        if let Some(text) = value.get_ref().as_str() {
            return Ok(text.split_whitespace().map(str::to_owned).collect());
        }
        self.array(value)?.iter().map(|item| self.string(item).map(str::to_owned)).collect()
    }
}
