//! Pages as a browser shows them: drawn, labelled, linked, offline and without a word on the console.

mod board;
mod chromium;

use std::fs;
use std::path::Path;

use support::json::Value;
use support::program::{Scratch, tidegate};
use support::skipped::skipped;

/// Width of a phone, a laptop and a wide screen, CSS pixels.
const WIDTHS: [u32; 3] = [360, 1366, 2560];

/// A name, the scenario in `scenarios/examples`, the number of seeds, and what is set otherwise, so that runs are short.
const RUNS: [(&str, &str, &str, &[&str]); 8] = [
    // Pacing rates with long numbers.
    (
        "fast",
        "dumbbell",
        "1",
        &[
            "scenario.duration=300ms",
            "flow.0.scheme=bbr",
            "topology.bottleneck.rate=1Gbps",
            "topology.access.rate=1Gbps",
            "topology.access.delay=1ms",
            "topology.bottleneck.delay=1ms",
            "event.0.at=200ms",
        ],
    ),
    ("dumbbell", "dumbbell", "1", &["scenario.duration=6s"]),
    ("plr", "plr", "1", &["flow.0.size=2MiB"]),
    ("loss", "loss", "3", &["scenario.duration=4s"]),
    ("events", "events", "1", &["scenario.duration=11s"]),
    // Upright links with labels, and given positions close to each other.
    ("caches", "caches", "1", &["scenario.duration=1s"]),
    ("waxman", "waxman", "1", &["scenario.duration=1s"]),
    ("unsampled", "loss", "1", &["scenario.duration=1s", "scenario.sample=false"]),
];

/// A page with the probes in it, beside the others.
fn probed(scratch: &Scratch, name: &str, page: &str) {
    let collect = format!("<head>\n<script>\n{}</script>\n", include_str!("collect.js"));
    let probe = format!("<script>\n{}</script>\n</body>", include_str!("probe.js"));
    let page = page.replacen("<head>\n", &collect, 1).replacen("</body>", &probe, 1);
    assert!(page.contains(&collect) && page.contains(&probe), "{name} has no head or no end");
    fs::write(scratch.0.join(format!("{name}.html")), page).expect("writable");
}

/// Runs everything, and returns the names of the pages.
fn make_pages(scratch: &Scratch) -> Vec<String> {
    let mut names = Vec::new();
    for (name, scenario, seeds, sets) in RUNS {
        let (scenario, out) = (format!("scenarios/examples/{scenario}.toml"), scratch.0.join(name));
        let sets = sets.iter().flat_map(|set| ["--set", *set]);
        let run =
            ["--format", "json", "run", &scenario, "--seeds", seeds, "--out", out.to_str().expect("text")];
        let stated = tidegate(&run.into_iter().chain(sets).collect::<Vec<_>>());
        assert!(matches!(stated.code, Some(0 | 3)), "{name}: {}", stated.err);
        let page = fs::read_to_string(stated.json().get("report").text()).expect("a page was written");
        probed(scratch, name, &page);
        names.push(name.to_owned());
    }
    let compared = compare(scratch);
    for (name, page) in [("board", board::page()), ("compared", compared)] {
        probed(scratch, name, &page);
        names.push(name.to_owned());
    }
    names
}

/// The page of a comparison of two schemes over three seeds.
fn compare(scratch: &Scratch) -> String {
    let out = scratch.0.join("compared");
    let out = out.to_str().expect("text");
    let options = ["--consumers", "icp,fixed", "--seeds", "3", "--set", "scenario.duration=4s", "--out", out];
    let stated =
        tidegate(&[&["--format", "json", "compare", "scenarios/examples/loss.toml"], &options[..]].concat());
    assert_eq!(stated.code, Some(0), "{}", stated.err);
    let page = fs::read_to_string(Path::new(stated.json().get("folder").text()).join("report.html"))
        .expect("a page was written");
    for part in ["found", "schemes", "provenance"] {
        assert!(page.contains(&format!("<a href=\"#{part}\">")), "no link to {part}");
    }
    page
}

/// What the probes told, one value per page and width.
fn reports(scratch: &Scratch, browser: &Path, names: &[String]) -> Vec<Value> {
    let view = |name: &String| WIDTHS.map(|width| format!("{{\"page\":\"{name}.html\",\"asked\":{width}}}"));
    let views: Vec<String> = names.iter().flat_map(view).collect();
    let harness = include_str!("harness.html").replace("/*VIEWS*/", &format!("[{}]", views.join(",")));
    let file = scratch.0.join("harness.html");
    fs::write(&file, harness).expect("writable");
    let reported = chromium::reported(browser, &file, &scratch.0.join("profile"), views.len());
    assert_eq!(reported.len(), views.len(), "every page tells something in every width");
    reported.iter().map(|report| Value::parse(report).expect("JSON")).collect()
}

