//! Every column of every table of results, with its unit and definition.

use tidegate_results::tables::layout;

use super::row;
use crate::Session;

/// Renders the reference of all columns as Markdown.
pub(super) fn body(_: &Session) -> String {
    let mut text =
        "Every number that a page or table shows is one of these columns, or a mean of one over the seeds. \
                    The metadata of each column in the files also contains its unit and definition.\n\n"
            .to_owned();
    for (table, columns) in layout() {
        text.push_str(&format!("## `{table}.parquet`\n\n| column | unit | definition |\n|---|---|---|\n"));
        for column in columns {
            text.push_str(&row(&[&format!("`{}`", column.name), column.unit, column.text]));
        }
        text.push('\n');
    }
    text
}
