//! Parameters of a medium, and their validation.

use crate::units::{BitRate, ByteCount, Span};

/// Access method of a radio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// DCF (10.3.4): the medium is idle for DIFS before slots count, and a backoff is one less after each idle slot.
    #[default]
    Dcf,
    /// EDCA with one access category (10.22.2.4), as QoS radios have it: AIFS before slots, and a backoff is
    /// one less at the beginning of each slot, even if another radio sends in it.
    Edca {
        /// Slots of AIFS after SIFS, 1..=15: 3 for best effort, 2 for video and voice.
        aifsn: u8,
    },
}

/// Parameters of a medium and its radios; all radios are alike. Clauses are those of IEEE 802.11-2016.
#[derive(Clone, Debug, PartialEq)]
pub struct MediumSetup {
    /// Modulation and coding scheme of the HT PHY, 0..=31; eight for each number of spatial streams (19.5).
    pub mcs: u8,
    /// Width of the channel in MHz: 20 or 40.
    pub width_mhz: u8,
    /// Whether symbols last 3.6 us (guard interval of 400 ns), not 4 us.
    pub short_guard: bool,
    /// Rate of ACKs and Block ACKs: 6, 9, 12, 18, 24, 36, 48 or 54 Mbit/s (OFDM, clause 17).
    pub basic_rate: BitRate,
    /// Access method of the radios.
    pub access: Access,
    /// Contention window before the first transmission: slots are drawn from 0..=`cw_min`; at most `cw_max`.
    pub cw_min: u16,
    /// Maximum contention window, slots.
    pub cw_max: u16,
    /// Transmissions of a frame before it is given up, 1..=255 (dot11ShortRetryLimit).
    pub attempts: u8,
    /// Time of a slot, above zero.
    pub slot: Span,
    /// Time between a frame and its ACK.
    pub sifs: Span,
    /// Overhead of the MAC per frame, at most 1000 B: header, FCS, LLC.
    pub overhead: ByteCount,
    /// Maximum size of an A-MPDU, 1..=65535 B, answered by one Block ACK; `None` for one frame per
    /// transmission.
    pub aggregate: Option<ByteCount>,
}

impl Default for MediumSetup {
    /// One stream of MCS 6 on 20 MHz (58.5 Mbit/s), DCF with the times of 5 GHz (17.4.4, 19.4.4), no aggregation;
    /// 38 B around a frame: QoS header 26, FCS 4, LLC and SNAP 8. A PPDU of HT at 2.4 GHz with short slots is followed
    /// by 6 us of signal extension, which make up for its SIFS of 10 us: the same times.
    fn default() -> Self {
        Self {
            mcs: 6,
            width_mhz: 20,
            short_guard: false,
            basic_rate: BitRate::from_bps(24_000_000),
            access: Access::Dcf,
            cw_min: 15,
            cw_max: 1023,
            attempts: 7,
            slot: Span::from_micros(9),
            sifs: Span::from_micros(16),
            overhead: ByteCount::new(38),
            aggregate: None,
        }
    }
}

/// Maximum size of an A-MPDU and of a PSDU of HT, bytes (19.4.4: aPSDUMaxLength).
pub(super) const MAX_BYTES: u64 = 65_535;
/// Maximum overhead, bytes; larger headers are a mistake.
const MAX_OVERHEAD: u64 = 1000;
/// Rates of OFDM, in Mbit/s.
const OFDM_MBPS: [u64; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

impl MediumSetup {
    /// Time for which the medium is idle before the first slot: DIFS (10.3.7), or AIFS.
    pub fn idle_before_slots(&self) -> Span {
        let slots = match self.access {
            Access::Dcf => 2,
            Access::Edca { aifsn } => aifsn,
        };
        self.sifs + self.slot * u64::from(slots)
    }

    /// Returns the first error of the set-up as a text that begins with the name of the field.
    pub fn check(&self) -> Result<(), String> {
        let mbps = self.basic_rate.as_bps() / 1_000_000;
        let is_whole = self.basic_rate.as_bps().is_multiple_of(1_000_000);
        let is_aifsn = |access| !matches!(access, Access::Edca { aifsn } if !(1..=15).contains(&aifsn));
        let aggregate = self.aggregate.map_or(1, ByteCount::get);
        let faults = [
            (self.mcs > 31, format!("mcs {} is not one of 0 to 31", self.mcs)),
            (![20, 40].contains(&self.width_mhz), format!("width_mhz {} is not 20 or 40", self.width_mhz)),
            (
                !(is_whole && OFDM_MBPS.contains(&mbps)),
                format!("basic_rate {} is not 6, 9, 12, 18, 24, 36, 48 or 54 Mbps", self.basic_rate),
            ),
            (!is_aifsn(self.access), format!("access {:?}: aifsn is not one of 1 to 15", self.access)),
            (
                self.cw_min > self.cw_max,
                format!("cw_min {} is larger than cw_max {}", self.cw_min, self.cw_max),
            ),
            (self.attempts == 0, "attempts is zero; a frame is sent at least once".to_owned()),
            (self.slot == Span::ZERO, "slot is zero; slots take time".to_owned()),
            (
                self.overhead.get() > MAX_OVERHEAD,
                format!("overhead {} is more than {MAX_OVERHEAD}B", self.overhead),
            ),
            (
                !(1..=MAX_BYTES).contains(&aggregate),
                format!("aggregate {} is not 1B to {MAX_BYTES}B", ByteCount::new(aggregate)),
            ),
        ];
        faults.into_iter().find_map(|(wrong, text)| wrong.then_some(text)).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_accepted_and_an_error_names_its_field() {
        let base = MediumSetup::default;
        assert_eq!(base().check(), Ok(()));
        let wrong = [
            ("mcs", MediumSetup { mcs: 32, ..base() }),
            ("width_mhz", MediumSetup { width_mhz: 80, ..base() }),
            ("basic_rate", MediumSetup { basic_rate: BitRate::from_mbps(24.5), ..base() }),
            ("basic_rate", MediumSetup { basic_rate: BitRate::from_mbps(11.0), ..base() }),
            ("cw_min", MediumSetup { cw_min: 31, cw_max: 15, ..base() }),
            ("access", MediumSetup { access: Access::Edca { aifsn: 0 }, ..base() }),
            ("attempts", MediumSetup { attempts: 0, ..base() }),
            ("slot", MediumSetup { slot: Span::ZERO, ..base() }),
            ("overhead", MediumSetup { overhead: ByteCount::new(1001), ..base() }),
            ("aggregate", MediumSetup { aggregate: Some(ByteCount::ZERO), ..base() }),
            ("aggregate", MediumSetup { aggregate: Some(ByteCount::new(65_536)), ..base() }),
        ];
        for (field, setup) in wrong {
            let error = setup.check().expect_err(field);
            assert!(error.starts_with(field), "{error}");
        }
    }
}
