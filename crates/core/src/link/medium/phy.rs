//! Duration of transmissions: OFDM symbols after the preamble of HT, mixed format, and legacy OFDM for ACKs.
//!
//! Source: IEEE 802.11-2016, clauses 17.3 (legacy OFDM), 19.3 (HT), tables 19-27 to 19-34 (rates).

use super::setup::MediumSetup;
use crate::units::{BitRate, ByteCount, Span};

/// Bits per subcarrier and code rate (numerator, denominator) of MCS 0 to 7.
const CODES: [(u64, u64, u64); 8] =
    [(1, 1, 2), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4), (6, 5, 6)];
/// L-STF, L-LTF, L-SIG, HT-SIG and HT-STF; HT-LTFs follow.
const HT_PREAMBLE: Span = Span::from_micros(8 + 8 + 4 + 8 + 4);
/// Long training fields of one, two, three and four streams, 4 us each.
const TRAINING_FIELDS: [u64; 4] = [1, 2, 4, 4];
/// Training and SIGNAL of legacy OFDM.
const OFDM_PREAMBLE: Span = Span::from_micros(8 + 8 + 4);
/// Long symbol; the data of a mixed-format PPDU end with a multiple of it also with short symbols (19.4.3).
const LONG_SYMBOL: Span = Span::from_micros(4);
const SHORT_SYMBOL: Span = Span::from_nanos(3_600);
/// Service bits before the data of a PPDU.
const SERVICE_BITS: u64 = 16;
/// Tail bits behind the data, for each encoder.
const TAIL_BITS: u64 = 6;
/// A second encoder is used above 300 Mbit/s with short symbols, which are 1080 bits of such a symbol.
const ENCODER_BITS: u64 = 1080;
const ACK: ByteCount = ByteCount::new(14);
const BLOCK_ACK: ByteCount = ByteCount::new(32);
/// Maximum duration of a PPDU of mixed format, whose L-SIG counts time in bytes of 6 Mbit/s (aPPDUMaxTime).
const LONGEST: Span = Span::from_micros(5_484);

/// Times of one set-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phy {
    preamble: Span,
    symbol: Span,
    symbol_bits: u64,
    encoders: u64,
    /// Time of an ACK.
    pub(super) ack: Span,
    /// Time of a Block ACK.
    pub(super) block_ack: Span,
}

impl Phy {
    pub(super) fn new(setup: &MediumSetup) -> Self {
        let streams = usize::from(setup.mcs / 8).min(3);
        let (bits, over, under) = CODES[usize::from(setup.mcs % 8)];
        // Data subcarriers of HT: 52 at 20 MHz, 108 at 40 MHz (tables 19-27 to 19-34).
        let subcarriers = if setup.width_mhz == 40 { 108 } else { 52 };
        let symbol_bits = subcarriers * bits * (streams as u64 + 1) * over / under;
        Self {
            preamble: HT_PREAMBLE + LONG_SYMBOL * TRAINING_FIELDS[streams],
            symbol: if setup.short_guard { SHORT_SYMBOL } else { LONG_SYMBOL },
            symbol_bits,
            encoders: symbol_bits.div_ceil(ENCODER_BITS),
            ack: control_time(ACK, setup.basic_rate),
            block_ack: control_time(BLOCK_ACK, setup.basic_rate),
        }
    }

    /// Bits of symbols over their time, rounded down to the bit per second.
    fn rate(&self) -> BitRate {
        BitRate::from_bps(self.symbol_bits * 1_000_000_000 / self.symbol.as_nanos())
    }

    /// Time of a PPDU with `size` bytes of MPDUs.
    pub(super) fn data_time(&self, size: ByteCount) -> Span {
        let bits = size.get().saturating_mul(8).saturating_add(SERVICE_BITS + TAIL_BITS * self.encoders);
        let symbols = self.symbol * bits.div_ceil(self.symbol_bits);
        self.preamble + LONG_SYMBOL * symbols.as_nanos().div_ceil(LONG_SYMBOL.as_nanos())
    }

    /// Bytes of MPDUs in the longest PPDU.
    pub(super) fn max_bytes(&self) -> u64 {
        let symbols = (LONGEST - self.preamble).as_nanos() / LONG_SYMBOL.as_nanos() * LONG_SYMBOL.as_nanos()
            / self.symbol.as_nanos();
        (symbols * self.symbol_bits - SERVICE_BITS - TAIL_BITS * self.encoders) / 8
    }
}

impl MediumSetup {
    /// The rate of data symbols, as tables of HT rates give it, rounded down to the bit per second.
    pub fn data_rate(&self) -> BitRate {
        Phy::new(self).rate()
    }
}

