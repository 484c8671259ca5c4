//! Every request of a run, one by one.

use std::path::Path;

use fizeau::record::{StoredLevelContext, StoredRun};
use fizeau::report::RequestRow;

use super::super::each_tape;
use super::sink::Sink;
use crate::exit::Fail;

/// Every request goes to `each`, in the order of the levels and of their ends.
pub(super) fn each_row(run: &StoredRun, mut each: impl FnMut(&RequestRow<'_>)) -> Result<(), Fail> {
    for level in run.levels() {
        let load = StoredLevelContext::read(run, level).map_err(Fail::usage)?.load;
        let unseen = level.unseen(run.document()).map_err(Fail::usage)?;
        each_tape(level, |tape| {
            let (level, unseen) = (level.name(), unseen.as_ref());
            each(&RequestRow { level, load, tape: &tape, unseen });
        })?;
    }
    Ok(())
}

/// All of them as comma-separated values.
pub(super) fn csv(run: &StoredRun, file: &Path) -> Result<(), Fail> {
    let mut read = Ok(());
    Sink::open(file)?.write(|to| {
        let mut written = writeln!(to, "{}", RequestRow::csv_head());
        read = each_row(run, |row| {
            if written.is_ok() {
                written = writeln!(to, "{}", row.csv());
            }
        });
        written
    })?;
    read
}
