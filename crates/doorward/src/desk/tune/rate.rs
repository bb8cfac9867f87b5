//! A share of cases, and how certain it is.

use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::desk::model::{lower, upper};

/// A number of cases out of a total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rate {
    pub part: u64,
    pub whole: u64,
}

impl Rate {
    pub(super) fn count(&mut self, is_part: bool) {
        self.whole += 1;
        self.part += u64::from(is_part);
    }

    pub(super) fn value(self) -> f64 {
        if self.whole == 0 { 0.0 } else { self.part as f64 / self.whole as f64 }
    }

    /// The 95 % Clopper–Pearson interval.
    pub(super) fn low(self) -> f64 {
        lower(self.part as f64, self.whole as f64)
    }

    pub(super) fn high(self) -> f64 {
        upper(self.part as f64, self.whole as f64)
    }

    /// The two differ by more than chance explains: their intervals do not touch.
    pub(super) fn trend(self, before: Rate) -> Trend {
        match (self.whole, before.whole) {
            (0, _) | (_, 0) => Trend::Unknown,
            _ if self.low() > before.high() => Trend::Rising,
            _ if self.high() < before.low() => Trend::Falling,
            _ => Trend::Steady,
        }
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.whole == 0 {
            return out.pad("none");
        }
        let percent = |share: f64| 100.0 * share;
        let (value, low, high) = (percent(self.value()), percent(self.low()), percent(self.high()));
        out.pad(&format!("{value:.1} % ({low:.1}–{high:.1}) of {}", self.whole))
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Rate", 5)?;
        out.serialize_field("part", &self.part)?;
        out.serialize_field("whole", &self.whole)?;
        out.serialize_field("rate", &self.value())?;
        out.serialize_field("low", &self.low())?;
        out.serialize_field("high", &self.high())?;
        out.end()
    }
}

/// How a rate compares with the weeks before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Trend {
    Rising,
    Falling,
    Steady,
    Unknown,
}

impl Trend {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Trend::Rising => "rising",
            Trend::Falling => "falling",
            Trend::Steady => "steady",
            Trend::Unknown => "–",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_says_how_sure_it_is() {
        let shown = |part, whole| Rate { part, whole }.to_string();
        assert_eq!(shown(0, 0), "none");
        assert_eq!(shown(0, 100), "0.0 % (0.0–3.6) of 100");
        assert_eq!(shown(5, 100), "5.0 % (1.6–11.3) of 100");
        assert_eq!(shown(100, 100), "100.0 % (96.4–100.0) of 100");
        assert_eq!(shown(18_000, 20_000), "90.0 % (89.6–90.4) of 20000");
    }

    #[test]
    fn only_what_chance_does_not_explain_is_a_trend() {
        let trend = |part, before| Rate { part, whole: 100 }.trend(Rate { part: before, whole: 400 });
        assert_eq!(trend(5, 20), Trend::Steady);
        assert_eq!(trend(8, 20), Trend::Steady);
        assert_eq!(trend(30, 20), Trend::Rising);
        assert_eq!(trend(0, 200), Trend::Falling);
        assert_eq!(Rate::default().trend(Rate { part: 1, whole: 2 }), Trend::Unknown);
    }
}
