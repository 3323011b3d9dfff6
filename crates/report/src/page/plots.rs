//! The data of the linked plots, and their place in the page.

use super::markup::{Escaped, Markup};
use super::panels::{Panel, Panels};
use super::timeline::Timeline;
use crate::digest::Change;
use crate::figure::DASHES;
use crate::json::Json;
use crate::text;

/// Everything that `plots.js` draws, over the time to `end_s`.
pub(super) fn data(panels: &Panels, end_s: f64, timeline: &Timeline) -> Json {
    let dashes = DASHES.map(|dash| Json::List(dash.iter().copied().map(Json::Number).collect()));
    let turn = |change: &Change| {
        Json::Object(vec![
            ("at_s", Json::Number(change.at.as_secs_f64())),
            ("what", change.text.as_str().into()),
        ])
    };
    Json::Object(vec![
        ("dashes", Json::List(dashes.to_vec())),
        ("end_s", Json::Number(end_s)),
        ("turns", Json::List(timeline.changes.iter().map(turn).collect())),
        ("panels", Json::List(panels.shown.iter().map(json).collect())),
    ])
}

/// The place in the page that `plots.js` fills, with the events and with what there is nothing to plot of.
pub(super) fn place(page: &mut Markup, panels: &Panels, timeline: &Timeline) {
    page.0.push_str(
        "<div class=\"tools\"><button type=\"button\" id=\"reset-zoom\">Show all</button>\
         <span class=\"note\">Drag to zoom in all plots, double-click to show all; with a plot focused: \
         <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>←</kbd> <kbd>→</kbd> move, <kbd>0</kbd> all, \
         <kbd>Shift</kbd> with an arrow the cursor. \
         A series' name hides and shows it.</span></div>\n",
    );
    if !timeline.changes.is_empty() {
        page.0
            .push_str("<p class=\"note\">Dashed lines are the scenario's events:</p><ol class=\"turns\">\n");
        for change in &timeline.changes {
            let at = text::number(change.at.as_secs_f64());
            page.add(format_args!("<li>{at} s: {}</li>\n", Escaped(&change.text)));
        }
        page.0.push_str("</ol>\n");
    }
    page.0.push_str(
        "<div id=\"plots\"></div>\n<noscript><p>The plots need JavaScript; tables and figures do not.</p></noscript>\n",
    );
    if !panels.idle.is_empty() {
        page.add(format_args!(
            "<p class=\"note\">Nothing to plot, because there was none: {}.</p>\n",
            panels.idle.join(", ")
        ));
    }
}

fn json(panel: &Panel) -> Json {
    let series =
        panel.names.iter().zip(&panel.colours).zip(&panel.data.series).map(|((name, colour), values)| {
            Json::Object(vec![
                ("name", name.as_str().into()),
                ("colour", Json::Count(*colour as u64)),
                ("values", Json::List(values.iter().map(|value| Json::maybe(value.map(rounded))).collect())),
            ])
        });
    Json::Object(vec![
        ("title", panel.title.into()),
        ("unit", panel.unit.into()),
        ("is_stepped", Json::Bool(panel.is_stepped)),
        ("note", panel.note.as_str().into()),
        ("time_s", Json::List(panel.data.time_s.iter().map(|time| Json::Number(rounded(*time))).collect())),
        ("series", Json::List(series.collect())),
    ])
}

/// The value to six significant digits: more cannot be seen, and they would double the file.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
