//! Every column of every table of results, with its unit and definition.

use tidegate_results::definitions::OF_COUNTS;
use tidegate_results::tables::layout;

use super::row;
use crate::Session;

/// Renders the reference of all columns as Markdown.
pub(super) fn body(_: &Session) -> String {
    let mut text = format!(
        "These are the columns of the tables. Pages and printed tables show them, means of them over the seeds, and values that are computed \
         from them, such as ratios. {OF_COUNTS} The metadata of each column in the files also contains its unit and definition.\n\n"
    );
    for (table, columns) in layout() {
        text.push_str(&format!("## `{table}.parquet`\n\n| column | unit | definition |\n|---|---|---|\n"));
        for column in columns {
            text.push_str(&row(&[&format!("`{}`", column.name), column.unit, column.text]));
        }
        text.push('\n');
    }
    text
}
