//! CSV by RFC 4180, but with `\n`: one header line, missing values empty, text quoted if necessary.

use std::io::{self, Write};

use super::{ResultTable, TableCell};

impl ResultTable {
    /// Writes the table as CSV; floating-point numbers with the fewest digits that read back to the same bits.
    ///
    /// # Errors
    /// Those of `out`. Writes are small: pass a buffered writer.
    pub fn write_csv(&self, mut out: impl Write) -> io::Result<()> {
        let names: Vec<&str> = self.columns.iter().map(super::Column::name).collect();
        writeln!(out, "{}", names.join(","))?;
        for row in 0..self.rows() {
            for (position, column) in self.columns.iter().enumerate() {
                if position > 0 {
                    out.write_all(b",")?;
                }
                write_cell(&mut out, column.cell(row))?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

fn write_cell(out: &mut impl Write, cell: TableCell<'_>) -> io::Result<()> {
    match cell {
        TableCell::Missing => Ok(()),
        TableCell::Bool(value) => write!(out, "{value}"),
        TableCell::Count(value) => write!(out, "{value}"),
        TableCell::Short(value) => write!(out, "{value}"),
        TableCell::Number(value) => write!(out, "{value}"),
        TableCell::Text(text) if text.contains(['"', ',', '\n', '\r']) => {
            write!(out, "\"{}\"", text.replace('"', "\"\""))
        }
        TableCell::Text(text) => out.write_all(text.as_bytes()),
    }
}
