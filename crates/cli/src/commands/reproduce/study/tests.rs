//! The papers of the program are sound in every extent, and their files belong together.

use tidegate_schemes::SCHEMES;

use super::*;
use crate::commands::reproduce::{Entry, PAPERS};
use crate::{Format, screen};

fn session() -> Session {
    let (format, screen) = (Format::Json, screen::of_errors());
    Session { format, messages: format, quiet: true, screen, schemes: SCHEMES.to_vec() }
}

fn read(entry: &'static Entry, extent: Extent) -> Study {
    Study::read(&session(), Files::Program(entry.folder, entry.files), extent)
        .unwrap_or_else(|failure| panic!("{}: {}", entry.name, failure.message))
}

#[test]
fn every_cell_of_every_paper_is_a_sound_scenario_in_every_extent() {
    for entry in &PAPERS {
        let cells =
            [Extent::Reduced, Extent::Paper, Extent::Full].map(|extent| read(entry, extent).points.len());
        assert!(0 < cells[0] && cells[0] <= cells[1] && cells[1] <= cells[2], "{}: {cells:?}", entry.name);
    }
}

#[test]
fn all_files_of_a_paper_are_used() {
    for entry in &PAPERS {
        let study = read(entry, Extent::Full);
        for (name, _) in entry.files {
            assert!(study.files.iter().any(|(used, _)| used == name), "{} {name}", entry.name);
        }
    }
}
