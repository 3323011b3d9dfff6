//! Frequency of events, such as requests.

use std::fmt;
use std::str::FromStr;

use super::split_quantity;

/// Number of events per second, finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Frequency(f64);

/// Seconds in each unit.
const UNITS: [(f64, &str); 3] = [(1.0, "/s"), (60.0, "/min"), (3600.0, "/h")];

impl Frequency {
    /// The frequency in events per second.
    #[inline]
    pub const fn per_second(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

impl FromStr for Frequency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = split_quantity(text)?;
        if unit.is_empty() {
            return Err(format!("{text:?} has no unit; write it like \"100/s\""));
        }
        match UNITS.iter().find(|(_, name)| *name == unit) {
            Some((seconds, _)) => Ok(Self(number / seconds)),
            None => {
                Err(format!("unit {unit:?} is not known; known: {}", UNITS.map(|(_, name)| name).join(", ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequency_is_read_per_second_minute_or_hour_and_never_without() {
        let read = |text: &str| text.parse::<Frequency>().map(Frequency::per_second);
        assert_eq!(read("100/s"), Ok(100.0));
        assert_eq!(read("90 /min"), Ok(1.5));
        assert_eq!(read("1800/h"), Ok(0.5));
        assert_eq!(read("100"), Err("\"100\" has no unit; write it like \"100/s\"".to_owned()));
        assert_eq!(read("3/d"), Err("unit \"/d\" is not known; known: /s, /min, /h".to_owned()));
        assert!(read("-1/s").is_err() && read("inf/s").is_err());
    }
}
