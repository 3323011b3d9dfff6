//! The two bytes in which a rate travels: a decimal mantissa of four digits and a power of ten (§3.2, step 5).
//!
//! Code `v` means `(v / 10) · 10^(v mod 10)` bytes/s. The example in the paper lost a zero: 12005 is 120 million
//! bytes/s. 0 means "not assigned yet", so that a rate of 0 has no code; of the other codes below ten, which would
//! all mean 0, [`HOLD`] requests the minimum rate that keeps the feedback going. Codes are not in the order of their
//! rates.

use tidegate_core::prelude::*;

/// Code of the rate granted to a flow, on its ACKs; 0 on the segments of a sender that supports grants. Codes do not
/// compare as their rates do, so a switch takes the minimum itself. On a wire it stands in a TCP option.
pub const GRANTED_RATE: Signal = Signal::new(956, Merge::Last);

/// Highest mantissa written; 6553 can be read with small exponents only.
const MAX_MANTISSA: u64 = 6_552;
/// Code of "no rate is assigned yet".
pub const UNASSIGNED: u16 = 0;
/// The minimum rate that keeps ACKs coming.
pub const HOLD: u16 = 1;

/// Meaning of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// No rate is assigned yet.
    Unassigned,
    /// The minimum rate that keeps ACKs coming.
    Hold,
    /// The granted rate, bytes/s, above 0.
    Rate(u64),
}

/// The code of the highest rate that has a code and does not exceed `bytes_per_second`: exact up to 6552, at most
/// 1/655 too low above, saturating at 6552·10^9; [`HOLD`] below one byte/s. Never rounded up: a sum of grants stays
/// below the capacity.
pub fn encode(bytes_per_second: f64) -> u16 {
    let mut mantissa = bytes_per_second as u64;
    let mut exponent = 0;
    // Integer division rounds down at each step, as a sum of grants must not exceed the capacity.
    while mantissa > MAX_MANTISSA && exponent < 9 {
        mantissa /= 10;
        exponent += 1;
    }
    // From 65,530 to 65,599 a smaller exponent is more precise: 65,520 instead of 65,500.
    if exponent > 0 && mantissa * 10 < MAX_MANTISSA {
        (mantissa, exponent) = (MAX_MANTISSA, exponent - 1);
    }
    match mantissa.min(MAX_MANTISSA) {
        0 => HOLD,
        mantissa => (mantissa * 10 + exponent) as u16,
    }
}

/// Decodes a code into its meaning.
pub fn decode(code: u16) -> Grant {
    match (u64::from(code / 10), u32::from(code % 10)) {
        (0, 0) => Grant::Unassigned,
        (0, _) => Grant::Hold,
        (mantissa, exponent) => Grant::Rate(mantissa * 10u64.pow(exponent)),
    }
}

/// As [`decode`], for the value of a signal; values above two bytes are from other schemes and ignored.
pub fn read(value: u32) -> Grant {
    u16::try_from(value).map_or(Grant::Unassigned, decode)
}

impl Grant {
    /// Bytes/s; 0 for a hold, `None` without an assignment.
    pub fn bytes_per_second(self) -> Option<u64> {
        match self {
            Self::Unassigned => None,
            Self::Hold => Some(0),
            Self::Rate(rate) => Some(rate),
        }
    }
}

/// The code that a switch which grants `mine` writes on an ACK that carries `standing`: that of the smaller rate (eq.
/// 7; §3.2 has `≤`). The last index of the printed equation is a slip.
pub fn min(standing: Option<u32>, mine: u16) -> u16 {
    let other = standing.and_then(|value| u16::try_from(value).ok()).unwrap_or(UNASSIGNED);
    match (decode(other).bytes_per_second(), decode(mine).bytes_per_second()) {
        (Some(theirs), Some(own)) if theirs < own => other,
        // A switch that has no rate for the flow must not remove the grant of another one.
        (Some(_), None) => other,
        _ => mine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(rate: f64) -> u64 {
        decode(encode(rate)).bytes_per_second().expect("a rate was written")
    }

    #[test]
    fn a_rate_comes_back_at_most_one_part_in_655_too_low_and_never_too_high() {
        let mut rng = Rng::stream(Seed(1), "code");
        for _ in 0..100_000 {
            // Every order of magnitude alike, 1 to 6.5e12.
            let rate = (rng.uniform() * 29.5).exp();
            let back = stated(rate) as f64;
            // What is below one byte/s of it cannot be said at all.
            let floor = rate.floor();
            assert!(back <= rate && back > floor * (1.0 - 1.0 / 655.0), "{rate}: {back}");
            assert_eq!(stated(back), back as u64, "{rate}");
        }
    }

    #[test]
    fn a_higher_rate_never_decodes_to_less() {
        let mut rates: Vec<f64> = (0..4_000).map(|step| 1.01f64.powi(step)).take_while(|r| *r < 1e15).collect();
        rates.extend([6552.0, 6553.0, 65_529.0, 65_530.0, 65_540.0, 6.552e12, 6.553e12]);
        rates.sort_by(f64::total_cmp);
        assert!(rates.is_sorted_by_key(|rate| stated(*rate)));
    }

    #[test]
    fn the_papers_example_and_both_ends_of_the_range() {
        assert_eq!((encode(120e6), decode(12_005)), (12_005, Grant::Rate(120_000_000)));
        assert_eq!((encode(12.5e6), stated(12.5e6)), (12_504, 12_500_000));
        assert_eq!((encode(6552e9), encode(f64::MAX), encode(1e15)), (65_529, 65_529, 65_529));
        assert_eq!([0.0, 0.9, -5.0, f64::NAN].map(encode), [HOLD; 4]);
        assert_eq!((encode(1.0), decode(10)), (10, Grant::Rate(1)));
        // Legal to read, never written.
        assert_eq!(decode(65_535), Grant::Rate(655_300_000));
        assert_eq!((read(65_536), read(u32::MAX)), (Grant::Unassigned, Grant::Unassigned));
    }

    #[test]
    fn codes_are_compared_as_rates() {
        // 1201 bytes/s has the higher code, 120 million the lower one.
        let (slow, fast) = (12_010, 12_005);
        assert!(decode(slow).bytes_per_second() < decode(fast).bytes_per_second());
        assert_eq!((min(Some(slow.into()), fast), min(Some(fast.into()), slow)), (slow, slow));
        assert_eq!((min(None, fast), min(Some(0), fast)), (fast, fast));
        assert_eq!((min(Some(5), fast), min(Some(fast.into()), HOLD)), (5, HOLD), "a hold is the least");
        assert_eq!(min(Some(70_000), fast), fast, "no code at all");
        assert_eq!(min(Some(slow.into()), UNASSIGNED), slow);
    }
}
