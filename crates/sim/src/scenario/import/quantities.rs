//! Quantities as other programs write them.

use tidegate_core::units::{BitRate, Span};

/// Maximum rate of an imported link, bit/s.
const FASTEST: f64 = 1e15;
/// Maximum delay of an imported link, s.
const LONGEST: f64 = 1e6;

/// A rate as ns-3 writes it: `10Mbps`, `2.5Gb/s`, `100kbps`, `1MiB/s`; a bare number is in bit/s.
pub(super) fn ns3_rate(text: &str) -> Result<BitRate, String> {
    let wrong = || format!("{text:?} is not a rate; one such as \"10Mbps\" or \"2.5Gb/s\" is needed");
    let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
    let (prefix, base) = match unit {
        "" => ("", "bps"),
        _ => unit.split_at_checked(unit.len().saturating_sub(3)).ok_or_else(wrong)?,
    };
    let base = match base {
        "bps" | "b/s" => 1.0,
        "Bps" | "B/s" => 8.0,
        _ => return Err(wrong()),
    };
    let factor = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "ki" | "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    rate(number * factor * base).ok_or_else(wrong)
}

/// A number of bits per second as a rate.
pub(super) fn rate(bps: f64) -> Option<BitRate> {
    (1.0..=FASTEST).contains(&bps).then(|| BitRate::from_bps(bps.round() as u64))
}

/// A time as ns-3 and tc write it: `10ms`, `0.5s`, `20us`. A bare number is refused, because ns-3 takes it as
/// seconds and tc as microseconds.
pub(super) fn time(text: &str) -> Result<Span, String> {
    let wrong = || format!("{text:?} is not a time; one such as \"10ms\" or \"0.5s\" is needed");
    let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
    let factor = match unit.trim_start_matches('+') {
        "s" | "sec" | "secs" => 1.0,
        "ms" | "msec" | "msecs" => 1e-3,
        "us" | "usec" | "usecs" => 1e-6,
        "ns" => 1e-9,
        "min" => 60.0,
        "" => return Err(format!("{text:?} has no unit; write it as \"{text}ms\" or \"{text}s\"")),
        _ => return Err(wrong()),
    };
    span(number * factor).ok_or_else(wrong)
}

/// A number of seconds as a span.
pub(super) fn span(seconds: f64) -> Option<Span> {
    (0.0..=LONGEST).contains(&seconds).then(|| Span::from_nanos((seconds * 1e9).round() as u64))
}

/// A whole number of packets: `100`, `100p`, `100pkt`.
pub(super) fn packets(text: &str) -> Result<u32, String> {
    let digits = text.trim_end_matches("packets").trim_end_matches("pkt").trim_end_matches('p');
    match digits.parse::<u32>() {
        Ok(count) if count > 0 => Ok(count),
        _ => {
            Err(format!("{text:?} is not a queue; a number of packets from 1 on is needed, such as \"100\""))
        }
    }
}

/// A fraction of all packets: `0.01`, `1%`.
pub(super) fn part(text: &str) -> Result<f64, String> {
    let number = match text.strip_suffix('%') {
        Some(number) => number.parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse::<f64>(),
    };
    number.ok().filter(|part| (0.0..=1.0).contains(part)).ok_or_else(|| {
        format!(
            "{text:?} is not a loss; a fraction from 0 to 1 is needed, such as \"0.01\", or per cent, such as \"1%\""
        )
    })
}

/// A cost for routing: a number above zero, rounded up.
pub(super) fn cost(text: &str) -> Result<u32, String> {
    let number = text.parse::<f64>().ok().filter(|cost| (0.0..=4_294_967_295.0).contains(cost));
    // Zero is a cost for some programs and none for us.
    number
        .map(|cost| (cost.ceil() as u32).max(1))
        .ok_or_else(|| format!("{text:?} is not a cost; a number from 0 to 4294967295 is needed"))
}

/// The number at the start of a text and what follows it.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_ns3_writes_them() {
        let bps = |text| ns3_rate(text).map(BitRate::as_bps).ok();
        assert_eq!(bps("10Mbps"), Some(10_000_000));
        assert_eq!([bps("2.5Gb/s"), bps("64kbps"), bps("64Kbps")], [2_500_000_000, 64_000, 64_000].map(Some));
        assert_eq!([bps("1MiB/s"), bps("9600"), bps("1KiBps")], [8_388_608, 9600, 8192].map(Some));
        assert!(
            ["", "Mbps", "10", "10mbps", "1Xbps", "0Mbps", "-1Mbps", "nan", "1e400bps", "µ"]
                .map(bps)
                .iter()
                .zip([false, false, true, false, false, false, false, false, false, false])
                .all(|(bps, is_good)| bps.is_some() == is_good)
        );
    }

    #[test]
    fn a_time_without_a_unit_could_be_anything() {
        assert_eq!(time("10ms"), Ok(Span::from_millis(10)));
        assert_eq!(time("0.5s"), Ok(Span::from_millis(500)));
        assert!(time("10").is_err_and(|why| why.contains("write it as \"10ms\"")));
        assert!(["", "ms", "-1ms", "1e9s", "10 apples"].iter().all(|text| time(text).is_err()));
    }

    #[test]
    fn losses_queues_and_costs_have_bounds() {
        assert_eq!((part("1%"), part("0.25")), (Ok(0.01), Ok(0.25)));
        assert!(part("2").is_err() && part("-0.1").is_err() && part("nan").is_err());
        assert_eq!((packets("100"), packets("20p")), (Ok(100), Ok(20)));
        assert!(packets("0").is_err() && packets("1.5").is_err());
        assert_eq!((cost("0"), cost("2.5"), cost("7")), (Ok(1), Ok(3), Ok(7)));
        assert!(cost("-1").is_err() && cost("inf").is_err());
    }
}
