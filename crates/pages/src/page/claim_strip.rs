//! Drawing of one claim: the band, the published value and ours on a small axis.

use crate::axis::{Extent, Scale};
use crate::markup::Markup;
use tidegate_results::claims::{Judged, Published};

const WIDTH: f64 = 150.0;

/// The strip as SVG; empty when there is nothing to place.
pub(super) fn svg(judged: &Judged) -> String {
    let (estimate, band) = (&judged.estimate, &judged.claim.band);
    let published = match judged.claim.published {
        Published::Number(value) => Some(value),
        Published::Text(_) => None,
    };
    if estimate.n == 0 && published.is_none() {
        return String::new();
    }
    let null = judged.claim.direction.map(|direction| direction.null);
    let ours = (estimate.n > 0).then_some(estimate.mean);
    let ends = estimate.has_interval().then(|| [estimate.low(), estimate.high()]);
    let values = [Some(band.low), Some(band.high), published, null, ours];
    let extent = Extent::of(values.into_iter().flatten().chain(ends.into_iter().flatten()));
    // At least a part of the value itself, so that a band of zero width has an axis of its own scale.
    let room = (extent.high - extent.low).max(1e-9 + 0.05 * extent.high.abs()) * 0.08;
    let x = Scale { low: extent.low - room, high: extent.high + room, start: 4.0, end: WIDTH - 4.0 };
    let mut svg = Markup::default();
    svg.add(format_args!(
        "<svg class=\"strip\" viewBox=\"0 0 {WIDTH} 24\" width=\"{WIDTH}\" height=\"24\" role=\"img\"><title>band {band}, \
         published {}, ours {estimate}</title>",
        crate::markup::Escaped(&judged.claim.published.to_string())
    ));
    // A band may be open to one side, which is infinite.
    let (low, high) = (x.clamped(band.low), x.clamped(band.high));
    // A band of a single value is still visible.
    let width = (high - low).max(2.0);
    svg.add(format_args!(
        "<rect class=\"band\" x=\"{low:.1}\" y=\"3\" width=\"{width:.1}\" height=\"18\" rx=\"2\"/>"
    ));
    svg.add(format_args!("<path class=\"grid\" d=\"M4 12H{}\"/>", WIDTH - 4.0));
    if let Some(null) = null {
        svg.add(format_args!("<path class=\"axis null\" d=\"M{:.1} 2v20\"/>", x.at(null)));
    }
    if let Some([low, high]) = ends {
        svg.add(format_args!("<path class=\"inkline\" d=\"M{:.1} 12H{:.1}\"/>", x.at(low), x.at(high)));
    }
    if let Some(ours) = ours {
        svg.add(format_args!("<circle class=\"fdark\" cx=\"{:.1}\" cy=\"12\" r=\"4\"/>", x.at(ours)));
    }
    if let Some(published) = published {
        svg.add(format_args!("<path class=\"inkline\" d=\"M{:.1} 6l6 6l-6 6l-6 -6z\"/>", x.at(published)));
    }
    svg.0.push_str("</svg>");
    svg.0
}
