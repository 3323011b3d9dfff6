//! What a comparison prints and leaves.

use std::fs;
use std::path::Path;

use tidegate_report::compare::{
    Judgement, comparison_json, comparison_table, judgement_json, judgement_table,
};
use tidegate_report::json::Json;
use tidegate_report::tables::{Parameter, Point, RunContext, point_tables};

use super::Arguments;
use super::search::Outcome;
use super::variants::VariantPlan;
use crate::exit::{Failure, print};
use crate::results::{cannot, file_name, replace_files};
use crate::store::Store;
use crate::{Format, SEMANTICS, Session};

/// Everything that came out.
pub(super) struct Results<'a> {
    pub(super) variants: &'a [VariantPlan],
    pub(super) found: &'a Outcome,
    /// Verdicts against a baseline, if there is one.
    pub(super) judgements: Option<&'a [Judgement]>,
}

impl Results<'_> {
    /// Writes tables, and prints what was found.
    pub(super) fn write(
        &self,
        session: &Session,
        arguments: &Arguments,
        store: &Store,
    ) -> Result<(), Failure> {
        let folder = arguments.out.join(self.folder_name());
        let new = store.temporary();
        self.tables(&new)?;
        let json = self.json(&folder);
        let path = new.join("comparison.json");
        fs::write(&path, format!("{json}\n")).map_err(|why| cannot("write", &path, &why))?;
        replace_files(&new, &folder)?;
        print(&match session.format {
            Format::Text => self.text(&folder),
            Format::Json => format!("{json}\n"),
        });
        Ok(())
    }

    /// The tables of all runs, with a column for the variant.
    fn tables(&self, folder: &Path) -> Result<(), Failure> {
        let points: Vec<Point> =
            self.found.runs.iter().map(|variant| Point { runs: variant.runs.clone() }).collect();
        let values = self.variants.iter().map(|variant| variant.label.clone()).collect();
        let context = RunContext {
            scenario_text: self
                .variants
                .first()
                .map_or_else(String::new, |variant| variant.plan.text.clone()),
            semantics: SEMANTICS,
            ..RunContext::default()
        };
        let parameter = Parameter { key: "variant".to_owned(), values };
        point_tables(&points, &[parameter], &context).write(folder).map_err(Failure::error)
    }

    fn folder_name(&self) -> String {
        let name = self.variants.first().map_or("", |variant| variant.plan.name.as_str());
        let mut hash = blake3::Hasher::new();
        hash.update(&SEMANTICS.to_le_bytes());
        for variant in self.variants {
            hash.update(variant.identity.hash.as_bytes());
        }
        format!("{}-compare-{}", file_name(name), &hash.finalize().to_hex()[..8])
    }

    fn text(&self, folder: &Path) -> String {
        let mut text = String::new();
        if self.variants.len() > 1 {
            text.push_str(&comparison_table(&self.found.comparison));
        }
        if let Some(note) = &self.found.note {
            text.push_str(&format!("{note}\n"));
        }
        if let Some(judgements) = self.judgements {
            text.push_str(&format!("\nagainst the baseline: {}", judgement_table(judgements)));
        }
        text.push_str(&format!("\ntables  {}\n", folder.display()));
        text
    }

    fn json(&self, folder: &Path) -> Json {
        Json::Object(vec![
            ("folder", Json::text(folder.display())),
            ("comparison", comparison_json(&self.found.comparison)),
            ("note", Json::maybe(self.found.note.as_deref())),
            ("baseline", self.judgements.map_or(Json::Null, judgement_json)),
        ])
    }
}