/// Time of a control frame at a rate of legacy OFDM; a rate below one bit per symbol counts as one.
fn control_time(size: ByteCount, rate: BitRate) -> Span {
    // A symbol of 4 us carries rate times 4 us bits.
    let symbol_bits = (rate.as_bps() / 250_000).max(1);
    let bits = size.get() * 8 + SERVICE_BITS + TAIL_BITS;
    OFDM_PREAMBLE + LONG_SYMBOL * bits.div_ceil(symbol_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phy(mcs: u8, width_mhz: u8, short_guard: bool) -> Phy {
        Phy::new(&MediumSetup { mcs, width_mhz, short_guard, ..Default::default() })
    }

    #[test]
    fn rates_are_those_of_the_standards_tables() {
        // MCS, rate at 20 MHz with long and short guard, at 40 MHz with long and short; tenths of Mbit/s, rounded.
        let table = [
            (0, [65, 72, 135, 150]),
            (1, [130, 144, 270, 300]),
            (2, [195, 217, 405, 450]),
            (3, [260, 289, 540, 600]),
            (4, [390, 433, 810, 900]),
            (5, [520, 578, 1080, 1200]),
            (6, [585, 650, 1215, 1350]),
            (7, [650, 722, 1350, 1500]),
            (8, [130, 144, 270, 300]),
            (15, [1300, 1444, 2700, 3000]),
            (22, [1755, 1950, 3645, 4050]),
            (23, [1950, 2167, 4050, 4500]),
            (31, [2600, 2889, 5400, 6000]),
        ];
        for (mcs, rates) in table {
            let ours = [(20, false), (20, true), (40, false), (40, true)]
                .map(|(width, short)| (phy(mcs, width, short).rate().as_mbps() * 10.0).round() as u64);
            assert_eq!(ours, rates, "MCS {mcs}");
        }
        assert_eq!(MediumSetup::default().data_rate(), BitRate::from_mbps(58.5));
    }

    #[test]
    fn a_second_encoder_comes_above_300_megabits() {
        let encoders = |mcs, width| phy(mcs, width, true).encoders;
        assert_eq!(
            [(15, 40), (20, 40), (21, 40), (27, 40), (28, 40), (31, 20)].map(|(m, w)| encoders(m, w)),
            [1, 1, 2, 1, 2, 1]
        );
    }

    #[test]
    fn times_of_frames_worked_by_hand() {
        let micros = Span::from_micros;
        // 1538 B are 12304 bits, with service and tail 12326: 52.7 symbols of 234 bits.
        assert_eq!(phy(6, 20, false).data_time(ByteCount::new(1538)), micros(36 + 53 * 4));
        // 53 symbols of 3.6 us are 190.8 us, which end at the next multiple of 4 us.
        assert_eq!(phy(6, 20, true).data_time(ByteCount::new(1538)), micros(36 + 192));
        // 11 symbols hold 2574 bits, of which 22 are not data: 319 B fill them, one more needs the twelfth.
        assert_eq!(phy(6, 20, false).data_time(ByteCount::new(319)), micros(36 + 44));
        assert_eq!(phy(6, 20, false).data_time(ByteCount::new(320)), micros(36 + 48));
        // MCS 28 on 40 MHz: four training fields, 1296 bits a symbol, two tails: 12332 bits are 9.5 symbols.
        assert_eq!(phy(28, 40, false).data_time(ByteCount::new(1538)), micros(48 + 40));
        // Three streams are trained with four fields as well: MCS 20, 468 bits a symbol.
        assert_eq!(phy(20, 20, false).data_time(ByteCount::new(1538)), micros(48 + 27 * 4));
        // ACK: 134 bits in symbols of 96 or 24; Block ACK: 278 in symbols of 96.
        assert_eq!((phy(6, 20, false).ack, phy(6, 20, false).block_ack), (micros(28), micros(32)));
        assert_eq!(control_time(ACK, BitRate::from_mbps(6.0)), micros(44));
    }

    #[test]
    fn the_longest_transmission_is_just_within_its_time() {
        for (mcs, short) in [(0, false), (0, true), (6, false), (6, true), (7, true)] {
            let phy = phy(mcs, 20, short);
            let max = phy.max_bytes();
            assert!(phy.data_time(ByteCount::new(max)) <= LONGEST, "MCS {mcs}: {max}");
            assert!(phy.data_time(ByteCount::new(max + 1)) > LONGEST, "MCS {mcs}: {max}");
        }
    }
}
