//! Each claim's quantity, made of what is kept of the runs.

use tidegate_report::stats::mean;

use super::Results;
use super::kept::Kept;
use super::runs::{BUFFERS, Cell, LOSSES, MANY, Scheme};

/// Propagation of Figure 7a, there and back, ms.
pub(super) const PATH_RTT_MS: f64 = 20.0;
/// Rates of its fast links and of the bottleneck, bit/ms.
const FAST: f64 = 1e6;
const SLOW: f64 = 1e5;
/// Bits of a full segment and of an ACK on the wire, and of the option with BRF's grant.
const SEGMENT: f64 = 1514.0 * 8.0;
const ACK: f64 = 66.0 * 8.0;
const GRANT: f64 = 8.0 * 8.0;
/// How long the delays of Figure 12 are sampled, s.
pub(super) const SAMPLED_S: f64 = 30.0;
/// Jain's index of flows that have converged, and the window of it, s.
pub(super) const FAIR: f64 = 0.95;
pub(super) const WINDOW_S: f64 = 3.0;
/// BBR's ProbeRTT has four segments outstanding.
const PROBE_RTT: u32 = 4;

/// The quantity of claim `id`, one sample per seed; `None` for an id that is not known.
pub(super) fn samples(results: &Results, id: &str) -> Option<Vec<f64>> {
    let parts: Vec<&str> = id.split('-').collect();
    Some(match parts.as_slice() {
        ["R1", buffer] => declines(results, Scheme::Brf, place(buffer)?),
        ["R1", buffer, loss] => throughputs(results, Scheme::Brf, place(buffer)?, tenths(loss)?),
        ["R2", "bbr", loss] => throughputs(results, Scheme::Bbr, BUFFERS[0], tenths(loss)?),
        ["R2", loss] => gains(results, Scheme::Bbr, BUFFERS[0], tenths(loss)?),
        ["R3", "same"] => apart(results),
        ["R3", loss] => {
            let loss = tenths(loss)?;
            let [small, large] = BUFFERS.map(|buffer| throughputs(results, Scheme::Bbr, buffer, loss));
            paired(&large, &small, |large, small| large / small)
        }
        ["R4"] => percent(&gains(results, Scheme::Bbr, BUFFERS[1], 20)),
        ["R5"] => percent(&gains(results, Scheme::Cubic, BUFFERS[1], 20)),
        ["R6"] => declines(results, Scheme::Cubic, BUFFERS[0]),
        ["R6", loss] => throughputs(results, Scheme::Cubic, BUFFERS[0], tenths(loss)?),
        ["R6r", loss] => throughputs(results, Scheme::Rfc, BUFFERS[0], tenths(loss)?),
        ["R7"] => results.each(Cell::RoundTrips { scheme: Scheme::Bbr }, |run| run.share(0)),
        ["R8"] => results.each(Cell::RoundTrips { scheme: Scheme::Brf }, |run| run.jain(1.0, run.end_s())),
        ["R9"] => results.each(shared(Scheme::Bbr, BUFFERS[0]), |run| run.share(0)),
        ["R9", "bbr"] => results.each(shared(Scheme::Bbr, BUFFERS[0]), |run| run.throughput_mbps(0)),
        ["R9", "cubic"] => results.each(shared(Scheme::Bbr, BUFFERS[0]), |run| run.throughput_mbps(1)),
        ["R10"] => results.each(shared(Scheme::Bbr, BUFFERS[1]), |run| run.share(1)),
        ["R11", buffer] => {
            results.each(shared(Scheme::Bbr, place(buffer)?), |run| run.jain(0.0, run.end_s()))
        }
        ["R12", buffer] => {
            results.each(shared(Scheme::Brf, place(buffer)?), |run| run.jain(0.0, run.end_s()))
        }
        ["R13", "brf", buffer, flows] => {
            results.each(of_flows(Scheme::Brf, place(buffer)?, flows)?, settled_drops)
        }
        ["R13", "cubic", buffer, flows] => drops(results, of_flows(Scheme::Cubic, place(buffer)?, flows)?),
        ["R14", "none"] => drops(results, of_flows(Scheme::Bbr, BUFFERS[0], "1")?),
        ["R14", buffer, flows] => drops(results, of_flows(Scheme::Bbr, place(buffer)?, flows)?),
        ["R15"] => results.each(Cell::Five { scheme: Scheme::Brf, buffer: BUFFERS[0] }, joins_ms),
        ["R16"] => converged(results, Scheme::Brf),
        ["R17"] => converged(results, Scheme::Cubic),
        _ => return delays(results, &parts),
    })
}

