//! Checks of a board that need the settings of axes, before anything runs: ids of figures, and lists with an element for
//! each group or row.

use tidegate_pages::page::is_taken;
use tidegate_papers::board::{Drawing, FigurePlan, Groups, TablePlan};
use tidegate_papers::expression::unknown;

use super::render::Around;
use super::{Results, Study};
use crate::exit::Failure;

/// Maximum length of the id of a figure, bytes; with `.svg` it is the name of a file on every system.
const LONGEST_ID: usize = 64;

impl Results<'_> {
    /// Checks what the settings of variables make of the figures and tables.
    pub(super) fn check_names(&self) -> Result<(), Failure> {
        let Some(board) = &self.study.board else { return Ok(()) };
        let mut ids: Vec<String> = Vec::new();
        for figure in board.figures.iter().filter(|figure| self.is_shown(figure.is_full)) {
            for around in self.around(&Around::default(), &figure.bindings)? {
                let id = around.filled(&figure.id);
                if let Some(message) = wrong_id(&id, &ids) {
                    return Err(self.study.board_text.at(figure.at, message));
                }
                ids.push(id);
            }
            self.check_published(figure)?;
            self.check_places(figure)?;
            self.check_series(figure)?;
        }
        board
            .tables
            .iter()
            .filter(|table| self.is_shown(table.is_full))
            .try_for_each(|table| self.check_texts(table))
    }

    /// Refuses a claim whose figure is not one of the board, with or without `--full`.
    pub(super) fn check_figures(&self) -> Result<(), Failure> {
        let Study { board, paper, sources, claims_text, .. } = self.study;
        let mut ids: Vec<String> = Vec::new();
        for figure in board.iter().flat_map(|board| &board.figures) {
            ids.extend(
                self.around(&Around::default(), &figure.bindings)?.iter().map(|one| one.filled(&figure.id)),
            );
        }
        for (claim, source) in paper.claims.iter().zip(sources) {
            if let Some(id) = claim.figure.as_ref().filter(|id| !ids.contains(id)) {
                let message = match ids.as_slice() {
                    [] => format!("figure {id:?} is not known; board.toml declares no figures"),
                    _ => unknown("figure", id, ids.iter().map(String::as_str)),
                };
                return Err(claims_text.at(source.figure_at, message));
            }
        }
        Ok(())
    }

    fn check_published(&self, figure: &FigurePlan) -> Result<(), Failure> {
        let (Drawing::Bars, Groups::Settings(binding)) = (figure.drawing, &figure.groups) else {
            return Ok(());
        };
        let groups = self.settings(binding)?.len();
        for one in &figure.series {
            if let Some(message) = Groups::wrong_published(one.published.len(), groups) {
                return Err(self.study.board_text.at(one.published_at, message));
            }
        }
        Ok(())
    }

    /// Refuses settings of lines that have no place along x, or the same place.
    fn check_places(&self, figure: &FigurePlan) -> Result<(), Failure> {
        let Groups::Settings(along) = &figure.groups else { return Ok(()) };
        if figure.drawing != Drawing::Lines {
            return Ok(());
        }
        for binding in figure.series.iter().map(|one| one.along.as_ref().unwrap_or(along)) {
            let mut places: Vec<f64> = Vec::new();
            for setting in self.settings(binding)? {
                let name = &setting.name;
                let place = name.parse().ok().filter(|x: &f64| x.is_finite() && !places.contains(x));
                let Some(place) = place else {
                    let message = format!(
                        "setting {name:?} of axis {} has no place of its own along x; lines need a different number as the \
                         name of each setting, and bars do not",
                        binding.axis
                    );
                    return Err(self.study.board_text.at(binding.at, message));
                };
                places.push(place);
            }
        }
        Ok(())
    }

    /// Refuses series of one figure that have the same name.
    fn check_series(&self, figure: &FigurePlan) -> Result<(), Failure> {
        for around in self.around(&Around::default(), &figure.bindings)? {
            let mut names: Vec<String> = Vec::new();
            for one in &figure.series {
                for around in self.around(&around, &one.bindings)? {
                    let name = around.filled(&one.name);
                    if names.contains(&name) {
                        let message = format!("two series have the name {name:?}");
                        return Err(self.study.board_text.at(one.at, message));
                    }
                    names.push(name);
                }
            }
        }
        Ok(())
    }

    /// Refuses a column with the head of the column before it.
    fn check_heads(&self, table: &TablePlan) -> Result<(), Failure> {
        // A head may recur further on: columns in groups are read with the first one of the group.
        let mut before = None;
        for column in &table.columns {
            for around in self.around(&Around::default(), &column.bindings)? {
                let head = around.filled(&column.head);
                if before.as_ref() == Some(&head) {
                    let message = format!("two columns side by side have the head {head:?}");
                    return Err(self.study.board_text.at(column.at, message));
                }
                before = Some(head);
            }
        }
        Ok(())
    }

    fn check_texts(&self, table: &TablePlan) -> Result<(), Failure> {
        self.check_heads(table)?;
        let mut rows = 0;
        for bindings in &table.rows {
            rows += self.around(&Around::default(), bindings)?.len();
        }
        for column in table.columns.iter().filter(|column| column.value.is_none()) {
            if column.text.len() != rows {
                let message =
                    format!("{} texts for {rows} rows; write \"\" for an empty cell", column.text.len());
                return Err(self.study.board_text.at(column.text_at, message));
            }
        }
        Ok(())
    }
}

/// The message about an id that cannot be that of a figure after those with the ids `others`.
fn wrong_id(id: &str, others: &[String]) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if id.is_empty() || id.len() > LONGEST_ID || id.starts_with('.') || !id.chars().all(is_plain) {
        return Some(format!(
            "the id of a figure is {id:?}; it names a file and has at most {LONGEST_ID} letters from a to z, digits, '-', \
             '_' and '.', the first of which is not '.'"
        ));
    }
    if is_taken(id) {
        return Some(format!("the id of a figure is {id:?}, which the page uses for something else"));
    }
    // The second figure would overwrite the file of the first, on some systems also if only the case differs.
    others.iter().any(|other| other.eq_ignore_ascii_case(id)).then(|| {
        format!("two figures have the id {id:?}; a variable in it, such as {{letter}}, keeps them apart")
    })
}
