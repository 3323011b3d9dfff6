//! The trace files of ndnSIM 2, column by column as its tracers write them, for scripts that read those.
//!
//! Follows `L3RateTracer`, `L2RateTracer`, `AppDelayTracer` and `CsTracer` (ndnSIM 2.9, utils/tracers), read
//! there and reimplemented. Numbers have up to nine decimals, where ndnSIM has six significant digits.
//!
//! Deviation: a host without a forwarder is shown as if it had one, since in ndnSIM every node has; how its own
//! pending Interests time out is not known and counted as zero. Loss notices are in no column. `FaceDescr` names
//! the link, where ndnSIM names an address. Faces count from 256 as NFD's, devices first.

mod delays;
mod periodic;
mod rates;

pub use delays::AppDelayTrace;
pub use periodic::{CacheTrace, DropTrace};
pub use rates::RateTrace;

use tidegate_core::units::{Span, Time};

/// Number of the first face, as in NFD.
const FIRST_FACE: u32 = 256;
/// Weight of the newest period in smoothed rates.
const ALPHA: f64 = 0.8;
/// Bytes of a kilobyte.
const KILOBYTE: f64 = 1024.0;

/// The ends of equal periods. What happens in the instant of an end belongs to the next period, since ndnSIM
/// schedules its printer a period ahead.
#[derive(Debug)]
struct Periods {
    length: Span,
    next: Time,
}

impl Periods {
    fn new(length: Span) -> Self {
        // Periods of zero length would never pass the present.
        let length = length.max(Span::from_nanos(1));
        Self { length, next: Time::ZERO + length }
    }

    /// End of the period that is over at `now`, if there is one; called repeatedly until `None`.
    fn over(&mut self, now: Time) -> Option<Time> {
        (self.next <= now).then(|| {
            let end = self.next;
            self.next = end + self.length;
            end
        })
    }
}

/// A count of one period, and its smoothed rate.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    packets: u64,
    bytes: u64,
    packets_per_s: f64,
    kilobytes_per_s: f64,
}

impl Rate {
    fn count(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }

    /// The last four columns at the end of a period; starts the next period.
    fn columns(&mut self, period: Span) -> String {
        let kilobytes = self.bytes as f64 / KILOBYTE;
        let seconds = period.as_secs_f64();
        let smooth = |old: f64, new: f64| ALPHA * new / seconds + (1.0 - ALPHA) * old;
        self.packets_per_s = smooth(self.packets_per_s, self.packets as f64);
        self.kilobytes_per_s = smooth(self.kilobytes_per_s, kilobytes);
        let columns = format!(
            "{}\t{}\t{}\t{}",
            plain(self.packets_per_s),
            plain(self.kilobytes_per_s),
            self.packets,
            plain(kilobytes)
        );
        (self.packets, self.bytes) = (0, 0);
        columns
    }
}

/// A number with up to nine decimals and without an exponent.
fn plain(value: f64) -> String {
    let text = format!("{value:.9}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_smoothed_with_the_weight_of_ndnsim() {
        let mut rate = Rate::default();
        (0..50).for_each(|_| rate.count(26));
        // 50 packets in half a second are 100 per second, of which 0.8 count at once.
        assert_eq!(rate.columns(Span::from_millis(500)), "80\t2.03125\t50\t1.26953125");
        assert_eq!(rate.columns(Span::from_millis(500)), "16\t0.40625\t0\t0");
    }

    #[test]
    fn an_event_at_the_end_of_a_period_belongs_to_the_next() {
        let mut periods = Periods::new(Span::from_millis(500));
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        assert_eq!(periods.over(at(499)), None);
        assert_eq!(periods.over(at(500)), Some(at(500)));
        assert_eq!(periods.over(at(500)), None);
        assert_eq!((periods.over(at(1600)), periods.over(at(1600))), (Some(at(1000)), Some(at(1500))));
    }

    #[test]
    fn numbers_have_no_exponent_and_no_idle_zeros() {
        let written = [0.0, -0.0, 1.0, 0.5, 1e-7, 1e-12, 123_456_789.0].map(plain);
        assert_eq!(written, ["0", "0", "1", "0.5", "0.0000001", "0", "123456789"]);
    }
}
