//! The paths and sizes of segments over which fetches are measured.

use std::net::SocketAddr;

use tidegate_core::link::line::{LineSetup, LossPlan};
use tidegate_core::ndn::face::Limit;
use tidegate_core::rng::Seed;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span};
use tidegate_live::emulator::LinkSetup;
use tidegate_live::emulator::channel::ChannelSetup;

const RATES_MBPS: [u32; 2] = [10, 100];
const ROUND_TRIPS_MS: [u32; 3] = [2, 20, 200];
const QUEUES_BDP: [f64; 3] = [0.2, 1.0, 4.0];
const LOSSES: [f64; 4] = [0.0, 0.001, 0.01, 0.05];

/// Content bytes per segment.
const SEGMENTS: [usize; 2] = [8000, 1200];

/// Name, signature and fields of a Data of `bench fetch`, bytes, about.
const DATA_OVERHEAD: usize = 110;

/// Bytes of a fragment's content, and of its headers.
const FRAGMENT: usize = 1370;
const FRAGMENT_HEADER: usize = 30;

/// Path from the fetch to the forwarder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BenchPath {
    Unix,
    /// Over the loopback interface.
    Tcp,
    /// UDP over an emulated link.
    Link {
        rate_mbps: u32,
        /// Without waiting; half of it in each direction.
        round_trip_ms: u32,
        /// Size of the queue towards the consumer, in bandwidth-delay products; at least two Data.
        queue_bdp: f64,
        /// Probability that a datagram towards the consumer is lost.
        loss: f64,
    },
}

/// One path with one size of segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BenchCell {
    /// Path of the packets through the network.
    pub(super) path: BenchPath,
    /// Content bytes of a segment.
    pub(super) segment: usize,
}

/// Every cell: local paths and every third link with both sizes of segments, the other links with one of them
/// in turn.
pub(super) fn all() -> Vec<BenchCell> {
    let mut cells = Vec::new();
    for path in [BenchPath::Unix, BenchPath::Tcp] {
        cells.extend(SEGMENTS.map(|segment| BenchCell { path, segment }));
    }
    let mut number = 0;
    for rate_mbps in RATES_MBPS {
        for round_trip_ms in ROUND_TRIPS_MS {
            for queue_bdp in QUEUES_BDP {
                for loss in LOSSES {
                    let path = BenchPath::Link { rate_mbps, round_trip_ms, queue_bdp, loss };
                    // Both sizes on all 72 links would take half as long again.
                    let sizes: &[usize] = match number % 3 {
                        0 => &SEGMENTS,
                        1 => &SEGMENTS[..1],
                        _ => &SEGMENTS[1..],
                    };
                    cells.extend(sizes.iter().map(|segment| BenchCell { path, segment: *segment }));
                    number += 1;
                }
            }
        }
    }
    cells
}

impl BenchCell {
    /// Name of the cell in results.
    pub(super) fn name(&self) -> String {
        let path = match self.path {
            BenchPath::Unix => "Unix socket".to_owned(),
            BenchPath::Tcp => "TCP loopback".to_owned(),
            BenchPath::Link { rate_mbps, round_trip_ms, queue_bdp, loss } => {
                format!("{rate_mbps} Mbit/s, {round_trip_ms} ms, {queue_bdp} BDP, {} % loss", 100.0 * loss)
            }
        };
        format!("{path}, {} B", self.segment)
    }

    /// Datagrams of one Data.
    fn fragments(&self) -> usize {
        (self.segment + DATA_OVERHEAD).div_ceil(FRAGMENT)
    }

    /// Fraction of Data that the path itself loses, percent.
    pub(super) fn lost_data_pct(&self) -> f64 {
        match self.path {
            BenchPath::Unix | BenchPath::Tcp => 0.0,
            // A Data is lost with any of its fragments, which the link loses independently.
            BenchPath::Link { loss, .. } => 100.0 * (1.0 - (1.0 - loss).powi(self.fragments() as i32)),
        }
    }

    /// Lateness of the link, 99th percentile, above which a measurement is repeated, ms.
    pub(super) fn max_late_ms(&self) -> f64 {
        match self.path {
            BenchPath::Unix | BenchPath::Tcp => f64::INFINITY,
            BenchPath::Link { round_trip_ms, .. } => (0.1 * f64::from(round_trip_ms)).max(0.5),
        }
    }

    /// The link to the forwarder that listens at `to`; `None` for a local path.
    pub(super) fn link(&self, to: Option<SocketAddr>) -> Option<LinkSetup> {
        let BenchPath::Link { rate_mbps, round_trip_ms, queue_bdp, loss } = self.path else { return None };
        let rate = BitRate::from_mbps(f64::from(rate_mbps));
        let delay = Span::from_micros(u64::from(round_trip_ms) * 500);
        let data = self.segment + DATA_OVERHEAD + self.fragments() * FRAGMENT_HEADER;
        // Mbit/s times 1e3 is bit per ms: the product is in bytes.
        let product = f64::from(rate_mbps) * 1e3 / 8.0 * f64::from(round_trip_ms);
        // At 10 Mbit/s and 2 ms, 0.2 products are 500 bytes: each Data would lose fragments.
        let queue = ((queue_bdp * product) as u64).max(2 * data as u64);
        let channel = |loss, queue| ChannelSetup {
            line: LineSetup { rate, delay, jitter: Span::ZERO, reorder: false, loss },
            mtu: None,
            queue,
        };
        let losses = if loss > 0.0 { LossPlan::Bernoulli { probability: loss } } else { LossPlan::None };
        Some(LinkSetup {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            to: to?,
            forward: channel(LossPlan::None, Limit::Packets(Packets::new(1000))),
            reverse: channel(losses, Limit::Bytes(ByteCount::new(queue))),
            seed: Seed(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sizes_are_measured_on_local_ways_and_on_every_third_of_72_links() {
        let cells = all();
        assert_eq!(cells.len(), 4 + 72 + 24);
        let names: std::collections::BTreeSet<String> = cells.iter().map(BenchCell::name).collect();
        assert_eq!(names.len(), cells.len());
        assert!(names.contains("100 Mbit/s, 20 ms, 1 BDP, 0 % loss, 8000 B"), "{names:?}");
    }

    #[test]
    fn a_data_of_several_datagrams_is_lost_with_any_of_them_and_two_always_find_room() {
        let path = BenchPath::Link { rate_mbps: 10, round_trip_ms: 2, queue_bdp: 0.2, loss: 0.01 };
        let cell = BenchCell { path, segment: 8000 };
        assert!((cell.lost_data_pct() - 5.852).abs() < 0.001, "{}", cell.lost_data_pct());
        let link = cell.link(Some(SocketAddr::from(([127, 0, 0, 1], 1)))).expect("a link");
        assert_eq!(link.reverse.queue, Limit::Bytes(ByteCount::new(2 * (8000 + 110 + 6 * 30))));
        assert_eq!(
            (link.reverse.line.delay, link.forward.line.delay),
            (Span::from_millis(1), Span::from_millis(1))
        );
    }
}
