//! Time, span, rate and size: the unit is the type.
//!
//! Everything but a frequency is an integer so that a run gives the same bits on every machine. Texts are the ones a
//! scenario uses: `"10Mbps"`, `"15ms"`, `"64pkt"`, `"20MB"`; k, M and G are decimal, `MiB` binary.

mod frequency;

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

pub use frequency::Frequency;

/// Nanoseconds in a second.
const NANOS: u64 = 1_000_000_000;

/// An instant: nanoseconds since the start of the run, 0..=2^64-1 (584 years).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The far end of time; used for "never" where an `Option` would cost a branch.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS as f64
    }

    /// Time passed since `earlier`; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The first multiple of `period` that is not before this instant; `period` of zero changes nothing.
    pub fn round_up(self, period: Span) -> Self {
        match period.0 {
            0 => self,
            period => Self(self.0.div_ceil(period).saturating_mul(period)),
        }
    }
}

/// A length of time in nanoseconds, 0..=2^64-1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds; saturates.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds; saturates.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A span of `secs` seconds; saturates.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(NANOS))
    }

    /// `secs` seconds rounded to the nanosecond; negative and NaN give zero, too large saturates.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * NANOS as f64).round() as u64)
    }

    /// The span in whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span in seconds, rounded to a double.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS as f64
    }

    /// The span in milliseconds, rounded to a double.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This span times a factor, rounded to the nanosecond; negative and NaN give zero.
    pub fn scale(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).round() as u64)
    }

    /// The distance between two spans.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

/// A rate in bits per second, 0..=2^64-1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl BitRate {
    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// `mbps` million bits per second, rounded to the bit; negative and NaN give zero.
    pub fn from_mbps(mbps: f64) -> Self {
        Self((mbps * 1e6).round() as u64)
    }

    /// The rate in bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Million bits per second.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Time to send `size` at this rate, rounded up to the nanosecond; [`Span::MAX`] at rate zero.
    pub fn time_to_send(self, size: ByteCount) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        // The product fits 64 bits up to 2.3 GB, where a division of 64 bits is several times faster.
        match size.0.checked_mul(8 * NANOS) {
            Some(bit_nanos) => Span(bit_nanos.div_ceil(self.0)),
            None => Span((u128::from(size.0) * u128::from(8 * NANOS)).div_ceil(u128::from(self.0)) as u64),
        }
    }

    /// Whole bytes that fit into `span` at this rate (the bandwidth-delay product); saturates.
    pub fn bytes_in(self, span: Span) -> ByteCount {
        let bytes = u128::from(self.0) * u128::from(span.0) / u128::from(8 * NANOS);
        ByteCount(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// A number of bytes, 0..=2^64-1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteCount(u64);

impl ByteCount {
    /// A size of no bytes.
    pub const ZERO: Self = Self(0);

    /// A size of `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The average rate of these bytes over `span`; zero over no time.
    pub fn over(self, span: Span) -> BitRate {
        match span.0 {
            0 => BitRate(0),
            nanos => {
                let bps = u128::from(self.0) * u128::from(8 * NANOS) / u128::from(nanos);
                BitRate(u64::try_from(bps).unwrap_or(u64::MAX))
            }
        }
    }
}

/// A number of packets, 0..=2^32-1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(u32);

impl Packets {
    /// A number of `count` packets.
    pub const fn new(count: u32) -> Self {
        Self(count)
    }

    /// The number of packets.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Self;
    /// The difference, zero if `other` is longer.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Span {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl Add for ByteCount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for ByteCount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for ByteCount {
    type Output = Self;
    /// The difference, zero if `other` is larger.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for ByteCount {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// Writes `value` with the largest unit that leaves it exact, so that the text parses back to the same value.
fn write_exact(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    let fits = |(size, _): &&(u64, &str)| value != 0 && value.is_multiple_of(*size);
    let (size, unit) = units.iter().find(fits).or(units.last()).expect("every unit table has a base unit");
    write!(f, "{}{unit}", value / size)
}

const SPAN_UNITS: [(u64, &str); 4] = [(NANOS, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
const RATE_UNITS: [(u64, &str); 4] =
    [(1_000_000_000, "Gbps"), (1_000_000, "Mbps"), (1_000, "kbps"), (1, "bps")];
const BYTE_UNITS: [(u64, &str); 4] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B")];

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}s", self.as_secs_f64())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_exact(f, self.0, &SPAN_UNITS)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_exact(f, self.0, &RATE_UNITS)
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_exact(f, self.0, &BYTE_UNITS)
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}pkt", self.0)
    }
}

/// Splits `"10.5Mbps"` into its number and its unit; the error describes what the text lacks.
fn split_quantity(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((number, unit.trim())),
        _ => Err(format!("{text:?} does not start with a number that is not negative")),
    }
}

