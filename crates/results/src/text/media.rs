//! The shared media of a run.

use tidegate_core::observe::records::{MediumRecord, RunRecord};

use super::{Align, Screen, TextTable, over_runs, over_runs_json};
use crate::json::Json;
use crate::measures;
use crate::stats::Estimate;

/// A measure of one medium of a run; `None` where it has no value.
type MediumMeasure = fn(&RunRecord, &MediumRecord) -> Option<f64>;

const MEDIUM_MEASURES: [(&str, MediumMeasure); 5] = [
    ("airtime", |run, medium| measures::airtime(medium, run.ended)),
    ("transmissions", |_, medium| Some(medium.transmissions as f64)),
    ("collisions", |_, medium| Some(medium.collisions as f64)),
    ("retries", |_, medium| Some(medium.retries as f64)),
    ("given_up_frames", |_, medium| Some(medium.given_up_frames as f64)),
];

fn estimate(runs: &[RunRecord], index: usize, of: MediumMeasure) -> Estimate {
    Estimate::of_present(runs.iter().map(|run| of(run, run.media.get(index)?)))
}

fn media(runs: &[RunRecord]) -> impl Iterator<Item = (usize, &MediumRecord)> {
    runs.first().into_iter().flat_map(|run| run.media.iter().enumerate())
}

/// A table of the media, and an empty line; nothing without any.
pub(super) fn table(runs: &[RunRecord], screen: Screen) -> String {
    let mut head = vec![("medium", Align::Left)];
    head.extend(MEDIUM_MEASURES.map(|(name, _)| (name, Align::Right)));
    let mut table = TextTable::new(&head);
    for (index, medium) in media(runs) {
        let values = MEDIUM_MEASURES.map(|(_, of)| over_runs(&estimate(runs, index, of), runs.len()));
        table.row([medium.name.clone()].into_iter().chain(values));
    }
    if table.rows().next().is_none() { String::new() } else { format!("{}\n", table.render(screen)) }
}

/// The same as JSON.
pub(super) fn json(runs: &[RunRecord]) -> Json {
    let medium = |(index, medium): (usize, &MediumRecord)| {
        let mut entries = vec![("name", medium.name.as_str().into())];
        entries.extend(
            MEDIUM_MEASURES.map(|(name, of)| (name, over_runs_json(&estimate(runs, index, of), runs.len()))),
        );
        Json::Object(entries)
    };
    Json::List(media(runs).map(medium).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::units::{Span, Time};

    #[test]
    fn a_medium_has_a_row_and_runs_without_media_no_table() {
        let medium = MediumRecord {
            name: "air".into(),
            busy: Span::from_millis(900),
            transmissions: 50,
            collisions: 7,
            ..MediumRecord::default()
        };
        let run =
            RunRecord { ended: Time::from_nanos(1_000_000_000), media: vec![medium], ..RunRecord::default() };
        let table = table(std::slice::from_ref(&run), Screen::PLAIN);
        let cells: Vec<&str> = table.lines().nth(2).expect("a row").split_whitespace().collect();
        assert_eq!(cells, ["air", "0.9", "50", "7", "0", "0"]);
        assert!(json(&[run]).to_string().contains("\"collisions\""));
        assert_eq!(super::table(&[RunRecord::default()], Screen::PLAIN), "");
    }
}
