//! The numbers of a scorer: weights of all features for both heads, and how sums become probabilities.

use crate::features;

/// A log-odds of one is so much.
// Weights are integers in thousandths, so that a score is the same on every machine.
pub const ONE: i64 = 1000;

/// What the first line of a model file says.
// The number changes with the features: an older model would weigh the wrong ones.
pub const FORMAT: &str = "doorward scorer 2";

/// One number for each head: *a person would want to be asked*, and *nobody would want it done*.
pub type Heads = [i32; 2];

/// A scorer. Sums are made of whole numbers, so every machine gets the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The score of a call with no risk at all.
    pub base: Heads,
    /// Calibration: a sum times the slope, plus the offset.
    pub slope: Heads,
    pub offset: Heads,
    /// One for each feature.
    pub weights: Vec<Heads>,
}

impl Table {
    /// The text of a model file.
    pub fn print(&self, names: &[String]) -> String {
        let mut text = format!("{FORMAT}\n");
        let rows = [("base", self.base), ("slope", self.slope), ("offset", self.offset)];
        let weights = names.iter().map(String::as_str).zip(self.weights.iter().copied());
        for (name, [ask, block]) in rows.into_iter().chain(weights) {
            text.push_str(&format!("{name}\t{ask}\t{block}\n"));
        }
        let sum = checksum(&text);
        text.push_str(&format!("checksum\t{sum:016x}\n"));
        text
    }

    /// Reads a model file. A feature that the file does not name weighs nothing.
    pub fn parse(text: &str, names: &[String]) -> Result<Table, String> {
        let (body, rest) = text.rsplit_once("checksum\t").ok_or("it has no checksum: it is cut off or too old")?;
        if body.lines().next() != Some(FORMAT) {
            return Err(format!("it is not a `{FORMAT}` file: it is older, newer or something else"));
        }
        if rest.trim_end() != format!("{:016x}", checksum(body)) {
            return Err("its checksum is wrong: it is damaged".to_owned());
        }
        let mut table = Table { base: [0; 2], slope: [0; 2], offset: [0; 2], weights: vec![[0; 2]; names.len()] };
        for line in body.lines().skip(1) {
            let (name, heads) = row(line).ok_or_else(|| format!("the line `{line}` can't be read"))?;
            match name {
                "base" => table.base = heads,
                "slope" => table.slope = heads,
                "offset" => table.offset = heads,
                name => {
                    let place = names.iter().position(|known| known == name);
                    let weight = place.and_then(|place| table.weights.get_mut(place));
                    *weight.ok_or_else(|| format!("it weighs `{name}`, which is not a feature"))? = heads;
                }
            }
        }
        if table.slope.iter().any(|slope| *slope <= 0) {
            return Err("its calibration must only rise".to_owned());
        }
        Ok(table)
    }

    /// A feature whose weight points the wrong way: a risk that lowers a score, or a person's yes that raises one.
    pub fn wrong_way<'n>(&self, names: &'n [String]) -> Option<&'n str> {
        let is_wrong = |(number, heads): &(usize, &Heads)| {
            features::named(*number).is_none_or(|named| {
                heads.iter().any(|weight| (named.is_risk && *weight < 0) || (named.is_calm && *weight > 0))
            })
        };
        let (number, _) = self.weights.iter().enumerate().find(is_wrong)?;
        names.get(number).map(String::as_str)
    }
}

fn row(line: &str) -> Option<(&str, Heads)> {
    let mut cells = line.split('\t');
    let (name, ask, block) = (cells.next()?, cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
    // A weight beyond this would drown every other.
    let sane = |weight: i32| weight.unsigned_abs() <= 1_000_000;
    (cells.next().is_none() && sane(ask) && sane(block)).then_some((name, [ask, block]))
}

/// FNV-1a: finds damage, not malice.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