/// What is wrong with a page as its probe saw it.
fn faults(report: &Value) -> Vec<String> {
    let mut faults: Vec<String> = texts(report.get("faults"));
    if !faults.is_empty() {
        return faults;
    }
    faults.extend(texts(report.get("resources")).iter().map(|name| format!("asks for {name}")));
    let width: Vec<f64> = numbers(report.get("width"));
    if width[0] > width[1] {
        faults.push(format!("is {} px wide in a window of {}", width[0], width[1]));
    }
    if width[1] != number(report.get("asked")) {
        faults.push(format!("is shown {} px wide", width[1]));
    }
    for colours in ["drawn", "drawn_in_other_colours"] {
        faults.extend(undrawn(report.get(colours)).map(|series| format!("{colours}: nothing of {series}")));
    }
    if numbers(report.get("units")).iter().any(|labels| *labels != 2.0) {
        faults.push("an axis has no unit in brackets".to_owned());
    }
    if numbers(report.get("charts")).iter().any(|shapes| *shapes < 3.0) {
        faults.push("a drawing is empty".to_owned());
    }
    let headings = numbers(report.get("headings"));
    if headings.first() != Some(&1.0) || headings.windows(2).any(|pair| pair[1] > pair[0] + 1.0) {
        faults.push(format!("headings are out of order: {headings:?}"));
    }
    for (what, count) in [("controls without a name", "unnamed"), ("links to nothing", "dead_links")] {
        if number(report.get(count)) != 0.0 {
            faults.push(format!("{} {what}", number(report.get(count))));
        }
    }
    faults.extend(texts(report.get("overlaps")).iter().map(|labels| format!("labels overlap: {labels}")));
    if number(report.get("plots")) != number(report.get("panels")) {
        faults.push("not every plot is there".to_owned());
    }
    if *report.get("is_used") == Value::Bool(true) {
        faults.extend(idle(report));
    }
    faults
}

/// Parts of the page that do not answer to their reader.
fn idle(report: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let grounds = texts(report.get("grounds"));
    if grounds.len() != 2 || grounds[0] == grounds[1] {
        faults.push(format!("its button does not change its ground: {grounds:?}"));
    }
    let parts = [
        ("animation", &["is_scrubbed", "is_played"][..]),
        ("segments", &["is_following", "is_hiding", "is_stepping"]),
        ("moment", &["is_around", "is_near", "is_at_the_cursor", "is_in_view"]),
        ("seeds", &["is_chosen", "is_in_band", "is_mean", "is_band_drawn", "is_named", "is_cursor_kept"]),
        ("claims", &["is_filtered", "is_found", "has_figure"]),
        ("keys", &["is_hidden", "is_shown_again", "is_aside", "is_whole"]),
    ];
    for (part, signs) in parts.into_iter().filter(|(part, _)| *report.get(part) != Value::Null) {
        let stated = report.get(part);
        let wrong = signs.iter().filter(|sign| *stated.get(sign) != Value::Bool(true));
        faults.extend(wrong.map(|sign| format!("its {part} is not what it should be: {sign} in {stated:?}")));
    }
    if number(report.get("plots")) > 0.0 {
        faults.extend(unlinked(report));
    }
    faults
}

/// Plots that do not follow the cursor or the range of another.
fn unlinked(report: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for which in ["cursors", "moved_cursors"] {
        let mut cursors = texts(report.get(which));
        cursors.sort_unstable();
        cursors.dedup();
        // Panels have instants of their own: bins end at other times than samples stand.
        let times: Vec<f64> =
            cursors.iter().filter_map(|time| time.strip_suffix(" s")?.parse().ok()).collect();
        let spread =
            times.iter().copied().fold(f64::MIN, f64::max) - times.iter().copied().fold(f64::MAX, f64::min);
        if times.len() != cursors.len() || spread > 1.0 {
            faults.push(format!("{which} do not agree: {cursors:?}"));
        }
    }
    for act in ["dragged", "reset", "keyed"] {
        if number(report.get(act)) != number(report.get("plots")) {
            faults.push(format!("{act}: {} of all plots changed", number(report.get(act))));
        }
    }
    faults
}

/// Series without a pixel in their colour.
fn undrawn(panels: &Value) -> impl Iterator<Item = String> {
    panels.list().iter().flat_map(|panel| {
        let series = panel.get("series").list().iter().filter(|series| number(series.get("count")) < 3.0);
        series.map(|series| format!("{} in {}", series.get("name").text(), panel.get("title").text()))
    })
}

fn texts(value: &Value) -> Vec<String> {
    value.list().iter().map(|text| text.text().to_owned()).collect()
}

/// The number; NaN, which nothing equals, for anything else.
fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        _ => f64::NAN,
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.list().iter().map(number).collect()
}

#[test]
fn pages_are_whole_in_a_browser_at_every_width() {
    let Some(browser) = chromium::find() else {
        return skipped("pages in a browser", "Chromium is not installed");
    };
    let scratch = Scratch::new("pages");
    let names = make_pages(&scratch);
    let mut found = Vec::new();
    let (mut used, mut moments, mut steps) = (0, 0, 0);
    // How many pages have them, at least.
    let min = [("animation", RUNS.len()), ("segments", RUNS.len()), ("seeds", 2), ("claims", 1), ("keys", 1)];
    let mut parts = min.map(|(part, _)| (part, 0));
    for report in reports(&scratch, &browser, &names) {
        let (page, width) = (report.get("page").text(), number(report.get("asked")));
        let is = |value: &Value| usize::from(*value == Value::Bool(true));
        used += is(report.get("is_used"));
        moments += usize::from(*report.get("moment") != Value::Null);
        steps += is(report.get("segments").get("has_moved"));
        parts.iter_mut().for_each(|(part, count)| *count += usize::from(*report.get(part) != Value::Null));
        found.extend(faults(&report).iter().map(|fault| format!("{page} at {width} px: {fault}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(used, names.len(), "every page is used once");
    assert!(parts.iter().zip(min).all(|((_, count), (_, min))| *count >= min), "used: {parts:?}");
    assert!(
        moments >= 3 && steps >= 3,
        "{moments} moments to click, {steps} marks and losses to step through"
    );
}
