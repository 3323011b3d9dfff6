//! Each claim's quantity, made of what is kept of the runs.

use super::kept::Kept;
use super::runs::{AIMD, BBR, BBR_CD, CUBIC, OUTAGE_S, SIRC};
use super::{CLEAN, LOSSY, Results};

/// The quantity of claim `id`, one sample per seed; `None` for an id that is not known.
pub(super) fn samples(results: &Results, id: &str) -> Option<Vec<f64>> {
    let parts: Vec<&str> = id.split('-').collect();
    let clean = |scheme, topology| results.cell(scheme, topology, CLEAN);
    let lossy = |scheme, topology| results.cell(scheme, topology, LOSSY);
    Some(match parts.as_slice() {
        ["B1", "cubic"] => ratio(clean(AIMD, 0), clean(CUBIC, 0), Kept::goodput_mbps),
        ["B1", rival] => ratio(clean(BBR_CD, 0), clean(place(rival)?, 0), Kept::goodput_mbps),
        ["B2", rival] => ratio(clean(BBR_CD, 1), clean(place(rival)?, 1), Kept::goodput_mbps),
        ["B3", rival] => ratio(lossy(BBR_CD, 0), lossy(place(rival)?, 0), Kept::goodput_mbps),
        ["B4", rival] => ratio(lossy(BBR_CD, 1), lossy(place(rival)?, 1), Kept::goodput_mbps),
        ["B5", scheme, topology] if ["cd", "bbr"].contains(scheme) => {
            each(lossy(place(scheme)?, of_topology(topology)?), Kept::retransmitted)
        }
        ["B6", topology] => each(lossy(AIMD, of_topology(topology)?), Kept::retransmitted),
        ["B7"] => each(clean(BBR_CD, 0), |run| run.gaps_within(1.0, 10.0)),
        ["B7", "sirc"] => each(clean(SIRC, 0), |run| run.gaps_within(0.1, 100.0)),
        ["B8"] => each(clean(AIMD, 0), |run| run.gap(0.999) / run.gap(0.01)),
        ["B8", "longest"] => each(clean(AIMD, 0), |run| run.gap(1.0)),
        ["B9"] => each(clean(BBR_CD, 1), Kept::jain),
        ["B9", "sirc"] => paired(clean(BBR_CD, 1), clean(SIRC, 1), |cd, sirc| cd.jain() - sirc.jain()),
        ["B10"] => each(clean(BBR_CD, 1), Kept::mean_delivery_s),
        ["B10", "outage"] => each(results.outage(BBR_CD), Kept::mean_delivery_s),
        ["B10", "outage", "discounted"] => {
            each(results.outage(BBR_CD), |run| run.mean_delivery_s() - OUTAGE_S as f64)
        }
        ["B11", "order"] => {
            let increases = |scheme| increase(results, scheme);
            increases(BBR_CD).iter().zip(increases(AIMD)).map(|(cd, aimd)| cd - aimd).collect()
        }
        ["B11", scheme] if ["cd", "aimd"].contains(scheme) => increase(results, place(scheme)?),
        ["B12"] => each(results.outage(BBR_CD), |run| run.outage_rate),
        ["B13"] => ratio(clean(BBR_CD, 1), clean(AIMD, 1), |run| run.queued_bytes.iter().sum()),
        _ => return None,
    })
}

fn place(scheme: &str) -> Option<usize> {
    let known = [("cd", BBR_CD), ("aimd", AIMD), ("sirc", SIRC), ("bbr", BBR)];
    known.iter().find(|(name, _)| *name == scheme).map(|(_, place)| *place)
}

fn of_topology(name: &str) -> Option<usize> {
    ["T1", "T2"].iter().position(|known| *known == name)
}

pub(super) fn each(runs: &[Kept], measure: impl Fn(&Kept) -> f64) -> Vec<f64> {
    runs.iter().map(measure).collect()
}

/// Two schemes on the same seeds.
fn paired(left: &[Kept], right: &[Kept], of: impl Fn(&Kept, &Kept) -> f64) -> Vec<f64> {
    left.iter().zip(right).map(|(left, right)| of(left, right)).collect()
}

fn ratio(left: &[Kept], right: &[Kept], measure: impl Fn(&Kept) -> f64) -> Vec<f64> {
    paired(left, right, |left, right| measure(left) / measure(right))
}

/// What the outage adds to the mean delivery, as a part of its length (Table I).
fn increase(results: &Results, scheme: usize) -> Vec<f64> {
    paired(results.outage(scheme), results.cell(scheme, 1, CLEAN), |with, without| {
        (with.mean_delivery_s() - without.mean_delivery_s()) / OUTAGE_S as f64
    })
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
        for unknown in ["B1", "B1-reno", "B5-aimd-T1", "B5-cd-T3", "B11-sirc", "B14", ""] {
            assert_eq!(samples(&results, unknown), None, "{unknown}");
        }
    }
}
