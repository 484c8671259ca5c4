//! Requests as Parquet.

use std::fmt;
use std::io::Write;

use super::RequestRow;
use crate::parquet::{ParquetWriteError, Table};

/// Requests as a Parquet file, written as they are added: the columns of [`RequestRow`], in row groups of at most 65,536.
///
/// Instants and lengths of time are `DOUBLE`, in milliseconds; counts are `INT64`; words are `BYTE_ARRAY (STRING)`.
pub struct RequestsParquet<W: Write + Send>(Table<W>);

impl<W: Write + Send> fmt::Debug for RequestsParquet<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestsParquet").finish_non_exhaustive()
    }
}

impl<W: Write + Send> RequestsParquet<W> {
    /// A file without requests, written to `to`.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub fn new(to: W) -> Result<Self, ParquetWriteError> {
        let table = Table::new(to, RequestRow::legend().map(|(name, kind, _)| (name, kind)));
        table.map(Self).map_err(|error| ParquetWriteError::of(&error))
    }

    /// One more request.
    ///
    /// # Errors
    /// If the file cannot be written to.
    pub fn add(&mut self, row: &RequestRow<'_>) -> Result<(), ParquetWriteError> {
        let cells: Vec<_> = row.cells().collect();
        self.0.add(&cells).map_err(|error| ParquetWriteError::of(&error))
    }

    /// Ends the file, and gives it back.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub fn finish(self) -> Result<W, ParquetWriteError> {
        self.0.finish().map_err(|error| ParquetWriteError::of(&error))
    }
}
