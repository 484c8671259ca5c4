//! The table as Parquet.

use std::io::Write;

use parquet::errors::ParquetError;

use super::LevelTable;
use crate::TableCellKind;
use crate::parquet::{ParquetWriteError, Table};

impl LevelTable {
    /// Writes the rows to `to` as a Parquet file, whose columns are those of [`LevelTable::to_csv`]: words as `BYTE_ARRAY
    /// (STRING)`, figures as `DOUBLE`, and null what is not known.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub fn to_parquet<W: Write + Send>(&self, to: W) -> Result<W, ParquetWriteError> {
        self.write_parquet(to).map_err(|error| ParquetWriteError::of(&error))
    }

    fn write_parquet<W: Write + Send>(&self, to: W) -> Result<W, ParquetError> {
        let kind =
            |is_text: &bool| if *is_text { TableCellKind::Text } else { TableCellKind::Number };
        let heads = self.heads.iter().zip(&self.is_text);
        let heads = heads.map(|(name, is_text)| (name.as_str(), kind(is_text)));
        let mut table = Table::new(to, heads)?;
        for row in &self.rows {
            table.add(row)?;
        }
        table.finish()
    }
}
