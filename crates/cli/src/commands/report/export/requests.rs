//! Every request of a run, one by one.

use std::path::Path;

use fizeau::record::{StoredLevelContext, StoredRun};
use fizeau::report::RequestRow;

use super::super::each_tape;
use super::sink::Sink;
use crate::exit::Fail;

/// Every request goes to `each`, in the order of the levels and of their ends.
pub(super) fn each_row(
    run: &StoredRun,
    mut each: impl FnMut(&RequestRow<'_>) -> Result<(), Fail>,
) -> Result<(), Fail> {
    for level in run.levels() {
        let load = StoredLevelContext::read(run, level).map_err(Fail::usage)?.load;
        let unseen = level.unseen(run.document()).map_err(Fail::usage)?;
        let mut result = Ok(());
        each_tape(level, |tape| {
            if result.is_ok() {
                result = each(&RequestRow {
                    level: level.name(),
                    load,
                    tape: &tape,
                    unseen: unseen.as_ref(),
                });
            }
        })?;
        result?;
    }
    Ok(())
}

/// All of them as comma-separated values.
pub(super) fn csv(run: &StoredRun, file: &Path) -> Result<(), Fail> {
    let mut sink = Sink::open(file)?;
    sink.write(&(RequestRow::csv_head() + "\n"))?;
    each_row(run, |row| if sink.is_shut() { Ok(()) } else { sink.write(&(row.csv() + "\n")) })?;
    sink.finish()
}
