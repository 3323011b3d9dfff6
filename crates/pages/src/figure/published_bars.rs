//! Bars of published values that no other figure of the paper compares with ours, one figure per quantity.

use super::{BarSeries, Figure, FigureKind};
use tidegate_results::claims::{Claim, Judged, Published};

/// Maximum number of claims in one figure: their names are below the bars, also in one column of a paper.
const MAX_CLAIMS: usize = 4;
/// Prefix of the ids of these figures.
const ID: &str = "stated";

/// Figures of all claims with a published number that `figures` do not overlay, by quantity; a group is a claim.
pub fn stated(claims: &[Judged], figures: &[Figure]) -> Vec<Figure> {
    let mut quantities: Vec<(String, Vec<(&Judged, f64)>)> = Vec::new();
    for open in claims.iter().filter_map(|judged| open(judged, figures)) {
        let label = y_label(&open.0.claim);
        match quantities.iter_mut().find(|(known, _)| *known == label) {
            Some((_, of_quantity)) => of_quantity.push(open),
            None => quantities.push((label, vec![open])),
        }
    }
    let parts = quantities.iter().flat_map(|(_, claims)| {
        let figures = claims.len().div_ceil(MAX_CLAIMS);
        // Chunks of equal size: five claims make figures of three and two, not of four and one.
        claims.chunks(claims.len().div_ceil(figures))
    });
    parts.enumerate().filter_map(|(place, part)| figure(place + 1, part)).collect()
}

/// Whether `id` can be that of a figure of [`stated`].
pub(crate) fn is_stated(id: &str) -> bool {
    id.strip_prefix(ID).is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

/// Whether `figure` is one of [`stated`] and has a group for `claim`.
pub(crate) fn has_group(figure: &Figure, claim: &Claim) -> bool {
    let FigureKind::Bars { groups, .. } = &figure.kind else { return false };
    let (_, group) = claim.bar();
    figure.id.starts_with(ID) && figure.y_label == y_label(claim) && groups.iter().any(|name| name == group)
}

/// The claim with its published number; `None` if a figure of the claim shows it, or there is none.
fn open<'a>(judged: &'a Judged, figures: &[Figure]) -> Option<(&'a Judged, f64)> {
    let Published::Number(value) = judged.claim.published else { return None };
    let mut shown = figures.iter().filter(|figure| judged.claim.is_shown_in(&figure.id));
    let is_open = judged.estimate.n > 0 && !shown.any(|figure| figure.overlays(value));
    is_open.then_some((judged, value))
}

/// The quantity with its unit; a ratio has none.
fn y_label(claim: &Claim) -> String {
    let unit = match claim.unit.as_str() {
        "" | "ratio" => "1",
        unit => unit,
    };
    format!("{} [{unit}]", claim.bar().0)
}

fn figure(number: usize, claims: &[(&Judged, f64)]) -> Option<Figure> {
    let (first, _) = claims.first()?;
    let ours = BarSeries {
        name: "ours".to_owned(),
        values: claims.iter().map(|(judged, _)| Some(judged.estimate)).collect(),
        published: claims.iter().map(|(_, value)| Some(*value)).collect(),
    };
    Some(Figure {
        id: format!("{ID}{number}"),
        title: format!("Published {number}: {}", first.claim.bar().0),
        caption: "Claims with a published value that no other figure shows.".to_owned(),
        x_label: String::new(),
        y_label: y_label(&first.claim),
        kind: FigureKind::Bars {
            groups: claims.iter().map(|(judged, _)| judged.claim.bar().1.to_owned()).collect(),
            series: vec![ours],
        },
    })
}
