//! The shared media of a run.

use tidegate_core::observe::records::{MediumRecord, RunRecord};

use super::Screen;
use super::rows::Row;
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

/// Measures of the media.
pub(super) fn rows(runs: &[RunRecord]) -> Vec<Row<'_>> {
    let media = runs.first().map_or(&[][..], |run| run.media.as_slice());
    let row = |index: usize| {
        let estimate =
            |of: MediumMeasure| Estimate::of_present(runs.iter().map(|run| of(run, run.media.get(index)?)));
        Row {
            name: &media[index].name,
            scheme: None,
            values: MEDIUM_MEASURES.map(|(name, of)| (name, estimate(of))).to_vec(),
        }
    };
    (0..media.len()).map(row).collect()
}

/// A table of the media, and an empty line; nothing without any.
pub(super) fn table(runs: &[RunRecord], screen: Screen) -> String {
    let rows = rows(runs);
    if rows.is_empty() {
        return String::new();
    }
    format!("{}\n", super::rows::table("medium", &rows, runs.len()).render(screen))
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
        assert!(super::super::rows::json(&rows(&[run]), 1).to_string().contains("\"collisions\""));
        assert_eq!(super::table(&[RunRecord::default()], Screen::PLAIN), "");
    }
}