/// Figure 7a's round trip when nothing waits, ms: propagation, a segment and an ACK over each of three links, and the wait of
/// an ACK for the second segment. BRF's switch shapes the second link to the rate of the third.
pub(super) fn empty_ms(scheme: Scheme) -> f64 {
    let (second, ack) = if scheme.sender().has_switch() { (SLOW, ACK + GRANT) } else { (FAST, ACK) };
    let links = 1.0 / FAST + 1.0 / second + 1.0 / SLOW;
    PATH_RTT_MS + (SEGMENT + ack) * links + SEGMENT / SLOW
}

/// Claims of Figure 12.
fn delays(results: &Results, parts: &[&str]) -> Option<Vec<f64>> {
    let alone = |scheme, buffer| Cell::Path { scheme, buffer, loss: 0 };
    let each = |scheme, buffer, of: &dyn Fn(Delays<'_>) -> f64| {
        results.each(alone(scheme, buffer), |run| {
            of(Delays { run, empty_ms: results.further_ms + empty_ms(scheme) })
        })
    };
    let cubic = |buffer, of: &dyn Fn(Delays<'_>) -> f64| each(Scheme::Cubic, buffer, of);
    let bbr = |of: &dyn Fn(Delays<'_>) -> f64| each(Scheme::Bbr, BUFFERS[0], of);
    let brf = |of: &dyn Fn(Delays<'_>) -> f64| each(Scheme::Brf, BUFFERS[0], of);
    Some(match parts {
        ["R18", "1000"] => cubic(BUFFERS[0], &|of| mean(&of.each_second())),
        ["R18", "1000", "mean"] => cubic(BUFFERS[0], &|of| mean(&of.all(SAMPLED_S, of.run.end_s()))),
        ["R18", "1000", "max"] => cubic(BUFFERS[0], &|of| most(&of.all(0.0, of.run.end_s()))),
        ["R18", "100000"] => cubic(BUFFERS[1], &|of| mean(&of.all(SAMPLED_S, SAMPLED_S))),
        ["R19", "rise"] => bbr(&|of| of.rise_ms()),
        ["R19", "mean"] => bbr(&|of| mean(&of.all(3.0, SAMPLED_S))),
        ["R19", "dip"] => bbr(&|of| of.run.between_dips_s(PROBE_RTT, 2.0)),
        ["R20", "mean"] => brf(&|of| mean(&of.each_second())),
        ["R20", "most"] => brf(&|of| most(&of.all(of.run.start_s() + 3.0 * PATH_RTT_MS / 1e3, SAMPLED_S))),
        _ => return None,
    })
}

fn place(buffer: &str) -> Option<u32> {
    buffer.parse().ok().filter(|buffer| BUFFERS.contains(buffer))
}

/// Tenths of a percent.
fn tenths(percent: &str) -> Option<u32> {
    let tenths = (percent.parse::<f64>().ok()? * 10.0).round() as u32;
    LOSSES.contains(&tenths).then_some(tenths)
}

fn shared(scheme: Scheme, buffer: u32) -> Cell {
    Cell::Shared { scheme, buffer }
}

/// One flow without losses, or five.
fn of_flows(scheme: Scheme, buffer: u32, flows: &str) -> Option<Cell> {
    match flows {
        "1" => Some(Cell::Path { scheme, buffer, loss: 0 }),
        "5" => Some(Cell::Five { scheme, buffer }),
        _ => None,
    }
}

pub(super) fn throughputs(results: &Results, scheme: Scheme, buffer: u32, loss: u32) -> Vec<f64> {
    results.each(Cell::Path { scheme, buffer, loss }, |run| run.throughput_mbps(0))
}

/// Throughput with most losses over that with least.
fn declines(results: &Results, scheme: Scheme, buffer: u32) -> Vec<f64> {
    let [most, least] = [LOSSES[5], LOSSES[0]].map(|loss| throughputs(results, scheme, buffer, loss));
    paired(&most, &least, |most, least| most / least)
}

/// BRF's throughput over that of another scheme.
pub(super) fn gains(results: &Results, other: Scheme, buffer: u32, loss: u32) -> Vec<f64> {
    let [brf, other] = [Scheme::Brf, other].map(|scheme| throughputs(results, scheme, buffer, loss));
    paired(&brf, &other, |brf, other| brf / other)
}

fn percent(ratios: &[f64]) -> Vec<f64> {
    ratios.iter().map(|ratio| 100.0 * (ratio - 1.0)).collect()
}

/// The largest difference that the buffer makes to BBR, per seed.
fn apart(results: &Results) -> Vec<f64> {
    let differences = LOSSES.map(|loss| {
        let [small, large] = BUFFERS.map(|buffer| throughputs(results, Scheme::Bbr, buffer, loss));
        paired(&small, &large, |small, large| (small - large).abs())
    });
    let [first, others @ ..] = differences;
    others.iter().fold(first, |most, more| paired(&most, more, f64::max))
}

fn drops(results: &Results, cell: Cell) -> Vec<f64> {
    results.each(cell, |run| run.dropped_percent(0.0))
}

/// Drops from one second after the last start on.
pub(super) fn settled_drops(run: &Kept) -> f64 {
    run.dropped_percent(run.start_s() + 1.0)
}

/// Mean over the joins of the time until rates agree.
fn joins_ms(run: &Kept) -> f64 {
    mean(&(1..MANY).map(|flow| run.agreed_ms(flow, PATH_RTT_MS / 1e3)).collect::<Vec<f64>>())
}

pub(super) fn converged_s(results: &Results, scheme: Scheme, buffer: u32) -> Vec<f64> {
    results.each(Cell::Five { scheme, buffer }, |run| run.converged_s(FAIR, WINDOW_S))
}

/// Time to converge over BBR's.
fn converged(results: &Results, scheme: Scheme) -> Vec<f64> {
    let [ours, bbr] = [scheme, Scheme::Bbr].map(|scheme| converged_s(results, scheme, BUFFERS[0]));
    paired(&ours, &bbr, |ours, bbr| ours / bbr)
}

/// Queueing delays of one flow alone.
#[derive(Clone, Copy)]
pub(super) struct Delays<'a> {
    pub(super) run: &'a Kept,
    /// Round trip when nothing waits, ms.
    pub(super) empty_ms: f64,
}

impl Delays<'_> {
    /// At every sample between two times, ms.
    pub(super) fn all(self, from_s: f64, to_s: f64) -> Vec<f64> {
        values(self.run.delays(self.empty_ms, self.run.period_s, from_s, to_s))
    }

    /// Each second, as in Figure 12, ms.
    fn each_second(self) -> Vec<f64> {
        values(self.run.delays(self.empty_ms, 1.0, 0.0, SAMPLED_S))
    }

    /// Largest less smallest within a second, mean over the seconds from 3 to 9, ms.
    fn rise_ms(self) -> f64 {
        let rise = |from: u32| {
            let delays = self.all(f64::from(from), f64::from(from) + 1.0);
            most(&delays) - delays.iter().copied().fold(f64::INFINITY, f64::min)
        };
        mean(&(3..9).map(rise).collect::<Vec<f64>>())
    }
}

fn values(points: Vec<(f64, f64)>) -> Vec<f64> {
    points.into_iter().map(|(_, value)| value).collect()
}

/// Largest of them; NaN of none.
pub(super) fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::max)
}

