//! Data of a figure as a table that pgfplots, gnuplot and R read: blanks between columns, `nan` where a
//! shorter column has ended.

use std::fmt::Write;

use super::escape::Comment;

/// Columns of numbers under comments.
#[derive(Default)]
pub(super) struct Data {
    comments: Vec<String>,
    columns: Vec<(String, Vec<f64>)>,
}

impl Data {
    /// Adds a line of comment.
    pub(super) fn comment(&mut self, text: &str) {
        self.comments.push(Comment(text).to_string());
    }

    /// Adds the column `name` with one value per row.
    pub(super) fn column(&mut self, name: String, values: impl IntoIterator<Item = f64>) {
        self.columns.push((name, values.into_iter().collect()));
    }

    /// Adds the columns `NAMEx` and `NAMEy`.
    pub(super) fn points(&mut self, name: &str, points: &[(f64, f64)]) {
        self.column(format!("{name}x"), points.iter().map(|(x, _)| *x));
        self.column(format!("{name}y"), points.iter().map(|(_, y)| *y));
    }

    /// The text of the data file, comments first.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for comment in &self.comments {
            let _ = writeln!(text, "# {comment}");
        }
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let _ = writeln!(text, "{}", names.join(" "));
        let rows = self.columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        for row in 0..rows {
            let cells: Vec<String> =
                self.columns.iter().map(|(_, values)| number(values.get(row).copied())).collect();
            let _ = writeln!(text, "{}", cells.join(" "));
        }
        text
    }
}

/// A number to seven digits, more than TeX computes with.
pub(super) fn number(value: Option<f64>) -> String {
    match value.filter(|value| value.is_finite()) {
        Some(0.0) => "0".to_owned(),
        Some(value) if (1e-3..1e6).contains(&value.abs()) => format!("{}", rounded(value)),
        Some(value) => format!("{:e}", rounded(value)),
        None => "nan".to_owned(),
    }
}

fn rounded(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_different_length_end_with_nan() {
        let mut data = Data::default();
        data.comment("a: 1\nb: 2");
        data.points("a", &[(0.0, 1.0 / 3.0), (1e9, f64::INFINITY)]);
        data.column("b".to_owned(), [0.1 + 0.2]);
        assert_eq!(data.text(), "# a: 1 b: 2\nax ay b\n0 0.3333333 0.3\n1e9 nan nan\n");
    }
}