/// Reads a quantity with one of `units`, scaled to the base unit.
fn parse_quantity(text: &str, units: &[(u64, &str)], example: &str) -> Result<u64, String> {
    let (number, unit) = split_quantity(text)?;
    if unit.is_empty() {
        return Err(format!("{text:?} has no unit; write it like {example:?}"));
    }
    let Some((size, _)) = units.iter().find(|(_, name)| *name == unit) else {
        let known: Vec<&str> = units.iter().map(|(_, name)| *name).collect();
        return Err(format!("unit {unit:?} is not known; known: {}", known.join(", ")));
    };
    let value = (number * *size as f64).round();
    // `u64::MAX` as a double is 2^64, so every smaller value fits after rounding.
    if value >= u64::MAX as f64 {
        return Err(format!("{text:?} is too large"));
    }
    Ok(value as u64)
}

impl std::str::FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let minutes = [&SPAN_UNITS[..], &[(60 * NANOS, "min"), (3600 * NANOS, "h")]].concat();
        parse_quantity(text, &minutes, "15ms").map(Self)
    }
}

impl std::str::FromStr for BitRate {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse_quantity(text, &RATE_UNITS, "10Mbps").map(Self)
    }
}

impl std::str::FromStr for ByteCount {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let binary = [(1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB")];
        parse_quantity(text, &[&BYTE_UNITS[..], &binary].concat(), "20MB").map(Self)
    }
}

impl std::str::FromStr for Packets {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = split_quantity(text)?;
        if unit.is_empty() {
            return Err(format!("{text:?} has no unit; write it like \"64pkt\""));
        }
        if unit != "pkt" {
            return Err(format!("unit {unit:?} is not known; known: pkt"));
        }
        if number.fract() != 0.0 || number > f64::from(u32::MAX) {
            return Err(format!("{text:?} is not a whole number of packets below 2^32"));
        }
        Ok(Self(number as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_times_a_span_is_the_bandwidth_delay_product() {
        let rate: BitRate = "10Mbps".parse().expect("valid");
        assert_eq!(rate.bytes_in(Span::from_millis(60)), ByteCount::new(75_000));
    }

    #[test]
    fn sending_time_rounds_up_so_that_a_link_never_exceeds_its_rate() {
        assert_eq!(BitRate::from_bps(3).time_to_send(ByteCount::new(1)), Span::from_nanos(2_666_666_667));
        assert_eq!(BitRate::from_bps(0).time_to_send(ByteCount::new(1)), Span::MAX);
    }

    #[test]
    fn binary_and_decimal_sizes_differ() {
        assert_eq!("50MiB".parse(), Ok(ByteCount::new(50 * 1024 * 1024)));
        assert_eq!("50MB".parse(), Ok(ByteCount::new(50_000_000)));
    }

    #[test]
    fn a_bare_number_is_refused_with_an_example() {
        let error = "15".parse::<Span>().expect_err("no unit");
        assert_eq!(error, "\"15\" has no unit; write it like \"15ms\"");
        assert!("64".parse::<Packets>().is_err());
    }

    #[test]
    fn an_unknown_unit_lists_the_known_ones() {
        let error = "15Mbit".parse::<BitRate>().expect_err("unknown unit");
        assert_eq!(error, "unit \"Mbit\" is not known; known: Gbps, Mbps, kbps, bps");
    }

    #[test]
    fn negative_infinite_and_fractional_packet_texts_are_refused() {
        for text in ["-5ms", "infs", "NaNms", "", "ms"] {
            assert!(text.parse::<Span>().is_err(), "{text:?}");
        }
        assert!("1.5pkt".parse::<Packets>().is_err());
        assert!("99999999999999999999GB".parse::<ByteCount>().is_err());
    }

    #[test]
    fn shown_quantities_parse_back() {
        for span in [0, 1, 1_500, 15_000_000, 2_000_000_000].map(Span::from_nanos) {
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        assert_eq!(BitRate::from_mbps(12.5).to_string().parse(), Ok(BitRate::from_bps(12_500_000)));
    }

    #[test]
    fn rounding_up_to_a_tick_never_goes_back() {
        let tick = Span::from_millis(100);
        assert_eq!(Time::from_nanos(1).round_up(tick), Time::from_nanos(100_000_000));
        assert_eq!(Time::from_nanos(100_000_000).round_up(tick), Time::from_nanos(100_000_000));
        assert_eq!(Time::from_nanos(7).round_up(Span::ZERO), Time::from_nanos(7));
    }
}
