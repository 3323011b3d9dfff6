//! The control law of CoDel and NFD: signals come closer as the square root of their number.

use tidegate_core::units::Span;

/// Pause after the signal numbered `count` (from 1): `interval / sqrt(count)`, truncated to the nanosecond.
///
/// RFC 8289's `control_law`; NFD truncates likewise.
pub fn pause(interval: Span, count: u32) -> Span {
    Span::from_nanos((interval.as_nanos() as f64 / f64::from(count).sqrt()) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_signals_halve_the_pause() {
        let interval = Span::from_millis(100);
        // 100/sqrt(1), 100/sqrt(2) = 70.7106781..., 100/sqrt(3) = 57.7350269..., 100/sqrt(4).
        let pauses = [1, 2, 3, 4].map(|count| pause(interval, count).as_nanos());
        assert_eq!(pauses, [100_000_000, 70_710_678, 57_735_026, 50_000_000]);
    }
}
