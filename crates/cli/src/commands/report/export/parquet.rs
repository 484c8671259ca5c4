//! Tables as Parquet, where this program was built with it.

use std::path::Path;

use fizeau::record::StoredRun;
use fizeau::report::LevelTable;

use crate::exit::Fail;

#[cfg(feature = "parquet")]
pub(super) fn requests(run: &StoredRun, folder: &Path) -> Result<(), Fail> {
    use fizeau::report::RequestsParquet;
    let (path, file) = super::sink::create(&folder.join("requests.parquet"))?;
    let broken = |error| broken!("{}: {error}", path.display());
    let mut table = RequestsParquet::new(file).map_err(broken)?;
    super::requests::each_row(run, |row| table.add(row).map_err(broken))?;
    table.finish().map(drop).map_err(broken)
}

#[cfg(feature = "parquet")]
pub(super) fn levels(table: &LevelTable, folder: &Path) -> Result<(), Fail> {
    let (path, file) = super::sink::create(&folder.join("levels.parquet"))?;
    let written = table.to_parquet(file).map(drop);
    written.map_err(|error| broken!("{}: {error}", path.display()))
}

#[cfg(not(feature = "parquet"))]
pub(super) fn requests(_: &StoredRun, folder: &Path) -> Result<(), Fail> {
    Err(without(folder))
}

#[cfg(not(feature = "parquet"))]
pub(super) fn levels(_: &LevelTable, folder: &Path) -> Result<(), Fail> {
    Err(without(folder))
}

#[cfg(not(feature = "parquet"))]
fn without(folder: &Path) -> Fail {
    usage!(
        "--parquet {}: this fizeau was built without Parquet; build it with `--features parquet`, or take --csv and \
         --requests-csv",
        folder.display()
    )
}