fn paired(left: &[f64], right: &[f64], of: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    left.iter().zip(right).map(|(left, right)| of(*left, *right)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::CLAIMS;
    use super::*;

    #[test]
    fn every_claim_of_the_file_has_a_quantity_and_no_other() {
        let results = Results::default();
        let paper = tidegate_report::claims::parse(CLAIMS, "claims.toml").expect("the file is good");
        for claim in &paper.claims {
            assert_eq!(samples(&results, &claim.id), Some(Vec::new()), "{}", claim.id);
        }
        for unknown in ["R1-500", "R1-1000-3", "R13-bbr-1000-1", "R14-1000-2", "R18", "R21", ""] {
            assert_eq!(samples(&results, unknown), None, "{unknown}");
        }
    }

    #[test]
    fn the_empty_round_trip_is_propagation_and_sending() {
        let (cubic, brf) = (empty_ms(Scheme::Cubic), empty_ms(Scheme::Brf));
        // 12.112 kbit and 0.528 or 0.592 kbit: twice over 1 Gbit/s and once over 100 Mbit/s, or the other way about.
        assert!((cubic - (20.0 + 12.640 * 0.012 + 0.12112)).abs() < 1e-9, "{cubic}");
        assert!((brf - (20.0 + 12.704 * 0.021 + 0.12112)).abs() < 1e-9, "{brf}");
    }
}
