//! The charts of runs as files, in a program that was built without them.

use std::path::PathBuf;

use crate::args::ReportArgs;
use crate::exit::{Exit, Fail};

/// Refuses what `args` ask for.
pub(super) fn run(_: &ReportArgs, _: &[PathBuf]) -> Result<Exit, Fail> {
    Err(usage!(
        "--svg and --png: this fizeau was built without pictures; build it with `--features pictures`, or take the charts of report.html"
    ))
}
