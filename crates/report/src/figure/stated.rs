//! Bars of the numbers that a paper states and no figure of its board shows beside ours.

use super::{BarSeries, Figure, FigureKind};
use crate::claims::{Judged, Published};

/// Claims in one figure, at most: their ids stand under the bars.
const MAX_CLAIMS: usize = 8;

/// Figures of all claims with a published number that `figures` do not overlay, by unit; a group is a claim.
pub fn stated(claims: &[Judged], figures: &[Figure]) -> Vec<Figure> {
    let open: Vec<(&Judged, f64)> = claims.iter().filter_map(|judged| open(judged, figures)).collect();
    let mut units: Vec<&str> = Vec::new();
    for (judged, _) in &open {
        if !units.contains(&judged.claim.unit.as_str()) {
            units.push(&judged.claim.unit);
        }
    }
    let of_unit = |unit: &str| -> Vec<(&Judged, f64)> {
        open.iter().copied().filter(|(judged, _)| judged.claim.unit == unit).collect()
    };
    let parts =
        units.iter().flat_map(|unit| of_unit(unit).chunks(MAX_CLAIMS).map(<[_]>::to_vec).collect::<Vec<_>>());
    parts.enumerate().map(|(place, part)| figure(place + 1, &part)).collect()
}

/// The claim with its published number, if there is one that no figure of the claim shows.
fn open<'a>(judged: &'a Judged, figures: &[Figure]) -> Option<(&'a Judged, f64)> {
    let Published::Number(value) = judged.claim.published else { return None };
    let mut shown = figures.iter().filter(|figure| judged.claim.is_shown_in(&figure.id));
    let is_open = judged.estimate.n > 0 && !shown.any(|figure| figure.overlays(value));
    is_open.then_some((judged, value))
}

fn figure(number: usize, claims: &[(&Judged, f64)]) -> Figure {
    let unit = match claims.first() {
        Some((judged, _)) if !judged.claim.unit.is_empty() => judged.claim.unit.as_str(),
        _ => "1",
    };
    let ours = BarSeries {
        name: "ours".to_owned(),
        values: claims.iter().map(|(judged, _)| Some(judged.estimate)).collect(),
        published: claims.iter().map(|(_, value)| Some(*value)).collect(),
    };
    Figure {
        id: format!("stated{number}"),
        title: format!("Stated {number}: numbers of the text beside ours [{unit}]"),
        caption:
            "Numbers that the paper states and no other figure shows; a group is the claim with this id."
                .to_owned(),
        x_label: String::new(),
        y_label: format!("quantity of the claim [{unit}]"),
        kind: FigureKind::Bars {
            groups: claims.iter().map(|(judged, _)| judged.claim.id.clone()).collect(),
            series: vec![ours],
        },
    }
}
