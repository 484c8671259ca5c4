//! Every request of a run, one by one.

use std::path::Path;

use fizeau::record::StoredRun;
use fizeau::report::RequestRow;

use super::super::note_cut;
use super::sink::Sink;
use crate::exit::Fail;

/// Every request goes to `each`, in the order of the levels and of their ends.
pub(super) fn each_row(
    run: &StoredRun,
    each: impl FnMut(&RequestRow<'_>) -> Result<(), Fail>,
) -> Result<(), Fail> {
    RequestRow::each_of(run, |level, cut| note_cut(level.path(), Some(cut)), each)
}

/// All of them as comma-separated values.
pub(super) fn csv(run: &StoredRun, file: &Path) -> Result<(), Fail> {
    let mut sink = Sink::open(file)?;
    sink.line(&RequestRow::csv_head())?;
    each_row(run, |row| sink.line(&row.csv()))?;
    sink.write_whole("")
}
