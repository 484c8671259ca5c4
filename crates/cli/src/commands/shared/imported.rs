//! Folders of imported runs, read again.

use std::path::Path;

use fizeau::record::{ImportedRun, StoredRun};

use crate::exit::Fail;

/// Opens a run for what takes its requests; one that was imported without says so.
pub(crate) fn open_with_tapes(path: &Path) -> Result<StoredRun, Fail> {
    match ImportedRun::read(path).map_err(Fail::usage)? {
        Some(_) => Err(no_requests(path)),
        None => StoredRun::open(path).map_err(Fail::usage),
    }
}

/// That a run has figures alone, and what there is to do with it.
pub(crate) fn no_requests(path: &Path) -> Fail {
    let path = path.display();
    usage!(
        "{path}: imported without tapes: its figures have no requests behind them and no intervals; `fizeau pareto` and \
         `fizeau report` of several runs show its levels beside others"
    )
}
