//! The data of the linked plots, and their place in the page.

use super::seeds::SeedPlots;
use super::timeline::Timeline;
use crate::event_summary::NetworkChange;
use crate::figure::DASHES;
use crate::markup::{Escaped, Markup};
use crate::panels::{MAX_POINTS, Panel, Panels};
use crate::script::number;
use serde_json::{Value, json};
use tidegate_results::text;

/// Data of all plots for `plots.js`, over the time to `end_s`; with `seeds`, also those of other runs, to the
/// end of the longest run.
pub(super) fn data(panels: &Panels, end_s: f64, timeline: &Timeline, seeds: Option<&SeedPlots>) -> Value {
    let dashes = DASHES.map(|dash| dash.iter().copied().collect::<Value>());
    let turn =
        |change: &NetworkChange| json!({ "at_s": change.at.as_secs_f64(), "what": change.text.as_str() });
    json!({
        "dashes": dashes.to_vec(),
        "end_s": seeds.map_or(end_s, |seeds| seeds.end_s().max(end_s)),
        "turns": timeline.changes.iter().map(turn).collect::<Value>(),
        // As texts, because numbers of JavaScript are exact up to 2^53 only.
        "seeds": seeds.map_or(&[][..], SeedPlots::seeds).iter().map(u64::to_string).collect::<Value>(),
        "panels": panels.shown.iter().enumerate().map(|(place, panel)| json(panel, place, seeds)).collect::<Value>(),
    })
}

/// The element that `plots.js` fills, with the list of events and of quantities without data.
pub(super) fn place(page: &mut Markup, panels: &Panels, timeline: &Timeline) {
    page.0.push_str(
        "<div class=\"tools\"><span id=\"seed-tools\" hidden></span>\
         <button type=\"button\" id=\"reset-zoom\">Show all</button>\
         <span class=\"note\">Drag to zoom in all plots, double-click to show all; with a plot focused: \
         <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>←</kbd> <kbd>→</kbd> move, <kbd>0</kbd> all, \
         <kbd>Shift</kbd> with an arrow the cursor. \
         A click on the name of a series hides or shows it.</span></div>\n",
    );
    if !timeline.changes.is_empty() {
        page.0.push_str(
            "<p class=\"note\">Dashed lines mark the events of the scenario:</p><ol class=\"turns\">\n",
        );
        for change in &timeline.changes {
            let at = change.at.as_secs_f64();
            page.add(format_args!("<li>{}: {}</li>\n", moment(at), Escaped(&change.text)));
        }
        page.0.push_str("</ol>\n");
    }
    page.0.push_str(
        "<div id=\"plots\"></div>\n<noscript><p>The plots need JavaScript; tables and figures do not.</p></noscript>\n",
    );
    if !panels.idle.is_empty() {
        page.add(format_args!(
            "<p class=\"note\">Not plotted, because all values are zero or missing: {}.</p>\n",
            panels.idle.join(", ")
        ));
    }
}

/// A time in the text; a click shows it in all plots.
pub(super) fn moment(at_s: f64) -> String {
    let shown = text::number((at_s * 1e3).round() / 1e3);
    format!("<button type=\"button\" class=\"moment\" data-at=\"{at_s}\">{shown} s</button>")
}

fn json(panel: &Panel, place: usize, seeds: Option<&SeedPlots>) -> Value {
    let data = panel.data.thinned(MAX_POINTS);
    let series = panel.names.iter().zip(&panel.colours).zip(&data.series).map(|((name, colour), values)| {
        json!({
            "name": name.as_str(),
            "colour": *colour,
            "values": values.iter().map(|value| Value::from(value.map(rounded))).collect::<Value>(),
        })
    });
    let mut fields = vec![
        ("id", panel.id.into()),
        ("title", panel.title.into()),
        ("label", panel.label().as_str().into()),
        ("unit", panel.unit.into()),
        ("is_stepped", Value::from(panel.is_stepped)),
        ("note", panel.note.as_str().into()),
        ("time_s", data.time_s.iter().map(|time| rounded(*time)).collect::<Value>()),
        ("series", series.collect::<Value>()),
    ];
    fields.extend(seeds.map(|seeds| seeds.of_panel(place)).unwrap_or_default());
    Value::from_iter(fields)
}

/// The value rounded to six significant digits: more are not visible and would double the size of the file.
pub(super) fn rounded(value: f64) -> Value {
    number(format!("{value:.5e}").parse().unwrap_or(value))
}
