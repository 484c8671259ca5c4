//! Tables as Parquet, column by column and in row groups of bounded size. Every field may be null.

use std::io::Write;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::{TableCell, TableCellKind};

/// Parquet could not be written.
#[derive(Debug, thiserror::Error)]
#[error("Parquet: {reason}")]
#[non_exhaustive]
pub struct ParquetWriteError {
    /// What was wrong, most likely with the file that is written to.
    pub reason: String,
}

impl ParquetWriteError {
    /// Not `From`: what writes the files is nothing that callers of this crate should see.
    pub(crate) fn of(error: &ParquetError) -> Self {
        Self { reason: error.to_string() }
    }
}

/// The most rows that are held before they are written.
const GROUP: usize = 1 << 16;

/// A table that is being written.
pub(crate) struct Table<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

/// The values of a column that are not yet written, and for each row whether it has one.
struct Column {
    values: Values,
    is_known: Vec<i16>,
}

enum Values {
    Text(Vec<ByteArray>),
    Whole(Vec<i64>),
    Number(Vec<f64>),
}

impl<W: Write + Send> Table<W> {
    /// A table with these columns, written to `to`.
    pub(crate) fn new<'a>(
        to: W,
        heads: impl IntoIterator<Item = (&'a str, TableCellKind)>,
    ) -> Result<Self, ParquetError> {
        let (mut schema, mut columns) = ("message fizeau {\n".to_owned(), Vec::new());
        for (name, kind) in heads {
            let (physical, values) = match kind {
                TableCellKind::Text => ("BYTE_ARRAY", Values::Text(Vec::new())),
                TableCellKind::Whole => ("INT64", Values::Whole(Vec::new())),
                TableCellKind::Number => ("DOUBLE", Values::Number(Vec::new())),
            };
            let logical = if matches!(kind, TableCellKind::Text) { " (STRING)" } else { "" };
            schema.push_str(&format!("  OPTIONAL {physical} {name}{logical};\n"));
            columns.push(Column { values, is_known: Vec::new() });
        }
        schema.push('}');
        let program = format!("fizeau {}", env!("CARGO_PKG_VERSION"));
        let properties = WriterProperties::builder().set_created_by(program).build();
        let schema = Arc::new(parse_message_type(&schema)?);
        let writer = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
        Ok(Self { writer, columns, rows: 0 })
    }

    /// One more row: as many cells as there are columns, each null or of its column's kind.
    pub(crate) fn add(&mut self, cells: &[TableCell<'_>]) -> Result<(), ParquetError> {
        self.columns.iter_mut().zip(cells).for_each(|(column, cell)| column.add(cell));
        self.rows += 1;
        if self.rows == GROUP { self.write_group() } else { Ok(()) }
    }

    /// Writes what is left, and gives the file back.
    pub(crate) fn finish(mut self) -> Result<W, ParquetError> {
        self.write_group()?;
        self.writer.into_inner()
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            column.write(&mut group)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Column {
    fn add(&mut self, cell: &TableCell<'_>) {
        let is_known = match (&mut self.values, cell) {
            (Values::Text(all), TableCell::Text(text)) => push(all, ByteArray::from(&**text)),
            // Parquet's own 64 bits have a sign; no count of requests or tokens comes near it.
            (Values::Whole(all), TableCell::Whole(number)) => {
                i64::try_from(*number).is_ok_and(|number| push(all, number))
            }
            (Values::Number(all), TableCell::Number(number)) => push(all, *number),
            _ => false,
        };
        self.is_known.push(i16::from(is_known));
    }

    fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        match &mut self.values {
            Values::Text(all) => write::<ByteArrayType, W>(group, all, &self.is_known)?,
            Values::Whole(all) => write::<Int64Type, W>(group, all, &self.is_known)?,
            Values::Number(all) => write::<DoubleType, W>(group, all, &self.is_known)?,
        }
        self.is_known.clear();
        Ok(())
    }
}

/// True, for whoever counts what is known.
fn push<T>(all: &mut Vec<T>, value: T) -> bool {
    all.push(value);
    true
}

fn write<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
    is_known: &[i16],
) -> Result<(), ParquetError> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, Some(is_known), None)?;
        column.close()?;
    }
    values.clear();
    Ok(())
}
